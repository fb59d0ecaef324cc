//! The sweep: every public operation on every dtype, with operands that are
//! arrays, arguments and constants, empty, 0-d, and larger than any memory. Each
//! case computes, or panics at the caller's line with a remedy. No case ends the
//! process, overflows in our arithmetic, or shows the compiler's own words.
//!
//! Cases run in child processes, so that a signal is a result. Without a variable
//! the test takes a sample of each operation's cases:
//!
//! ```text
//! RAMIE_SWEEP=all cargo test -p ramie-core --test sweep -- --nocapture     # every case
//! RAMIE_SWEEP=40 cargo test -p ramie-core --test sweep -- --nocapture      # 40 of each operation
//! RAMIE_SWEEP_ONLY=remainder,linalg::det cargo test …                      # these operations
//! RAMIE_SWEEP_TABLE=sweep.tsv cargo test …                                 # writes the counts
//! ```
#![cfg(unix)]

mod case;
mod child;
mod names;
mod operations;
mod parent;
mod report;

use case::{Case, PER_OPERATION};
use operations::Operation;
use parent::Worker;
use report::Report;
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Cases of each operation without the variable.
const SAMPLE: usize = 1;

/// The numbers of the cases to run: all of each operation, or a fixed sample.
fn chosen(operations: &[Operation]) -> Vec<usize> {
    let each = match std::env::var("RAMIE_SWEEP").as_deref() {
        Err(_) => SAMPLE,
        Ok("all") => PER_OPERATION,
        Ok(n) => n.parse().expect("RAMIE_SWEEP is `all` or a number"),
    };
    let each = each.min(PER_OPERATION);
    let case = |operation: usize, i: usize| {
        // The name alone decides, so that a new operation changes no other's sample.
        let name = operations[operation].name.bytes();
        let start = name.fold(0, |sum: usize, b| (sum * 31 + b as usize) % PER_OPERATION);
        operation * PER_OPERATION + (start + i * STEP) % PER_OPERATION
    };
    (0..operations.len())
        .flat_map(|o| (0..each).map(move |i| (o, i)))
        .map(|(o, i)| case(o, i))
        .collect()
}

/// The distance of two cases of a sample. It shares no factor with
/// `PER_OPERATION`, so that all cases are visited once.
const STEP: usize = 257;

#[test]
fn every_operation_computes_or_refuses() {
    if std::env::var(parent::CHILD).is_ok() {
        return child::serve();
    }
    let operations = operations::all();
    let only = std::env::var("RAMIE_SWEEP_ONLY").ok();
    let wanted = |name: &str| {
        only.as_ref()
            .is_none_or(|o| o.split(',').any(|n| n == name))
    };
    let mut cases = chosen(&operations);
    cases.retain(|&i| wanted(operations[Case::new(i).operation].public_name()));
    let next = AtomicUsize::new(0);
    let report = Mutex::new(Report::default());
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    std::thread::scope(|scope| {
        for _ in 0..threads.min(cases.len()) {
            scope.spawn(|| {
                let mut worker = Worker::start();
                while let Some(&index) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let outcome = worker.run(index);
                    let case = Case::new(index);
                    let name = operations[case.operation].public_name();
                    let show = case.show(&operations);
                    if let report::Outcome::Raw(text) | report::Outcome::Died(text) = &outcome {
                        // A long run shows what it finds at once.
                        eprintln!("{show}: {text}");
                    }
                    let mut report = report.lock().expect("no panics");
                    report.note(name, case.dtype, &show, &outcome);
                }
                worker.finish();
            });
        }
    });
    let report = report.into_inner().expect("no panics");
    println!("{}", report.by_dtype());
    if let Ok(file) = std::env::var("RAMIE_SWEEP_TABLE") {
        std::fs::write(&file, report.by_operation()).unwrap_or_else(|e| panic!("{file}: {e}"));
    }
    if std::env::var("RAMIE_SWEEP").is_ok() && !report.misplaced.is_empty() {
        println!("refused elsewhere:\n{}", report.misplaced.join("\n"));
    }
    let failures = &report.failures;
    assert!(
        failures.is_empty(),
        "{} cases neither computed nor refused\n{}",
        failures.len(),
        failures.join("\n")
    );
}

#[test]
fn every_public_operation_has_a_row() {
    let operations = operations::all();
    names::check(
        &operations
            .iter()
            .map(|o| o.public_name())
            .collect::<BTreeSet<_>>(),
    );
    let mut seen = BTreeSet::new();
    let twice = operations.iter().filter(|o| !seen.insert(o.name));
    let twice: Vec<_> = twice.map(|o| o.name).collect();
    assert!(twice.is_empty(), "{twice:?} have two rows of one form");
}
