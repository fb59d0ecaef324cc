//! The protocol buffer wire format: as much as is needed to write compile options, profiles and
//! event files, and to read compiled modules.

/// A writer of a protocol buffer message, to which fields are appended by number.
///
/// ```
/// use ramie_formats::proto::Writer;
/// let mut message = Writer::default();
/// message.message(2, |inner| inner.int(1, 5));
/// assert_eq!(message.0, [2 << 3 | 2, 2, 1 << 3, 5]);
/// ```
#[derive(Default)]
pub struct Writer(
    /// The encoded fields.
    pub Vec<u8>,
);

impl Writer {
    /// Writes a number in as few bytes as possible, without a field key.
    pub fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    /// Writes a field of integer, bool or enum type.
    pub fn int(&mut self, field: u32, value: i64) {
        self.uint(field, value as u64);
    }

    /// Writes a field of unsigned integer type.
    pub fn uint(&mut self, field: u32, value: u64) {
        self.varint(u64::from(field) << 3);
        self.varint(value);
    }

    /// Writes a field of string, bytes or message type, or a packed list.
    pub fn bytes(&mut self, field: u32, value: &[u8]) {
        self.varint(u64::from(field) << 3 | 2);
        self.varint(value.len() as u64);
        self.0.extend_from_slice(value);
    }

    /// Writes a field of type double.
    pub fn double(&mut self, field: u32, value: f64) {
        self.varint(u64::from(field) << 3 | 1);
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    /// Writes a field of type float.
    pub fn float(&mut self, field: u32, value: f32) {
        self.varint(u64::from(field) << 3 | 5);
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    /// Writes a message field with `body`.
    pub fn message(&mut self, field: u32, body: impl FnOnce(&mut Writer)) {
        let mut inner = Writer::default();
        body(&mut inner);
        self.bytes(field, &inner.0);
    }
}

/// The payload of a field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Field<'a> {
    /// An integer, boolean or enum value.
    Int(u64),
    /// Eight bytes, such as the bits of a double.
    Fixed64(u64),
    /// A string, bytes, a message or a packed list.
    Bytes(&'a [u8]),
    /// Four bytes, such as the bits of a float.
    Fixed32(u32),
}

impl<'a> Field<'a> {
    /// Returns the value of an integer field; 0 for other kinds.
    pub fn int(self) -> i64 {
        match self {
            Field::Int(value) => value as i64,
            _ => 0,
        }
    }

    /// Returns the bytes of a length-delimited field; empty for other kinds.
    pub fn bytes(self) -> &'a [u8] {
        match self {
            Field::Bytes(bytes) => bytes,
            _ => &[],
        }
    }

    /// Returns the value of a string field, with invalid UTF-8 replaced.
    pub fn text(self) -> String {
        String::from_utf8_lossy(self.bytes()).into_owned()
    }

    /// Appends the integers of this field like [`ints_into`](Field::ints_into). Returns `None`,
    /// after appending some of them, if the field is malformed.
    pub(crate) fn all_ints_into(self, list: &mut Vec<i64>) -> Option<()> {
        match self {
            Field::Bytes(packed) => {
                let mut reader = Reader(packed);
                while !reader.0.is_empty() {
                    list.push(reader.varint()? as i64);
                }
                Some(())
            }
            Field::Int(value) => {
                list.push(value as i64);
                Some(())
            }
            Field::Fixed64(_) | Field::Fixed32(_) => None,
        }
    }

    /// Appends the integers of this field, packed or single, to `list`.
    pub fn ints_into(self, list: &mut Vec<i64>) {
        match self {
            Field::Bytes(packed) => {
                let mut reader = Reader(packed);
                while let Some(value) = reader.varint() {
                    list.push(value as i64);
                }
            }
            single => list.push(single.int()),
        }
    }
}

/// Returns all fields of a message, or `None` if the message is malformed.
///
/// ```
/// use ramie_formats::proto::{Field, fields};
/// assert_eq!(fields(&[1 << 3, 5]), Some(vec![(1, Field::Int(5))]));
/// ```
pub fn fields(message: &[u8]) -> Option<Vec<(u32, Field<'_>)>> {
    let mut reader = Reader(message);
    let mut all = Vec::new();
    while !reader.0.is_empty() {
        all.push(reader.next()?);
    }
    Some(all)
}

/// An iterator over the fields of a message, which ends at its end or at the first malformed
/// byte.
pub(crate) struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    fn varint(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for (i, &byte) in self.0.iter().enumerate().take(10) {
            value |= u64::from(byte & 0x7f) << (7 * i as u32).min(63);
            if byte & 0x80 == 0 {
                self.0 = &self.0[i + 1..];
                return Some(value);
            }
        }
        None
    }

    fn take(&mut self, count: u64) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(usize::try_from(count).ok()?)?;
        self.0 = rest;
        Some(taken)
    }
}

impl<'a> Iterator for Reader<'a> {
    type Item = (u32, Field<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let key = self.varint()?;
        let field = match key & 7 {
            0 => Field::Int(self.varint()?),
            1 => Field::Fixed64(u64::from_le_bytes(self.take(8)?.try_into().ok()?)),
            2 => {
                let length = self.varint()?;
                Field::Bytes(self.take(length)?)
            }
            5 => Field::Fixed32(u32::from_le_bytes(self.take(4)?.try_into().ok()?)),
            _ => return None,
        };
        Some((u32::try_from(key >> 3).ok()?, field))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let mut writer = Writer::default();
        writer.int(1, -1);
        writer.int(4, 300);
        writer.double(5, 1.5);
        writer.message(19, |m| m.bytes(2, b"name"));
        let fields: Vec<_> = Reader(&writer.0).collect();
        assert_eq!(fields[0].1.int(), -1);
        assert_eq!(fields[1], (4, Field::Int(300)));
        assert_eq!(fields[2], (5, Field::Fixed64(1.5f64.to_bits())));
        assert_eq!(
            Reader(fields[3].1.bytes()).next(),
            Some((2, Field::Bytes(b"name")))
        );
    }

    #[test]
    fn a_message_is_read_to_its_end_or_not_at_all() {
        let mut writer = Writer::default();
        writer.int(3, 1000);
        writer.bytes(4, &[0x80, 0x01, 7]);
        let ends = [0, 3, 8];
        for cut in 0..=writer.0.len() {
            let read = fields(&writer.0[..cut]);
            assert_eq!(read.is_some(), ends.contains(&cut), "first {cut} bytes");
        }
        let ints = |bytes| {
            let mut list = Vec::new();
            Field::Bytes(bytes).all_ints_into(&mut list).map(|()| list)
        };
        assert_eq!(ints(&[0x80, 0x01, 7]), Some(vec![128, 7]));
        assert_eq!(ints(&[7, 0x80]), None);
    }

    #[test]
    fn malformed_bytes_end_the_message() {
        assert_eq!(
            Reader(&[0x0a, 0x05, 1, 2]).count(),
            0,
            "length beyond the end"
        );
        assert_eq!(Reader(&[0xff; 12]).count(), 0, "varint without end");
        assert_eq!(Reader(&[0x0b]).count(), 0, "unknown wire type");
        assert_eq!(
            Reader(&[0x08, 1, 0x09, 1]).count(),
            1,
            "truncated second field"
        );
    }
}
