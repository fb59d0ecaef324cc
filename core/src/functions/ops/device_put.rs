//! `device_put` and `device_get`: move the arrays of trees.

use super::sharding::constrain;
use crate::base::location::fail;
use crate::program::array::taken;
use crate::program::backend::backend;
use crate::program::tree;
use crate::types::sharding::{Placed, Sharding};
use crate::{Array, Tree};

/// Copies the arrays of a tree to a device, or shards them over a mesh (`jax.device_put`). Arrays
/// that already have the target sharding are not copied. In a traced function a sharding over a
/// mesh constrains the values, like
/// [`with_sharding_constraint`](crate::sharding::with_sharding_constraint), and a single device has no
/// effect, as in JAX: the arguments determine the device of the program.
///
/// ```no_run
/// use ramie_core::{Array, DType, NamedSharding, P, device_put, make_mesh};
/// let mesh = make_mesh(&[4, 2], &["x", "y"])?;
/// let x = device_put(&Array::zeros(&[8, 6], DType::F32), NamedSharding::new(mesh, P!["x", "y"]));
/// assert_eq!(x.addressable_shards()[0].data().shape(), [2, 3]);
/// # Ok::<(), ramie_core::Error>(())
/// ```
///
/// # Panics
/// Panics if a dimension is not divisible by its number of shards, if a spec is passed without a
/// current mesh, or if the copy fails.
#[track_caller]
pub fn device_put<T: Tree>(x: &T, to: impl Into<Placed>) -> T {
    let to = to.into().sharding("device_put");
    let mut outs = Vec::new();
    for array in tree::leaves(x) {
        outs.push(put_array(&array, to));
    }
    tree::with_leaves(x, outs)
}

/// Copies the arrays of a tree like [`device_put`], and consumes the tree: an array without other
/// handles is freed when its copy has been started (`jax.device_put` with `donate=True`).
///
/// ```
/// use ramie_core::sharding::device_put_donating;
/// use ramie_core::{devices, Array};
/// let params = (Array::from([1.0f32, 2.0]), Array::from(3.0f32));
/// let params = device_put_donating(params, devices()[0]);
/// assert_eq!(params.0.to_vec::<f32>(), [1.0, 2.0]);
/// ```
///
/// # Panics
/// Panics in the same cases as [`device_put`].
#[track_caller]
pub fn device_put_donating<T: Tree>(mut x: T, to: impl Into<Placed>) -> T {
    let to = to.into().sharding("device_put");
    let mut outs = Vec::new();
    let mut arrays = Vec::new();
    x.walk_mut(&mut |array| arrays.push(taken(array)));
    for array in arrays {
        outs.push(put_array(&array, to));
    }
    tree::with_leaves(&x, outs)
}

/// Waits for the arrays of a tree and copies its 0-d arrays to the host, so that reading them
/// accesses no device (`jax.device_get`). All computations are awaited together. Larger arrays
/// keep their buffers, which are in the host's memory on CPU; [`Array::to_vec`] copies them from
/// other devices.
///
/// ```
/// use ramie_core::{Array, device_get};
/// let metrics = (Array::from([1.0f32, 3.0]).mean(), Array::from(7));
/// let (loss, step) = device_get(&metrics);
/// assert_eq!((loss.item::<f32>(), step.item::<i32>()), (2.0, 7));
/// ```
///
/// # Panics
/// Panics if an array is traced or has no elements, or if a computation failed.
#[track_caller]
pub fn device_get<T: Tree>(x: &T) -> T {
    let mut outs = Vec::new();
    for array in tree::leaves(x) {
        array.expect_value("device_get");
        outs.push(array);
    }
    tree::block_until_ready(&outs);
    for array in &mut outs {
        if array.ndim() == 0 && array.as_literal().is_none() {
            match array.to_literal() {
                Ok(literal) => *array = literal,
                Err(e) => fail(&format!("device_get: {e}")),
            }
        }
    }
    tree::with_leaves(x, outs)
}

#[track_caller]
fn put_array(array: &Array, to: Sharding) -> Array {
    if array.is_tracer() {
        return match to {
            Sharding::Named(sharding) => constrain(array, sharding),
            Sharding::SingleDevice(_) => array.clone(),
        };
    }
    array.expect_value("device_put");
    if let Sharding::Named(sharding) = to
        && let Err(e) = sharding.try_shard_shape(array.shape())
    {
        fail(&e.render("device_put", &[array.describe()]));
    }
    match backend().place(array, to) {
        Ok(a) => a,
        Err(e) => fail(&format!("device_put: {e}")),
    }
}
