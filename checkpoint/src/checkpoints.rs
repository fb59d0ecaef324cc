//! A directory with one file per saved step: `flax.training.checkpoints` without Orbax.
//!
//! ```no_run
//! use ramie_checkpoint::checkpoints::{SaveOptions, restore_checkpoint, save_checkpoint_with};
//! use ramie_core::{Array, DType};
//! # fn main() -> Result<(), ramie_checkpoint::Error> {
//! let mut state = Array::zeros(&[3], DType::F32);
//! restore_checkpoint("run", &mut state)?; // the last checkpoint, if any
//! for step in 0..1000 {
//!     // …
//!     save_checkpoint_with("run", &state, step, &SaveOptions::new().keep(3))?;
//! }
//! # Ok(())
//! # }
//! ```

pub use crate::natural_sort::natural_sort;

use crate::natural_sort::{compare, last_number};
use crate::{Error, Result, serialization};
use ramie_core::Tree;
use ramie_core::files::Message;
use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Step number of a checkpoint: a training step or another increasing number.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub enum Step {
    /// Integer step.
    Int(i128),
    /// Floating-point step.
    Float(f64),
}

macro_rules! step {
    ($($v:ident: $($t:ty)*;)*) => { $($(
        impl From<$t> for Step {
            fn from(n: $t) -> Step { Step::$v(n.into()) }
        }
    )*)* };
}
step! { Int: i32 u32 i64 u64; Float: f32 f64; }

impl From<usize> for Step {
    fn from(n: usize) -> Step {
        Step::Int(n as i128)
    }
}

/// Formats the number as Python does.
impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let x = match self {
            Step::Int(n) => return write!(f, "{n}"),
            Step::Float(x) => *x,
        };
        let scientific = format!("{x:e}");
        match scientific.split_once('e') {
            Some((digits, exponent)) if x != 0.0 && !(1e-4..1e16).contains(&x.abs()) => {
                let (sign, exponent) = match exponent.strip_prefix('-') {
                    Some(exponent) => ('-', exponent),
                    None => ('+', exponent),
                };
                write!(f, "{digits}e{sign}{exponent:0>2}")
            }
            _ if x.fract() == 0.0 => write!(f, "{x:.1}"),
            _ => write!(f, "{x}"),
        }
    }
}

/// Options of [`save_checkpoint_with`]: file names, and which files to keep.
#[derive(Clone, Debug)]
pub struct SaveOptions {
    prefix: String,
    keep: usize,
    overwrite: bool,
    keep_every_n_steps: Option<u64>,
}

impl Default for SaveOptions {
    fn default() -> SaveOptions {
        SaveOptions {
            prefix: PREFIX.into(),
            keep: 1,
            overwrite: false,
            keep_every_n_steps: None,
        }
    }
}

/// Default prefix of file names.
pub(crate) const PREFIX: &str = "checkpoint_";

impl SaveOptions {
    /// Creates options with Flax's defaults: files are named `checkpoint_<step>`, and only the
    /// last one is kept.
    pub fn new() -> SaveOptions {
        SaveOptions::default()
    }

    /// Sets the part of the file name before the step. Defaults to `checkpoint_`.
    ///
    /// # Panics
    /// Panics if the prefix contains a path separator.
    #[track_caller]
    pub fn prefix(mut self, prefix: impl Into<String>) -> SaveOptions {
        self.prefix = checked(prefix.into());
        self
    }

    /// Sets the number of most recent files to keep. Defaults to 1.
    ///
    /// # Panics
    /// Panics if `files` is 0.
    #[track_caller]
    pub fn keep(mut self, files: usize) -> SaveOptions {
        assert!(
            files > 0,
            "SaveOptions::keep: `files` is 0, so the saved file would be deleted\n  help: pass at \
             least 1"
        );
        self.keep = files;
        self
    }

    /// Sets whether to replace an existing file of this step; files of later steps are then
    /// removed. If `false`, the default, an existing file of this or a later step is an error.
    pub fn overwrite(mut self, overwrite: bool) -> SaveOptions {
        self.overwrite = overwrite;
        self
    }

