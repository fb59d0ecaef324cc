//! The commands `ramie ckpt` and `ramie inspect`: show, verify, compare and convert checkpoints.

mod checkpoint;
mod convert;
mod diff;
mod inspect;
mod ls;
mod parts;
mod show;
pub(crate) mod text;
mod verify;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use ramie::checkpoint::Format;

pub(crate) use inspect::run as inspect;

/// Subcommands of `ramie ckpt`.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// List the steps of a run with size, time, metrics and commit state.
    Ls {
        /// Directory of a run.
        path: PathBuf,
    },
    /// Show the parts of a checkpoint: paths, types, bytes, shardings. Does not read array
    /// elements.
    Show {
        #[command(flatten)]
        one: One,
        /// Print the value of one part: a string, a JSON file, or an array (which needs a plugin).
        #[arg(long, value_name = "PATH")]
        values: Option<String>,
    },
    /// Compare two checkpoints: structure, types and values, with the greatest absolute
    /// difference. Needs a plugin if types are equal. The exit code is 0 if the checkpoints are
    /// equal, 1 if they differ, and 2 if one cannot be read.
    Diff {
        /// First checkpoint.
        a: PathBuf,
        /// Second checkpoint.
        b: PathBuf,
        /// Step to compare; defaults to the last one.
        #[arg(long)]
        step: Option<u64>,
        /// Step of B, if it is another one.
        #[arg(long)]
        to_step: Option<u64>,
        /// Item to compare, for steps with several items.
        #[arg(long)]
        item: Option<String>,
    },
    /// Save a checkpoint in another format: arrays, and the numbers, strings and empty nodes that
    /// the format supports. Needs a plugin.
    Convert {
        #[command(flatten)]
        one: One,
        /// New file or directory, which must not exist.
        to: PathBuf,
        /// Output format; defaults to the one implied by the name (.safetensors,
        /// .safetensors.index.json or .msgpack), otherwise orbax.
        #[arg(long = "to", value_name = "FORMAT")]
        format: Option<Format>,
    },
    /// Read all files, compare them with the checksums that Ramie saved, and name damaged ones.
    /// Orbax checkpoints have no file checksums; they are restored, which needs a plugin.
    Verify {
        #[command(flatten)]
        one: One,
    },
}

/// A single checkpoint at a path.
#[derive(Args)]
pub(crate) struct One {
    /// File, or directory of a run, step or item.
    path: PathBuf,
    /// Step of a run; defaults to the last one (verify: all steps).
    #[arg(long)]
    step: Option<u64>,
    /// Item of a step; defaults to all items.
    #[arg(long)]
    item: Option<String>,
}

impl One {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

pub(crate) fn run(command: Command) -> Result<ExitCode, Box<dyn Error>> {
    let done = |()| ExitCode::SUCCESS;
    match command {
        Command::Ls { path } => ls::run(&path).map(done),
        Command::Show { one, values } => show::run(&one, values.as_deref()).map(done),
        Command::Diff {
            a,
            b,
            step,
            to_step,
            item,
        } => {
            let one = |path, step| One {
                path,
                step,
                item: item.clone(),
            };
            diff::run(&one(a, step), &one(b, to_step.or(step)))
        }
        Command::Convert { one, to, format } => convert::run(&one, &to, format).map(done),
        Command::Verify { one } => verify::run(&one).map(done),
    }
}
