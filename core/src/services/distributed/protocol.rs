//! The protocol between processes and the coordinator: frames that consist of a length and a
//! message.
//!
//! Numbers are little-endian; strings and values are encoded as their length in 4 bytes and their
//! bytes. A message is one byte that identifies its kind, followed by its fields in order.

use super::FailureKind;
use std::io::{self, Read, Write};

/// The first field of the first message.
pub(super) const MAGIC: &str = "ramie distributed 1";
/// Maximum length of a message.
pub(super) const LONGEST: usize = 256 << 20;
/// Maximum length of the first message of a connection.
pub(super) const LONGEST_HELLO: usize = 256;

/// A process's request to the coordinator.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Request {
    /// The first message: the process's index, and how long it waits for the others.
    Hello {
        process: u32,
        count: u32,
        timeout_ms: u64,
    },
    /// Sets a key.
    Put {
        id: u64,
        key: String,
        value: Vec<u8>,
        overwrite: bool,
    },
    /// Waits for a key, and returns its value.
    Get {
        id: u64,
        key: String,
        timeout_ms: u64,
    },
    /// Returns the value of a key, if it has one.
    TryGet { id: u64, key: String },
    /// Removes a key, and all keys below it.
    Delete { id: u64, key: String },
    /// Waits until all processes reach this barrier.
    Barrier {
        id: u64,
        name: String,
        timeout_ms: u64,
    },
    /// Reports that this process is alive.
    Heartbeat,
    /// Waits until all processes want to shut down.
    Goodbye { id: u64, timeout_ms: u64 },
}

/// The coordinator's reply.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Reply {
    /// All processes have connected.
    Welcome,
    /// The process was rejected.
    Refused { kind: FailureKind, message: String },
    /// The request was performed.
    Done { id: u64 },
    /// The value of a key.
    Value { id: u64, value: Vec<u8> },
    /// The key has no value.
    Absent { id: u64 },
    /// The request failed.
    Failed {
        id: u64,
        kind: FailureKind,
        message: String,
    },
    /// Reports that the coordinator is alive.
    Alive,
    /// Another process is lost, and no further request can succeed.
    Lost { message: String },
}

/// The error for bytes that are not a valid message.
#[derive(Debug, PartialEq)]
pub(super) struct Malformed;

impl From<Malformed> for io::Error {
    fn from(_: Malformed) -> io::Error {
        io::Error::new(io::ErrorKind::InvalidData, "a malformed message")
    }
}

/// An encoder of fields.
struct Encoder(Vec<u8>);

impl Encoder {
    fn new(tag: u8) -> Encoder {
        Encoder(vec![tag])
    }
    fn u32(mut self, value: u32) -> Encoder {
        self.0.extend(value.to_le_bytes());
        self
    }
    fn u64(mut self, value: u64) -> Encoder {
        self.0.extend(value.to_le_bytes());
        self
    }
    fn bytes(mut self, value: &[u8]) -> Encoder {
        self = self.u32(u32::try_from(value.len()).unwrap_or(u32::MAX));
        self.0.extend(value);
        self
    }
    fn text(self, value: &str) -> Encoder {
        self.bytes(value.as_bytes())
    }
}

/// A decoder of fields.
struct Decoder<'a>(&'a [u8]);

impl<'a> Decoder<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(Malformed)?;
        self.0 = rest;
        Ok(taken)
    }
    fn u8(&mut self) -> Result<u8, Malformed> {
        Ok(self.take(1)?[0])
    }
    fn u32(&mut self) -> Result<u32, Malformed> {
        let bytes = self.take(4)?.try_into().map_err(|_| Malformed)?;
        Ok(u32::from_le_bytes(bytes))
    }
    fn u64(&mut self) -> Result<u64, Malformed> {
        let bytes = self.take(8)?.try_into().map_err(|_| Malformed)?;
        Ok(u64::from_le_bytes(bytes))
    }
    fn bytes(&mut self) -> Result<Vec<u8>, Malformed> {
        let length = self.u32()? as usize;
        Ok(self.take(length)?.to_vec())
    }
    fn text(&mut self) -> Result<String, Malformed> {
        String::from_utf8(self.bytes()?).map_err(|_| Malformed)
    }
    fn kind(&mut self) -> Result<FailureKind, Malformed> {
        FailureKind::from_code(self.u8()?).ok_or(Malformed)
    }
    /// Returns the message, if no bytes remain.
    fn end<T>(self, message: T) -> Result<T, Malformed> {
        self.0.is_empty().then_some(message).ok_or(Malformed)
    }
}

