//! Models in several safetensors files with an index.

use super::Metadata;
use super::read::{Arrays, Reader};
use super::write::write;
use crate::index::{Index, missing};
use crate::{Error, Result, atomic};
use ramie_core::{Array, State, Tree};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

/// Suffix of an index's file name; the rest of the name is the prefix of the shards' names.
pub(crate) const ENDING: &str = ".safetensors.index.json";

fn read(path: &Path) -> Result<Index> {
    Index::read(path, "safetensors", &format!("model{ENDING}"))
}

/// Reads the metadata of an index; numbers become strings.
pub fn metadata(path: &Path) -> Result<Metadata> {
    let text = |value: Value| match value {
        Value::String(text) => text,
        other => other.to_string(),
    };
    let metadata = read(path)?.metadata.into_iter();
    Ok(metadata.map(|(k, v)| (k, text(v))).collect())
}

/// Opens the shards of an index.
pub fn open(path: &Path) -> Result<Arrays> {
    let index = read(path)?;
    let mut arrays = Arrays {
        shards: Vec::new(),
        tensors: Vec::with_capacity(index.weight_map.len()),
    };
    for (shard, names) in index.shards(path)? {
        let reader = Reader::open(&shard)?;
        let mut there = reader.tensors()?;
        for name in names {
            // Both the names and the tensors of a shard are sorted.
            let at = there
                .binary_search_by(|t| (*t.name).cmp(name))
                .map_err(|_| missing(path, &shard, name))?;
            arrays.tensors.push((there.remove(at), arrays.shards.len()));
        }
        arrays.shards.push(reader);
    }
    arrays.tensors.sort_by(|a, b| a.0.name.cmp(&b.0.name));
    Ok(arrays)
}

/// Saves the arrays of a tree in several files of at most `max_shard_size` bytes of arrays each,
/// and an index of them. An array that is larger gets a file of its own.
///
/// `index` is the path of the index and must end in `.safetensors.index.json`; the files are named
/// after it, such as `model-00001-of-00003.safetensors`. Each file is replaced atomically, the
/// index last, but the files are not replaced together. To keep an older model intact, save into
/// another directory.
///
/// # Errors
/// Returns an error if a file cannot be written, or if an array cannot be read because its
/// computation failed or it is traced.
///
/// # Panics
/// Panics if two leaves of the tree have the same path, or if the path of the index has another
/// suffix.
///
/// ```no_run
/// # fn main() -> Result<(), ramie_checkpoint::Error> {
/// # let model = ramie_core::Array::from(0.0f32);
/// use ramie_checkpoint::{load_state, save_sharded};
/// save_sharded("llama/model.safetensors.index.json", &model, 5_000_000_000)?;
/// let arrays = load_state("llama/model.safetensors.index.json")?;
/// # Ok(())
/// # }
/// ```
#[track_caller]
pub fn save_sharded<T: Tree>(
    index: impl AsRef<Path>,
    tree: &T,
    max_shard_size: usize,
) -> Result<()> {
    save_sharded_with_metadata(index, tree, max_shard_size, &Metadata::new())
}

/// Saves a tree like [`save_sharded`], with metadata for the index and each file.
///
/// # Errors
/// Same as [`save_sharded`].
///
/// # Panics
/// Same as [`save_sharded`].
#[track_caller]
pub fn save_sharded_with_metadata<T: Tree>(
    index: impl AsRef<Path>,
    tree: &T,
    max_shard_size: usize,
    metadata: &Metadata,
) -> Result<()> {
    let path = index.as_ref();
    let stem = path.file_name().and_then(|name| name.to_str());
    let Some(stem) = stem.and_then(|name| name.strip_suffix(ENDING)) else {
        panic!(
            "save_sharded: {} is not the name of an index\n  help: use a name that ends in \
             `{ENDING}`, such as model{ENDING}",
            path.display()
        );
    };
    let state = State::of(tree);
    let shards = split(&state, max_shard_size);
    let mut index = Index {
        metadata: metadata
            .iter()
            .map(|(k, v)| (k.clone(), v.clone().into()))
            .collect(),
        weight_map: BTreeMap::new(),
    };
    let size: usize = state.arrays().iter().map(Array::nbytes).sum();
    index.metadata.insert("total_size".into(), size.into());
    let count = shards.len();
    for (i, shard) in shards.into_iter().enumerate() {
        let file = format!("{stem}-{:05}-of-{count:05}.safetensors", i + 1);
        for (name, _) in &shard {
            index.weight_map.insert(name.to_string(), file.clone());
        }
        write(&path.with_file_name(file), shard, metadata)?;
    }
    let mut text = serde_json::to_vec_pretty(&index)
        .map_err(|e| Error::format(path, format!("the index cannot be written: {e}")))?;
    text.push(b'\n');
    atomic::replace(path, |file| {
        let written = file.write_all(&text);
        written.map_err(|e| Error::io(path, "be written", e))
    })
}

/// Assigns the arrays to files, preserving their order.
fn split(state: &State, largest: usize) -> Vec<Vec<(&str, &Array)>> {
    let mut shards = Vec::new();
    let (mut shard, mut size) = (Vec::new(), 0);
    for (name, array) in state.iter() {
        let bytes = array.nbytes();
        if bytes > largest {
            shards.push(vec![(name, array)]);
            continue;
        }
        if size + bytes > largest {
            shards.push(std::mem::take(&mut shard));
            size = 0;
        }
        shard.push((name, array));
        size += bytes;
    }
    if !shard.is_empty() {
        shards.push(shard);
    }
    shards
}
