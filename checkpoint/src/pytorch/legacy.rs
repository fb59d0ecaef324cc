//! The form before PyTorch 1.6: pickles, followed by the storages.

use super::archive::Contents;
use super::input::{Input, damaged, unsupported};
use super::machine;
use super::object::{Object, Pickle, Storage};
use ramie_core::files::{Problem, read_exact_at};
use std::collections::HashMap;
use std::fs::File;

/// The number in the first pickle, lowest byte first.
const MAGIC: [u8; 10] = [0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19];

/// Version of the form.
const VERSION: i64 = 1001;

/// Reads a file of `length` bytes from its beginning.
pub(super) fn read(file: &File, length: u64) -> Result<Contents, Problem> {
    let mut input = Input::new(file, length);
    let magic = machine::load(&mut input)?;
    if !matches!(magic.root(), Object::Long(number) if *number == MAGIC) {
        return Err(damaged(
            "is a pickle without the magic number of PyTorch files",
        ));
    }
    let version = machine::load(&mut input)?;
    if !matches!(version.root(), Object::Int(VERSION)) {
        return Err(damaged(format_args!(
            "does not have version {VERSION} of the legacy form"
        )));
    }
    if !is_little_endian(&machine::load(&mut input)?) {
        return Err(unsupported("is in big-endian byte order"));
    }
    let pickle = machine::load(&mut input)?;
    let keys = machine::load(&mut input)?;
    let bytes = input.position();
    let found = storages(file, length, bytes, &pickle, &keys)?;
    let mut starts = Vec::with_capacity(pickle.storages.len());
    for storage in &pickle.storages {
        let key = pickle.key(storage);
        match found.get(key) {
            Some((start, bytes)) if *bytes == storage.bytes => starts.push(*start),
            _ => {
                return Err(damaged(format_args!(
                    "is damaged: it does not have the storage `{key}` of {} bytes",
                    storage.bytes
                )));
            }
        }
    }
    Ok(Contents {
        pickle,
        starts,
        bytes,
    })
}

/// Returns whether the description of the system that wrote the file names this byte order.
fn is_little_endian(system: &Pickle) -> bool {
    let Object::Dict(entries) = system.root() else {
        return false;
    };
    entries.iter().any(|&(key, value)| {
        matches!(system.get(key), Object::Str(name) if name == "little_endian")
            && matches!(system.get(value), Object::Bool(true))
    })
}

/// Returns the offsets and the sizes of the storages by key. They begin at byte `at`, in the order
/// of the keys, each after its number of elements.
fn storages<'a>(
    file: &File,
    length: u64,
    mut at: u64,
    pickle: &Pickle,
    keys: &'a Pickle,
) -> Result<HashMap<&'a str, (u64, u64)>, Problem> {
    let references = pickle.storages.iter().map(|s| (pickle.key(s), s));
    let references: HashMap<&str, &Storage> = references.collect();
    let Object::List(list) = keys.root() else {
        return Err(damaged("is damaged: it has no list of storages"));
    };
    let mut found = HashMap::new();
    for &key in list {
        let Object::Str(key) = keys.get(key) else {
            return Err(damaged("is damaged: the name of a storage is not a string"));
        };
        let Some(storage) = references.get(key.as_str()) else {
            return Err(damaged(format_args!(
                "is damaged: no tensor refers to the storage `{key}`"
            )));
        };
        let left = (length - at).checked_sub(8);
        if left.is_none_or(|left| left < storage.bytes) {
            return Err(damaged(format_args!(
                "is damaged or truncated: the storage `{key}` has {} bytes, but only {} follow",
                storage.bytes,
                left.unwrap_or(0)
            )));
        }
        let mut count = [0; 8];
        read_exact_at(file, &mut count, at).map_err(Problem::Io)?;
        let count = u64::from_le_bytes(count);
        if count.checked_mul(storage.dtype.size() as u64) != Some(storage.bytes) {
            return Err(damaged(format_args!(
                "is damaged: the storage `{key}` has {count} elements, expected {} bytes of {}",
                storage.bytes, storage.dtype
            )));
        }
        found.insert(key.as_str(), (at + 8, storage.bytes));
        at += 8 + storage.bytes;
    }
    Ok(found)
}
