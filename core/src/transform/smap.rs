//! `smap`: makes one axis of the current mesh manual, in terms of array axes.

use super::{Function, MapAxes, ShardMapOptions, shard_map_with};
use crate::sharding::AxisName;

/// Returns a function that runs on the devices along one axis of the current mesh, on each
/// device's shards of the arguments (`jax.smap`): a [`shard_map`](crate::shard_map) that takes
/// the axes of arrays, like [`vmap`](crate::vmap), instead of specs.
///
/// Arguments are split along their `in_axes`, and results are concatenated along their
/// `out_axes`, over the devices of `axis_name`; `None` marks arrays that are the same on all of
/// them. Other mesh axes are unaffected, so that calls nest, one axis each.
///
/// ```no_run
/// use ramie_core::lax::psum;
/// use ramie_core::sharding::with_mesh;
/// use ramie_core::{make_mesh, smap, Array, DType};
/// let mesh = make_mesh(&[4, 2], &["x", "y"])?;
/// let rows = |x: Array| psum(&x.sum_over(0), "x");
/// let x = Array::ones(&[8, 6], DType::F32);
/// let sums = with_mesh(mesh, || smap(rows, 0, None, "x")(x));
/// assert_eq!(sums.shape(), [6]);
/// # Ok::<(), ramie_core::Error>(())
/// ```
///
/// # Panics
/// The returned function panics in the same cases as that of `shard_map`, and if an axis is
/// negative.
#[track_caller]
pub fn smap<'f, F, M>(
    f: F,
    in_axes: impl Into<MapAxes>,
    out_axes: impl Into<MapAxes>,
    axis_name: impl Into<AxisName>,
) -> Box<F::Fn<'f, F::Output>>
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
