//! The subset of the FlatBuffers format that exported functions need: tables, strings, and
//! vectors of bytes, numbers and tables.

use crate::{Error, Result};
use std::collections::BTreeMap;

/// A value to write.
pub(super) enum Node {
    /// A table: fields by their number.
    Table(BTreeMap<u16, Field>),
    Text(String),
    Bytes(Vec<u8>),
    U16s(Vec<u16>),
    U32s(Vec<u32>),
    List(Vec<Node>),
}

/// A field of a table.
pub(super) enum Field {
    U8(u8),
    U16(u16),
    U32(u32),
    Node(Node),
}

impl Field {
    fn size(&self) -> usize {
        match self {
            Field::U8(_) => 1,
            Field::U16(_) => 2,
            Field::U32(_) | Field::Node(_) => 4,
        }
    }
}

/// Creates a table with these fields.
pub(super) fn table(fields: impl IntoIterator<Item = (u16, Field)>) -> Node {
    Node::Table(fields.into_iter().collect())
}

/// Returns the bytes of a buffer with this root.
pub(super) fn write(root: &Node) -> Vec<u8> {
    // The first 4 bytes will contain the offset of the root.
    let mut writer = Writer { out: vec![0; 4] };
    let at = writer.node(root);
    writer.refer(0, at);
    writer.out
}

struct Writer {
    out: Vec<u8>,
}

impl Writer {
    fn align(&mut self, to: usize) {
        while !self.out.len().is_multiple_of(to) {
            self.out.push(0);
        }
    }

    fn u16(&mut self, value: usize) {
        self.out.extend((value as u16).to_le_bytes());
    }

    fn u32(&mut self, value: usize) {
        self.out.extend((value as u32).to_le_bytes());
    }

    /// Stores at `from` the 4-byte offset of `to`, which must be after `from`.
    fn refer(&mut self, from: usize, to: usize) {
        let offset = (to - from) as u32;
        self.out[from..from + 4].copy_from_slice(&offset.to_le_bytes());
    }

    /// Appends a node and returns its position.
    fn node(&mut self, node: &Node) -> usize {
        // No value of this subset is wider than 4 bytes.
        self.align(4);
        let at = self.out.len();
        match node {
            Node::Table(fields) => return self.table(fields),
            Node::Text(text) => {
                self.u32(text.len());
                self.out.extend(text.bytes());
                self.out.push(0);
            }
            Node::Bytes(bytes) => {
                self.u32(bytes.len());
                self.out.extend(bytes);
            }
            Node::U16s(numbers) => {
                self.u32(numbers.len());
                numbers.iter().for_each(|&n| self.u16(n.into()));
            }
            Node::U32s(numbers) => {
                self.u32(numbers.len());
                numbers.iter().for_each(|&n| self.u32(n as usize));
            }
            Node::List(items) => {
                self.u32(items.len());
                // Offsets are unsigned, so the items follow the list; their offsets are filled in
                // afterwards.
                let first = self.out.len();
                self.out.resize(first + 4 * items.len(), 0);
                for (i, item) in items.iter().enumerate() {
                    let to = self.node(item);
                    self.refer(first + 4 * i, to);
                }
            }
        }
        at
    }

    fn table(&mut self, fields: &BTreeMap<u16, Field>) -> usize {
        // The widest fields first, so that no field needs padding.
        let mut order: Vec<(&u16, &Field)> = fields.iter().collect();
        order.sort_by_key(|(_, field)| std::cmp::Reverse(field.size()));
        // The directory has a slot for each field number up to the last; 0 marks an absent field.
        let slots = fields.last_key_value().map_or(0, |(k, _)| *k as usize + 1);
        let mut offsets = vec![0; slots];
        // A table starts with the 4-byte offset of its directory.
        let mut size = 4;
        for (slot, field) in &order {
            offsets[**slot as usize] = size;
            size += field.size();
        }
        self.align(4);
        let directory = self.out.len();
        // The directory contains its own size, the table's size, and the offset of each field in
        // the table.
        self.u16(4 + 2 * slots);
        self.u16(size);
        for offset in &offsets {
            self.u16(*offset);
        }
        self.align(4);
        let at = self.out.len();
        self.u32(at - directory);
        for (_, field) in &order {
            match field {
                Field::U8(v) => self.out.push(*v),
                Field::U16(v) => self.u16((*v).into()),
                Field::U32(v) => self.u32(*v as usize),
                Field::Node(_) => self.u32(0),
            }
        }
        for (slot, field) in order {
            if let Field::Node(node) = field {
                let to = self.node(node);
                self.refer(at + offsets[*slot as usize], to);
            }
        }
        at
    }
}

