//! The process that runs cases: it reads their numbers and writes how each
//! ended.

use super::case::Case;
use super::operations::{self, Operation};
use super::report::Outcome;
use ramie_core::options::RuntimeOptions;
use ramie_core::{clear_caches, configure};
use std::cell::RefCell;
use std::io::{BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Cases after which compiled programs are dropped, so that memory stays small.
const KEEP: usize = 400;

thread_local! { static PANIC: RefCell<Option<(String, String)>> = const { RefCell::new(None) }; }

/// Runs the cases whose numbers come in, until the input ends.
pub fn serve() {
    let options = RuntimeOptions {
        compilation_cache: Some(false),
        ..Default::default()
    };
    configure(options).expect("the runtime is not in use yet");
    std::panic::set_hook(Box::new(|info| {
        let text = info.payload_as_str().unwrap_or("a panic without a text");
        let place = info.location().map_or(String::new(), |l| l.to_string());
        PANIC.set(Some((text.to_string(), place)));
    }));
    let operations = operations::all();
    for (count, line) in std::io::stdin().lock().lines().enumerate() {
        let index = line.expect("the numbers of cases");
        let case = Case::new(index.parse().expect("a number"));
        let outcome = run(&case, &operations);
        let mut out = std::io::stdout().lock();
        writeln!(out, "\nSWEEP {}", outcome.encode()).expect("the parent listens");
        out.flush().expect("the parent listens");
        if count % KEEP == KEEP - 1 {
            clear_caches();
        }
    }
}

fn run(case: &Case, operations: &[Operation]) -> Outcome {
    if catch_unwind(AssertUnwindSafe(|| case.run(operations))).is_ok() {
        return Outcome::Computed;
    }
    let (text, place) = PANIC.take().expect("the hook has run");
    match is_refusal(&text) {
        false => Outcome::Raw(format!("{text}\n  at {place}")),
        // A refusal is reported at the line of the caller, which is in the table.
        true if place.contains("tests/sweep/") => Outcome::Refused,
        true => Outcome::Misplaced(format!("{text}\n  at {place}")),
    }
}

/// Words of panics that no check of ours wrote.
const RAW: [&str; 9] = [
    "attempt to ",
    "index out of bounds: the len is",
    "out of range for slice",
    "called `",
    "compiling `",
    "capacity overflow",
    "internal error",
    "buffer type ",
    "assertion ",
];

/// Whether a panic names an operation and what is wrong with its operands.
fn is_refusal(text: &str) -> bool {
    let name = text.split_once(": ").map_or("", |(name, _)| name);
    let named = !name.is_empty() && !name.contains(char::is_whitespace);
    named && !RAW.iter().any(|words| text.contains(words))
}
