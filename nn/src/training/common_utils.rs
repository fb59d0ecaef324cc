//! Helper functions for training loops (`flax.training.common_utils`).

use ramie_core::random::Key;
use ramie_core::{Array, DType, Tree, devices, stack, tree, where_};

/// Splits the first axis of each array into one shard per device of this process, for
/// [`pmap`](ramie_core::pmap).
///
/// # Panics
/// Panics if the number of devices does not divide the first axis of an array, or if an array
/// has no axes.
#[track_caller]
pub fn shard<T: Tree>(batch: &T) -> T {
    shard_over(batch, devices().len())
}

/// Splits the first axis of each array into `parts` shards, along a new first axis.
///
/// ```
/// use ramie_core::{Array, DType};
/// use ramie_nn::training::shard_over;
/// let x = Array::zeros(&[6, 5], DType::F32);
/// assert_eq!(shard_over(&x, 2).shape(), [2, 3, 5]);
/// ```
///
/// # Panics
/// Panics if the number of shards does not divide the first axis of an array, or if an array
/// has no axes.
#[track_caller]
pub fn shard_over<T: Tree>(batch: &T, parts: usize) -> T {
    tree::map(batch, |x| {
        let n = x.shape().first().copied().unwrap_or(0);
        assert!(
            x.ndim() > 0 && n.is_multiple_of(parts),
            "shard: {} cannot be divided into {parts} equal shards along its first axis\n  help: \
             use a batch size that is a multiple of the number of devices",
            x.aval()
        );
        x.reshape(&[&[parts, n / parts], &x.shape()[1..]].concat())
    })
}

/// Splits a key into an array of keys, one for each device of this process.
#[track_caller]
pub fn shard_prng_key(key: &Key) -> Key {
    key.split_array(&[devices().len()])
}

/// Stacks pytrees of the same structure: each array of the result contains those of all pytrees
/// along a new first axis.
///
/// ```
/// use ramie_core::Array;
/// use ramie_nn::training::stack_forest;
/// let metrics = [(Array::from(1.0f32),), (Array::from(2.0f32),)];
/// assert_eq!(stack_forest(&metrics).0.to_vec::<f32>(), [1.0, 2.0]);
/// ```
///
/// # Panics
/// Panics if there are no pytrees, or if corresponding arrays differ in shape.
#[track_caller]
pub fn stack_forest<T: Tree>(forest: &[T]) -> T {
    let Some(first) = forest.first() else {
        panic!(
            "stack_forest: there are no pytrees to stack\n  help: collect the metrics of at \
                least one step"
        )
    };
    let columns = tree::transpose(forest);
    let stacked = columns.iter().map(|column| {
        let column: Vec<&Array> = column.iter().collect();
        stack(&column, 0)
    });
    tree::with_leaves(first, stacked.collect::<Vec<_>>())
}

/// Stacks the metrics of many steps of a [`pmap`](ramie_core::pmap)ped function. The metrics
/// are equal on all devices along the first axis; the result contains those of the first
/// device.
///
/// # Panics
/// Panics if there are no steps, or if a metric has no device axis.
#[track_caller]
pub fn get_metrics<T: Tree>(steps: &[T]) -> T {
    let of_first = |metrics: &T| {
        tree::map(metrics, |x| {
            assert!(
                x.ndim() > 0,
                "get_metrics: a metric is {}, which has no device axis\n  help: use stack_forest \
                 for metrics that were not mapped",
                x.aval()
            );
            x.index_in_dim(0, 0).squeeze(&[0])
        })
    };
    let host: Vec<T> = steps.iter().map(of_first).collect();
    stack_forest(&host)
}

/// Returns vectors that are `on` at the index given by each label and `off` elsewhere, along a
/// new last axis, in `f32`.
///
/// ```
/// use ramie_core::Array;
/// use ramie_nn::training::onehot;
/// let labels = Array::from(vec![1, 0]);
/// assert_eq!(onehot(&labels, 2, 1.0, -1.0).to_vec::<f32>(), [-1.0, 1.0, 1.0, -1.0]);
/// ```
#[track_caller]
pub fn onehot(labels: &Array, num_classes: usize, on: f32, off: f32) -> Array {
    let mut shape = vec![1; labels.ndim()];
    shape.push(num_classes);
    let classes = Array::arange(num_classes).reshape(&shape);
    let hit = labels.expand_dims(&[-1]).eq(classes);
    where_(&hit, on, off).astype(DType::F32)
}
