//! The protocol between processes and the coordinator: frames that consist of a length and a
//! message.
//!
//! Numbers are little-endian; strings and values are encoded as their length in 4 bytes and their
//! bytes. A message is one byte that identifies its kind, followed by its fields in order.

use super::FailureKind;
use std::io::{self, Read, Write};

/// The protocol and its version.
const MAGIC: &str = "ramie distributed 2";
/// Maximum length of a message.
pub(super) const LONGEST: usize = 256 << 20;
/// Maximum length of the first message of a connection.
pub(super) const LONGEST_HELLO: usize = 256;

/// The error for bytes that are not a valid message.
#[derive(Debug, PartialEq)]
pub(super) struct Malformed;

impl From<Malformed> for io::Error {
    fn from(_: Malformed) -> io::Error {
        io::Error::new(io::ErrorKind::InvalidData, "a malformed message")
    }
}

/// Defines the messages of one direction: the byte that identifies each of them, and its fields.
macro_rules! messages {
    (
        $(#[$doc:meta])*
        $name:ident { $(
            $(#[$text:meta])*
            $tag:literal $message:ident $({ $($field:ident: $ty:ty),* $(,)? })?,
        )* }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        pub(super) enum $name { $(
            $(#[$text])*
            $message $({ $($field: $ty),* })?,
        )* }

        impl $name {
            pub(super) fn encode(&self) -> Vec<u8> {
                let mut out = Vec::new();
                match self { $(
                    $name::$message $({ $($field),* })? => {
                        out.push($tag);
                        $($( $field.put(&mut out); )*)?
                    }
                )* }
                out
            }

            pub(super) fn decode(mut message: &[u8]) -> Result<$name, Malformed> {
                let from = &mut message;
                let decoded = match u8::get(from)? {
                    $( $tag => $name::$message $({ $($field: Field::get(from)?),* })?, )*
                    _ => return Err(Malformed),
                };
                from.is_empty().then_some(decoded).ok_or(Malformed)
            }
        }
    };
}

messages! {
    /// A process's request to the coordinator.
    Request {
        /// The first message: the process's index, and how long it waits for the others.
        0 Hello { magic: Magic, process: u32, count: u32, timeout_ms: u64 },
        /// Sets a key.
        1 Put { id: u64, key: String, value: Vec<u8>, overwrite: bool },
        /// Waits for a key, and returns its value.
        2 Get { id: u64, key: String, timeout_ms: u64 },
        /// Returns the value of a key, if it has one.
        3 TryGet { id: u64, key: String },
        /// Removes a key, and all keys below it.
        4 Delete { id: u64, key: String },
        /// Waits until all processes reach this barrier.
        5 Barrier { id: u64, name: String, timeout_ms: u64 },
        /// Reports that this process is alive.
        6 Heartbeat,
        /// Waits until all processes want to shut down.
        7 Goodbye { id: u64, timeout_ms: u64 },
    }
}

messages! {
    /// The coordinator's reply.
    Reply {
        /// All processes have connected.
        0 Welcome,
        /// The process was rejected.
        1 Refused { kind: FailureKind, message: String },
        /// The request was performed.
        2 Done { id: u64 },
        /// The value of a key.
        3 Value { id: u64, value: Vec<u8> },
        /// The key has no value.
        4 Absent { id: u64 },
        /// The request failed.
        5 Failed { id: u64, kind: FailureKind, message: String },
        /// Reports that the coordinator is alive.
        6 Alive,
        /// Another process is lost, and no further request can succeed.
        7 Lost { message: String },
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
}

/// A field of a message. `get` removes the bytes of a field that `put` appended.
trait Field: Sized {
    fn put(&self, out: &mut Vec<u8>);
    fn get(from: &mut &[u8]) -> Result<Self, Malformed>;
}

fn take<'a>(from: &mut &'a [u8], count: usize) -> Result<&'a [u8], Malformed> {
    from.split_off(..count).ok_or(Malformed)
}

macro_rules! number {
    ($($ty:ty)*) => { $(
        impl Field for $ty {
            fn put(&self, out: &mut Vec<u8>) {
                out.extend(self.to_le_bytes());
            }
            fn get(from: &mut &[u8]) -> Result<$ty, Malformed> {
                let bytes = take(from, size_of::<$ty>())?;
                Ok(<$ty>::from_le_bytes(bytes.try_into().map_err(|_| Malformed)?))
            }
        }
    )* };
}
number!(u8 u32 u64);

impl Field for bool {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }
    fn get(from: &mut &[u8]) -> Result<bool, Malformed> {
        match u8::get(from)? {
            byte @ (0 | 1) => Ok(byte == 1),
            _ => Err(Malformed),
        }
    }
}

impl Field for Vec<u8> {
    fn put(&self, out: &mut Vec<u8>) {
        u32::try_from(self.len()).unwrap_or(u32::MAX).put(out);
        out.extend(self);
    }
    fn get(from: &mut &[u8]) -> Result<Vec<u8>, Malformed> {
        let length = u32::get(from)? as usize;
        Ok(take(from, length)?.to_vec())
    }
}

impl Field for String {
    fn put(&self, out: &mut Vec<u8>) {
        self.as_bytes().to_vec().put(out);
    }
    fn get(from: &mut &[u8]) -> Result<String, Malformed> {
        String::from_utf8(Field::get(from)?).map_err(|_| Malformed)
    }
}

impl Field for FailureKind {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(self.code());
    }
    fn get(from: &mut &[u8]) -> Result<FailureKind, Malformed> {
        FailureKind::from_code(u8::get(from)?).ok_or(Malformed)
    }
}

/// The first field of the first message, which identifies the protocol and its version.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Magic;

impl Field for Magic {
    fn put(&self, out: &mut Vec<u8>) {
        MAGIC.to_owned().put(out);
    }
    fn get(from: &mut &[u8]) -> Result<Magic, Malformed> {
        (String::get(from)? == MAGIC)
            .then_some(Magic)
            .ok_or(Malformed)
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
                    magic: Magic,
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
