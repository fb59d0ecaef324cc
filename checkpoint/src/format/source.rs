//! Detection of the checkpoints at a path.

use super::Format;
use crate::checkpoints::PREFIX;
use crate::commit::{self, CommitState, TEMPORARY, TREE, commit_state, is_committed};
use crate::file::{open, unreadable};
use crate::index::is_index;
use crate::pytorch;
use crate::safetensors::INDEX_ENDING;
use crate::{Error, Result};
use ramie_core::files::Message;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Contents of a path: a single checkpoint, or a run with several steps.
///
/// ```
/// use ramie_checkpoint::format::{Format, Source};
/// use ramie_checkpoint::save_checkpoint;
/// use ramie_core::{Array, State};
/// # fn main() -> ramie_checkpoint::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let run = folder.path().join("run");
/// let weights = State::from_iter([("w", Array::from(1.0f32))]);
/// save_checkpoint(&run, &weights, 7)?;
/// let last = Source::open(&run)?.checkpoint(None)?;
/// assert_eq!((last.format, last.step), (Format::Msgpack, Some(7)));
/// assert_eq!(last.path, run.join("checkpoint_7"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub enum Source {
    /// A single checkpoint: its format, and its file or directory.
    Checkpoint(Format, PathBuf),
    /// The directory of a run and its steps in ascending order: directories in Orbax's format, or
    /// Flax files.
    Run(PathBuf, Vec<RunStep>),
}

/// Step of a run.
#[derive(Clone, Debug)]
pub struct RunStep {
    /// Step number.
    pub number: u64,
    /// Directory or file of the step.
    pub path: PathBuf,
    /// Whether the step is a checkpoint.
    pub state: CommitState,
}

/// A single checkpoint of a [`Source`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// Format of the checkpoint.
    pub format: Format,
    /// File of the checkpoint, or its directory in Orbax's format.
    pub path: PathBuf,
    /// Step number, if the checkpoint belongs to a run.
    pub step: Option<u64>,
}

impl Source {
    /// Detects what is at a path. This reads only the first bytes of files and the names in
    /// directories.
    ///
    /// The path can be a safetensors, GGUF or PyTorch file, an index of several, a directory with one
    /// of them, a Flax msgpack file, a tree or step in Orbax's format, or the directory of a
    /// run.
    ///
    /// # Errors
    /// Returns an error if the path cannot be read, is none of these, or is an interrupted save.
    pub fn open(path: impl AsRef<Path>) -> Result<Source> {
        let path = path.as_ref();
        let metadata = fs::metadata(path).map_err(|e| unreadable(path, e))?;
        if metadata.is_dir() {
            folder(path)
        } else {
            Ok(Source::Checkpoint(file(path)?, path.into()))
        }
    }

    /// Returns the checkpoint itself or, for a run, the checkpoint of a step. Without a step,
    /// returns the last committed one.
    ///
    /// # Errors
    /// Returns an error if a step is given but the source is a single checkpoint, if the run does
    /// not have this step or it is damaged, or if no step was committed.
    pub fn checkpoint(&self, step: Option<u64>) -> Result<Location> {
        let (path, steps) = match (self, step) {
            (Source::Checkpoint(format, path), None) => {
                return Ok(Location {
                    format: *format,
                    path: path.clone(),
                    step: None,
                });
            }
            (Source::Checkpoint(_, path), Some(step)) => {
                let message =
                    Message::new(format!("is a single checkpoint and has no step {step}"))
                        .help("pass the directory of the run, or omit the step");
                return Err(Error::format(path, message));
            }
            (Source::Run(path, steps), _) => (path, steps),
        };
        let others = Message::new("").help(format!(
            "list the steps with `ramie ckpt ls {}`",
            path.display()
        ));
        let wanted = |s: &&RunStep| step.is_none_or(|number| s.number == number);
        let damaged = steps.iter().filter(wanted).find_map(|s| match &s.state {
            CommitState::Damaged(why) => Some((s, why)),
            _ => None,
        });
        if let (Some(_), Some((found, why))) = (step, damaged) {
            let message = format!("the step is damaged: {why}{others}");
            return Err(Error::damaged(&found.path, message));
        }
        let mut committed = steps.iter().filter(wanted).filter(|s| s.is_committed());
        // If several paths have the same number, the first one is used.
        let found = match step {
            Some(_) => committed.next(),
            None => committed.next_back(),
        };
        let Some(found) = found else {
            let which = step.map_or("no step is".into(), |number| {
                format!("step {number} is not")
            });
            let message = format!("{which} committed{others}");
            return Err(Error::format(path, message));
        };
        let location = Source::open(&found.path)?.checkpoint(None)?;
        Ok(Location {
            step: Some(found.number),
            ..location
        })
    }
}

impl RunStep {
    /// Returns whether the step is a complete checkpoint.
    pub fn is_committed(&self) -> bool {
        self.state == CommitState::Committed
    }
}

