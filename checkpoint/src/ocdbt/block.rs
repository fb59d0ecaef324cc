//! Frame around manifests and nodes: a magic number, the length, a codec, and a checksum.

use super::cursor::{Cursor, Decoded, put_varint};
use crate::zstandard;
use std::borrow::Cow;
use std::fmt;

/// Kind of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Manifest,
    Node,
    VersionNode,
}

impl Kind {
    fn magic(self) -> u32 {
        match self {
            Kind::Manifest => 0x0cdb_3a2a,
            Kind::Node => 0x0cdb_20de,
            Kind::VersionNode => 0x0cdb_1234,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Manifest => "the manifest",
            Kind::Node => "the node",
            Kind::VersionNode => "the version node",
        })
    }
}

/// Compression of manifests and nodes. Values are never compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// No compression.
    None,
    /// Zstandard.
    Zstd {
        /// Compression level from 1 (fast) to 22 (small); 0 is the library's default.
        level: i32,
    },
}

/// Bytes before the version: the magic number and the length.
const HEAD: usize = 12;
/// Bytes of the checksum.
const TAIL: usize = 4;

/// Reads the block that starts at byte `base` of a file.
///
/// Allocates at most `limit` bytes for its contents. Errors include the position in the file.
pub(super) fn decode<T>(
    kind: Kind,
    bytes: &[u8],
    base: u64,
    limit: usize,
    read: impl FnOnce(&mut Cursor<'_>) -> Decoded<T>,
) -> Result<T, String> {
    let failed = |what: String| format!("{kind} at byte {base} {what}");
    if bytes.len() < HEAD + 2 + TAIL {
        return Err(failed(format!("has {} bytes, too few", bytes.len())));
    }
    let magic = kind.magic().to_be_bytes();
    if bytes[..4] != magic {
        let mark = &bytes[..4];
        return Err(failed(format!("begins with {mark:02x?}, not {magic:02x?}")));
    }
    let length = bytes[4..HEAD]
        .iter()
        .rfold(0, |n, b| n << 8 | u64::from(*b));
    if length != bytes.len() as u64 {
        let got = bytes.len();
        return Err(failed(format!("has {got} bytes, expected {length}")));
    }
    let (sealed, sum) = bytes.split_at(bytes.len() - TAIL);
    if crc32c::crc32c(sealed).to_le_bytes() != sum {
        return Err(failed("is damaged: its checksum differs".into()));
    }
    let mut cursor = Cursor::new(&sealed[HEAD..]);
    let codec = cursor
        .varint_up_to(0, "the version")
        .and_then(|_| cursor.varint_up_to(1, "the compression"))
        .map_err(|bad| failed(format!("has an unknown header: {}", bad.message)))?;
    let start = sealed.len() - cursor.remaining();
    let content = match codec {
        0 => Cow::Borrowed(&sealed[start..]),
        _ => Cow::Owned(inflate(&sealed[start..], limit).map_err(failed)?),
    };
    let mut cursor = Cursor::new(&content);
    let all = read(&mut cursor).and_then(|value| cursor.end().map(|()| value));
    all.map_err(|bad| match codec {
        0 => {
            let at = base + (start + bad.at) as u64;
            format!("{kind}, at byte {at}: {}", bad.message)
        }
        _ => failed(format!(
            "is invalid at byte {} of its contents: {}",
            bad.at, bad.message
        )),
    })
}

/// Decompresses the only Zstandard frame in `frame`.
fn inflate(frame: &[u8], limit: usize) -> Result<Vec<u8>, String> {
    let (content, rest) = zstandard::first_frame(frame, limit.saturating_add(1))
        .map_err(|e| format!("cannot be decompressed: {e}"))?;
    match (content.len() > limit, rest) {
        (true, _) => Err(format!("has contents of more than {limit} bytes")),
        (false, 0) => Ok(content),
        (false, more) => Err(format!("has {more} bytes after its compressed contents")),
    }
}

/// Encodes a block with these contents.
pub(super) fn encode(kind: Kind, content: &[u8], compression: Compression) -> Vec<u8> {
    let mut block = Vec::with_capacity(HEAD + 2 + content.len() + TAIL);
    block.extend(kind.magic().to_be_bytes());
    block.extend([0; 8]);
    put_varint(&mut block, 0);
    // Compression to memory fails only if memory runs out.
    let packed = match compression {
        Compression::None => None,
        Compression::Zstd { level } => zstandard::compress(content, level).ok(),
    };
    put_varint(&mut block, u64::from(packed.is_some()));
    block.extend_from_slice(packed.as_deref().unwrap_or(content));
    let length = (block.len() + TAIL) as u64;
    block[4..HEAD].copy_from_slice(&length.to_le_bytes());
    let sum = crc32c::crc32c(&block);
    block.extend(sum.to_le_bytes());
    block
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(block: &[u8]) -> Result<Vec<u8>, String> {
        decode(Kind::Node, block, 100, 1000, |c| {
            Ok(c.take(c.remaining())?.to_vec())
        })
    }

    #[test]
    fn blocks_are_read_as_written_and_no_other() {
        for compression in [Compression::None, Compression::Zstd { level: 0 }] {
            for length in [0, 1, 999, 1000] {
                let content = vec![7; length];
                let block = encode(Kind::Node, &content, compression);
                assert_eq!(read(&block).unwrap(), content);
                for i in 0..block.len() {
                    let mut damaged = block.clone();
                    damaged[i] ^= 0x10;
                    read(&damaged).unwrap_err();
                    read(&block[..i]).unwrap_err();
                }
            }
        }
    }

    #[test]
    fn a_content_is_limited() {
        let block = encode(Kind::Node, &[0; 1 << 20], Compression::Zstd { level: 0 });
        let error = read(&block).unwrap_err();
        assert_eq!(
            error,
            "the node at byte 100 has contents of more than 1000 bytes"
        );
    }

    #[test]
    fn errors_say_where_in_the_file() {
        let wrong = |compression| {
            let block = encode(Kind::Manifest, &[1, 2, 3], compression);
            let one = |c: &mut Cursor<'_>| c.byte();
            decode(Kind::Manifest, &block, 100, 1000, one).unwrap_err()
        };
        assert_eq!(
            wrong(Compression::None),
            "the manifest, at byte 115: 2 bytes are left over"
        );
        assert_eq!(
            wrong(Compression::Zstd { level: 1 }),
            "the manifest at byte 100 is invalid at byte 1 of its contents: 2 bytes are left over"
        );
    }
}
