//! Items of any kind, restored without naming their types.

use super::iterator::{self, IteratorRestore};
use super::metrics::Metrics;
use super::{JaxRandomKeyRestore, JsonRestore, random_key};
use crate::commit::{ItemReader, METADATA, RestoreArgs, TREE, restore_checked};
use crate::pytree::{ARRAY, ArrayRestore, DictRestore, TreeMetadata};
use crate::serialization::StateDict;
use crate::{Error, Result};
use ramie_core::Array;
use ramie_core::files::Message;
use ramie_core::random::Key;
use serde_json::Value;
use std::collections::BTreeMap;

/// An item that was restored without naming its type; see [`AnyRestore`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum AnyItem {
    /// A tree, as nested dictionaries of arrays, numbers and strings.
    Tree(StateDict),
    /// A single array.
    Array(Array),
    /// A random key or an array of keys.
    Key(Key),
    /// A JSON value: settings, metrics or the state of an iteration.
    Json(Value),
    /// Items by name.
    Items(BTreeMap<String, AnyItem>),
}

impl AnyItem {
    /// Returns the item of a name, if this is a composite that contains it.
    pub fn get(&self, name: &str) -> Option<&AnyItem> {
        match self {
            AnyItem::Items(items) => items.get(name),
            _ => None,
        }
    }

    /// Returns the tree, if the item is one.
    pub fn tree(&self) -> Option<&StateDict> {
        match self {
            AnyItem::Tree(tree) => Some(tree),
            _ => None,
        }
    }

    /// Returns the array, if the item is one.
    pub fn array(&self) -> Option<&Array> {
        match self {
            AnyItem::Array(array) => Some(array),
            _ => None,
        }
    }

    /// Returns the key, if the item is one.
    pub fn key(&self) -> Option<&Key> {
        match self {
            AnyItem::Key(key) => Some(key),
            _ => None,
        }
    }

    /// Returns the JSON value, if the item is one.
    pub fn json(&self) -> Option<&Value> {
        match self {
            AnyItem::Json(value) => Some(value),
            _ => None,
        }
    }
}

/// Arguments of restoring an item of any kind, which its files determine: trees, single arrays,
/// JSON, random keys, states of iterations, metrics and composites of these.
///
/// ```
/// use ramie_checkpoint::commit::{restore_item, save_item};
/// use ramie_checkpoint::items::{AnyRestore, Composite, JsonSave};
/// use ramie_checkpoint::pytree::StandardSave;
/// use ramie_core::{Array, State};
/// # fn main() -> ramie_checkpoint::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("state");
/// let weights = State::from_iter([("w", Array::from([1.0f32, 2.0]))]);
/// let items = Composite::new()
///     .item("weights", StandardSave::new(&weights))
///     .item("epoch", JsonSave::new(&7));
/// save_item(&path, &items)?;
///
/// let items = restore_item(&path, AnyRestore)?;
/// let weights = items.get("weights").and_then(|item| item.tree()).unwrap();
/// assert_eq!(weights.arrays()["w"].to_vec::<f32>(), [1.0, 2.0]);
/// assert_eq!(items.get("epoch").and_then(|item| item.json()), Some(&7.into()));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct AnyRestore;

impl RestoreArgs for AnyRestore {
    type Item = AnyItem;

    fn restore(self, reader: &ItemReader) -> Result<AnyItem> {
        if random_key::is_key(reader) {
            return restore_checked(JaxRandomKeyRestore, reader).map(AnyItem::Key);
        }
        if reader.contains(TREE) {
            return tree(reader);
        }
        if reader.contains(super::json::FILE) {
            return JsonRestore::new().restore(reader).map(AnyItem::Json);
        }
        if let Some(metrics) = Metrics::of_item(reader)? {
            return Ok(AnyItem::Json(Value::Object(metrics.into_map())));
        }
        if iterator::is_state(reader)? {
            return IteratorRestore::new().restore(reader).map(AnyItem::Json);
        }
        let items = items(reader, |item| AnyRestore.restore(item))?;
        if items.is_empty() && !reader.contains(METADATA) {
            return Err(unknown(reader));
        }
        Ok(AnyItem::Items(items))
    }

    fn reads_checked(&self) -> bool {
        true
    }
}

/// Restores a tree, or the single array that `ArraySave` saves as a tree with one name.
fn tree(reader: &ItemReader) -> Result<AnyItem> {
    let dict = restore_checked(DictRestore, reader)?;
    match &dict {
        StateDict::Dict(parts) if matches!(&parts[..], [(name, StateDict::Array(_))] if name == ARRAY) => {
            restore_checked(ArrayRestore::new(), reader).map(AnyItem::Array)
        }
        _ => Ok(AnyItem::Tree(dict)),
    }
}

/// Applies a function to each subdirectory of a checkpoint.
pub(crate) fn items<T>(
    reader: &ItemReader,
    f: impl Fn(&ItemReader) -> Result<T>,
) -> Result<BTreeMap<String, T>> {
    let names = reader.subfolders()?.into_iter();
    let item = |name: String| Ok((name.clone(), f(&reader.subfolder(&name)?)?));
    names.map(item).collect()
}

/// Returns the metadata of an item that is a tree, or `None`.
pub(crate) fn tree_metadata(reader: &ItemReader) -> Result<Option<TreeMetadata>> {
    if reader.contains(TREE) {
        TreeMetadata::read(reader).map(Some)
    } else {
        Ok(None)
    }
}

fn unknown(reader: &ItemReader) -> Error {
    Error::format(
        reader.folder(),
        Message::new("does not contain an item of a known kind").help(
            "`AnyRestore` reads trees, arrays, JSON, random keys, states of iterations \
                and composites; restore other kinds with the `RestoreArgs` of their types",
        ),
    )
}
