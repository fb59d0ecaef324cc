//! Nodes of the B+tree: sorted keys with their values or with subtrees.

use super::cursor::{Cursor, Decoded, common_prefix, put_varint};
use super::data_files::{Table, read_table};
use super::location::{
    Location, Statistics, read_files, read_present, read_statistics, write_locations,
    write_statistics,
};
use std::cmp::Ordering;
use std::sync::Arc;

/// Maximum length of a key.
pub(super) const LONGEST_KEY: usize = 65535;
/// Maximum number of entries of a node.
pub(super) const MOST_ENTRIES: usize = 1 << 20;
/// Maximum size of a value in a node.
pub(super) const LARGEST_INLINE: usize = 1 << 20;

/// Sorted keys, without the prefix given by the path to the node.
pub(super) struct NodeKeys {
    /// The common prefix of all keys, followed by the rest of each.
    bytes: Vec<u8>,
    common: usize,
    /// End of the rest of each key.
    ends: Vec<usize>,
}

impl NodeKeys {
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns the common prefix and the rest of a key.
    pub fn get(&self, i: usize) -> (&[u8], &[u8]) {
        let start = if i == 0 {
            self.common
        } else {
            self.ends[i - 1]
        };
        (&self.bytes[..self.common], &self.bytes[start..self.ends[i]])
    }

    /// Appends a key to `out`.
    pub fn append(&self, i: usize, out: &mut Vec<u8>) {
        let (common, rest) = self.get(i);
        out.extend_from_slice(common);
        out.extend_from_slice(rest);
    }

    /// Compares a key with another one.
    pub fn compare(&self, i: usize, key: &[u8]) -> Ordering {
        let (common, rest) = self.get(i);
        let (start, end) = key.split_at(key.len().min(common.len()));
        common.cmp(start).then_with(|| rest.cmp(end))
    }

    /// Returns the number of keys for which `before` is true; it must be true for a prefix of the
    /// keys.
    fn partition(&self, before: impl Fn(Ordering) -> bool, key: &[u8]) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if before(self.compare(middle, key)) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        low
    }

    /// Returns the number of keys before `key`.
    pub fn before(&self, key: &[u8]) -> usize {
        self.partition(Ordering::is_lt, key)
    }

    /// Returns the number of keys before or equal to `key`.
    pub fn up_to(&self, key: &[u8]) -> usize {
        self.partition(Ordering::is_le, key)
    }

    /// Reads `count` keys, which take at most about `limit` bytes, and the lengths of the
    /// subtrees' prefixes.
    fn read(
        cursor: &mut Cursor<'_>,
        count: usize,
        inner: bool,
        limit: usize,
    ) -> Decoded<(NodeKeys, Vec<usize>)> {
        const LENGTH: &str = "a key's length";
        // Keys are delta-coded: `ab1`, `ab2`, `b` are stored as `ab1`, 2 + `2`, 0 + `b`. The first
        // key shares nothing, so its length is not in the file.
        let mut shared = vec![0];
        shared.extend(cursor.varints_up_to(count - 1, LONGEST_KEY, LENGTH)?);
        let own = cursor.varints_up_to(count, LONGEST_KEY, LENGTH)?;
        let prefixes = if inner {
            cursor.varints_up_to(count, LONGEST_KEY, "a prefix's length")?
        } else {
            Vec::new()
        };
        // A key shares with the first one the minimum of all shared lengths up to it.
        let least = shared[1..].iter().copied().min();
        let common = least.unwrap_or(own[0]).min(own[0]);
        let mut keys = NodeKeys {
            bytes: Vec::new(),
            common,
            ends: Vec::with_capacity(count),
        };
        // The previous key, in full.
        let mut last = Vec::new();
        for i in 0..count {
            if shared[i] > last.len() || shared[i] + own[i] > LONGEST_KEY {
                return cursor.bad(format!("key {i} has invalid lengths"));
            }
            let rest = cursor.take(own[i])?;
            // Lookups are binary searches, so keys must ascend; the shared bytes are equal.
            if i > 0 && last[shared[i]..] >= *rest {
                return cursor.bad(format!("key {i} is not after the previous one"));
            }
            last.truncate(shared[i]);
            last.extend_from_slice(rest);
            if prefixes.get(i).is_some_and(|&p| p > last.len()) {
                return cursor.bad(format!("key {i} is shorter than its prefix"));
            }
            // The common prefix is stored once, at the front of `bytes`.
            let start = if i == 0 { 0 } else { common };
            // Delta coding lets a short input expand to many long keys.
            if keys.bytes.len() + last.len() > limit.saturating_add(common) {
                return cursor.bad(format!("keys take more than {limit} bytes"));
            }
            keys.bytes.extend_from_slice(&last[start..]);
            keys.ends.push(keys.bytes.len());
        }
        Ok((keys, prefixes))
    }
}

/// Value of a key, stored in the node or in a data file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Inline(Box<[u8]>),
    OutOfLine(Location),
}

impl Value {
    pub fn length(&self) -> u64 {
        match self {
            Value::Inline(bytes) => bytes.len() as u64,
            Value::OutOfLine(location) => location.length,
        }
    }
}

/// Subtree of an inner node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Child {
    /// Number of leading bytes of its key that all keys in the subtree share and omit.
    pub prefix: usize,
    pub location: Location,
    pub statistics: Statistics,
}

/// Entries of a node: values of a leaf, or children of an inner node.
pub(super) enum Entries {
    Values(Vec<Value>),
    Children(Vec<Child>),
}

