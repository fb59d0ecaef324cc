//! What tests of functions, made of several primitives, share: operations from
//! closures, parameters of rows, and the walk through a recording.

use super::apply::Operation;
use super::golden::{Golden, Row};
use ramie_core::Array;

/// The operation of a row, if one is known.
pub type Applied = Option<Box<Operation>>;

/// Makes an operation from a function of the first operand.
pub fn one(f: impl Fn(&Array) -> Array + Send + Sync + 'static) -> Applied {
    Some(Box::new(move |x| vec![f(&x[0])]))
}

/// Makes an operation from a function of the first two operands.
pub fn two(f: impl Fn(&Array, &Array) -> Array + Send + Sync + 'static) -> Applied {
    Some(Box::new(move |x| vec![f(&x[0], &x[1])]))
}

/// Lists two results.
pub fn pair((a, b): (Array, Array)) -> Vec<Array> {
    vec![a, b]
}

/// Returns the axes that a row names, or `None` for all axes.
pub fn axes(row: &Row) -> Option<Vec<isize>> {
    let axes = row.params["axes"].as_array()?;
    Some(
        axes.iter()
            .map(|a| a.as_i64().expect("an axis") as isize)
            .collect(),
    )
}

/// Selects four of five elements.
pub fn mask_of(shape: &[usize]) -> Array {
    let size: usize = shape.iter().product();
    let mask: Vec<bool> = (0..size).map(|i| i % 5 != 1).collect();
    Array::from_slice(&mask, shape)
}

/// Checks a recording of at least so many operations.
///
/// # Panics
/// If there are fewer, and as [`walk`](super::walk).
#[track_caller]
pub fn agree(name: &str, least: usize, apply: &dyn Fn(&Row) -> Applied) {
    let golden = Golden::open(name);
    let ops = golden.ops();
    assert!(ops.len() >= least, "{} operations are recorded", ops.len());
    super::walk(golden, &ops, apply);
}
