//! Shared code of the examples: startup and exit, options of training runs, pictures, and the files that
//! they download.
#![forbid(unsafe_code)]

mod ahead;
pub mod files;
mod project;
mod run;
pub mod template;

pub use ahead::{ahead, compiled_ahead};
pub use project::project_text;
pub use run::{Run, RunOptions};

use clap::Parser;
use ramie::nn::nnx::{self, Filter};
use ramie::options::RuntimeOptions;
use ramie::{Array, Platform, State, Tree, configure, profiler, runtime};
use std::error::Error;
use std::fmt::Display;
use std::path::Path;
use std::process::ExitCode;

/// Result with any error, whose message is printed.
pub type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

/// Parses the command line, runs the example and returns its
/// [exit code](ramie::train::exit_code).
///
/// Used as `fn main() -> ExitCode { ramie_examples::main(run) }`.
pub fn main<O: Parser>(run: impl FnOnce(&O) -> Result) -> ExitCode {
    ramie_pjrt::end_when_pipe_closes();
    let mut matches = O::command().arg(ahead::option()).get_matches();
    let options = O::from_arg_matches_mut(&mut matches).unwrap_or_else(|e| e.exit());
    ahead::take(&mut matches);
    ramie::train::exit_code(ahead::outcome(run(&options)))
}

/// Starts the XLA client; without a platform, on the best one available.
///
/// # Errors
/// Returns an error if there is no plugin for the platform. Without this call, the first array
/// would panic.
pub fn start(platform: Option<Platform>) -> Result {
    start_with(RuntimeOptions {
        platform,
        ..Default::default()
    })
}

/// Starts the XLA client with options.
///
/// # Errors
/// Same as [`start`].
pub fn start_with(options: RuntimeOptions) -> Result {
    configure(options)?;
    runtime()?;
    Ok(())
}

/// Runs `f`, in a trace if there is a folder for one.
///
/// # Errors
/// Returns the error of `f`, or an error if the trace cannot be written.
pub fn profiled(folder: Option<&Path>, f: impl FnOnce() -> Result) -> Result {
    let Some(folder) = folder else {
        return f();
    };
    let (result, files) = profiler::trace(folder, f)?;
    println!("Wrote {}", files.json.display());
    result
}

/// Creates the output directory.
///
/// # Errors
/// Returns an error that names the directory.
pub fn create_folder(folder: &Path) -> Result {
    std::fs::create_dir_all(folder).map_err(|error| {
        let path = folder.to_owned();
        ramie::train::Error::Folder { path, error }.into()
    })
}

/// Formats a score: `437/450 correct (97.11%)`.
pub fn score(correct: usize, total: usize) -> impl Display {
    let percent = 100.0 * correct as f64 / total.max(1) as f64;
    format!("{correct}/{total} correct ({percent:.2}%)")
}

/// Prints how many of a model's parameters are trained: those that a filter selects.
pub fn print_trained<M: Tree>(model: &M, trained: impl Filter) {
    let count = |state: &State| state.arrays().iter().map(Array::size).sum::<usize>();
    println!(
        "Training {} of {} parameters",
        count(&nnx::state(model, trained)),
        count(&State::of(model))
    );
}