impl Request {
    pub(super) fn encode(&self) -> Vec<u8> {
        let message = match self {
            Request::Hello {
                process,
                count,
                timeout_ms,
            } => Encoder::new(0)
                .text(MAGIC)
                .u32(*process)
                .u32(*count)
                .u64(*timeout_ms),
            Request::Put {
                id,
                key,
                value,
                overwrite,
            } => {
                let tag = if *overwrite { 2 } else { 1 };
                Encoder::new(tag).u64(*id).text(key).bytes(value)
            }
            Request::Get {
                id,
                key,
                timeout_ms,
            } => Encoder::new(3).u64(*id).text(key).u64(*timeout_ms),
            Request::TryGet { id, key } => Encoder::new(4).u64(*id).text(key),
            Request::Delete { id, key } => Encoder::new(5).u64(*id).text(key),
            Request::Barrier {
                id,
                name,
                timeout_ms,
            } => Encoder::new(6).u64(*id).text(name).u64(*timeout_ms),
            Request::Heartbeat => Encoder::new(7),
            Request::Goodbye { id, timeout_ms } => Encoder::new(8).u64(*id).u64(*timeout_ms),
        };
        message.0
    }

    pub(super) fn decode(message: &[u8]) -> Result<Request, Malformed> {
        let mut d = Decoder(message);
        let request = match d.u8()? {
            0 => {
                if d.text()? != MAGIC {
                    return Err(Malformed);
                }
                Request::Hello {
                    process: d.u32()?,
                    count: d.u32()?,
                    timeout_ms: d.u64()?,
                }
            }
            tag @ (1 | 2) => Request::Put {
                id: d.u64()?,
                key: d.text()?,
                value: d.bytes()?,
                overwrite: tag == 2,
            },
            3 => Request::Get {
                id: d.u64()?,
                key: d.text()?,
                timeout_ms: d.u64()?,
            },
            4 => Request::TryGet {
                id: d.u64()?,
                key: d.text()?,
            },
            5 => Request::Delete {
                id: d.u64()?,
                key: d.text()?,
            },
            6 => Request::Barrier {
                id: d.u64()?,
                name: d.text()?,
                timeout_ms: d.u64()?,
            },
            7 => Request::Heartbeat,
            8 => Request::Goodbye {
                id: d.u64()?,
                timeout_ms: d.u64()?,
            },
            _ => return Err(Malformed),
        };
        d.end(request)
    }
}

impl Reply {
    /// Returns the request to which this is the reply.
    pub(super) fn id(&self) -> Option<u64> {
        match self {
            Reply::Done { id }
            | Reply::Value { id, .. }
            | Reply::Absent { id }
            | Reply::Failed { id, .. } => Some(*id),
            Reply::Welcome | Reply::Refused { .. } | Reply::Alive | Reply::Lost { .. } => None,
        }
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let message = match self {
            Reply::Welcome => Encoder::new(0),
            Reply::Refused { kind, message } => {
                let mut e = Encoder::new(1);
                e.0.push(kind.code());
                e.text(message)
            }
            Reply::Done { id } => Encoder::new(2).u64(*id),
            Reply::Value { id, value } => Encoder::new(3).u64(*id).bytes(value),
            Reply::Absent { id } => Encoder::new(4).u64(*id),
            Reply::Failed { id, kind, message } => {
                let mut e = Encoder::new(5).u64(*id);
                e.0.push(kind.code());
                e.text(message)
            }
            Reply::Alive => Encoder::new(6),
            Reply::Lost { message } => Encoder::new(7).text(message),
        };
        message.0
    }

    pub(super) fn decode(message: &[u8]) -> Result<Reply, Malformed> {
        let mut d = Decoder(message);
        let reply = match d.u8()? {
            0 => Reply::Welcome,
            1 => Reply::Refused {
                kind: d.kind()?,
                message: d.text()?,
            },
            2 => Reply::Done { id: d.u64()? },
            3 => Reply::Value {
                id: d.u64()?,
                value: d.bytes()?,
            },
            4 => Reply::Absent { id: d.u64()? },
            5 => Reply::Failed {
                id: d.u64()?,
                kind: d.kind()?,
                message: d.text()?,
            },
            6 => Reply::Alive,
            7 => Reply::Lost { message: d.text()? },
            _ => return Err(Malformed),
        };
        d.end(reply)
    }
}

/// Sends one message.
pub(super) fn write_frame(mut to: impl Write, message: &[u8]) -> io::Result<()> {
    let length = u32::try_from(message.len())
        .ok()
        .filter(|n| *n as usize <= LONGEST)
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the message is too long"))?;
    // A single write, so that small messages are one packet.
    let mut frame = Vec::with_capacity(4 + message.len());
    frame.extend(length.to_le_bytes());
    frame.extend(message);
    to.write_all(&frame)
}

