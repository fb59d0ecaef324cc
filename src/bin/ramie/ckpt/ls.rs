//! The command `ramie ckpt ls`.

use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::time::SystemTime;

use ramie::checkpoint::commit::{CommitState, StepMetadata};
use ramie::checkpoint::format::{RunStep, Source};
use ramie::checkpoint::manager::Metrics;
use ramie::core::files::WithHelp;

use super::text;

pub(crate) fn run(path: &Path) -> Result<(), Box<dyn Error>> {
    let steps = match Source::open(path)? {
        Source::Run(_, steps) => steps,
        Source::Checkpoint(_, file) => {
            let shown = file.display();
            return Err(format!(
                "{}: is a single checkpoint, not a directory of steps\n  help: use `ramie ckpt \
                 show {shown}` to show its contents",
                path.display()
            )
            .into());
        }
    };
    let rows: Vec<Vec<String>> = steps.iter().map(row).collect::<Result<_, _>>()?;
    let head = ["STEP", "SIZE", "SAVED (UTC)", "STATE", "METRICS"];
    write!(io::stdout(), "{}", text::table(&head, &rows, &[0, 1]))?;
    Ok(())
}

fn row(step: &RunStep) -> Result<Vec<String>, Box<dyn Error>> {
    let size = size(&step.path)
        .map_err(|e| format!("{}: cannot be read: {}", step.path.display(), WithHelp(&e)))?;
    let state = match step.state {
        CommitState::Committed => "committed",
        CommitState::Unfinished => "unfinished",
        CommitState::Damaged(_) => "damaged",
    };
    Ok(vec![
        step.number.to_string(),
        text::bytes(size),
        saved(&step.path).map_or("-".into(), text::time),
        state.into(),
        metrics(&step.path),
    ])
}

/// Returns the commit time of a step or, failing that, its modification time.
fn saved(path: &Path) -> Option<SystemTime> {
    let metadata = StepMetadata::of(path).ok().flatten();
    let committed = metadata.and_then(|metadata| metadata.committed());
    committed.or_else(|| fs::metadata(path).ok()?.modified().ok())
}

/// Formats the metrics of a step. Unreadable metrics are marked, so that the other steps are still
/// listed.
fn metrics(path: &Path) -> String {
    match Metrics::of(path) {
        Ok(None) => String::new(),
        Ok(Some(metrics)) => {
            let metric = |name: &str| Some(format!("{name}={}", metrics.get(name)?));
            let all: Vec<String> = metrics.names().filter_map(metric).collect();
            all.join(" ")
        }
        Err(_) => "unreadable".into(),
    }
}

/// Returns the size of a file, or of all files in a directory. Files that are removed meanwhile
/// count as 0.
fn size(path: &Path) -> io::Result<u64> {
    let gone = |e: io::Error| match e.kind() {
        io::ErrorKind::NotFound => Ok(0),
        _ => Err(e),
    };
    let kind = match fs::symlink_metadata(path) {
        Ok(kind) => kind,
        Err(e) => return gone(e),
    };
    if !kind.is_dir() {
        return Ok(kind.len());
    }
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(e) => return gone(e),
    };
    entries.map(|entry| size(&entry?.path())).sum()
}
