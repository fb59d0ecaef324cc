//! Arithmetic that transformations share.

use ramie_core::{Array, DType, State, where_};

/// The count plus one; a count at the greatest value stays there.
///
/// # Panics
/// If the array does not hold 32-bit integers.
#[track_caller]
pub fn safe_increment(count: &Array) -> Array {
    assert!(
        count.dtype() == DType::I32,
        "safe_increment: the count is {}, expected i32\n  help: make it with Array::scalar(0, DType::I32)",
        count.aval()
    );
    where_(&count.lt(i32::MAX), count + 1, i32::MAX)
}

/// The Euclidean norm of all arrays together, 0-d.
///
/// # Panics
/// If the state is empty.
#[track_caller]
pub fn global_norm(updates: &State) -> Array {
    let squares = updates.arrays().iter().map(|u| total(&u.square()));
    match squares.reduce(|a, b| a + b) {
        Some(sum) => sum.sqrt(),
        None => panic!("global_norm: the state has no arrays"),
    }
}

/// The sum over all axes.
#[track_caller]
fn total(x: &Array) -> Array {
    let axes: Vec<isize> = (0..x.ndim() as isize).collect();
    x.sum_axes(&axes)
}
