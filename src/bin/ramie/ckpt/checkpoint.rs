//! One checkpoint, opened.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use ramie::checkpoint::commit::ItemReader;
use ramie::checkpoint::items::RestoreArgs;
use ramie::checkpoint::pytree::{self, PyTreeRestore};
use ramie::checkpoint::{safetensors, serialization};
use ramie::{Array, State};

use super::parts::{self, Part, What};
use super::source::Source;

/// The arrays and texts of one step, item or file.
pub(crate) enum Checkpoint {
    Safetensors(PathBuf),
    Msgpack(PathBuf),
    Orbax {
        folder: PathBuf,
        /// The files of the step, or of the item where there is no step.
        reader: ItemReader,
        items: Vec<Item>,
    },
}

/// An item of a step.
pub(crate) struct Item {
    /// The folder; nothing if the item is the whole checkpoint.
    pub name: Option<String>,
    pub reader: ItemReader,
}

/// Files of more bytes than this are no texts to be shown.
const LARGEST_TEXT: u64 = 1 << 16;

impl Item {
    /// Whether it is a tree of arrays.
    fn is_tree(&self) -> bool {
        self.reader.contains("_METADATA")
    }
}

impl Checkpoint {
    /// Opens a checkpoint, of which one item may be asked for.
    pub(crate) fn open(source: Source, item: Option<&str>) -> Result<Checkpoint, Box<dyn Error>> {
        let no_items = |path: &Path| match item {
            Some(item) => Err(format!(
                "{}: is a file, and has no item {item}",
                path.display()
            )),
            None => Ok(()),
        };
        match source {
            Source::Safetensors(path) => {
                no_items(&path)?;
                Ok(Checkpoint::Safetensors(path))
            }
            Source::Msgpack(path) => {
                no_items(&path)?;
                Ok(Checkpoint::Msgpack(path))
            }
            Source::Orbax(folder) => orbax(folder, item),
            Source::Steps(folder, _) => {
                Err(format!("{}: has several checkpoints", folder.display()).into())
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        match self {
            Checkpoint::Safetensors(path) | Checkpoint::Msgpack(path) => path,
            Checkpoint::Orbax { folder, .. } => folder,
        }
    }

    /// What the format is called.
    pub(crate) fn format(&self) -> &'static str {
        match self {
            Checkpoint::Safetensors(_) => "safetensors",
            Checkpoint::Msgpack(_) => "Flax msgpack",
            Checkpoint::Orbax { .. } => "Orbax",
        }
    }

    /// The parts, in order, without their elements.
    pub(crate) fn parts(&self) -> Result<Vec<Part>, Box<dyn Error>> {
        let items = match self {
            Checkpoint::Safetensors(path) => {
                return Ok(parts::of_state(&safetensors::load_abstract(path)?));
            }
            Checkpoint::Msgpack(path) => {
                return Ok(parts::of_dict(&serialization::load_abstract(path)?));
            }
            Checkpoint::Orbax { items, .. } => items,
        };
        let mut all = Vec::new();
        for item in items {
            let of_item = match item.is_tree() {
                true => parts::of_tree(pytree::metadata(item.reader.folder())?),
                false => files(&item.reader)?,
            };
            all.extend(of_item.into_iter().map(|part| Part {
                path: self.path_in(item, &part.path),
                ..part
            }));
        }
        Ok(all)
    }

    /// The path of a part of an item: with the item's name, if there are several.
    fn path_in(&self, item: &Item, path: &str) -> String {
        match (self, &item.name) {
            (Checkpoint::Orbax { items, .. }, Some(name)) if items.len() > 1 => {
                format!("{name}.{path}")
            }
            _ => path.to_owned(),
        }
    }

    /// The arrays with their elements, on the default device.
    pub(crate) fn state(&self) -> Result<State, Box<dyn Error>> {
        match self {
            Checkpoint::Safetensors(path) => Ok(safetensors::load_state(path)?),
            Checkpoint::Msgpack(path) => {
                let dict = serialization::load(path)?;
                let texts = parts::of_dict(&dict);
                let mut arrays: Vec<(String, Array)> = Vec::new();
                for part in texts {
                    match dict.get(&part.path) {
                        Some(
                            serialization::StateDict::Array(a)
                            | serialization::StateDict::NumpyScalar(a),
                        ) => arrays.push((part.path, a.clone())),
                        Some(serialization::StateDict::Number(n)) => {
                            arrays.push((part.path, Array::scalar(*n, n.weak_dtype())));
                        }
                        _ => {}
                    }
                }
                Ok(arrays.into_iter().collect())
            }
            Checkpoint::Orbax { items, .. } => {
                let mut arrays: Vec<(String, Array)> = Vec::new();
                for item in items.iter().filter(|item| item.is_tree()) {
                    let state = PyTreeRestore::state().restore(&item.reader)?;
                    for (path, array) in state.iter() {
                        arrays.push((self.path_in(item, path), array.clone()));
                    }
                }
                Ok(arrays.into_iter().collect())
            }
        }
    }

    /// One array with its elements.
    pub(crate) fn array(&self, path: &str) -> Result<Array, Box<dyn Error>> {
        let missing = || format!("{}: there is no array `{path}`", self.path().display());
        let Checkpoint::Orbax { items, .. } = self else {
            return Ok(self.state()?.get(path).ok_or_else(missing)?.clone());
        };
        for item in items.iter().filter(|item| item.is_tree()) {
            for part in parts::of_tree(pytree::metadata(item.reader.folder())?) {
                let What::Array(shape, dtype) = &part.what else {
                    continue;
                };
                if self.path_in(item, &part.path) != path {
                    continue;
                }
                let like = Array::shape_dtype_struct(shape, *dtype);
                let target = State::from_iter([(part.path.as_str(), like)]);
                let restore = PyTreeRestore::new(&target).partial_restore(true);
                let state = restore.restore(&item.reader)?;
                return Ok(state.get(&part.path).ok_or_else(missing)?.clone());
            }
        }
        Err(missing().into())
    }
}

/// A step, or one item, in Orbax's layout.
fn orbax(folder: PathBuf, wanted: Option<&str>) -> Result<Checkpoint, Box<dyn Error>> {
    let shown = folder.display().to_string();
    let reader = reader(&folder)?;
    let mut items = Vec::new();
    for name in reader.subfolders()? {
        let reader = reader.subfolder(&name)?;
        items.push(Item {
            name: Some(name),
            reader,
        });
    }
    if reader.contains("_METADATA") || !items.iter().any(has_files) {
        if let Some(item) = wanted {
            return Err(format!("{shown}: is one item, and has no item {item}").into());
        }
        let reader = reader.clone();
        items = vec![Item { name: None, reader }];
    }
    if let Some(wanted) = wanted {
        let names: Vec<String> = items.iter().filter_map(|i| i.name.clone()).collect();
        items.retain(|item| item.name.as_deref() == Some(wanted));
        if items.is_empty() {
            let there = names.join(", ");
            return Err(format!("{shown}: there is no item {wanted}: there are {there}").into());
        }
    }
    Ok(Checkpoint::Orbax {
        folder,
        reader,
        items,
    })
}

fn has_files(item: &Item) -> bool {
    item.reader.names().is_ok_and(|names| !names.is_empty())
}

/// The reader of a step, or of an item of a step, which knows the step's checksums.
fn reader(folder: &Path) -> Result<ItemReader, Box<dyn Error>> {
    let reader = ItemReader::open(folder)?;
    if !reader.is_checked()
        && let (Some(step), Some(name)) = (folder.parent(), folder.file_name())
        && let (Ok(true), Some(name)) =
            (fs::exists(step.join("_CHECKPOINT_METADATA")), name.to_str())
    {
        return Ok(ItemReader::open(step)?.subfolder(name)?);
    }
    Ok(reader)
}

/// The files of an item that is no tree.
fn files(reader: &ItemReader) -> Result<Vec<Part>, Box<dyn Error>> {
    let mut parts = Vec::new();
    for name in reader.names()? {
        // The markers of Orbax say nothing of what was saved.
        if name == "commit_success.txt" || name.starts_with('_') {
            continue;
        }
        let path = reader.path(&name)?;
        let size = fs::metadata(&path).map_or(0, |file| file.len());
        let bytes = match size <= LARGEST_TEXT {
            true => reader.read(&name)?,
            false => vec![0xff],
        };
        let what = match String::from_utf8(bytes) {
            Ok(text) => What::Text(text),
            Err(_) => What::Other(format!("a file of {size} bytes")),
        };
        parts.push(Part {
            path: name,
            what,
            sharding: None,
        });
    }
    Ok(parts)
}
