//! `pad_shard_unpad`: functions of batches whose size is not a multiple of the number of devices.

use crate::base::location::{Caller, fail};
use crate::program::tree;
use crate::types::sharding::parts;
use crate::{Array, NamedSharding, Tree, concatenate, device_put};

/// Returns a function that accepts batches of any size, although `f` runs on the devices of a mesh
/// (`flax.jax_utils.pad_shard_unpad`). It pads the leading axis of each array of the batch with
/// zeros to a multiple of the shards by `sharding`, shards the arrays, calls `f`, and removes the
/// results' rows that belong to the padding.
///
/// Pass parameters by capturing them. The results must have one row for each example: a mean over
/// the batch would include the padding. For such metrics, [`DataLoader::masked`][masked] returns
/// batches with a mask.
///
/// The results of a padded batch are copied to the default device, those of other batches keep
/// their sharding.
///
/// ```no_run
/// use ramie_core::sharding::pad_shard_unpad;
/// use ramie_core::{Array, DType, NamedSharding, P, jit, make_mesh};
/// let sharding = NamedSharding::new(make_mesh(&[8], &["data"])?, P!["data"]);
/// let w = Array::ones(&[4, 2], DType::F32);
/// let forward = jit(move |x: Array| x.matmul(&w));
/// let forward = pad_shard_unpad(move |x| forward(x), sharding);
/// assert_eq!(forward(&Array::ones(&[13, 4], DType::F32)).shape(), [13, 2]);
/// # Ok::<(), ramie_core::Error>(())
/// ```
///
/// # Panics
/// The function panics if the leading axes of the batch's arrays differ, if an array has none, or
/// if a result has another number of rows than the padded batch.
///
/// [masked]: https://docs.rs/ramie-data/latest/ramie_data/struct.DataLoader.html#method.masked
#[track_caller]
pub fn pad_shard_unpad<B: Tree, R: Tree>(
    f: impl Fn(B) -> R,
    sharding: NamedSharding,
) -> impl Fn(&B) -> R {
    pad_shard_unpad_with(f, sharding, 1)
}

/// Returns a function like [`pad_shard_unpad`], which pads each batch to at least
/// `min_device_batch` rows on each device, so that the last batch needs no program of its own.
///
/// # Panics
/// The function panics in the same cases as that of [`pad_shard_unpad`].
#[track_caller]
pub fn pad_shard_unpad_with<B: Tree, R: Tree>(
    f: impl Fn(B) -> R,
    sharding: NamedSharding,
    min_device_batch: usize,
) -> impl Fn(&B) -> R {
    let caller = Caller::of("pad_shard_unpad");
    let shards = parts(sharding.mesh().abstract_mesh(), sharding.spec(), 0);
    move |batch: &B| {
        let arrays = tree::leaves(batch);
        let rows = rows(&arrays, caller);
        let padded = rows.div_ceil(shards).max(min_device_batch) * shards;
        let arrays = arrays.iter().map(|x| pad(x, padded - rows));
        let batch = tree::with_leaves(batch, arrays);
        let out = f(device_put(&batch, sharding));
        if padded == rows {
            return out;
        }
        let outs = tree::leaves(&out);
        tree::with_leaves(&out, outs.iter().map(|y| cut(y, padded, rows, caller)))
    }
}

/// Returns the common number of rows.
fn rows(arrays: &[Array], caller: Caller) -> usize {
    let mut rows = None;
    for array in arrays {
        let here = array.shape().first().copied();
        if here.is_none() || rows.is_some_and(|rows| here != Some(rows)) {
            let types: Vec<String> = arrays.iter().map(Array::describe).collect();
            fail(&format!(
                "pad_shard_unpad: the arrays of the batch have no common number of rows: {}\n  help: \
                 pass arrays with equal leading axes, and capture the parameters\n  {caller}",
                types.join(", ")
            ));
        }
        rows = here;
    }
    rows.unwrap_or(0)
}

/// Appends rows of zeros.
fn pad(x: &Array, count: usize) -> Array {
    if count == 0 {
        return x.clone();
    }
    let mut shape = x.shape().to_vec();
    shape[0] = count;
    concatenate(&[x.clone(), Array::zeros(&shape, x.dtype())], 0)
}

/// Copies the first rows of a result to the default device.
fn cut(y: &Array, padded: usize, rows: usize, caller: Caller) -> Array {
    if y.shape().first() != Some(&padded) {
        fail(&format!(
            "pad_shard_unpad: a result is {}, but the padded batch has {padded} rows\n  help: return \
             one row for each example, and reduce after the padding is removed\n  {caller}",
            y.describe()
        ));
    }
    let mut shape = y.shape().to_vec();
    shape[0] = rows;
    let copied = y.try_to_bytes().and_then(|bytes| {
        let row = bytes.len() / padded;
        Array::try_from_bytes(&bytes[..rows * row], &shape, y.dtype())
    });
    copied.unwrap_or_else(|e| fail(&format!("pad_shard_unpad: {e}")))
}
