//! An open checkpoint.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use ramie::checkpoint::format::{Location, OrbaxFolder, OrbaxItem, Source};
use ramie::checkpoint::gguf::GgufFile;
use ramie::checkpoint::items::RestoreArgs;
use ramie::checkpoint::manager::Metrics;
use ramie::checkpoint::pytorch::PyTorchFile;
use ramie::checkpoint::pytree::{self, PyTreeRestore};
use ramie::checkpoint::serialization::StateDict;
use ramie::checkpoint::{Format, pytorch, safetensors, serialization};
use ramie::{Array, State};
use serde_json::Value;

use super::One;
use super::parts::{self, Part, What};

/// Contents of a step, item or file.
pub(crate) enum Checkpoint {
    Safetensors(PathBuf),
    Msgpack(PathBuf),
    Orbax(OrbaxFolder),
    Gguf(GgufFile),
    PyTorch(PyTorchFile),
}

/// Maximum size of files that are shown as text.
const LARGEST_TEXT: u64 = 1 << 16;

impl Checkpoint {
    /// Opens the requested checkpoint; also returns its step if it is part of a run.
    pub(crate) fn find(one: &One) -> Result<(Checkpoint, Option<u64>), Box<dyn Error>> {
        let found = Source::open(&one.path)?.checkpoint(one.step)?;
        let step = found.step;
        Ok((Checkpoint::open(found, one.item.as_deref())?, step))
    }

