//! What tests of operations share: recorded values of JAX, and ways to check
//! values, derivatives and batching.
//!
//! A test crate uses a part of it each.
#![allow(dead_code)]

pub mod apply;
pub mod check;
pub mod golden;
pub mod indexing;
pub mod numbers;

use check::Failures;
use golden::{Golden, Row};
use ramie_core::{Array, DType};

/// Checks every recorded row of the named operations: values, forward and
/// reverse derivatives, and batching against a loop.
///
/// # Panics
/// With all rows that differ, or if an operation has no rows or cannot be
/// applied.
#[track_caller]
pub fn walk(golden: &Golden, ops: &[&str]) {
    let mut failures = Failures::default();
    for op in ops {
        let mut rows = 0;
        for row in golden.rows(op) {
            rows += 1;
            let Some(f) = apply::apply(&row) else {
                failures.note(&row.label, "no way to apply it is known".into());
                continue;
            };
            walk_row(&row, &*f, &mut failures);
        }
        assert!(rows > 0, "no rows are recorded of `{op}`");
    }
    failures.finish();
}

/// Checks one row.
pub fn walk_row(row: &Row, f: &apply::Operation, failures: &mut Failures) {
    let values = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        check::values(row, f)?;
        check::derivatives(row, f)?;
        if row.case != "special" && matches!(row.dtype, DType::F32 | DType::I32 | DType::Bool) {
            check::batching(&row.inputs, f)?;
        }
        Ok(())
    }));
    match values {
        Ok(Ok(())) => {}
        Ok(Err(message)) => failures.note(&row.label, message),
        Err(panic) => {
            let text = panic
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| panic.downcast_ref::<&str>().copied())
                .unwrap_or("a panic");
            failures.note(&row.label, format!("panicked: {text}"));
        }
    }
}

/// Reads an array of any type as its bytes, from bytes.
pub fn from_bytes(dtype: DType, shape: &[usize], bytes: &[u8]) -> Array {
    Array::try_from_bytes(bytes, shape, dtype).expect("the golden file holds whole arrays")
}
