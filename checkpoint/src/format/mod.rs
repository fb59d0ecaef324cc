//! Formats of checkpoints: detecting the format of a path, and loading and saving in any format.
//!
//! ```
//! use ramie_checkpoint::{Format, load_into};
//! use ramie_core::{Array, State};
//! # fn main() -> ramie_checkpoint::Result<()> {
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = |name: &str| folder.path().join(name);
//! let weights = State::from_iter([("w", Array::from([1.0f32, 2.0]))]);
//! for (name, format) in [
//!     ("weights.safetensors", Format::Safetensors),
//!     ("weights.msgpack", Format::Msgpack),
//!     ("weights", Format::Orbax),
//! ] {
//!     format.save(path(name), &weights)?;
//!     assert_eq!(Format::detect(path(name))?, format);
//!     let mut restored = weights.zeros_like();
//!     load_into(path(name), &mut restored)?;
//!     assert_eq!(restored["w"].to_vec::<f32>(), [1.0, 2.0]);
//! }
//! # Ok(())
//! # }
//! ```

mod orbax;
mod source;

pub use orbax::{OrbaxFolder, OrbaxItem};
pub use source::{Location, RunStep, Source};

use crate::commit::save_item;
use crate::pytree::{PyTreeRestore, PyTreeSave};
use crate::safetensors::INDEX_ENDING;
use crate::serialization::StateDict;
use crate::{Error, Result, gguf, pytorch, safetensors, serialization};
use ramie_core::files::Message;
use ramie_core::{State, Tree};
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Maximum bytes of arrays per file of a sharded model, as in Hugging Face's libraries.
const SHARD: u64 = 5_000_000_000;

/// Format of a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// A [safetensors](mod@crate::safetensors) file, or several with an index.
    Safetensors,
    /// Flax's msgpack file: [`serialization`].
    Msgpack,
    /// A directory in Orbax's format: [`pytree`](crate::pytree).
    Orbax,
    /// A [GGUF](mod@crate::gguf) file, which Ramie reads but does not write.
    Gguf,
    /// A [PyTorch](mod@crate::pytorch) file, or several with an index, which Ramie reads but does not write.
    PyTorch,
}

impl Format {
    /// Returns the format of the checkpoint at a path. If the path is the directory of a run, this
    /// is the format of the last committed step. See [`Source::open`] for the supported paths.
    ///
    /// ```
    /// use ramie_checkpoint::{Format, safetensors};
    /// # fn main() -> ramie_checkpoint::Result<()> {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("weights");
    /// safetensors::save(&path, &ramie_core::Array::from(1.0f32))?;
    /// assert_eq!(Format::detect(&path)?, Format::Safetensors);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns an error if the path cannot be read or does not contain a checkpoint.
    pub fn detect(path: impl AsRef<Path>) -> Result<Format> {
        Ok(Source::open(path)?.checkpoint(None)?.format)
    }

    /// Returns the format that a file name implies, or `None`.
    ///
    /// ```
    /// use ramie_checkpoint::Format;
    /// assert_eq!(Format::of_name("model.safetensors.index.json"), Some(Format::Safetensors));
    /// assert_eq!(Format::of_name("model.msgpack"), Some(Format::Msgpack));
    /// assert_eq!(Format::of_name("runs/7"), None);
    /// ```
    pub fn of_name(path: impl AsRef<Path>) -> Option<Format> {
        let name = path.as_ref().file_name()?.to_string_lossy();
        match &*name {
            name if name.ends_with(".safetensors") => Some(Format::Safetensors),
            name if name.ends_with(INDEX_ENDING) => Some(Format::Safetensors),
            name if name.ends_with(".msgpack") => Some(Format::Msgpack),
            name if name.ends_with(".gguf") => Some(Format::Gguf),
            name if name.ends_with(".pt") || name.ends_with(".pth") => Some(Format::PyTorch),
            name if name.ends_with(pytorch::INDEX_ENDING) => Some(Format::PyTorch),
            _ => None,
        }
    }

