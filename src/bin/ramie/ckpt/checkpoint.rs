//! One checkpoint, opened.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use ramie::checkpoint::commit::{ItemHandlers, ItemReader, StepMetadata};
use ramie::checkpoint::items::RestoreArgs;
use ramie::checkpoint::manager::Metrics;
use ramie::checkpoint::pytree::{self, DictRestore, PyTreeRestore};
use ramie::checkpoint::serialization::StateDict;
use ramie::checkpoint::{safetensors, serialization};
use ramie::{Array, State};
use serde_json::Value;

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
    /// The class of Python that reads it, if the step names one.
    pub handler: Option<String>,
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
                false => item.files()?,
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
            Checkpoint::Msgpack(path) => Ok(arrays(&serialization::load(path)?)),
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

    /// One part, printed whole.
    pub(crate) fn value(&self, path: &str) -> Result<String, Box<dyn Error>> {
        let missing = || format!("{}: there is no `{path}`", self.path().display());
        let parts = self.parts()?;
        let part = parts.iter().find(|part| part.path == path);
        let part = part.ok_or_else(missing)?;
        let What::Array(shape, dtype) = &part.what else {
            return Ok(part.what.value());
        };
        let Checkpoint::Orbax { items, .. } = self else {
            return Ok(self.state()?.get(path).ok_or_else(missing)?.to_string());
        };
        for item in items.iter().filter(|item| item.is_tree()) {
            for part in parts::of_tree(pytree::metadata(item.reader.folder())?) {
                if self.path_in(item, &part.path) == path {
                    // Only this array is read.
                    let like = Array::shape_dtype_struct(shape, *dtype);
                    let target = State::from_iter([(part.path.as_str(), like)]);
                    let restore = PyTreeRestore::new(&target).partial_restore(true);
                    let state = restore.restore(&item.reader)?;
                    return Ok(state.get(&part.path).ok_or_else(missing)?.to_string());
                }
            }
        }
        Err(missing().into())
    }

    /// Everything that a state dict can hold, with the elements of arrays, on the default
    /// device.
    pub(crate) fn dict(&self) -> Result<StateDict, Box<dyn Error>> {
        let items = match self {
            Checkpoint::Safetensors(path) => {
                let state = safetensors::load_state(path)?;
                check_paths(&state)?;
                return Ok(serialization::to_state_dict(&state));
            }
            Checkpoint::Msgpack(path) => return Ok(serialization::load(path)?),
            Checkpoint::Orbax { items, .. } => items,
        };
        let mut dicts = Vec::new();
        for item in items.iter().filter(|item| item.is_tree()) {
            let dict = DictRestore.restore(&item.reader)?;
            match &item.name {
                Some(name) if items.len() > 1 => dicts.push((name.clone(), dict)),
                _ => return Ok(dict),
            }
        }
        Ok(StateDict::Dict(dicts))
    }
}

/// Refuses arrays whose paths go on below other arrays: in a tree of dictionaries there is
/// one thing for each name.
fn check_paths(state: &State) -> Result<(), Box<dyn Error>> {
    for (path, _) in state.iter() {
        for (at, _) in path.match_indices('.') {
            let above = &path[..at];
            if state.get(above).is_some() {
                return Err(format!(
                    "`{path}` is below `{above}`, which is an array, so that there is no tree of \
                     them\n  help: convert to safetensors, where names are only names"
                )
                .into());
            }
        }
    }
    Ok(())
}

