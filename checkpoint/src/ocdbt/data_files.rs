//! Data files, which contain nodes and values.

use super::cursor::{Cursor, Decoded, common_prefix, put_varint};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Maximum length of a path.
const LONGEST: usize = 65535;

/// A file, given by its path from the database's directory in two parts.
///
/// Paths that are read from a file are relative to its `base`, so that a database in a
/// subdirectory of another one can be part of it unchanged.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct DataFile {
    pub base: Arc<str>,
    pub relative: Arc<str>,
}

impl DataFile {
    pub fn path(&self) -> String {
        format!("{}{}", self.base, self.relative)
    }
}

/// Reads a block's table of files, whose paths are relative to `base` and take at most about
/// `limit` bytes.
pub(super) fn read_table(
    cursor: &mut Cursor<'_>,
    base: &Arc<str>,
    limit: usize,
) -> Decoded<Vec<DataFile>> {
    let count = cursor.count(usize::MAX, 2, "the number of files")?;
    let room = LONGEST.saturating_sub(base.len());
    let mut shared = vec![0];
    shared.extend(cursor.varints_up_to(count.saturating_sub(1), room, "a path's length")?);
    let own = cursor.varints_up_to(count, room, "a path's length")?;
    let bases = cursor.varints_up_to(count, room, "a base path's length")?;
    let mut files: Vec<DataFile> = Vec::with_capacity(count);
    let (mut path, mut base_before, mut total) = (Vec::new(), 0, 0);
    for i in 0..count {
        let (shared, base_length) = (shared[i], bases[i]);
        let length = shared + own[i];
        if shared > path.len() || length > room || base_length > length {
            return cursor.bad(format!("the path of file {i} has invalid lengths"));
        }
        if shared > base_length.min(base_before) && base_length != base_before {
            return cursor.bad(format!("file {i} shares more than its base path"));
        }
        path.truncate(shared);
        path.extend_from_slice(cursor.take(own[i])?);
        total += length;
        if total > limit {
            return cursor.bad(format!("paths of files take more than {limit} bytes"));
        }
        let text = |bytes| match std::str::from_utf8(bytes) {
            Ok(text) => Ok(text),
            Err(_) => cursor.bad(format!("the path of file {i} is not UTF-8")),
        };
        let same = i > 0 && base_length == base_before && shared >= base_length;
        let base: Arc<str> = match files.last() {
            Some(last) if same => last.base.clone(),
            _ if base_length == 0 => base.clone(),
            _ => format!("{base}{}", text(&path[..base_length])?).into(),
        };
        let relative = text(&path[base_length..])?.into();
        files.push(DataFile { base, relative });
        base_before = base_length;
    }
    Ok(files)
}

fn common(a: &str, b: &str) -> usize {
    common_prefix(a.as_bytes(), b.as_bytes())
}

/// Table of files that is being built.
#[derive(Default)]
pub(super) struct Table(BTreeMap<DataFile, usize>);

impl Table {
    pub fn add(&mut self, file: &DataFile) {
        if !self.0.contains_key(file) {
            self.0.insert(file.clone(), 0);
        }
    }

    /// Writes the table and assigns the files' indices.
    pub fn write(&mut self, out: &mut Vec<u8>) {
        put_varint(out, self.0.len() as u64);
        let files: Vec<&DataFile> = self.0.keys().collect();
        let length = |file: &DataFile| file.base.len() + file.relative.len();
        let mut shared = vec![0];
        for pair in files.windows(2) {
            let (last, file) = (pair[0], pair[1]);
            shared.push(if last.base == file.base {
                file.base.len() + common(&last.relative, &file.relative)
            } else {
                common(&last.base, &file.base)
            });
        }
        for &shared in &shared[1..] {
            put_varint(out, shared as u64);
        }
        for (file, shared) in files.iter().zip(&shared) {
            put_varint(out, (length(file) - shared) as u64);
        }
        for file in &files {
            put_varint(out, file.base.len() as u64);
        }
        for (file, &shared) in files.iter().zip(&shared) {
            let in_base = shared.min(file.base.len());
            out.extend_from_slice(&file.base.as_bytes()[in_base..]);
            out.extend_from_slice(&file.relative.as_bytes()[shared - in_base..]);
        }
        for (number, place) in self.0.values_mut().enumerate() {
            *place = number;
        }
    }

    /// Returns the index of a file that was added.
    pub fn number(&self, file: &DataFile) -> u64 {
        self.0[file] as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(base: &str, relative: &str) -> DataFile {
        DataFile {
            base: base.into(),
            relative: relative.into(),
        }
    }

    #[test]
    fn tables_are_read_as_written() {
        let files = [
            file("", ""),
            file("", "d/0123"),
            file("", "d/0145"),
            file("ocdbt.process_0/", "d/0123"),
            file("ocdbt.process_0/", "d/0199"),
            file("ocdbt.process_1/", "d/0199"),
            file("ocdbt.process_1/more/", "d/0199"),
        ];
        let mut table = Table::default();
        files.iter().rev().for_each(|file| table.add(file));
        let mut bytes = Vec::new();
        table.write(&mut bytes);
        let mut cursor = Cursor::new(&bytes);
        assert_eq!(read_table(&mut cursor, &"".into(), 1000).unwrap(), files);
        cursor.end().unwrap();
        assert_eq!(table.number(&files[4]), 4);
        for cut in 0..bytes.len() {
            read_table(&mut Cursor::new(&bytes[..cut]), &"".into(), 1000).unwrap_err();
        }
        let below = read_table(&mut Cursor::new(&bytes), &"a/".into(), 1000).unwrap();
        assert_eq!(below[1].path(), "a/d/0123");
        assert_eq!(below[3].base, "a/ocdbt.process_0/".into());
    }

    #[test]
    fn paths_take_no_more_than_the_limit() {
        // A path of 1000 bytes, and a thousand that differ from it in one byte.
        let mut bytes = Vec::new();
        put_varint(&mut bytes, 1001);
        (0..1000).for_each(|_| put_varint(&mut bytes, 999));
        put_varint(&mut bytes, 1000);
        (0..1000).for_each(|_| put_varint(&mut bytes, 1));
        (0..1001).for_each(|_| put_varint(&mut bytes, 0));
        bytes.extend([b'a'; 2000]);
        read_table(&mut Cursor::new(&bytes), &"".into(), 1 << 20).unwrap();
        let error = read_table(&mut Cursor::new(&bytes), &"".into(), 1 << 16).unwrap_err();
        assert_eq!(error.message, "paths of files take more than 65536 bytes");
    }
}