    /// Returns the arrays and numbers of a checkpoint of this format by their dotted paths, on the
    /// default device. Strings and other values are omitted.
    ///
    /// If the path is the directory of a run, the last committed step is loaded. If a step has
    /// several trees, paths begin with their names.
    ///
    /// ```
    /// use ramie_checkpoint::Format;
    /// use ramie_core::{Array, State};
    /// # fn main() -> ramie_checkpoint::Result<()> {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("weights.msgpack");
    /// let weights = State::from_iter([("dense.bias", Array::from([1.0f32, 2.0]))]);
    /// Format::Msgpack.save(&path, &weights)?;
    /// assert_eq!(Format::Msgpack.load(&path)?["dense.bias"].shape(), [2]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns an error if the path cannot be read or does not contain a checkpoint of this
    /// format, or if there is no working plugin.
    pub fn load(self, path: impl AsRef<Path>) -> Result<State> {
        let path = located(path.as_ref())?;
        match self {
            Format::Safetensors => safetensors::load_state(path),
            Format::Msgpack => Ok(serialization::load(path)?.arrays()),
            Format::Orbax => OrbaxFolder::open(path, None)?.trees().state(),
            Format::Gguf => gguf::load_state(path),
            Format::PyTorch => pytorch::load_state(path),
        }
    }

    /// Replaces all arrays of a tree with the arrays that a checkpoint of this format has at their
    /// paths. Conversions to another dtype must preserve every value.
    ///
    /// ```
    /// use ramie_checkpoint::Format;
    /// use ramie_core::{Array, DType};
    /// # fn main() -> ramie_checkpoint::Result<()> {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("pair");
    /// let mut pair = (Array::ones(&[2], DType::F32), Array::zeros(&[3], DType::I32));
    /// Format::Orbax.save(&path, &pair)?;
    /// Format::Orbax.load_into(&path, &mut pair)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Same as [`load`](Format::load). Also returns an error if the arrays do not match the tree,
    /// or if a step has several trees. The tree is then unchanged.
    pub fn load_into<T: Tree>(self, path: impl AsRef<Path>, tree: &mut T) -> Result<()> {
        let path = located(path.as_ref())?;
        match self {
            Format::Safetensors => safetensors::load_into(path, tree),
            Format::Msgpack => serialization::load_into(path, tree),
            Format::Orbax => {
                *tree = OrbaxFolder::open(path, None)?.restore(PyTreeRestore::new(&*tree))?;
                Ok(())
            }
            Format::Gguf => gguf::load_into(path, tree),
            Format::PyTorch => pytorch::load_into(path, tree),
        }
    }

    /// Saves the arrays of a tree in this format. An existing file is replaced; an existing
    /// directory is an error.
    ///
    /// If the path ends in `.safetensors.index.json`, this saves an index and files of at most 5
    /// GB next to it.
    ///
    /// ```
    /// use ramie_checkpoint::Format;
    /// use ramie_core::{Array, State};
    /// # fn main() -> ramie_checkpoint::Result<()> {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("model.safetensors.index.json");
    /// let weights = State::from_iter([("w", Array::from(1.0f32))]);
    /// Format::Safetensors.save(&path, &weights)?;
    /// assert!(path.with_file_name("model-00001-of-00001.safetensors").is_file());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns an error if a file cannot be written, an array cannot be read, or the format does
    /// not support its dtype. GGUF and PyTorch files cannot be written.
    ///
    /// # Panics
    /// Panics if two arrays of the tree have the same path.
    #[track_caller]
    pub fn save<T: Tree>(self, path: impl AsRef<Path>, tree: &T) -> Result<()> {
        let path = path.as_ref();
        match self {
            Format::Safetensors if path.to_string_lossy().ends_with(INDEX_ENDING) => {
                safetensors::save_sharded(path, tree, usize::try_from(SHARD).unwrap_or(usize::MAX))
            }
            Format::Safetensors => safetensors::save(path, tree),
            Format::Msgpack => serialization::save(path, tree),
            Format::Orbax => save_item(path, &PyTreeSave::new(tree)),
            Format::Gguf | Format::PyTorch => Err(self.not_written(path)),
        }
    }