    /// Opens a checkpoint, or one of its items.
    pub(crate) fn open(found: Location, item: Option<&str>) -> Result<Checkpoint, Box<dyn Error>> {
        let path = found.path;
        match (found.format, item) {
            (Format::Orbax, item) => Ok(Checkpoint::Orbax(OrbaxFolder::open(path, item)?)),
            (_, Some(item)) => {
                let path = path.display();
                Err(format!("{path}: is a file and has no item {item}").into())
            }
            (Format::Safetensors, None) => Ok(Checkpoint::Safetensors(path)),
            (Format::Msgpack, None) => Ok(Checkpoint::Msgpack(path)),
            (Format::Gguf, None) => Ok(Checkpoint::Gguf(GgufFile::open(path)?)),
            (Format::PyTorch, None) => Ok(Checkpoint::PyTorch(PyTorchFile::open(path)?)),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        match self {
            Checkpoint::Safetensors(path) | Checkpoint::Msgpack(path) => path,
            Checkpoint::Orbax(step) => step.folder(),
            Checkpoint::Gguf(file) => file.path(),
            Checkpoint::PyTorch(file) => file.path(),
        }
    }

    pub(crate) fn format(&self) -> Format {
        match self {
            Checkpoint::Safetensors(_) => Format::Safetensors,
            Checkpoint::Msgpack(_) => Format::Msgpack,
            Checkpoint::Orbax(_) => Format::Orbax,
            Checkpoint::Gguf(_) => Format::Gguf,
            Checkpoint::PyTorch(_) => Format::PyTorch,
        }
    }

    /// Returns the parts in order, without the elements of arrays.
    pub(crate) fn parts(&self) -> Result<Vec<Part>, Box<dyn Error>> {
        let step = match self {
            Checkpoint::Safetensors(path) => {
                return Ok(parts::of_state(&safetensors::load_abstract(path)?));
            }
            Checkpoint::Msgpack(path) => {
                return Ok(parts::of_dict(&serialization::load_abstract(path)?));
            }
            Checkpoint::Gguf(file) => return Ok(parts::of_gguf(file)),
            Checkpoint::PyTorch(file) => return Ok(parts::of_dict(&file.types())),
            Checkpoint::Orbax(step) => step,
        };
        let mut all = Vec::new();
        for item in step.items() {
            let of_item = if item.is_tree() {
                parts::of_tree(pytree::metadata(item.reader().folder())?)
            } else {
                files(item)?
            };
            all.extend(of_item.into_iter().map(|part| Part {
                path: step.path_in(item, &part.path),
                ..part
            }));
        }
        Ok(all)
    }

    /// Returns the arrays with their elements, on the default device.
    pub(crate) fn state(&self) -> Result<State, Box<dyn Error>> {
        Ok(match self {
            Checkpoint::Orbax(step) => step.state()?,
            _ => self.format().load(self.path())?,
        })
    }

    /// Formats the value of one part.
    pub(crate) fn value(&self, path: &str) -> Result<String, Box<dyn Error>> {
        let missing = || format!("{}: has no part `{path}`", self.path().display());
        let parts = self.parts()?;
        let part = parts.iter().find(|part| part.path == path);
        let part = part.ok_or_else(missing)?;
        let (shape, dtype) = match (&part.what, self) {
            (What::Array(..), Checkpoint::PyTorch(file)) => {
                return Ok(file.array(path)?.to_string());
            }
            (What::Array(shape, dtype), _) => (shape, dtype),
            (What::Tensor(_), Checkpoint::Gguf(file)) => return Ok(file.array(path)?.to_string()),
            (other, _) => return Ok(other.value()),
        };
        let Checkpoint::Orbax(step) = self else {
            return Ok(self.state()?.get(path).ok_or_else(missing)?.to_string());
        };
        for item in step.items().iter().filter(|item| item.is_tree()) {
            for part in parts::of_tree(pytree::metadata(item.reader().folder())?) {
                if step.path_in(item, &part.path) == path {
                    // Read only this array.
                    let like = Array::shape_dtype_struct(shape, *dtype);
                    let target = State::from_iter([(part.path.as_str(), like)]);
                    let restore = PyTreeRestore::new(&target).partial_restore(true);
                    let state = restore.restore(item.reader())?;
                    return Ok(state.get(&part.path).ok_or_else(missing)?.to_string());
                }
            }
        }
        Err(missing().into())
    }

    /// Returns everything that a state dict can contain, with the elements of arrays, on the
    /// default device.
    pub(crate) fn dict(&self) -> Result<StateDict, Box<dyn Error>> {
        match self {
            Checkpoint::Safetensors(_) | Checkpoint::Gguf(_) => {
                let state = self.state()?;
                check_paths(&state)?;
                Ok(serialization::to_state_dict(&state))
            }
            Checkpoint::Msgpack(path) => Ok(serialization::load(path)?),
            Checkpoint::PyTorch(file) => Ok(pytorch::load(file.path())?),
            Checkpoint::Orbax(step) => Ok(step.dict()?),
        }
    }
}

/// Rejects arrays whose paths continue the path of another array: a tree of dictionaries cannot
/// contain both.
fn check_paths(state: &State) -> Result<(), Box<dyn Error>> {
    for (path, _) in state.iter() {
        for (at, _) in path.match_indices('.') {
            let above = &path[..at];
            if state.get(above).is_some() {
                return Err(format!(
                    "`{path}` is below `{above}`, which is an array, so they do not form a \
                     tree\n  help: convert to safetensors, whose names need not form a tree"
                )
                .into());
            }
        }
    }
    Ok(())
}

/// Returns the files of an item that is not a tree.
fn files(item: &OrbaxItem) -> Result<Vec<Part>, Box<dyn Error>> {
    let part = |name: String| {
        Ok(Part {
            what: file(item, &name)?,
            path: name,
            sharding: None,
        })
    };
    item.files()?.into_iter().map(part).collect()
}

/// Reads a file of an item; it must be JSON if the item is.
fn file(item: &OrbaxItem, name: &str) -> Result<What, Box<dyn Error>> {
    let (path, json) = (item.reader().path(name)?, item.is_json());
    let size = fs::metadata(&path).map_or(0, |file| file.len());
    if size > LARGEST_TEXT && !json {
        return Ok(What::Other(format!("a file of {size} bytes")));
    }
    let Ok(text) = String::from_utf8(item.reader().read(name)?) else {
        return if json {
            Err(format!("{}: is not JSON: it is not UTF-8", path.display()).into())
        } else {
            Ok(What::Other(format!("a file of {size} bytes")))
        };
    };
    // Python's JSON may contain numbers such as NaN, which `Metrics` supports.
    let parsed = serde_json::from_str::<Value>(&text).map(drop);
    match parsed.map_err(|e| (Metrics::from_json(&text).is_ok(), e)) {
        Ok(()) | Err((true, _)) => Ok(What::Json(text)),
        Err((false, e)) if json => Err(format!("{}: is not JSON: {e}", path.display()).into()),
        Err(_) => Ok(What::Text(text)),
    }
}
