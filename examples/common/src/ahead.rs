//! `--aot`: compiles the step of an example ahead of time for other hardware instead
//! of running it.

use super::Result;
use clap::{Arg, ArgAction, ArgMatches};
use ramie::Tree;
use ramie::aot::Target;
use ramie::stages::Lowered;
use std::error::Error;
use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

static TARGETS: OnceLock<Vec<Target>> = OnceLock::new();
static COMPILED: AtomicBool = AtomicBool::new(false);

const NAME: &str = "aot";

/// Returns the option that every example has in addition to its own.
pub(super) fn option() -> Arg {
    Arg::new(NAME)
        .long(NAME)
        .value_name("TARGET")
        .help(
            "Only compile the step, for hardware such as tpu:v5e:2x4 or cuda:h200, and report its \
             memory, FLOPs and communication",
        )
        .value_parser(|text: &str| text.parse::<Target>())
        .action(ArgAction::Append)
}

/// Stores the option for the rest of the program.
pub(super) fn take(matches: &mut ArgMatches) {
    let targets = matches.remove_many(NAME);
    TARGETS.get_or_init(|| targets.into_iter().flatten().collect());
}

/// Returns whether the program only compiles its step.
pub(super) fn is_requested() -> bool {
    !targets().is_empty()
}

fn targets() -> &'static [Target] {
    TARGETS.get().map_or(&[], |targets| targets)
}

/// Ends a program that has compiled its step and must not run it.
#[derive(Debug)]
struct Compiled;

impl fmt::Display for Compiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the step is compiled, not run")
    }
}
impl Error for Compiled {}

/// Converts the outcome of a program that only compiles its step into success.
pub(super) fn outcome(outcome: Result) -> Result {
    match outcome {
        Err(e) if e.is::<Compiled>() => Ok(()),
        Ok(()) if !targets().is_empty() && !COMPILED.load(Ordering::Relaxed) => {
            Err("--aot: this example has no step to compile".into())
        }
        other => other,
    }
}

/// Compiles one of several programs for each target, if there are any, and prints the report.
/// Returns whether it did; the caller must not run the program then.
pub fn compiled_ahead<S: Tree, A: Tree, R: Tree, E: Into<Box<dyn Error>>>(
    name: &str,
    lower: impl FnOnce() -> std::result::Result<Lowered<S, A, R>, E>,
) -> Result<bool> {
    if !is_requested() {
        return Ok(false);
    }
    println!("{name}");
    let lowered = lower().map_err(Into::into)?;
    for target in targets() {
        println!("{}", lowered.compile_for(target)?);
    }
    COMPILED.store(true, Ordering::Relaxed);
    Ok(true)
}

/// Compiles the only step of a program like [`compiled_ahead`]; the program then exits.
pub fn ahead<S: Tree, A: Tree, R: Tree, E: Into<Box<dyn Error>>>(
    lower: impl FnOnce() -> std::result::Result<Lowered<S, A, R>, E>,
) -> Result {
    if compiled_ahead("The step", lower)? {
        Err(Compiled.into())
    } else {
        Ok(())
    }
}
