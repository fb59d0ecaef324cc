//! The options of `vmap`: batch axes and their names.

use crate::base::location;
use crate::program::specs::Specs;
use crate::program::tree;
use crate::types::sharding::{PartitionSpec, SpecEntry};
use crate::{AxisName, AxisNames, Tree};
use std::fmt;
use std::sync::Arc;

/// The batch axis of each array; `None` for arrays that are the same for all examples.
///
/// One number applies to all arrays. A list has an entry for each argument of the function, or
/// for each component of its result, which applies to all arrays in it.
/// [`by_path`](MapAxes::by_path) selects an axis for each array by its path.
///
/// ```
/// use ramie_core::{Array, MapAxes, vmap_axes};
/// let f = |(scale, x): (Array, Array)| scale * x;
/// let scale_is_shared = MapAxes::by_path(|path| (path != "0.0").then_some(0));
/// let out = vmap_axes(f, scale_is_shared, 0)((Array::from(2.0f32), Array::from([1.0f32, 3.0])));
/// assert_eq!(out.to_vec::<f32>(), [2.0, 6.0]);
/// ```
#[derive(Clone)]
pub struct MapAxes(Spec);

#[derive(Clone)]
enum Spec {
    All(Option<isize>),
    Each(Vec<Option<isize>>),
    ByPath(Arc<dyn Fn(&str) -> Option<isize> + Send + Sync>),
}

impl MapAxes {
    /// Selects the axis of each array by its dotted path: for arguments the index of the argument
    /// and the path within it, `0.encoder.kernel`; for results the path within the result.
    pub fn by_path(axis: impl Fn(&str) -> Option<isize> + Send + Sync + 'static) -> MapAxes {
        MapAxes(Spec::ByPath(Arc::new(axis)))
    }

    /// Panics if a list does not have an entry for each of `count` arguments.
    #[track_caller]
    pub(crate) fn check_arguments(&self, operation: &str, count: usize) {
        if let Spec::Each(axes) = &self.0 {
            assert!(
                axes.len() == count,
                "{operation}: in_axes has {} entries, but the function has {count} arguments\n  help: \
                 pass an axis or None for each argument",
                axes.len(),
            );
        }
    }

    /// Returns the axis of each array of a tree. The first part of an array's path identifies its
    /// component.
    pub(crate) fn of_result<T: Tree>(&self, tree: &T) -> Result<Vec<Option<isize>>, String> {
        let paths = tree::paths(tree);
        let Spec::Each(axes) = &self.0 else {
            return Ok(self.of_paths(&paths));
        };
        let mut first: Vec<&str> = Vec::new();
        let component: Vec<usize> = paths
            .iter()
            .map(|path| {
                let key = path.split('.').next().unwrap_or("");
                if first.last() != Some(&key) {
                    first.push(key);
                }
                first.len() - 1
            })
            .collect();
        if first.len() != axes.len() {
            return Err(format!(
                "out_axes has {} entries, but the result has {} components\n  help: pass an axis \
                 or None for each component of the result, or one axis for all",
                axes.len(),
                first.len()
            ));
        }
        Ok(component.into_iter().map(|c| axes[c]).collect())
    }

    /// Returns the axis of each array of the arguments; argument `i` has `counts[i]` arrays.
    pub(crate) fn of_arguments(&self, paths: &[String], counts: &[usize]) -> Vec<Option<isize>> {
        match &self.0 {
            Spec::Each(axes) => counts
                .iter()
                .zip(axes)
                .flat_map(|(n, axis)| std::iter::repeat_n(*axis, *n))
                .collect(),
            _ => self.of_paths(paths),
        }
    }

    /// Returns specs that shard these axes along `name`.
    pub(crate) fn specs(&self, name: AxisName) -> Specs {
        let along = move |axis: Option<isize>| match axis {
            None => PartitionSpec::default(),
            Some(axis) => match usize::try_from(axis) {
                Ok(at) => PartitionSpec::default().inserted(at, SpecEntry::from(&[name][..])),
                Err(_) => location::fail(&format!(
                    "smap: axis {axis} is counted from the end\n  help: count it from the start"
                )),
            },
        };
        match &self.0 {
            Spec::All(axis) => Specs::all(along(*axis)),
            Spec::Each(axes) => Specs::each(axes.iter().map(|a| Specs::all(along(*a)))),
            Spec::ByPath(axis) => {
                let axis = axis.clone();
                Specs::by_path(move |path| along(axis(path)))
            }
        }
    }

    fn of_paths(&self, paths: &[String]) -> Vec<Option<isize>> {
        match &self.0 {
            Spec::All(axis) => vec![*axis; paths.len()],
            Spec::ByPath(axis) => paths.iter().map(|p| axis(p)).collect(),
            Spec::Each(_) => unreachable!("lists are spread over components"),
        }
    }
}

impl fmt::Debug for MapAxes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Spec::All(axis) => axis.fmt(f),
            Spec::Each(axes) => axes.fmt(f),
            Spec::ByPath(_) => f.write_str("by_path(..)"),
        }
    }
}

impl<const N: usize> From<[Option<isize>; N]> for MapAxes {
    fn from(axes: [Option<isize>; N]) -> Self {
        MapAxes(Spec::Each(axes.to_vec()))
    }
}

impl From<isize> for MapAxes {
    fn from(axis: isize) -> Self {
        MapAxes(Spec::All(Some(axis)))
    }
}

impl From<Option<isize>> for MapAxes {
    fn from(axis: Option<isize>) -> Self {
        MapAxes(Spec::All(axis))
    }
}

/// Options of [`vmap_with`](super::vmap_with).
///
/// ```
/// use ramie_core::{Array, VmapOptions, pmean, vmap_with};
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
    /// is the same for all examples.
    pub out_axes: MapAxes,
    /// Name of the mapped axis, for collectives such as [`psum`](crate::psum) in the function.
    pub axis_name: Option<AxisName>,
    /// Mesh axes along which the examples are sharded, for sharding constraints and for
    /// [`shard_map`](crate::shard_map) in the function.
    pub spmd_axis_name: Option<AxisNames>,
    /// Number of examples, required only if no argument has a batch axis.
    pub axis_size: Option<usize>,
}

impl Default for VmapOptions {
    fn default() -> Self {
        VmapOptions {
            in_axes: 0.into(),
            out_axes: 0.into(),
            axis_name: None,
            spmd_axis_name: None,
            axis_size: None,
        }
    }
}
