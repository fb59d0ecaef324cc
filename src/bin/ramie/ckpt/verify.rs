//! The command `ramie ckpt verify`.

use std::error::Error;
use std::io::{self, Write};
use std::path::Path;

use ramie::checkpoint::commit::CommitState;
use ramie::checkpoint::format::Source;
use ramie::core::files::{self, WithHelp};

use super::One;
use super::checkpoint::Checkpoint;
use super::text;

pub(crate) fn run(one: &One) -> Result<(), Box<dyn Error>> {
    let mut out = io::stdout().lock();
    let steps = match Source::open(&one.path)? {
        Source::Run(_, steps) if one.step.is_none() => steps,
        _ => {
            let (checkpoint, _) = Checkpoint::find(one)?;
            let found = checkpoint.verify()?;
            writeln!(out, "{}: {found}", checkpoint.path().display())?;
            return Ok(());
        }
    };
    let (mut whole, mut damaged) = (0, 0);
    for step in &steps {
        match &step.state {
            CommitState::Committed => whole += 1,
            CommitState::Unfinished => {
                writeln!(out, "step {}: unfinished, ignored", step.number)?;
                continue;
            }
            CommitState::Damaged(why) => {
                (whole, damaged) = (whole + 1, damaged + 1);
                writeln!(out, "step {}: DAMAGED: {why}", step.number)?;
                continue;
            }
        }
        match verify(&step.path, one.item.as_deref()) {
            Ok(found) => writeln!(out, "step {}: {found}", step.number)?,
            Err(error) => {
                damaged += 1;
                writeln!(out, "step {}: DAMAGED: {error}", step.number)?;
            }
        }
    }
    let path = one.path.display();
    match (whole, damaged) {
        (0, _) => Err(format!("{path}: no step is committed").into()),
        (_, 0) => Ok(()),
        _ => Err(format!(
            "{path}: {damaged} of {} damaged",
            text::counted(whole, "step")
        )
        .into()),
    }
}

/// Verifies a step, or an item of it.
fn verify(step: &Path, item: Option<&str>) -> Result<String, Box<dyn Error>> {
    let found = Source::open(step)?.checkpoint(None)?;
    Checkpoint::open(found, item)?.verify()
}

impl Checkpoint {
    /// Reads everything. Returns a summary, or the error of the first damaged file.
    fn verify(&self) -> Result<String, Box<dyn Error>> {
        let parts = |parts: usize| format!("readable, {}", text::counted(parts, "part"));
        match self {
            Checkpoint::Safetensors(path) => {
                // For an index, the header of each file gives its size.
                let found = self.parts()?.len();
                read(path)?;
                Ok(parts(found))
            }
            Checkpoint::Msgpack(_) => Ok(parts(self.parts()?.len())),
            Checkpoint::Gguf(_) | Checkpoint::PyTorch(_) => {
                // The header or the pickle, which is already read, gives the size of the file.
                read(self.path())?;
                Ok(parts(self.parts()?.len()))
            }
            Checkpoint::Orbax(folder) if folder.reader().is_checked() => {
                let reader = folder.reader();
                reader.verify_all()?;
                self.parts()?;
                let files = text::counted(reader.names()?.len(), "file");
                Ok(format!("checksums of {files} are correct"))
            }
            Checkpoint::Orbax(_) => {
                let found = parts(self.parts()?.len());
                self.state()?;
                Ok(format!("{found}; there are no file checksums"))
            }
        }
    }
}

/// Reads a file to its end.
fn read(path: &Path) -> Result<(), String> {
    let failed = |e| format!("{}: cannot be read: {}", path.display(), WithHelp(&e));
    let mut file = files::open(path).map_err(failed)?;
    io::copy(&mut file, &mut io::sink()).map_err(failed)?;
    Ok(())
}
