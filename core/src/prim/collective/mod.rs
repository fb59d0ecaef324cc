//! Collectives: operations between the examples of a mapped axis, which they
//! call by its name.
//!
//! `vmap` replaces them by operations along the batch axis. A collective over
//! several axes is taken apart one axis at a time, as each is mapped.

mod exchange;
mod gather;
mod index;
mod reduce;

pub use exchange::{AllToAll, Ppermute};
pub use gather::{AllGather, ReduceScatter};
pub use index::{AxisIndex, Pvary};
pub use reduce::{AllReduce, Combine};

use super::Param;
use crate::lower::Value;
use crate::{Array, AxisName, ShapeError, axis, trace};
use smallvec::SmallVec;

/// Names of the axes of a collective, the slowest first.
pub type Names = SmallVec<[AxisName; 2]>;

/// The number of examples along axes together.
///
/// # Errors
/// If one is not mapped here.
pub(crate) fn size_of(names: &[AxisName]) -> Result<usize, ShapeError> {
    let mut size = 1;
    for &name in names {
        size *= axis::bound_size(name).ok_or_else(|| unbound(name))?;
    }
    Ok(size)
}

fn unbound(name: AxisName) -> ShapeError {
    ShapeError::new(format!(
        "no mapped axis is named `{name}` here: {} mapped",
        axis::bound_names()
    ))
    .help("name the axis where the function is mapped: `vmap_with` with an `axis_name`")
}

/// Names as JAX prints them: a tuple.
fn tuple(names: &[AxisName]) -> Param {
    Param::tuple(names.iter().map(|n| format!("{n:?}")))
}

/// Names as JAX prints them where one needs no tuple.
fn bare(names: &[AxisName]) -> Param {
    match names {
        [one] => Param::new(one),
        many => tuple(many),
    }
}

/// The axes before and after `name`.
fn around(names: &[AxisName], name: AxisName) -> (Names, Names) {
    let at = names.iter().position(|n| *n == name).unwrap_or(0);
    (names[..at].into(), names[at + 1..].into())
}

/// The array with the axes `at` and `at + 1` as one.
fn merge(x: &Array, at: usize) -> Array {
    let mut shape = x.shape().to_vec();
    let inner = shape.remove(at + 1);
    shape[at] *= inner;
    x.reshape(&shape)
}

/// The array with the axis `at` as two, the first of size `outer`.
fn divide(x: &Array, at: usize, outer: usize) -> Array {
    let mut shape = x.shape().to_vec();
    shape[at] /= outer;
    shape.insert(at, outer);
    x.reshape(&shape)
}

fn no_lowering(operation: &str, names: &[AxisName]) -> Vec<Value> {
    trace::fail(&format!(
        "{operation}: the axes {names:?} are not mapped in the program that is compiled\n  help: \
         call the function through `vmap_with` with these axis names"
    ))
}