/// Node of the tree.
pub(super) struct Node {
    pub height: u8,
    pub keys: NodeKeys,
    pub entries: Entries,
}

impl Node {
    /// Reads the contents of a node whose file paths are relative to `base`.
    pub fn read(cursor: &mut Cursor<'_>, base: &Arc<str>, limit: usize) -> Decoded<Node> {
        let height = cursor.byte()?;
        let files = read_table(cursor, base, limit)?;
        let count = cursor.count(MOST_ENTRIES, 3, "the number of entries")?;
        if count == 0 {
            return cursor.bad("the node is empty");
        }
        let (keys, prefixes) = NodeKeys::read(cursor, count, height > 0, limit)?;
        let entries = if height == 0 {
            let lengths = cursor.varints(count)?;
            let kinds = cursor.take(count)?;
            if let Some(kind) = kinds.iter().find(|&&kind| kind > 1) {
                return cursor.bad(format!("a value has the unknown kind {kind}"));
            }
            // Only values outside of the node have a file and an offset; all values have a length.
            let outside = kinds.iter().filter(|&&kind| kind == 1).count();
            let mut files = read_files(cursor, &files, outside)?.into_iter();
            let mut offsets = cursor.varints(outside)?.into_iter();
            let mut values = Vec::with_capacity(count);
            for (&length, kind) in lengths.iter().zip(kinds) {
                let place = (kind == &1).then(|| (files.next(), offsets.next()));
                values.push(match place {
                    Some((Some(file), Some(offset))) => {
                        Value::OutOfLine(Location::checked(cursor, file, offset, length)?)
                    }
                    _ if length > LARGEST_INLINE as u64 => {
                        return cursor.bad(format!("a value in a node has {length} bytes"));
                    }
                    _ => Value::Inline(cursor.take(length as usize)?.into()),
                });
            }
            Entries::Values(values)
        } else {
            let locations = read_present(cursor, &files, count)?;
            let statistics = read_statistics(cursor, count)?;
            let all = prefixes.into_iter().zip(locations).zip(statistics);
            let child = |((prefix, location), statistics)| Child {
                prefix,
                location,
                statistics,
            };
            Entries::Children(all.map(child).collect())
        };
        Ok(Node {
            height,
            keys,
            entries,
        })
    }
}

/// Writes the contents of a leaf: sorted keys with their values, without the first `prefix` bytes
/// of each key.
pub(super) fn write_leaf(prefix: usize, entries: &[(Vec<u8>, Value)]) -> Vec<u8> {
    let mut out = vec![0];
    let outside = || {
        entries.iter().filter_map(|(_, value)| match value {
            Value::OutOfLine(location) => Some(location),
            Value::Inline(_) => None,
        })
    };
    // Indices in the table depend on its order, so add all files before the first is written.
    let mut table = Table::default();
    outside().for_each(|location| table.add(&location.file));
    table.write(&mut out);
    put_varint(&mut out, entries.len() as u64);
    let shared = write_key_lengths(&mut out, prefix, entries);
    write_key_bytes(&mut out, &shared, entries);
    for (_, value) in entries {
        put_varint(&mut out, value.length());
    }
    let kind = |value: &Value| u8::from(matches!(value, Value::OutOfLine(_)));
    out.extend(entries.iter().map(|(_, value)| kind(value)));
    outside().for_each(|location| put_varint(&mut out, table.number(&location.file)));
    outside().for_each(|location| put_varint(&mut out, location.offset));
    for (_, value) in entries {
        if let Value::Inline(bytes) = value {
            out.extend_from_slice(bytes);
        }
    }
    out
}

/// Writes the contents of an inner node, without the first `prefix` bytes of each key. The
/// prefixes of its children include these bytes.
pub(super) fn write_inner(height: u8, prefix: usize, entries: &[(Vec<u8>, Child)]) -> Vec<u8> {
    let mut out = vec![height];
    let mut table = Table::default();
    entries
        .iter()
        .for_each(|(_, c)| table.add(&c.location.file));
    table.write(&mut out);
    put_varint(&mut out, entries.len() as u64);
    let shared = write_key_lengths(&mut out, prefix, entries);
    for (_, child) in entries {
        // No underflow: `tree::build` limits `prefix` to the shortest prefix of the children.
        put_varint(&mut out, (child.prefix - prefix) as u64);
    }
    write_key_bytes(&mut out, &shared, entries);
    write_locations(&mut out, &table, entries.iter().map(|(_, c)| &c.location));
    write_statistics(&mut out, entries.iter().map(|(_, c)| &c.statistics));
    out
}

/// Writes the lengths of keys. Returns the number of bytes that each key shares with the previous
/// one (for the first key, `prefix`).
fn write_key_lengths<T>(out: &mut Vec<u8>, prefix: usize, entries: &[(Vec<u8>, T)]) -> Vec<usize> {
    let mut shared = vec![prefix];
    shared.extend(entries.windows(2).map(|p| common_prefix(&p[0].0, &p[1].0)));
    for &shared in &shared[1..] {
        put_varint(out, (shared - prefix) as u64);
    }
    for ((key, _), shared) in entries.iter().zip(&shared) {
        put_varint(out, (key.len() - shared) as u64);
    }
    shared
}

fn write_key_bytes<T>(out: &mut Vec<u8>, shared: &[usize], entries: &[(Vec<u8>, T)]) {
    for ((key, _), &shared) in entries.iter().zip(shared) {
        out.extend_from_slice(&key[shared..]);
    }
}