    /// Saves an untyped tree. Values that the format cannot represent are omitted: Orbax has no
    /// byte strings, and safetensors stores only arrays and numbers.
    ///
    /// ```
    /// use ramie_checkpoint::Format;
    /// use ramie_checkpoint::serialization::{self, StateDict};
    /// # fn main() -> ramie_checkpoint::Result<()> {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("notes.msgpack");
    /// let note = ("note".to_owned(), StateDict::Str("a text".into()));
    /// Format::Msgpack.save_dict(&path, &StateDict::Dict(vec![note]))?;
    /// assert!(serialization::load(&path)?.get("note").is_some());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Same as [`save`](Format::save).
    pub fn save_dict(self, path: impl AsRef<Path>, dict: &StateDict) -> Result<()> {
        match self {
            Format::Safetensors => self.save(path, &dict.arrays()),
            Format::Msgpack => serialization::save_dict(path, dict),
            Format::Orbax => {
                let mut dict = dict.clone();
                without_bytes(&mut dict);
                save_item(path, &PyTreeSave::dict(&dict))
            }
            Format::Gguf | Format::PyTorch => Err(self.not_written(path.as_ref())),
        }
    }

    /// Returns the error of saving in a format that Ramie only reads.
    fn not_written(self, path: &Path) -> Error {
        let readers = match self {
            Format::PyTorch => "PyTorch programs read",
            _ => "llama.cpp's scripts convert",
        };
        Error::format(
            path,
            Message::new(format!(
                "cannot be written: Ramie reads {self} files, but does not write them"
            ))
            .help(format!("save as safetensors, which {readers}")),
        )
    }
}

/// Formats the common name of the format.
impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Format::Safetensors => "safetensors",
            Format::Msgpack => "Flax msgpack",
            Format::Orbax => "Orbax",
            Format::Gguf => "GGUF",
            Format::PyTorch => "PyTorch",
        })
    }
}

/// Error for a name that is not the name of a [`Format`].
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown format `{0}`; expected `safetensors`, `msgpack`, `orbax`, `gguf` or `pytorch`")]
pub struct UnknownFormat(String);

ramie_core::debug_is_message!(UnknownFormat);

/// Parses the lowercase name of a format: `safetensors`, `msgpack`, `orbax`, `gguf` or `pytorch`.
impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Format, UnknownFormat> {
        match name {
            "safetensors" => Ok(Format::Safetensors),
            "msgpack" => Ok(Format::Msgpack),
            "orbax" => Ok(Format::Orbax),
            "gguf" => Ok(Format::Gguf),
            "pytorch" => Ok(Format::PyTorch),
            _ => Err(UnknownFormat(name.to_owned())),
        }
    }
}

/// Returns the arrays of a checkpoint in any [`Format`] by their dotted paths: see
/// [`Format::load`].
///
/// ```no_run
/// # fn main() -> ramie_checkpoint::Result<()> {
/// for (path, array) in ramie_checkpoint::load_state("run")?.iter() {
///     println!("{path}: {:?} {}", array.shape(), array.dtype());
/// }
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Same as [`Format::detect`] and [`Format::load`].
pub fn load_state(path: impl AsRef<Path>) -> Result<State> {
    Format::detect(&path)?.load(path)
}

/// Replaces all arrays of a tree with those of a checkpoint in any [`Format`]: see
/// [`Format::load_into`].
///
/// ```no_run
/// # fn main() -> ramie_checkpoint::Result<()> {
/// # let mut model = ramie_core::Array::from(0.0f32);
/// ramie_checkpoint::load_into("model.safetensors", &mut model)?;
/// ramie_checkpoint::load_into("run", &mut model)?; // the last step
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Same as [`Format::detect`] and [`Format::load_into`]. The tree is then unchanged.
pub fn load_into<T: Tree>(path: impl AsRef<Path>, tree: &mut T) -> Result<()> {
    Format::detect(&path)?.load_into(path, tree)
}

/// Returns the file or directory of the checkpoint at a path.
fn located(path: &Path) -> Result<PathBuf> {
    if path.is_dir() {
        Ok(Source::open(path)?.checkpoint(None)?.path)
    } else {
        Ok(path.into())
    }
}

/// Removes byte strings, which Orbax does not support.
fn without_bytes(dict: &mut StateDict) {
    match dict {
        StateDict::Dict(parts) => {
            parts.retain(|(_, part)| !matches!(part, StateDict::Bytes(_)));
            parts.iter_mut().for_each(|(_, part)| without_bytes(part));
        }
        StateDict::List(parts) => {
            parts.retain(|part| !matches!(part, StateDict::Bytes(_)));
            parts.iter_mut().for_each(without_bytes);
        }
        _ => {}
    }
}
