//! The options of `vmap`: batch axes and their names.

use crate::Tree;
use crate::base::location::{self, Caller};
use crate::program::specs::Specs;
use crate::program::tree::{self, PerArray};
use crate::sharding::AxisName;
use crate::types::sharding::{PartitionSpec, SpecEntry};
use crate::typing::AxisNames;

/// The batch axis of each array; `None` for arrays that are the same for all examples.
///
/// One number applies to all arrays. A list has an entry for each argument of the function, or
/// for each component of its result: a number that applies to all arrays in it, or another list.
/// [`by_path`](PerArray::by_path) selects an axis for each array by its path.
///
/// ```
/// use ramie_core::typing::MapAxes;
/// use ramie_core::{vmap_with, Array};
/// let f = |(scale, x): (Array, Array)| scale * x;
/// let scale_is_shared = MapAxes::by_path(|path| (path != "0.0").then_some(0));
/// let out = vmap_with(f, scale_is_shared)((Array::from(2.0f32), Array::from([1.0f32, 3.0])));
/// assert_eq!(out.to_vec::<f32>(), [2.0, 6.0]);
/// ```
pub type MapAxes = PerArray<Option<isize>>;

impl MapAxes {
    /// Panics if a list does not have an entry for each of `count` arguments.
    #[track_caller]
    pub(crate) fn check_arguments(&self, operation: &str, count: usize) {
        if let Some(entries) = self.count() {
            assert!(
                entries == count,
                "{operation}: in_axes has {entries} entries, but the function has {count} \
                 arguments\n  help: pass an axis or None for each argument"
            );
        }
    }

    /// Returns the axis of each array of the arguments or of the result of a function.
    pub(crate) fn of<T: Tree>(&self, what: &str, tree: &T, caller: Caller) -> Vec<Option<isize>> {
        match self.of_paths(what, &tree::paths(tree)) {
            Ok(axes) => axes,
            Err(message) => panic!("{}: {message}\n  {caller}", caller.operation),
        }
    }

    /// Returns specs that shard these axes along `name`.
    pub(crate) fn specs(&self, name: AxisName) -> Specs {
        self.map(move |axis: Option<isize>| match axis {
            None => PartitionSpec::default(),
            Some(axis) => match usize::try_from(axis) {
                Ok(at) => PartitionSpec::default().inserted(at, SpecEntry::from(&[name][..])),
                Err(_) => location::fail(&format!(
                    "smap: axis {axis} is counted from the end\n  help: count it from the start"
                )),
            },
        })
    }
}

impl From<isize> for MapAxes {
    fn from(axis: isize) -> Self {
        MapAxes::all(Some(axis))
    }
}

impl From<Option<isize>> for MapAxes {
    fn from(axis: Option<isize>) -> Self {
        MapAxes::all(axis)
    }
}

/// Options of [`vmap_with`](super::vmap_with). The axes of the arguments, and a pair of the axes of
/// the arguments and of the results convert into it.
///
/// ```
/// use ramie_core::lax::pmean;
/// use ramie_core::options::VmapOptions;
/// use ramie_core::{vmap_with, Array};
/// let centred = |x: Array| &x - pmean(&x, "examples");
/// let options = VmapOptions {
///     axis_name: Some("examples".into()),
///     ..VmapOptions::default()
/// };
/// let x = Array::from([1.0f32, 2.0, 6.0]);
/// assert_eq!(vmap_with(centred, options)(x).to_vec::<f32>(), [-2.0, -1.0, 3.0]);
/// ```
#[derive(Clone, Debug)]
pub struct VmapOptions {
    /// Batch axis of the arguments' arrays. Defaults to the first.
    pub in_axes: MapAxes,
    /// Position of the batch axis in results. Defaults to the first. `None` asserts that a result
    /// is the same for all examples, unless `sum_match` is set.
    pub out_axes: MapAxes,
    /// Name of the mapped axis, for collectives such as [`psum`](crate::lax::psum) in the function.
    pub axis_name: Option<AxisName>,
    /// Mesh axes along which the examples are sharded, for sharding constraints and for
    /// [`shard_map`](crate::shard_map) in the function.
    pub spmd_axis_name: Option<AxisNames>,
    /// Number of examples, required only if no argument has a batch axis.
    pub axis_size: Option<usize>,
    /// Whether results that depend on the example are summed over the examples where `out_axes` is
    /// `None`: the transpose of an argument that is the same for all examples. Defaults to `false`.
    pub sum_match: bool,
}

impl Default for VmapOptions {
    fn default() -> Self {
        VmapOptions {
            in_axes: 0.into(),
            out_axes: 0.into(),
            axis_name: None,
            spmd_axis_name: None,
            axis_size: None,
            sum_match: false,
        }
    }
}

impl<A: Into<MapAxes>> From<A> for VmapOptions {
    fn from(in_axes: A) -> Self {
        VmapOptions {
            in_axes: in_axes.into(),
            ..VmapOptions::default()
        }
    }
}

impl<A: Into<MapAxes>, B: Into<MapAxes>> From<(A, B)> for VmapOptions {
    fn from((in_axes, out_axes): (A, B)) -> Self {
        VmapOptions {
            out_axes: out_axes.into(),
            ..VmapOptions::from(in_axes)
        }
    }
}
