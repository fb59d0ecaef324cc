//! `smap`: one axis of the current mesh made manual, in terms of array axes.

use super::{ArgTuple, Function, MapAxes, ShardMapOptions, shard_map_with};
use crate::AxisName;

/// The function, run by the devices along one axis of the current mesh, each for
/// its part of the arguments (`jax.smap`): [`shard_map`](crate::shard_map) that
/// is told the axes of arrays, as [`vmap`](crate::vmap) is, in place of specs.
///
/// Along `axis_name` arguments come apart on `in_axes`, and results are put
/// together on `out_axes`; `None` is for arrays that are the same along it. Other
/// axes of the mesh stay as they are, so that calls nest, one axis each.
///
/// ```no_run
/// use ramie_core::{Array, DType, make_mesh, psum, smap, with_mesh};
/// let mesh = make_mesh(&[4, 2], &["x", "y"])?;
/// let rows = |x: Array| psum(&x.sum_axes(&[0]), "x");
/// let x = Array::ones(&[8, 6], DType::F32);
/// let sums = with_mesh(mesh, || smap(rows, 0, None, "x")(x));
/// assert_eq!(sums.shape(), [6]);
/// # Ok::<(), ramie_core::Error>(())
/// ```
///
/// # Panics
/// The returned function panics where that of `shard_map` does, and if an axis is
/// negative.
#[track_caller]
pub fn smap<'f, F, M>(
    f: F,
    in_axes: impl Into<MapAxes>,
    out_axes: impl Into<MapAxes>,
    axis_name: impl Into<AxisName>,
) -> Box<<F::Args as ArgTuple>::Fn<'f, F::Output>>
where
    F: Function<M> + 'f,
    F::Output: 'f,
    M: 'f,
{
    let name = axis_name.into();
    let options = ShardMapOptions {
        axis_names: Some(name.into()),
        ..ShardMapOptions::new(in_axes.into().specs(name), out_axes.into().specs(name))
    };
    shard_map_with(f, options)
}