/// A table that is being read.
#[derive(Clone, Copy)]
pub(super) struct Table<'a> {
    bytes: &'a [u8],
    at: usize,
}

fn damaged() -> Error {
    Error::Export(
        "the bytes are damaged or truncated\n  help: read them from a file written by `serialize`"
            .into(),
    )
}

fn number<const N: usize>(bytes: &[u8], at: usize) -> Result<u64> {
    let word = at
        .checked_add(N)
        .and_then(|end| bytes.get(at..end))
        .ok_or_else(damaged)?;
    let mut own = [0; 8];
    own[..N].copy_from_slice(word);
    Ok(u64::from_le_bytes(own))
}

/// Returns the position to which the 4-byte offset at `at` points.
fn follow(bytes: &[u8], at: usize) -> Result<usize> {
    let offset = number::<4>(bytes, at)? as usize;
    at.checked_add(offset)
        .filter(|to| *to < bytes.len())
        .ok_or_else(damaged)
}

impl<'a> Table<'a> {
    /// Returns the root of a buffer.
    pub fn root(bytes: &'a [u8]) -> Result<Table<'a>> {
        let at = follow(bytes, 0)?;
        Ok(Table { bytes, at })
    }

    /// Returns the position of a field; `None` if it has its default value.
    fn field(&self, slot: usize) -> Result<Option<usize>> {
        // The directory precedes or follows its table, so this offset is signed. A position before
        // the buffer wraps to a huge number, which `number` rejects.
        let back = number::<4>(self.bytes, self.at)? as u32 as i32;
        let directory = (self.at as i64 - i64::from(back)) as usize;
        let size = number::<2>(self.bytes, directory)? as usize;
        if 4 + 2 * slot >= size {
            return Ok(None);
        }
        let offset = number::<2>(self.bytes, directory + 4 + 2 * slot)? as usize;
        Ok((offset != 0).then_some(self.at + offset))
    }

    pub fn u8(&self, slot: usize) -> Result<u8> {
        let at = self.field(slot)?;
        at.map_or(Ok(0), |at| Ok(number::<1>(self.bytes, at)? as u8))
    }

    pub fn u16(&self, slot: usize) -> Result<u16> {
        let at = self.field(slot)?;
        at.map_or(Ok(0), |at| Ok(number::<2>(self.bytes, at)? as u16))
    }

    pub fn u32(&self, slot: usize) -> Result<u32> {
        let at = self.field(slot)?;
        at.map_or(Ok(0), |at| Ok(number::<4>(self.bytes, at)? as u32))
    }

    pub fn table(&self, slot: usize) -> Result<Option<Table<'a>>> {
        let Some(at) = self.field(slot)? else {
            return Ok(None);
        };
        let at = follow(self.bytes, at)?;
        Ok(Some(Table { at, ..*self }))
    }

    /// Returns the position of the first item of a vector, and the number of items.
    fn vector(&self, slot: usize, item: usize) -> Result<(usize, usize)> {
        let at = self.field(slot)?;
        at.map_or(Ok((0, 0)), |at| self.vector_from(at, item))
    }

    /// Same as [`vector`](Self::vector), for the vector to which the offset at `at` points.
    fn vector_from(&self, at: usize, item: usize) -> Result<(usize, usize)> {
        let at = follow(self.bytes, at)?;
        let len = number::<4>(self.bytes, at)? as usize;
        // Reading the length has checked that `at + 4` is in the buffer.
        let fits = len
            .checked_mul(item)
            .is_some_and(|size| size <= self.bytes.len() - at - 4);
        if fits {
            Ok((at + 4, len))
        } else {
            Err(damaged())
        }
    }

