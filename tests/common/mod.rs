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
    use ramie_core::Element;
    fn read<T: Element>(bytes: &[u8], shape: &[usize]) -> Array {
        Array::from_slice(&T::read_bytes(bytes), shape)
    }
    match dtype {
        DType::Bool => read::<bool>(bytes, shape),
        DType::I8 => read::<i8>(bytes, shape),
        DType::I16 => read::<i16>(bytes, shape),
        DType::I32 => read::<i32>(bytes, shape),
        DType::I64 => read::<i64>(bytes, shape),
        DType::U8 => read::<u8>(bytes, shape),
        DType::U16 => read::<u16>(bytes, shape),
        DType::U32 => read::<u32>(bytes, shape),
        DType::U64 => read::<u64>(bytes, shape),
        DType::BF16 => read::<half::bf16>(bytes, shape),
        DType::F16 => read::<half::f16>(bytes, shape),
        DType::F32 => read::<f32>(bytes, shape),
        DType::F64 => read::<f64>(bytes, shape),
    }
}
