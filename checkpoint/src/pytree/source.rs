//! A saved tree, opened.

use super::array_metadata::{self, RANDOM_KEY_IMPL};
use super::key::KeyPath;
use super::layout::{Layout, Zarr};
use super::metadata::{self, Entry, ValueKind};
use super::store::Store;
use super::{sharding, strings};
use crate::commit::ItemReader;
use crate::{Error, Result};
use ramie_core::{DType, devices};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// A saved tree, opened for reading.
pub(super) struct Source {
    pub reader: ItemReader,
    pub store: Store,
    pub tree: metadata::Tree,
    /// Places of the entries by dotted name.
    places: HashMap<String, usize>,
}

impl Source {
    pub fn open(reader: &ItemReader) -> Result<Source> {
        if !reader.contains(metadata::FILE) {
            let path = reader.folder().join(metadata::FILE);
            return Err(Error::format(
                &path,
                "is missing, so that the folder holds no tree of arrays\n  help: give the folder of \
                 one item, such as `<step>/default` of a manager's checkpoint",
            ));
        }
        let path = reader.path(metadata::FILE)?;
        let tree = metadata::Tree::from_json(&path, &reader.read(metadata::FILE)?)?;
        let mut places = HashMap::with_capacity(tree.entries.len());
        for (at, entry) in tree.entries.iter().enumerate() {
            let name = entry.path.to_string();
            if let Some(other) = places.insert(name.clone(), at)
                && !tree.entries[other].skip
                && !entry.skip
            {
                let what = format!("two arrays have the name `{name}`");
                return Err(Error::format(&path, what));
            }
        }
        Ok(Source {
            store: Store::open(reader, tree.use_ocdbt)?,
            reader: reader.clone(),
            tree,
            places,
        })
    }

    /// The entry at a dotted name.
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.places.get(name).map(|at| &self.tree.entries[*at])
    }

    /// The entries that are arrays, in order.
    pub fn arrays(&self) -> impl Iterator<Item = &Entry> {
        let is_array = |entry: &&Entry| entry.is_array();
        self.tree.entries.iter().filter(is_array)
    }

    /// How an array is stored.
    pub fn layout(&self, name: &str) -> Result<Layout> {
        let versions = match self.tree.use_zarr3 {
            true => [Zarr::V3, Zarr::V2],
            false => [Zarr::V2, Zarr::V3],
        };
        for zarr in versions {
            let key = format!("{name}/{}", zarr.file());
            if self.store.size(&key)?.is_some() {
                let bytes = self.store.read(&key)?;
                let layout = Layout::parse(zarr, &bytes);
                return layout.map_err(|what| Error::format(&self.store.path(&key), what));
            }
        }
        let key = format!("{name}/{}", versions[0].file());
        Err(self.store.missing(&key))
    }

    /// Where the arrays were, as far as it was written, by dotted name.
    pub fn shardings(&self) -> Result<BTreeMap<String, Value>> {
        self.of_file(sharding::FILE, sharding::from_json)
    }

    /// What a file holds; nothing, if there is none.
    fn of_file<T: Default>(
        &self,
        file: &str,
        parse: impl FnOnce(&Path, &[u8]) -> Result<T>,
    ) -> Result<T> {
        if !self.reader.contains(file) {
            return Ok(T::default());
        }
        parse(&self.reader.path(file)?, &self.reader.read(file)?)
    }

    /// The texts, by dotted name.
    pub fn strings(&self) -> Result<BTreeMap<String, String>> {
        self.of_file(strings::FILE, strings::from_json)
    }

    /// The generators of the keys among the arrays, by dotted name.
    fn key_impls(&self) -> Result<BTreeMap<String, String>> {
        let arrays = self.of_file(&array_metadata::file(0), array_metadata::from_json)?;
        let key = arrays.into_iter().filter_map(|array| {
            let name = array.ext_metadata?[RANDOM_KEY_IMPL].as_str()?.to_owned();
            Some((array.param_name, name))
        });
        Ok(key.collect())
    }
}

impl Entry {
    /// Whether an array is stored for it.
    pub fn is_array(&self) -> bool {
        use ValueKind::*;
        !self.skip && matches!(self.kind, Array | Numpy | Scalar | Other(_))
    }
}

/// What is known of a saved tree without reading its arrays.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TreeMetadata {
    /// Its parts, in order.
    pub parts: Vec<PartMetadata>,
    /// Whether the arrays are in an OCDBT database.
    pub use_ocdbt: bool,
    /// Whether they are in version 3 of zarr.
    pub use_zarr3: bool,
    /// What the caller of the save added.
    pub custom_metadata: Value,
}

/// What is known of a part of a saved tree.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PartMetadata {
    /// Where it is in the tree.
    pub path: KeyPath,
    /// What kind of value it is.
    pub kind: ValueKind,
    /// The array, if it is one.
    pub array: Option<ArrayInfo>,
    /// The text, if it is one.
    pub text: Option<String>,
}

/// What is known of a stored array.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ArrayInfo {
    /// The shape.
    pub shape: Vec<usize>,
    /// The type of the elements.
    pub dtype: DType,
    /// The shape of the chunks in which they are stored.
    pub chunk_shape: Vec<usize>,
    /// Where the array was, in Orbax's words.
    pub sharding: Option<Value>,
    /// The generator, if the elements are keys.
    pub random_key_impl: Option<String>,
}

impl TreeMetadata {
    /// The part at a dotted name.
    pub fn get(&self, name: &str) -> Option<&PartMetadata> {
        self.parts.iter().find(|part| part.path.to_string() == name)
    }

    pub(super) fn of(source: &Source) -> Result<TreeMetadata> {
        let mut shardings = source.shardings()?;
        let (mut strings, mut keys) = (source.strings()?, source.key_impls()?);
        let mut parts = Vec::with_capacity(source.tree.entries.len());
        for entry in &source.tree.entries {
            let name = entry.path.to_string();
            let array = match entry.is_array() {
                false => None,
                true => {
                    let layout = source.layout(&name)?;
                    Some(ArrayInfo {
                        shape: layout.shape,
                        dtype: layout.dtype,
                        chunk_shape: layout.chunk,
                        sharding: shardings.remove(&name),
                        random_key_impl: keys.remove(&name),
                    })
                }
            };
            parts.push(PartMetadata {
                path: entry.path.clone(),
                kind: entry.kind.clone(),
                array,
                text: strings.remove(&name),
            });
        }
        Ok(TreeMetadata {
            parts,
            use_ocdbt: matches!(source.store, Store::Database(_)),
            use_zarr3: source.tree.use_zarr3,
            custom_metadata: source.tree.custom_metadata.clone(),
        })
    }
}

impl Source {
    /// The sharding that an array had, if the devices are here and it fits the shape.
    pub fn saved_sharding(
        &self,
        shardings: &BTreeMap<String, Value>,
        name: &str,
        shape: &[usize],
    ) -> Option<ramie_core::Sharding> {
        let sharding = sharding::of_description(shardings.get(name)?, devices())?;
        sharding
            .addressable_parts(shape)
            .is_ok()
            .then_some(sharding)
    }
}
