//! Locations of nodes and values, and statistics of subtrees.

use super::cursor::{Cursor, Decoded, put_varint};
use super::data_files::{DataFile, Table};

/// Range of bytes in a file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Location {
    pub file: DataFile,
    pub offset: u64,
    pub length: u64,
}

impl Location {
    /// Creates a location. Returns an error if it exceeds the maximum size of a file.
    pub fn checked(
        cursor: &Cursor<'_>,
        file: &DataFile,
        offset: u64,
        length: u64,
    ) -> Decoded<Location> {
        match offset.checked_add(length) {
            Some(end) if end <= i64::MAX as u64 => Ok(Location {
                file: file.clone(),
                offset,
                length,
            }),
            _ => cursor.bad(format!(
                "{length} bytes at offset {offset} exceed the maximum size of \
                                     a file"
            )),
        }
    }
}

/// Reads the file indices of `count` locations.
pub(super) fn read_files<'f>(
    cursor: &mut Cursor<'_>,
    files: &'f [DataFile],
    count: usize,
) -> Decoded<Vec<&'f DataFile>> {
    let one = |_| {
        let number = cursor.varint()?;
        match files.get(usize::try_from(number).unwrap_or(usize::MAX)) {
            Some(file) => Ok(file),
            None => cursor.bad(format!(
                "file index {number} is out of range of {} files",
                files.len()
            )),
        }
    };
    (0..count).map(one).collect()
}

/// Reads `count` locations; a missing one is `None`.
pub(super) fn read_locations(
    cursor: &mut Cursor<'_>,
    files: &[DataFile],
    count: usize,
) -> Decoded<Vec<Option<Location>>> {
    let files = read_files(cursor, files, count)?;
    let offsets = cursor.varints(count)?;
    let lengths = cursor.varints(count)?;
    let all = files.into_iter().zip(offsets.into_iter().zip(lengths));
    all.map(|(file, place)| match place {
        (u64::MAX, u64::MAX) => Ok(None),
        (offset, length) => Location::checked(cursor, file, offset, length).map(Some),
    })
    .collect()
}

/// Reads `count` locations, none of which may be missing.
pub(super) fn read_present(
    cursor: &mut Cursor<'_>,
    files: &[DataFile],
    count: usize,
) -> Decoded<Vec<Location>> {
    let all: Option<_> = read_locations(cursor, files, count)?.into_iter().collect();
    all.map_or_else(|| cursor.bad("a node's location is missing"), Ok)
}

/// Writes locations.
pub(super) fn write_locations<'l>(
    out: &mut Vec<u8>,
    table: &Table,
    all: impl Iterator<Item = &'l Location> + Clone,
) {
    for location in all.clone() {
        put_varint(out, table.number(&location.file));
    }
    for location in all.clone() {
        put_varint(out, location.offset);
    }
    for location in all {
        put_varint(out, location.length);
    }
}

/// Statistics of a subtree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Statistics {
    pub keys: u64,
    /// Bytes of its nodes.
    pub nodes: u64,
    /// Bytes of values outside its nodes.
    pub values: u64,
}

impl Statistics {
    pub fn add(&mut self, other: &Statistics) {
        self.keys = self.keys.saturating_add(other.keys);
        self.nodes = self.nodes.saturating_add(other.nodes);
        self.values = self.values.saturating_add(other.values);
    }
}

/// Reads the statistics of `count` subtrees.
pub(super) fn read_statistics(cursor: &mut Cursor<'_>, count: usize) -> Decoded<Vec<Statistics>> {
    let keys = cursor.varints(count)?;
    let nodes = cursor.varints(count)?;
    let values = cursor.varints(count)?;
    let all = keys.into_iter().zip(nodes).zip(values);
    Ok(all
        .map(|((keys, nodes), values)| Statistics {
            keys,
            nodes,
            values,
        })
        .collect())
}

/// Writes the statistics of subtrees.
pub(super) fn write_statistics<'s>(
    out: &mut Vec<u8>,
    all: impl Iterator<Item = &'s Statistics> + Clone,
) {
    all.clone().for_each(|s| put_varint(out, s.keys));
    all.clone().for_each(|s| put_varint(out, s.nodes));
    all.for_each(|s| put_varint(out, s.values));
}