    /// Keeps about one older file for every `steps` steps, in addition to the last ones.
    ///
    /// # Panics
    /// Panics if `steps` is 0.
    #[track_caller]
    pub fn keep_every_n_steps(mut self, steps: u64) -> SaveOptions {
        assert!(
            steps > 0,
            "SaveOptions::keep_every_n_steps: `steps` is 0\n  help: pass at least 1, or omit the \
             option to keep only the last files"
        );
        self.keep_every_n_steps = Some(steps);
        self
    }
}

#[track_caller]
fn checked(prefix: String) -> String {
    assert!(
        !prefix.contains(std::path::is_separator),
        "prefix: `{prefix}` contains a path separator\n  help: pass the directory as the `folder` \
         argument"
    );
    prefix
}

/// Saves the arrays of a tree in the file `checkpoint_<step>` of a directory and removes the files
/// of earlier steps. Creates the directory if needed. Returns the path of the file.
///
/// The file has Flax's msgpack format. It is written to a temporary file, synced to disk and then
/// renamed.
///
/// # Errors
/// Returns an error if a file of this or a later step exists, a file cannot be written or removed,
/// or an array cannot be read.
///
/// # Panics
/// Panics like [`to_state_dict`](crate::serialization::to_state_dict).
#[track_caller]
pub fn save_checkpoint<T: Tree>(
    folder: impl AsRef<Path>,
    tree: &T,
    step: impl Into<Step>,
) -> Result<PathBuf> {
    save_checkpoint_with(folder, tree, step, &SaveOptions::new())
}

/// Saves a checkpoint like [`save_checkpoint`], with options for file names and the files to keep.
///
/// # Errors
/// Same as [`save_checkpoint`].
///
/// # Panics
/// Same as [`save_checkpoint`].
#[track_caller]
pub fn save_checkpoint_with<T: Tree>(
    folder: impl AsRef<Path>,
    tree: &T,
    step: impl Into<Step>,
    options: &SaveOptions,
) -> Result<PathBuf> {
    let folder = folder.as_ref();
    std::fs::create_dir_all(folder).map_err(|e| Error::io(folder, "be created", e))?;
    let name = format!("{}{}", options.prefix, step.into());
    let path = folder.join(&name);
    let there = checkpoints(folder, &options.prefix)?;
    let later = |other: &String| compare(other, &name).is_gt();
    let obstacle = there.iter().find(|n| **n == name || later(n));
    if let Some(other) = obstacle.filter(|_| !options.overwrite) {
        return Err(Error::format(
            &path,
            Message::new(format!("{other} already exists; nothing was saved")).help(
                "save a later step, or use `overwrite(true)`, which replaces this file and \
                removes those of later steps",
            ),
        ));
    }
    serialization::save(&path, tree)?;
    let (later, mut kept): (Vec<String>, Vec<String>) = there
        .into_iter()
        .filter(|other| *other != name && folder.join(other).is_file())
        .partition(later);
    for other in later {
        remove(&folder.join(other))?;
    }
    kept.push(name);
    let old = kept.len().saturating_sub(options.keep);
    let mut last_kept = f64::NEG_INFINITY;
    for other in &kept[..old] {
        if let Some(steps) = options.keep_every_n_steps {
            // As in Flax, `keep_every_n_steps` never keeps step 0.
            let step = last_number(other).filter(|step| *step != 0.0);
            if let Some(step) = step.filter(|step| step - last_kept >= steps as f64) {
                last_kept = step;
                continue;
            }
        }
        remove(&folder.join(other))?;
    }
    Ok(path)
}

fn remove(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != ErrorKind::NotFound => Err(Error::io(path, "be removed", e)),
        _ => Ok(()),
    }
}

/// Returns the sorted names of a directory's checkpoints; empty if the directory does not exist.
fn checkpoints(folder: &Path, prefix: &str) -> Result<Vec<String>> {
    let failed = |e| Error::io(folder, "be listed", e);
    let entries = match std::fs::read_dir(folder) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(failed)?,
    };
    let mut names = Vec::new();
    for entry in entries {
        // Names that are not UTF-8 are not ours.
        if let Ok(name) = entry.map_err(failed)?.file_name().into_string() {
            let temporary = name.strip_prefix(prefix) == Some("tmp") || name.ends_with(".tmp");
            if name.starts_with(prefix) && !temporary {
                names.push(name);
            }
        }
    }
    natural_sort(&mut names);
    Ok(names)
}