/// A step, or one item, in Orbax's layout.
fn orbax(folder: PathBuf, wanted: Option<&str>) -> Result<Checkpoint, Box<dyn Error>> {
    let shown = folder.display().to_string();
    let reader = reader(&folder)?;
    let mut items = Vec::new();
    for name in reader.subfolders()? {
        let handler = handler(&reader, Some(&name));
        let reader = reader.subfolder(&name)?;
        items.push(Item {
            name: Some(name),
            reader,
            handler,
        });
    }
    if reader.contains("_METADATA") || !items.iter().any(has_files) {
        if let Some(item) = wanted {
            return Err(format!("{shown}: is one item, and has no item {item}").into());
        }
        items = vec![Item {
            name: None,
            handler: handler(&reader, None),
            reader: reader.clone(),
        }];
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

/// The arrays of a state dict by their dotted paths; numbers become arrays.
pub(crate) fn arrays(dict: &StateDict) -> State {
    let array = |part: Part| match dict.get(&part.path)? {
        StateDict::Array(a) | StateDict::NumpyScalar(a) => Some((part.path, a.clone())),
        StateDict::Number(n) => Some((part.path, Array::scalar(*n, n.weak_dtype()))),
        _ => None,
    };
    parts::of_dict(dict).into_iter().filter_map(array).collect()
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

/// The class of Python that reads an item of a checkpoint, if the checkpoint names it.
fn handler(reader: &ItemReader, name: Option<&str>) -> Option<String> {
    let metadata = StepMetadata::of(reader.folder()).ok().flatten()?;
    match (metadata.item_handlers?, name) {
        (ItemHandlers::One(handler), None) => Some(handler),
        (ItemHandlers::Named(handlers), Some(name)) => handlers.get(name)?.clone(),
        _ => None,
    }
}

/// Names by which the folder of a tree is recognized even if its metadata are lost.
fn is_of_tree(name: &str) -> bool {
    let file = name.rsplit('/').next().unwrap_or_default();
    name.starts_with("array_metadatas/")
        || name.starts_with("ocdbt.process_")
        || [
            "_sharding",
            "_strings.json",
            "manifest.ocdbt",
            ".zarray",
            "zarr.json",
        ]
        .contains(&file)
}

impl Item {
    /// The files of an item that is not a tree.
    fn files(&self) -> Result<Vec<Part>, Box<dyn Error>> {
        let reader = &self.reader;
        let folder = reader.folder().display();
        let (names, handler) = (reader.names()?, self.handler.as_deref().unwrap_or_default());
        let is_tree = ["PyTree", "Standard", "ArrayCheckpoint"];
        // An item of several trees, such as that of a random key, has them below it.
        let has_trees = names.iter().any(|name| name.ends_with("/_METADATA"));
        let lost = !has_trees && names.iter().any(|name| is_of_tree(name));
        if lost || is_tree.iter().any(|kind| handler.contains(kind)) {
            return Err(format!(
                "{folder}: _METADATA is missing, which names the arrays\n  help: the checkpoint is \
                 damaged; take another step, or another copy"
            )
            .into());
        }
        let mut parts = Vec::new();
        for name in names {
            // The markers of Orbax say nothing of what was saved.
            if name.ends_with("commit_success.txt") || name.starts_with('_') {
                continue;
            }
            let what = self.file(&name, handler.contains("Json"))?;
            parts.push(Part {
                path: name,
                what,
                sharding: None,
            });
        }
        if parts.is_empty() {
            return Err(format!(
                "{folder}: holds neither a tree of arrays nor another item\n  help: give the folder \
                 of a run, a step or an item"
            )
            .into());
        }
        Ok(parts)
    }

    /// What a file is; it must be JSON if the item is.
    fn file(&self, name: &str, json: bool) -> Result<What, Box<dyn Error>> {
        let path = self.reader.path(name)?;
        let size = fs::metadata(&path).map_or(0, |file| file.len());
        if size > LARGEST_TEXT && !json {
            return Ok(What::Other(format!("a file of {size} bytes")));
        }
        let Ok(text) = String::from_utf8(self.reader.read(name)?) else {
            return match json {
                true => Err(format!("{}: is not JSON, but bytes", path.display()).into()),
                false => Ok(What::Other(format!("a file of {size} bytes"))),
            };
        };
        // Python's JSON has numbers such as NaN, which metrics know.
        let parsed = serde_json::from_str::<Value>(&text).map(drop);
        match parsed.map_err(|e| (Metrics::from_json(&text).is_ok(), e)) {
            Ok(()) | Err((true, _)) => Ok(What::Json(text)),
            Err((false, e)) if json => Err(format!("{}: is not JSON: {e}", path.display()).into()),
            Err(_) => Ok(What::Text(text)),
        }
    }
}