/// Reads one message of at most this length. Memory is allocated as bytes arrive, so that a false
/// length allocates nothing.
pub(super) fn read_frame(mut from: impl Read, longest: usize) -> io::Result<Vec<u8>> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > longest {
        return Err(Malformed.into());
    }
    let mut message = Vec::new();
    from.take(length as u64).read_to_end(&mut message)?;
    if message.len() < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Random(u64);

    impl Random {
        fn below(&mut self, n: usize) -> usize {
            self.0 = self
                .0
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (self.0 >> 33) as usize % n
        }
        fn number(&mut self) -> u64 {
            (self.below(1 << 30) as u64) << self.below(34)
        }
        fn text(&mut self) -> String {
            let letters = ['a', '/', 'é', '0', '\0', '界'];
            (0..self.below(20))
                .map(|_| letters[self.below(6)])
                .collect()
        }
        fn bytes(&mut self) -> Vec<u8> {
            (0..self.below(50)).map(|_| self.below(256) as u8).collect()
        }
        fn kind(&mut self) -> FailureKind {
            FailureKind::from_code(self.below(6) as u8).unwrap()
        }
        fn request(&mut self) -> Request {
            let (id, timeout_ms, key) = (self.number(), self.number(), self.text());
            match self.below(9) {
                0 => Request::Hello {
                    process: self.number() as u32,
                    count: self.number() as u32,
                    timeout_ms,
                },
                1 => Request::Get {
                    id,
                    key,
                    timeout_ms,
                },
                2 => Request::TryGet { id, key },
                3 => Request::Delete { id, key },
                4 => Request::Heartbeat,
                5 => Request::Goodbye { id, timeout_ms },
                6 => Request::Barrier {
                    id,
                    name: key,
                    timeout_ms,
                },
                overwrite => Request::Put {
                    id,
                    key,
                    value: self.bytes(),
                    overwrite: overwrite == 7,
                },
            }
        }
        fn reply(&mut self) -> Reply {
            let (id, kind, message) = (self.number(), self.kind(), self.text());
            match self.below(8) {
                0 => Reply::Welcome,
                1 => Reply::Refused { kind, message },
                2 => Reply::Done { id },
                3 => Reply::Absent { id },
                4 => Reply::Failed { id, kind, message },
                5 => Reply::Alive,
                6 => Reply::Lost { message },
                _ => Reply::Value {
                    id,
                    value: self.bytes(),
                },
            }
        }
    }

    #[test]
    fn messages_are_read_back_and_cut_ones_are_refused() {
        let mut random = Random(1);
        for _ in 0..3000 {
            let request = random.request();
            let bytes = request.encode();
            assert_eq!(Request::decode(&bytes), Ok(request));
            let reply = random.reply();
            let bytes_of_reply = reply.encode();
            assert_eq!(Reply::decode(&bytes_of_reply), Ok(reply));
            for cut in 0..bytes.len() {
                assert_eq!(Request::decode(&bytes[..cut]), Err(Malformed));
            }
            for cut in 0..bytes_of_reply.len() {
                assert_eq!(Reply::decode(&bytes_of_reply[..cut]), Err(Malformed));
            }
            let longer = [&bytes[..], &[0]].concat();
            assert_eq!(Request::decode(&longer), Err(Malformed));
        }
    }

    #[test]
    fn any_bytes_are_a_message_with_one_encoding_or_none() {
        let mut random = Random(2);
        let mut read = 0;
        for _ in 0..100_000 {
            let mut bytes = if random.below(2) == 0 {
                random.request().encode()
            } else {
                random.reply().encode()
            };
            for _ in 0..=random.below(3) {
                let at = random.below(bytes.len());
                bytes[at] = random.below(256) as u8;
            }
            if let Ok(request) = Request::decode(&bytes) {
                assert_eq!(request.encode(), bytes);
                read += 1;
            }
            if let Ok(reply) = Reply::decode(&bytes) {
                assert_eq!(reply.encode(), bytes);
                read += 1;
            }
        }
        assert!(read > 1000, "{read} of the damaged messages were messages");
    }

    #[test]
    fn frames_are_whole_and_not_too_long() {
        let mut sent = Vec::new();
        write_frame(&mut sent, b"hello").unwrap();
        write_frame(&mut sent, b"").unwrap();
        let mut from = &sent[..];
        assert_eq!(read_frame(&mut from, 5).unwrap(), b"hello");
        assert_eq!(read_frame(&mut from, 5).unwrap(), b"");
        let end = read_frame(&mut from, 5).unwrap_err();
        assert_eq!(end.kind(), io::ErrorKind::UnexpectedEof);
        for cut in 1..9 {
            let error = read_frame(&sent[..cut], 5).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "{cut} bytes");
        }
        let long = read_frame(&sent[..], 4).unwrap_err();
        assert_eq!(long.kind(), io::ErrorKind::InvalidData);
        // The first bytes of an HTTP request decode to a length of more than a gigabyte.
        let stray = read_frame(&b"GET / HTTP/1.1"[..], LONGEST_HELLO).unwrap_err();
        assert_eq!(stray.kind(), io::ErrorKind::InvalidData);
    }
}
