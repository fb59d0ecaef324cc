//! The key-value cache for autoregressive decoding.

use super::mask::within_reach;
use crate::known_range;
use ramie_core::{Array, DType, vmap};

/// Returns the index of an empty cache.
pub(super) fn nothing_seen() -> Array {
    Array::scalar(0, DType::I32)
}

/// Returns the positions of the next tokens: `[length]`, or `[batch, length]` if each sequence has
/// its own index.
pub(super) fn next_positions(index: &Array, length: usize) -> Array {
    index.expand_dims(&[-1]) + Array::arange(length).astype(DType::I32)
}

/// Writes the next keys and values into the cache. Returns the cached keys and values, each
/// `[batch.., max_length, heads, size]`, and the new index.
#[track_caller]
pub(super) fn extended(
    [keys, values, index]: [&Array; 3],
    query: &Array,
    key: &Array,
    value: &Array,
) -> [Array; 3] {
    let length_at = keys.ndim() - 3;
    let max_length = keys.shape()[length_at];
    let mut expected = keys.shape().to_vec();
    expected[length_at] = key.shape().get(length_at).copied().unwrap_or(1);
    let length = expected[length_at];
    let queries = query.shape().get(length_at);
    assert!(
        key.shape() == expected && queries == Some(&length),
        "MultiHeadAttention: cannot decode with keys {} for queries {} and cached keys {}\n  \
         help: use the layer for self-attention, with the batch that the cache was created for",
        key.aval(),
        query.aval(),
        keys.aval()
    );
    // The index of a trace is unknown: see `overfull`.
    let [_, used] = known_range(index).unwrap_or_default();
    assert!(
        used + length as i128 <= max_length as i128,
        "MultiHeadAttention: the cache is full: it has room for {max_length} positions, {used} \
         are in use, and the call adds {length}\n  help: create it for longer sequences: \
         layer.init_cache(&[batch, max_length, features], dtype)"
    );
    let axis = length_at as isize;
    let put = |cache: &Array, x: &Array| {
        let x = x.astype(cache.dtype());
        match index.ndim() {
            0 => cache.dynamic_update_slice_in_dim(&x, index, axis),
            _ => vmap(|cache: Array, x: Array, index: Array| {
                cache.dynamic_update_slice_in_dim(&x, index, 0)
            })(cache.clone(), x, index.clone()),
        }
    };
    [put(keys, key), put(values, value), index + length as i64]
}

/// Returns, for the index before a call and that after it, whether the new positions are outside the
/// cache, with the axes of `means`, `[batch.., length, heads, size]`. `None` if the index is known
/// and has been checked.
pub(super) fn overfull(
    before: &Array,
    after: &Array,
    max_length: usize,
    means: &Array,
) -> Option<Array> {
    if !before.is_tracer() {
        return None;
    }
    let outside = before.lt(0).bitwise_or(after.gt(max_length as i64));
    let mut shape = before.shape().to_vec();
    shape.resize(means.ndim(), 1);
    Some(outside.reshape(&shape))
}

/// Returns the mask of the cached keys that each of the next queries attends to, the previous keys
/// in its window and its own: `[batch or 1.., 1, length, max_length]`.
pub(super) fn seen(
    index: &Array,
    keys: &Array,
    next: &Array,
    window: Option<(usize, usize)>,
) -> Array {
    let batch = keys.ndim() - 3;
    let (length, max_length) = (next.shape()[batch], keys.shape()[batch]);
    let queries = next_positions(index, length);
    let keys = Array::arange(max_length).astype(DType::I32);
    let seen = within_reach(&queries, &keys, true, window);
    // The axes of sequences that share an index have size 1.
    let rows = index.shape();
    let shared = vec![1; batch + 1 - rows.len()];
    seen.reshape(&[rows, &shared, &[length, max_length]].concat())
}
