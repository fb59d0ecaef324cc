//! What tests of operations share: recorded values of JAX, and ways to check
//! values, derivatives and batching.
//!
//! A test crate uses a part of it each.
#![allow(dead_code)]

pub mod apply;
pub mod case;
pub mod check;
pub mod control;
pub mod convolution;
pub mod functions;
pub mod golden;
pub mod indexing;
pub mod inside;
pub mod lax;
pub mod linalg;
pub mod numbers;
pub mod plan;
pub mod windows;

use apply::Operation;
use case::Case;
use check::Failures;
use golden::{Golden, Row};
use plan::Batches;
use ramie_core::{Array, DType};

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

/// The recorded rows of the named operations, as cases.
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

/// Reads an array of any type as its bytes, from bytes.
pub fn from_bytes(dtype: DType, shape: &[usize], bytes: &[u8]) -> Array {
    Array::try_from_bytes(bytes, shape, dtype).expect("the golden file holds whole arrays")
}