    fn text_in(&self, (at, len): (usize, usize)) -> Result<String> {
        String::from_utf8(self.bytes[at..at + len].to_vec()).map_err(|_| damaged())
    }

    pub fn bytes(&self, slot: usize) -> Result<&'a [u8]> {
        let (at, len) = self.vector(slot, 1)?;
        Ok(&self.bytes[at..at + len])
    }

    pub fn text(&self, slot: usize) -> Result<String> {
        self.text_in(self.vector(slot, 1)?)
    }

    pub fn u16s(&self, slot: usize) -> Result<Vec<u16>> {
        let (at, len) = self.vector(slot, 2)?;
        (0..len)
            .map(|i| Ok(number::<2>(self.bytes, at + 2 * i)? as u16))
            .collect()
    }

    pub fn u32s(&self, slot: usize) -> Result<Vec<u32>> {
        let (at, len) = self.vector(slot, 4)?;
        (0..len)
            .map(|i| Ok(number::<4>(self.bytes, at + 4 * i)? as u32))
            .collect()
    }

    /// Returns the number of bytes of the whole buffer.
    pub fn buffer_size(&self) -> usize {
        self.bytes.len()
    }

    pub fn tables(&self, slot: usize) -> Result<Vec<Table<'a>>> {
        let (at, len) = self.vector(slot, 4)?;
        (0..len)
            .map(|i| {
                let at = follow(self.bytes, at + 4 * i)?;
                Ok(Table { at, ..*self })
            })
            .collect()
    }

    pub fn texts(&self, slot: usize) -> Result<Vec<String>> {
        let (at, len) = self.vector(slot, 4)?;
        (0..len)
            .map(|i| self.text_in(self.vector_from(at + 4 * i, 1)?))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let inner = || table([(0, Field::U8(3)), (2, Field::Node(Node::Text("ü".into())))]);
        let root = table([
            (0, Field::U16(7)),
            (1, Field::Node(Node::List(vec![inner(), inner()]))),
            (3, Field::Node(Node::Bytes(vec![1, 2, 3]))),
            (4, Field::U32(1 << 20)),
            (5, Field::Node(Node::U16s(vec![1, 500]))),
            (6, Field::Node(Node::U32s(vec![]))),
            (7, Field::Node(Node::List(vec![Node::Text("a".into())]))),
        ]);
        let bytes = write(&root);
        let root = Table::root(&bytes).unwrap();
        assert_eq!((root.u16(0).unwrap(), root.u32(4).unwrap()), (7, 1 << 20));
        assert_eq!((root.u16(2).unwrap(), root.u32(99).unwrap()), (0, 0));
        let inner = root.tables(1).unwrap();
        assert_eq!((inner.len(), inner[1].u8(0).unwrap()), (2, 3));
        assert_eq!(inner[1].text(2).unwrap(), "ü");
        assert_eq!(root.bytes(3).unwrap(), [1, 2, 3]);
        assert_eq!(root.u16s(5).unwrap(), [1, 500]);
        assert!(root.u32s(6).unwrap().is_empty());
        assert_eq!(root.texts(7).unwrap(), ["a"]);
    }

    #[test]
    fn damage_is_an_error_and_not_a_panic() {
        let root = table([
            (0, Field::Node(Node::Text("hello".into()))),
            (1, Field::Node(Node::List(vec![table([(0, Field::U8(1))])]))),
        ]);
        let bytes = write(&root);
        let read = |bytes: &[u8]| -> Result<()> {
            let root = Table::root(bytes)?;
            root.text(0)?;
            root.texts(1)?;
            for t in root.tables(1)? {
                t.u8(0)?;
            }
            Ok(())
        };
        for cut in 0..bytes.len() {
            let _ = read(&bytes[..cut]);
        }
        for at in 0..bytes.len() {
            for flip in [1, 0x80, 0xFF] {
                let mut wrong = bytes.clone();
                wrong[at] ^= flip;
                let _ = read(&wrong);
            }
        }
        assert!(read(&bytes[..10]).is_err());
    }
}
