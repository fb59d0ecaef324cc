//! Collectives: operations between the examples of a mapped axis, which they refer to by name.
//!
//! `vmap` replaces them by operations along the batch axis. A collective over several axes is
//! decomposed one axis at a time, as each axis is mapped.

mod exchange;
pub(crate) mod functions;
mod gather;
mod groups;
mod index;
mod ragged;
mod reduce;

pub use exchange::{AllToAll, Ppermute};
pub use gather::{AllGather, ReduceScatter};
pub use groups::{AxisIndexGroups, Groups};
pub use index::{AxisIndex, Pvary};
pub use ragged::{RaggedAllToAll, ragged_all_to_all};
pub use reduce::{AllReduce, Combine};

use super::{Param, Primitive};
use crate::program::trace::bind1;
use crate::sharding::AxisName;
use crate::types::axis;
use crate::types::sharding::{AxisSet, AxisType, Context};
use crate::{Array, ShapeError};
use smallvec::SmallVec;

/// Names of the axes of a collective, the slowest-varying first.
pub type Names = SmallVec<[AxisName; 2]>;

/// Returns the number of examples along several axes together.
///
/// # Errors
/// Returns an error if an axis is not mapped.
pub(crate) fn size_of(names: &[AxisName]) -> Result<usize, ShapeError> {
    let mut size = 1;
    for &name in names {
        size *= axis::bound_size(name).ok_or_else(|| unbound(name))?;
    }
    Ok(size)
}

fn unbound(name: AxisName) -> ShapeError {
    ShapeError::new(format!(
        "no mapped axis is named `{name}` here: {}",
        axis::bound_names()
    ))
    .help(
        "name the axis where the function is mapped: `vmap_with` with an `axis_name`, or `shard_map` \
         over a mesh with that axis",
    )
}

/// Formats names like JAX, as a tuple.
fn tuple(names: &[AxisName]) -> Param {
    Param::tuple(names.iter().map(|n| format!("{n:?}")))
}

/// Formats names like JAX where a single name needs no tuple.
fn bare(names: &[AxisName]) -> Param {
    match names {
        [one] => Param::new(one),
        many => tuple(many),
    }
}

/// Returns the axes before and after `name`.
fn around(names: &[AxisName], name: AxisName) -> (Names, Names) {
    let at = names.iter().position(|n| *n == name).unwrap_or(0);
    (names[..at].into(), names[at + 1..].into())
}

/// Merges the axes `at` and `at + 1`.
fn merge(x: &Array, at: usize) -> Array {
    let mut shape = x.shape().to_vec();
    let inner = shape.remove(at + 1);
    shape[at] *= inner;
    x.reshape(&shape)
}

/// Splits the axis `at` in two, the first of size `outer`.
fn divide(x: &Array, at: usize, outer: usize) -> Array {
    let mut shape = x.shape().to_vec();
    shape[at] /= outer;
    shape.insert(at, outer);
    x.reshape(&shape)
}

/// Returns those of the axes that are manual mesh axes here and that types track.
fn manual(names: &[AxisName]) -> AxisSet {
    let context = Context::current();
    let is_manual = |n: &AxisName| {
        context.checks_varying
            && context
                .axes
                .is_some_and(|axes| axes.axis_type(*n) == Some(AxisType::Manual))
    };
    AxisSet::new(names.iter().copied().filter(is_manual))
}

/// Marks the array as varying over those of the axes that types track.
#[track_caller]
pub(crate) fn vary(x: &Array, names: &[AxisName]) -> Array {
    let missing = manual(names).without(x.aval().varying());
    if missing.is_empty() {
        x.clone()
    } else {
        bind1(
            Pvary {
                axes: missing.as_slice().into(),
            },
            &[x],
        )
    }
}

/// Returns the operands, marked as varying over the same axes, if they do not and the primitive
/// requires it.
#[track_caller]
pub(crate) fn vary_together(
    primitive: &dyn Primitive,
    args: &[&Array],
) -> Option<SmallVec<[Array; 4]>> {
    if primitive.facts().places_results || !Context::current().checks_varying {
        return None;
    }
    let sets = args.iter().map(|a| a.aval().varying_set());
    let all = sets.clone().fold(AxisSet::default(), AxisSet::union);
    if sets.clone().all(|s| s == all) {
        return None;
    }
    Some(args.iter().map(|a| vary(a, all.as_slice())).collect())
}
