//! `StateAxes`: the mapped axis of each leaf in a transformation.

use crate::model::{Filter, Leaf};
use crate::sharding::{with_axis, without_axis};
use crate::{Metadata, for_each_variable};
use ramie_core::sharding::{AxisName, SpecEntry};
use ramie_core::{Array, PartitionSpec, Tree, tree};
use std::fmt;
use std::sync::Arc;

/// The treatment of a leaf of the model in a transformation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Axis {
    /// Mapped along this axis: each batch element or step gets a slice.
    At(isize),
    /// Shared by all batch elements or steps.
    Broadcast,
    /// Carried from each step to the next. Only for [`scan`](super::scan).
    Carry,
}

/// The axis of leaves that are carried from step to step (`nnx.Carry`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Carry;

impl From<Carry> for Axis {
    fn from(_: Carry) -> Axis {
        Axis::Carry
    }
}
impl From<isize> for Axis {
    fn from(axis: isize) -> Axis {
        Axis::At(axis)
    }
}
impl From<Option<isize>> for Axis {
    fn from(axis: Option<isize>) -> Axis {
        axis.map_or(Axis::Broadcast, Axis::At)
    }
}

/// The mapped axis of each leaf of a model (`nnx.StateAxes`): that of the first filter that
/// accepts the leaf.
///
/// ```
/// use ramie_nn::Param;
/// use ramie_nn::nnx::{Carry, Everything, RngState, StateAxes, of_type};
/// let axes = StateAxes::new()
///     .with(of_type::<Param>(), 0)
///     .with(of_type::<RngState>(), Carry)
///     .with(Everything, None);
/// ```
#[derive(Clone, Default)]
pub struct StateAxes {
    rules: Vec<(Arc<dyn Filter>, Axis)>,
}

impl fmt::Debug for StateAxes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StateAxes ")?;
        f.debug_list()
            .entries(self.rules.iter().map(|(_, axis)| axis))
            .finish()
    }
}

impl<A: Into<Axis>> From<A> for StateAxes {
    fn from(axis: A) -> StateAxes {
        StateAxes::all(axis)
    }
}

impl StateAxes {
    /// Creates axes without filters.
    pub fn new() -> StateAxes {
        StateAxes::default()
    }

    /// Creates axes with one axis for all leaves.
    pub fn all(axis: impl Into<Axis>) -> StateAxes {
        StateAxes::new().with(true, axis)
    }

    /// Adds a filter after the existing ones.
    #[must_use]
    pub fn with(mut self, filter: impl Filter + 'static, axis: impl Into<Axis>) -> StateAxes {
        self.rules.push((Arc::new(filter), axis.into()));
        self
    }

    /// Returns the axis of each leaf of a tree, in order.
    #[track_caller]
    pub(super) fn of<T: Tree>(&self, operation: &str, tree: &T) -> Vec<Axis> {
        let mut axes = Vec::new();
        let mut without = None;
        for_each_variable(tree, |path, kind, metadata, array| {
            let leaf = Leaf {
                path,
                kind,
                metadata,
                array,
            };
            let rule = self.rules.iter().find(|(filter, _)| filter.accepts(&leaf));
            if rule.is_none() && without.is_none() {
                without = Some(format!("`{path}` ({})", kind.unwrap_or("no variable")));
            }
            axes.push(rule.map_or(Axis::Broadcast, |(_, axis)| *axis));
        });
        if let Some(leaf) = without {
            panic!(
                "{operation}: no filter of the StateAxes accepts {leaf}\n  help: add an axis for \
                 all other leaves: .with(Everything, None)"
            );
        }
        axes
    }
}

/// Returns a mapped axis counted from the start, after checking it.
#[track_caller]
pub(super) fn checked_axis(operation: &str, path: &str, array: &Array, axis: isize) -> usize {
    let rank = array.ndim() as isize;
    let from_start = if axis < 0 { axis + rank } else { axis };
    assert!(
        (0..rank).contains(&from_start),
        "{operation}: `{path}` is {}, which has no axis {axis}\n  help: stack layers with \
         nnx::vmap of their constructor over split streams, rngs.split(n), or use another axis \
         in the StateAxes",
        array.aval()
    );
    from_start as usize
}

/// Adds or removes the name of a stacked axis in the metadata of variables whose dimensions
/// have names.
#[track_caller]
pub(super) fn rename_axes<T: Tree>(
    operation: &str,
    tree: &mut T,
    axes: &[Axis],
    name: AxisName,
    add: bool,
) {
    // One entry for each variable with metadata, in the order of the walk. `visit_parts` visits
    // the metadata in the same order.
    let mut places = Vec::new();
    let mut next = axes.iter();
    for_each_variable(tree, |path, _, metadata, array| {
        let axis = next.next();
        if metadata.is_some() {
            places.push((path.to_owned(), axis.copied(), array.ndim()));
        }
    });
    if places.is_empty() {
        return;
    }
    let mut places = places.into_iter();
    tree::part(tree, &mut |part| {
        let Some(Some(metadata)) = part.downcast_mut::<Option<Arc<Metadata>>>() else {
            return;
        };
        let Some((path, Some(Axis::At(axis)), rank)) = places.next() else {
            return;
        };
        let Some(sharding) = &metadata.sharding else {
            return;
        };
        // Names are removed from slices, which no longer have the axis.
        let rank = rank as isize + isize::from(!add);
        let at = if axis < 0 { axis + rank } else { axis } as usize;
        let entries = if add {
            with_axis(sharding, at, name)
        } else {
            let (entries, removed) = without_axis(sharding, at);
            if let Some(removed) = removed {
                assert!(
                    removed == SpecEntry::from(name),
                    "{operation}: the metadata of `{path}` names the mapped axis {axis} \
                     {removed}, expected {name}\n  help: pass the partition_name that the layers \
                     were stacked with"
                );
            }
            entries
        };
        Arc::make_mut(metadata).sharding = Some(PartitionSpec::new(entries));
    });
}