/// Detects the format of a file by its name or, failing that, by its first bytes.
fn file(path: &Path) -> Result<Format> {
    let named = Format::of_name(path);
    if named == Some(Format::Safetensors) || is_index(path) {
        return Ok(named.unwrap_or(Format::Safetensors));
    }
    let mut start = Vec::new();
    let read = open(path)?.take(9).read_to_end(&mut start);
    read.map_err(|e| unreadable(path, e))?;
    match *start.as_slice() {
        // Length of the header, followed by the header.
        [_, _, _, _, _, _, _, _, b'{'] => Ok(Format::Safetensors),
        [b'G', b'G', b'U', b'F', ..] => Ok(Format::Gguf),
        // An archive, and the version of a pickle. In msgpack, it would follow an empty map.
        [b'P', b'K', 3, 4, ..] | [0x80, 2..=5, ..] => Ok(Format::PyTorch),
        // Markers of msgpack maps.
        [0x80..=0x8f | 0xde | 0xdf, ..] => Ok(Format::Msgpack),
        // The format's reader reports the problem.
        _ => match named {
            Some(format) => Ok(format),
            None if is_step_of_flax(path) => Ok(Format::Msgpack),
            None => Err(Error::format(
                path,
                Message::new("is not a safetensors, GGUF, PyTorch or Flax msgpack file").help(
                    "pass a file of one of these formats, or the directory of a run, a step or \
                an item; if the file is damaged or truncated, copy it again",
                ),
            )),
        },
    }
}

fn folder(path: &Path) -> Result<Source> {
    if is_temporary(path) {
        return Err(Error::format(
            path,
            Message::new("is an interrupted save, not a checkpoint").help(
                "load another step; \
                `CheckpointManagerOptions::cleanup_tmp_directories(true)` removes \
                interrupted saves",
            ),
        ));
    }
    let orbax = || Source::Checkpoint(Format::Orbax, path.into());
    let has = |name: &str| path.join(name).is_file();
    if has(TREE) || has(commit::METADATA) {
        return Ok(orbax());
    }
    let failed = |e| Error::io(path, "be listed", e);
    let mut entries = Vec::new();
    for entry in fs::read_dir(path).map_err(failed)? {
        entries.push(entry.map_err(failed)?.path());
    }
    let steps = steps(&entries)?;
    if !steps.is_empty() {
        return Ok(Source::Run(path.into(), steps));
    }
    if is_committed(path)? {
        return Ok(orbax());
    }
    let only = |ending: &str| {
        let name = |p: &&PathBuf| p.to_string_lossy().ends_with(ending);
        let found: Vec<&PathBuf> = entries.iter().filter(name).collect();
        <[&PathBuf; 1]>::try_from(found).ok()
    };
    for (format, ending) in [
        (Format::Safetensors, INDEX_ENDING),
        (Format::Safetensors, ".safetensors"),
        (Format::Gguf, ".gguf"),
        (Format::PyTorch, pytorch::INDEX_ENDING),
        (Format::PyTorch, "pytorch_model.bin"),
        (Format::PyTorch, ".pt"),
        (Format::PyTorch, ".pth"),
    ] {
        if let Some([file]) = only(ending) {
            return Ok(Source::Checkpoint(format, file.clone()));
        }
    }
    Err(Error::format(
        path,
        Message::new(
            "is not a checkpoint directory: it contains no steps, no tree of arrays, and \
                no safetensors, GGUF or PyTorch file",
        )
        .help("pass the directory of a run, a step or an item, or a file"),
    ))
}

/// Returns the steps among the entries of a directory, in ascending order.
fn steps(entries: &[PathBuf]) -> Result<Vec<RunStep>> {
    let mut steps = Vec::new();
    for path in entries {
        if let Some(number) = number(path) {
            let state = if path.is_file() {
                CommitState::Committed
            } else {
                commit_state(path)?
            };
            let path = path.clone();
            steps.push(RunStep {
                number,
                path,
                state,
            });
        }
    }
    steps.sort_by(|a, b| (a.number, &a.path).cmp(&(b.number, &b.path)));
    Ok(steps)
}

/// Returns whether a file has the name of a step saved by Flax.
fn is_step_of_flax(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().starts_with(PREFIX)
}

fn is_temporary(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().contains(TEMPORARY)
}

/// Parses the step number in the name of a directory (`12`, `step_00012`, or one with the suffix
/// of an unfinished save) or of a Flax file (`checkpoint_12`).
fn number(path: &Path) -> Option<u64> {
    let name = path.file_name()?.to_str()?;
    if path.is_file() {
        return name.strip_prefix(PREFIX)?.parse().ok();
    }
    let name = name.split(TEMPORARY).next()?;
    let number = name.rsplit('_').next()?;
    let digits = number.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| number.parse().ok()).flatten()
}
