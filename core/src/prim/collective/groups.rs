//! Groups of indices along mapped axes, within which a collective communicates.

use super::{Names, size_of};
use crate::ShapeError;
use crate::base::location::fail;
use crate::prim::Param;
use crate::program::lower::Lowering;
use crate::program::primitive::tuple_text;
use crate::sharding::AxisName;
use crate::typing::AxisNames;
use std::sync::Arc;

/// Lists of indices along mapped axes.
type Lists = Arc<[Box<[usize]>]>;

/// The mapped axes of a collective, and the groups of indices along them within which it
/// communicates, if not all indices do (`axis_index_groups=` in JAX). Names of axes convert into it.
///
/// Every index must be in exactly one group. As in JAX, groups are for functions under `pmap`, and
/// under `shard_map` without tracking of varying axes: reductions in groups need
/// `ShardMapOptions { check_vma: false, .. }`. `vmap` does not support them.
///
/// ```no_run
/// use ramie_core::lax::{AxisIndexGroups, psum};
/// use ramie_core::options::ShardMapOptions;
/// use ramie_core::{make_mesh, shard_map_with, Array, P};
/// let sums = |x: Array| psum(&x, AxisIndexGroups::new("i", [[0, 1], [2, 3]]));
/// let options = ShardMapOptions {
///     mesh: Some(make_mesh(&[4], &["i"])?),
///     check_vma: false,
///     ..ShardMapOptions::new(P!["i"], P!["i"])
/// };
/// let sums = shard_map_with(sums, options);
/// assert_eq!(sums(Array::arange(4)).to_vec::<i32>(), [1, 1, 5, 5]);
/// # Ok::<(), ramie_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AxisIndexGroups {
    pub(super) names: Names,
    pub(super) groups: Groups,
}

impl AxisIndexGroups {
    /// Creates groups of indices along the given axes. Over several axes, indices are numbered in
    /// the order of the names, as by [`axis_index`](crate::lax::axis_index).
    pub fn new<G: AsRef<[usize]>>(
        axes: impl Into<AxisNames>,
        groups: impl IntoIterator<Item = G>,
    ) -> AxisIndexGroups {
        let lists = groups.into_iter().map(|group| group.as_ref().into());
        AxisIndexGroups {
            names: axes.into().as_slice().into(),
            groups: Groups(Some(lists.collect())),
        }
    }
}

impl<T: Into<AxisNames>> From<T> for AxisIndexGroups {
    fn from(axes: T) -> AxisIndexGroups {
        AxisIndexGroups {
            names: axes.into().as_slice().into(),
            groups: Groups::default(),
        }
    }
}

/// The groups of a collective, or none if all examples communicate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Groups(Option<Lists>);

impl Groups {
    /// Returns whether there are groups.
    pub(super) fn any(&self) -> bool {
        self.0.is_some()
    }

    /// Formats the groups like JAX.
    pub(super) fn param(&self) -> Param {
        match &self.0 {
            None => Param::new("None"),
            Some(lists) => Param::tuple(lists.iter().map(|group| tuple_text(group.iter()))),
        }
    }

    /// Returns the number of examples that communicate with each other. Groups must have the same
    /// size, unless `unequal` is set, where the size is that of the largest.
    ///
    /// # Errors
    /// Returns an error if an axis is not mapped, or if the groups do not contain every index once.
    pub(super) fn size(&self, names: &[AxisName], unequal: bool) -> Result<usize, ShapeError> {
        let all = size_of(names)?;
        let Some(lists) = &self.0 else {
            return Ok(all);
        };
        let mut found: Vec<usize> = lists.iter().flat_map(|g| g.iter().copied()).collect();
        found.sort_unstable();
        if !found.iter().copied().eq(0..all) {
            return Err(ShapeError::new(format!(
                "axis_index_groups {lists:?} do not contain each of the {all} indices along \
                 {names:?} once"
            ))
            .help(format!(
                "put every index from 0 to {} in one group",
                all.max(1) - 1
            )));
        }
        let sizes = || lists.iter().map(|g| g.len());
        let largest = sizes().max().unwrap_or(0);
        if !unequal && sizes().any(|n| n != largest) {
            return Err(ShapeError::new(format!(
                "axis_index_groups {lists:?} have different sizes"
            ))
            .help("only sums, maxima and minima support groups of different sizes"));
        }
        Ok(largest)
    }

    /// Panics because the batching rule of a collective does not support groups.
    pub(super) fn refuse_vmap(&self, operation: &str) {
        if self.any() {
            fail(&format!(
                "{operation}: axis_index_groups are not supported under vmap, as in JAX\n  help: \
                 map with `pmap` or `shard_map`, or reshape the batch axis and map one axis per group"
            ));
        }
    }
}

/// Returns the program's partitions in groups along these axes, within which a collective
/// communicates.
pub(super) fn all_partitions(
    ctx: &Lowering<'_>,
    operation: &str,
    names: &[AxisName],
) -> Vec<Vec<usize>> {
    ctx.replica_groups(names).unwrap_or_else(|| {
        fail(&format!(
            "{operation}: the axes {names:?} are not mapped in the compiled program\n  help: call \
             the function through `shard_map` over a mesh with these axes, or through `vmap_with` \
             with these axis names"
        ))
    })
}

/// Returns the groups of [`all_partitions`], divided into those of `groups`.
pub(super) fn partitions(
    ctx: &Lowering<'_>,
    operation: &str,
    names: &[AxisName],
    groups: &Groups,
) -> Vec<Vec<usize>> {
    let all = all_partitions(ctx, operation, names);
    let Some(lists) = &groups.0 else {
        return all;
    };
    let within = |whole: &Vec<usize>| {
        let of = |group: &[usize]| group.iter().map(|&i| whole[i]).collect();
        lists
            .iter()
            .map(|group| of(group))
            .collect::<Vec<Vec<usize>>>()
    };
    all.iter().flat_map(within).collect()
}
