//! What a path leads to.

use std::error::Error;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use ramie::checkpoint::commit::{CommitState, commit_state, is_committed};
use ramie::core::files;

use super::One;
use super::checkpoint::Checkpoint;

/// A checkpoint, or a folder of several.
pub(crate) enum Source {
    /// A safetensors file, or the index of several.
    Safetensors(PathBuf),
    /// A msgpack file of Flax.
    Msgpack(PathBuf),
    /// A tree, or the items of a step, in Orbax's layout.
    Orbax(PathBuf),
    /// Several steps: folders in Orbax's layout, or files of Flax.
    Steps(PathBuf, Vec<Step>),
}

/// A step of a run.
pub(crate) struct Step {
    pub number: u64,
    pub path: PathBuf,
    /// Whether it is a checkpoint.
    pub state: CommitState,
}

impl Step {
    pub(crate) fn is_committed(&self) -> bool {
        self.state == CommitState::Committed
    }
}

/// What is in the name of a folder while a checkpoint is written there.
const TEMPORARY: &str = ".orbax-checkpoint-tmp";

/// What names of Flax's files begin with.
const FLAX: &str = "checkpoint_";

impl Source {
    pub(crate) fn open(path: &Path) -> Result<Source, Box<dyn Error>> {
        let metadata = fs::metadata(path).map_err(|e| format!("{}: {e}", path.display()))?;
        if metadata.is_dir() {
            folder(path)
        } else {
            file(path)
        }
    }

    /// The checkpoint that is asked for, and its step if there are several.
    pub(crate) fn one(one: &One) -> Result<(Checkpoint, Option<u64>), Box<dyn Error>> {
        let (shown, item) = (one.path.display(), one.item.as_deref());
        let source = Source::open(&one.path)?;
        let Source::Steps(_, steps) = &source else {
            if let Some(step) = one.step {
                return Err(format!("{shown}: is one checkpoint, and has no step {step}").into());
            }
            return Ok((Checkpoint::open(source, item)?, None));
        };
        if let Some(number) = one.step
            && let Some(step) = steps.iter().find(|step| step.number == number)
            && let CommitState::Damaged(why) = &step.state
        {
            let path = step.path.display();
            return Err(format!(
                "{path}: the step is damaged: {why}\n  help: `ramie ckpt ls {shown}` lists the others"
            )
            .into());
        }
        let mut whole = steps.iter().filter(|step| step.is_committed());
        let step = match one.step {
            Some(number) => whole.find(|step| step.number == number),
            None => whole.next_back(),
        };
        let Some(step) = step else {
            let which = one
                .step
                .map_or("no step".into(), |n| format!("no step {n}"));
            return Err(format!(
                "{shown}: there is {which} that was committed\n  help: `ramie ckpt ls {shown}` \
                 lists the steps"
            )
            .into());
        };
        let checkpoint = Checkpoint::open(Source::open(&step.path)?, item)?;
        Ok((checkpoint, Some(step.number)))
    }
}

fn file(path: &Path) -> Result<Source, Box<dyn Error>> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if name.ends_with(".safetensors") || name.ends_with(".safetensors.index.json") {
        return Ok(Source::Safetensors(path.into()));
    }
    let failed = |e| format!("{}: {e}", path.display());
    let mut start = Vec::new();
    let file = files::open(path).map_err(failed)?;
    file.take(9).read_to_end(&mut start).map_err(failed)?;
    match *start.as_slice() {
        [.., b'{'] if start.len() == 9 => Ok(Source::Safetensors(path.into())),
        // The markers of dictionaries.
        [0x80..=0x8f | 0xde | 0xdf, ..] => Ok(Source::Msgpack(path.into())),
        _ if name.ends_with(".msgpack") || name.starts_with(FLAX) => {
            Ok(Source::Msgpack(path.into()))
        }
        _ => Err(format!(
            "{}: is neither a safetensors file nor a msgpack file of Flax",
            path.display()
        )
        .into()),
    }
}

fn folder(path: &Path) -> Result<Source, Box<dyn Error>> {
    let failed = |e| format!("{}: {e}", path.display());
    let has = |name: &str| path.join(name).is_file();
    if is_temporary(path) {
        return Err(format!(
            "{}: is a save that was not finished, of which nothing counts",
            path.display()
        )
        .into());
    }
    if has("_METADATA") || has("_CHECKPOINT_METADATA") {
        return Ok(Source::Orbax(path.into()));
    }
    let mut entries = Vec::new();
    for entry in fs::read_dir(path).map_err(failed)? {
        entries.push(entry.map_err(failed)?.path());
    }
    let mut steps = Vec::new();
    for entry in &entries {
        if let Some(number) = number(entry) {
            let state = match entry.is_file() {
                true => CommitState::Committed,
                false => commit_state(entry)?,
            };
            steps.push(Step {
                number,
                path: entry.clone(),
                state,
            });
        }
    }
    if !steps.is_empty() {
        steps.sort_by(|a, b| (a.number, &a.path).cmp(&(b.number, &b.path)));
        return Ok(Source::Steps(path.into(), steps));
    }
    if is_committed(path)? {
        return Ok(Source::Orbax(path.into()));
    }
    let ends = |ending: &str| {
        let name = |p: &&PathBuf| p.to_string_lossy().ends_with(ending);
        let found: Vec<&PathBuf> = entries.iter().filter(name).collect();
        <[&PathBuf; 1]>::try_from(found).ok()
    };
    if let Some([file]) = ends(".safetensors.index.json").or_else(|| ends(".safetensors")) {
        return Ok(Source::Safetensors(file.clone()));
    }
    Err(format!(
        "{}: is no folder of checkpoints: there are no steps, no tree of arrays, and no \
         safetensors file\n  help: give the folder of a run, a step or an item, or a file",
        path.display()
    )
    .into())
}

fn is_temporary(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().contains(TEMPORARY)
}

/// The step of the name of a folder: `12`, `step_00012`, and those with the ending of one
/// that is being written; or of a file of Flax, `checkpoint_12`.
fn number(path: &Path) -> Option<u64> {
    let name = path.file_name()?.to_str()?;
    if path.is_file() {
        return name.strip_prefix(FLAX)?.parse().ok();
    }
    let name = name.split(TEMPORARY).next()?;
    let number = name.rsplit('_').next()?;
    let digits = number.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| number.parse().ok()).flatten()
}