/// Returns the path of the last checkpoint in a directory: among the names that begin with
/// `prefix`, the last in [natural order](natural_sort). Returns `None` if there are no
/// checkpoints.
///
/// # Errors
/// Returns an error if the directory cannot be listed.
///
/// ```no_run
/// # fn main() -> Result<(), ramie_checkpoint::Error> {
/// let last = ramie_checkpoint::checkpoints::latest_checkpoint("run", "checkpoint_")?;
/// # Ok(())
/// # }
/// ```
pub fn latest_checkpoint(folder: impl AsRef<Path>, prefix: &str) -> Result<Option<PathBuf>> {
    let folder = folder.as_ref();
    let last = checkpoints(folder, prefix)?.pop();
    Ok(last.map(|name| folder.join(name)))
}

/// Returns the steps of a directory's checkpoints in ascending order. Skips files whose names do
/// not end with a number after `prefix`.
///
/// # Errors
/// Returns an error if the directory cannot be listed.
pub fn available_steps(folder: impl AsRef<Path>, prefix: &str) -> Result<Vec<Step>> {
    let names = checkpoints(folder.as_ref(), prefix)?;
    let step = |name: &String| {
        let number = &name[prefix.len()..];
        let whole = number.parse().map(Step::Int);
        whole.or_else(|_| number.parse().map(Step::Float)).ok()
    };
    Ok(names.iter().filter_map(step).collect())
}

/// Options of [`restore_checkpoint_with`]: which file to restore.
#[derive(Clone, Debug)]
pub struct RestoreOptions {
    prefix: String,
    step: Option<Step>,
}

impl Default for RestoreOptions {
    fn default() -> RestoreOptions {
        RestoreOptions {
            prefix: PREFIX.into(),
            step: None,
        }
    }
}

impl RestoreOptions {
    /// Creates options that select the last of the files `checkpoint_<step>`.
    pub fn new() -> RestoreOptions {
        RestoreOptions::default()
    }

    /// Sets the part of the file name before the step. Defaults to `checkpoint_`.
    ///
    /// # Panics
    /// Panics if the prefix contains a path separator.
    #[track_caller]
    pub fn prefix(mut self, prefix: impl Into<String>) -> RestoreOptions {
        self.prefix = checked(prefix.into());
        self
    }

    /// Selects the file of this step, which must exist.
    pub fn step(mut self, step: impl Into<Step>) -> RestoreOptions {
        self.step = Some(step.into());
        self
    }
}

/// Replaces all arrays of a tree with those of the last checkpoint in a directory, or with those
/// of a single file if the path names a file. Returns the path of the restored file, or `None` if
/// there is no checkpoint; the tree is then unchanged.
///
/// # Errors
/// Returns an error if the file cannot be read or does not match the tree, like
/// [`serialization::load_into`]. The tree is then unchanged.
pub fn restore_checkpoint<T: Tree>(
    folder: impl AsRef<Path>,
    tree: &mut T,
) -> Result<Option<PathBuf>> {
    restore_checkpoint_with(folder, tree, &RestoreOptions::new())
}

/// Restores a checkpoint like [`restore_checkpoint`], with options for the prefix and the step.
///
/// # Errors
/// Same as [`restore_checkpoint`]. Also returns an error if the selected step has no file.
pub fn restore_checkpoint_with<T: Tree>(
    folder: impl AsRef<Path>,
    tree: &mut T,
    options: &RestoreOptions,
) -> Result<Option<PathBuf>> {
    let folder = folder.as_ref();
    let path = match options.step {
        Some(step) => Some(folder.join(format!("{}{step}", options.prefix))),
        None if folder.is_file() => Some(folder.to_owned()),
        None => latest_checkpoint(folder, &options.prefix)?,
    };
    if let Some(path) = &path {
        if path.is_dir() {
            return Err(Error::format(
                path,
                Message::new("is a directory, as in Orbax's format, not a Flax file")
                    .help("use `checkpoint::load_into`, which reads any format"),
            ));
        }
        serialization::load_into(path, tree)?;
    }
    Ok(path)
}
