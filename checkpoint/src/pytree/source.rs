//! Opening a saved tree.

use super::array_metadata::{self, RANDOM_KEY_IMPL};
use super::key::KeyPath;
use super::layout::{Layout, Zarr};
use super::metadata::{self, Entry, ValueKind};
use super::store::Store;
use super::{sharding, strings};
use crate::commit::{ItemReader, TREE};
use crate::{Error, Result};
use ramie_core::files::Message;
use ramie_core::{DType, devices};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// The remedy of layouts that cannot be read.
const UNSUPPORTED: &str = "restore another step, or read the array with Python's zarr and save it \
                           with its default options";

/// A saved tree that is open for reading.
pub(super) struct Source {
    pub reader: ItemReader,
    pub store: Store,
    pub tree: metadata::Tree,
    /// Indices of the entries by dotted name.
    places: HashMap<String, usize>,
}

impl Source {
    pub fn open(reader: &ItemReader) -> Result<Source> {
        if !reader.contains(TREE) {
            let path = reader.folder().join(TREE);
            return Err(Error::format(
                &path,
                Message::new("is missing, so the directory does not contain a tree of arrays")
                    .help(
                        "pass the directory of an item, such as `<step>/default` of a manager's \
                checkpoint",
                    ),
            ));
        }
        let path = reader.path(TREE)?;
        let tree = metadata::Tree::from_json(&path, &reader.read(TREE)?)?;
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

    /// Returns the entry at a dotted name.
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.places.get(name).map(|at| &self.tree.entries[*at])
    }

    /// Returns the entries that are arrays, in order.
    pub fn arrays(&self) -> impl Iterator<Item = &Entry> {
        let is_array = |entry: &&Entry| entry.is_array();
        self.tree.entries.iter().filter(is_array)
    }

    /// Reads the layout of a stored array.
    pub fn layout(&self, name: &str) -> Result<Layout> {
        let versions = if self.tree.use_zarr3 {
            [Zarr::V3, Zarr::V2]
        } else {
            [Zarr::V2, Zarr::V3]
        };
        for zarr in versions {
            let key = format!("{name}/{}", zarr.file());
            if self.store.size(&key)?.is_some() {
                let bytes = self.store.read(&key)?;
                let layout = Layout::parse(zarr, &bytes);
                let layout = layout.and_then(|layout| self.checked(name, layout));
                return layout.map_err(|what| {
                    Error::format(&self.store.path(&key), Message::new(what).help(UNSUPPORTED))
                });
            }
        }
        let key = format!("{name}/{}", versions[0].file());
        Err(self.store.missing(&key))
    }

    /// Checks that a number is stored as an array without axes.
    fn checked(&self, name: &str, layout: Layout) -> Result<Layout, String> {
        let entry = self.entry(name);
        let is_number = entry.is_some_and(|entry| entry.kind == ValueKind::Scalar);
        if is_number && !layout.shape.is_empty() {
            return Err(format!(
                "the array has the shape {:?}, but {} lists it as a number",
                layout.shape, TREE
            ));
        }
        Ok(layout)
    }

    /// Returns the saved placements of arrays by dotted name, if there are any.
    pub fn shardings(&self) -> Result<BTreeMap<String, Value>> {
        self.of_file(sharding::FILE, sharding::from_json)
    }

    /// Parses a file, or returns the default if it does not exist.
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

    /// Returns the strings by dotted name.
    pub fn strings(&self) -> Result<BTreeMap<String, String>> {
        self.of_file(strings::FILE, strings::from_json)
    }

    /// Returns the error for a string that the metadata names and the file of strings does not contain.
    pub fn lacks_string(&self, name: &str) -> Error {
        let path = match self.reader.path(strings::FILE) {
            Ok(path) => path,
            Err(error) => return error,
        };
        Error::format(&path, format!("the string `{name}` is missing"))
    }

    /// Returns the PRNG implementations of the key arrays by dotted name.
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
    /// Returns whether an array is stored for the entry.
    pub fn is_array(&self) -> bool {
        use ValueKind::*;
        !self.skip && matches!(self.kind, Array | Numpy | Scalar | Other(_))
    }
}

/// Metadata of a saved tree, without its arrays.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TreeMetadata {
    /// Parts of the tree, in order.
    pub parts: Vec<PartMetadata>,
    /// Whether the arrays are in an OCDBT database.
    pub use_ocdbt: bool,
    /// Whether the arrays use version 3 of the zarr format.
    pub use_zarr3: bool,
    /// Custom metadata of the save.
    pub custom_metadata: Value,
}

/// Metadata of a part of a saved tree.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PartMetadata {
    /// Path of the part in the tree.
    pub path: KeyPath,
    /// Kind of the value.
    pub kind: ValueKind,
    /// Metadata of the array, if the part is one.
    pub array: Option<ArrayInfo>,
    /// The string, if the part is one.
    pub text: Option<String>,
}

/// Metadata of a stored array.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ArrayInfo {
    /// Shape of the array.
    pub shape: Vec<usize>,
    /// Dtype of the array.
    pub dtype: DType,
    /// Shape of the stored chunks.
    pub chunk_shape: Vec<usize>,
    /// Sharding at the time of the save, in Orbax's format.
    pub sharding: Option<Value>,
    /// Name of the PRNG implementation, if the array contains random keys.
    pub random_key_impl: Option<String>,
}

impl TreeMetadata {
    /// Returns the part at a dotted name.
    pub fn get(&self, name: &str) -> Option<&PartMetadata> {
        self.parts.iter().find(|part| part.path.to_string() == name)
    }

    /// Reads the metadata of the tree in an item.
    pub(crate) fn read(reader: &ItemReader) -> Result<TreeMetadata> {
        TreeMetadata::of(&Source::open(reader)?)
    }

    pub(super) fn of(source: &Source) -> Result<TreeMetadata> {
        let mut shardings = source.shardings()?;
        let (mut strings, mut keys) = (source.strings()?, source.key_impls()?);
        let mut parts = Vec::with_capacity(source.tree.entries.len());
        for entry in &source.tree.entries {
            let name = entry.path.to_string();
            let array = if !entry.is_array() {
                None
            } else {
                let layout = source.layout(&name)?;
                Some(ArrayInfo {
                    shape: layout.shape,
                    dtype: layout.dtype,
                    chunk_shape: layout.chunk,
                    sharding: shardings.remove(&name),
                    random_key_impl: keys.remove(&name),
                })
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
    /// Returns the saved sharding of an array, if its devices are available and it fits the shape.
    pub fn saved_sharding(
        &self,
        shardings: &BTreeMap<String, Value>,
        name: &str,
        shape: &[usize],
    ) -> Option<ramie_core::sharding::Sharding> {
        let sharding = sharding::of_description(shardings.get(name)?, devices())?;
        sharding
            .addressable_parts(shape)
            .is_ok()
            .then_some(sharding)
    }
}
