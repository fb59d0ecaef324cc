//! Test support of the crates of Ramie: recorded values of JAX, and ways to check values,
//! derivatives, batching and messages of panics.

#![forbid(unsafe_code)]

pub mod apply;
pub mod calls;
pub mod case;
pub mod chance;
pub mod check;
pub mod control;
pub mod convolution;
pub mod devices;
pub mod draws;
pub mod examples;
pub mod functions;
pub mod fuzz;
pub mod golden;
pub mod indexing;
pub mod inside;
pub mod jaxprs;
pub mod lax;
pub mod linalg;
pub mod models;
pub mod numbers;
pub mod panics;
pub mod plan;
pub mod processes;
pub mod targets;
pub mod windows;

use apply::Operation;
use case::Case;
use check::Failures;
use golden::{Golden, Row};
use plan::Batches;

pub use calls::check_calls;
pub use devices::{cpu_devices, cpu_mesh, is_linked};
pub use panics::{assert_explained, assert_panics, caught, panic_message};

/// Checks every recorded row of the named operations; `apply` makes an
/// operation of a row.
///
/// # Panics
/// With all rows that differ, or if an operation has no rows or is not known.
#[track_caller]
pub fn walk(golden: &Golden, ops: &[&str], apply: &dyn Fn(&Row) -> Option<Box<Operation>>) {
    let mut failures = Failures::default();
    let cases = recorded(golden, ops, apply, &mut failures);
    check::cases(&cases, &mut failures);
    failures.finish();
}

/// Checks what is recorded of every row of the named operations, and neither
/// differences nor batches.
///
/// # Panics
/// As [`walk`] does.
#[track_caller]
pub fn walk_recorded(
    golden: &Golden,
    ops: &[&str],
    apply: &dyn Fn(&Row) -> Option<Box<Operation>>,
) {
    let mut failures = Failures::default();
    let mut cases = recorded(golden, ops, apply, &mut failures);
    for case in &mut cases {
        case.smooth = false;
        case.batches = Batches::None;
    }
    check::cases(&cases, &mut failures);
    failures.finish();
}

/// Returns the recorded rows of the named operations as cases.
pub fn recorded(
    golden: &Golden,
    ops: &[&str],
    apply: &dyn Fn(&Row) -> Option<Box<Operation>>,
    failures: &mut Failures,
) -> Vec<Case> {
    let mut cases = Vec::new();
    for op in ops {
        let rows: Vec<Row> = golden.rows(op).collect();
        if rows.is_empty() {
            failures.note(op, "no rows are recorded");
        }
        for row in rows {
            match apply(&row) {
                Some(f) => cases.push(Case::recorded(row, f)),
                None => failures.note(&row.label, "no way to apply it is known"),
            }
        }
    }
    cases
}
