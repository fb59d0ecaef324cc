//! `ramie ckpt` and `ramie inspect`: what checkpoints hold, whether they are whole, how two
//! differ, and the same one in another format.

mod checkpoint;
mod convert;
mod diff;
mod inspect;
mod ls;
mod parts;
mod show;
mod text;
mod verify;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use ramie::checkpoint::Format;

pub(crate) use inspect::run as inspect;

/// What is done with checkpoints.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// List the steps of a run: size, time, metrics, and whether they were committed.
    Ls {
        /// The folder of a run.
        path: PathBuf,
    },
    /// Show the parts of a checkpoint: paths, types, bytes, shardings. No elements are read.
    Show {
        #[command(flatten)]
        one: One,
        /// Print one part whole: a text, a JSON file, or the elements of an array, which needs
        /// a plugin.
        #[arg(long, value_name = "PATH")]
        values: Option<String>,
    },
    /// Compare two checkpoints: structure, types and values, with the greatest absolute
    /// difference. It needs a plugin where types are equal. The exit code is 0 if they are
    /// equal, 1 if they differ, and 2 if one cannot be read.
    Diff {
        /// One checkpoint.
        a: PathBuf,
        /// The other one.
        b: PathBuf,
        /// The step of both, of folders with several; the last one if not given.
        #[arg(long)]
        step: Option<u64>,
        /// The step of B, if it is another one.
        #[arg(long)]
        to_step: Option<u64>,
        /// The item of both, of steps with several.
        #[arg(long)]
        item: Option<String>,
    },
    /// Save a checkpoint in another format: arrays, and as far as the format has them numbers,
    /// texts and empty nodes. It needs a plugin.
    Convert {
        #[command(flatten)]
        one: One,
        /// The new file or folder, which must not be there yet.
        to: PathBuf,
        /// The format, if the name does not end in .safetensors, .safetensors.index.json
        /// or .msgpack; without either it is orbax.
        #[arg(long = "to", value_name = "FORMAT")]
        format: Option<Format>,
    },
    /// Read everything and compare it with the checksums that were saved; tell which files are
    /// damaged. Trees without checksums are restored, which needs a plugin: those that Orbax
    /// wrote.
    Verify {
        #[command(flatten)]
        one: One,
    },
}

/// One checkpoint of those that a path leads to.
#[derive(Args)]
pub(crate) struct One {
    /// A file, or the folder of a run, step or item.
    path: PathBuf,
    /// The step, of a folder with several; the last one if not given (verify: all).
    #[arg(long)]
    step: Option<u64>,
    /// The item, of a step with several; all if not given.
    #[arg(long)]
    item: Option<String>,
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
