//! Attention masks, which select the keys that each query attends to.
//!
//! As in Flax, masks are numeric: 0 excludes a key. Attention also accepts boolean masks.

use ramie_core::{Array, DType};

/// Creates a mask `[batch.., 1, queries, keys]` in `f32` from `query_input`,
/// `[batch.., queries]`, and `key_input`, `[batch.., keys]`: the products of both. Inputs that
/// are 1 for tokens and 0 for padding give a mask that excludes the padding.
///
/// ```no_run
/// use ramie_core::Array;
/// use ramie_nn::make_attention_mask;
/// let tokens = Array::from([[5i32, 3, 0]]);
/// let real = tokens.gt(0);
/// let mask = make_attention_mask(&real, &real);
/// assert_eq!(mask.to_vec::<f32>(), [1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
/// ```
///
/// # Panics
/// Panics if the batch axes do not broadcast.
#[track_caller]
pub fn make_attention_mask(query_input: &Array, key_input: &Array) -> Array {
    let product = |q: &Array, k: &Array| match q.dtype() {
        DType::Bool => q.bitwise_and(k),
        _ => q * k,
    };
    make_attention_mask_with(query_input, key_input, product, 0, DType::F32)
}

/// Like [`make_attention_mask`], with a custom pairwise function, `extra_batch_dims` leading
/// axes of size 1, and a custom dtype.
///
/// ```no_run
/// use ramie_core::{Array, DType};
/// use ramie_nn::make_attention_mask_with;
/// // Packed sequences: each attends only to itself.
/// let segments = Array::from([[0i32, 0, 1, 1]]);
/// let equal = |q: &Array, k: &Array| q.eq(k);
/// let mask = make_attention_mask_with(&segments, &segments, equal, 0, DType::Bool);
/// assert_eq!(mask.shape(), [1, 1, 4, 4]);
/// ```
///
/// # Panics
/// Panics if the batch axes do not broadcast.
#[track_caller]
pub fn make_attention_mask_with(
    query_input: &Array,
    key_input: &Array,
    pairwise_fn: impl Fn(&Array, &Array) -> Array,
    extra_batch_dims: usize,
    dtype: DType,
) -> Array {
    let mask = pairwise_fn(
        &query_input.expand_dims(&[-1]),
        &key_input.expand_dims(&[-2]),
    );
    let mask = mask.expand_dims(&[-3]).astype(dtype);
    let shape = [&vec![1; extra_batch_dims][..], mask.shape()].concat();
    mask.reshape(&shape)
}

/// Creates a causal mask `[batch.., 1, length, length]` in `f32` for inputs `x`,
/// `[batch.., length]`: each position attends to itself and earlier ones.
///
/// # Panics
/// Panics if `x` has no axes.
#[track_caller]
pub fn make_causal_mask(x: &Array) -> Array {
    make_causal_mask_with(x, 0, DType::F32)
}

/// Like [`make_causal_mask`], with `extra_batch_dims` leading axes of size 1 and a custom
/// dtype.
///
/// # Panics
/// Panics if `x` has no axes.
#[track_caller]
pub fn make_causal_mask_with(x: &Array, extra_batch_dims: usize, dtype: DType) -> Array {
    assert!(
        x.ndim() > 0,
        "make_causal_mask: the input is {}, expected [batch.., length]\n  help: pass the tokens, or \
         one feature of the inputs",
        x.aval()
    );
    let place = Array::iota(x.shape(), x.ndim() - 1, DType::I32);
    let later = |q: &Array, k: &Array| q.ge(k);
    make_attention_mask_with(&place, &place, later, extra_batch_dims, dtype)
}

/// Combines masks by logical and, in `f32`. Returns `None` if there are none.
///
/// ```no_run
/// use ramie_core::Array;
/// use ramie_nn::{combine_masks, make_attention_mask, make_causal_mask};
/// let tokens = Array::from([[5i32, 3, 0]]);
/// let real = tokens.gt(0);
/// let padding = make_attention_mask(&real, &real);
/// let mask = combine_masks(&[Some(&make_causal_mask(&tokens)), Some(&padding)]);
/// ```
///
/// # Panics
/// Panics if the masks have different numbers of axes, or do not broadcast.
#[track_caller]
pub fn combine_masks(masks: &[Option<&Array>]) -> Option<Array> {
    combine_masks_with(masks, DType::F32)
}

/// Like [`combine_masks`], with a custom dtype.
///
/// # Panics
/// Panics if the masks have different numbers of axes, or do not broadcast.
#[track_caller]
pub fn combine_masks_with(masks: &[Option<&Array>], dtype: DType) -> Option<Array> {
    let masks: Vec<&Array> = masks.iter().copied().flatten().collect();
    let first = masks.first()?;
    if masks.iter().any(|m| m.ndim() != first.ndim()) {
        let types: Vec<String> = masks.iter().map(|m| m.aval().to_string()).collect();
        panic!(
            "combine_masks: the masks have different numbers of axes: {}\n  help: use masks \
             [batch.., heads or 1, queries, keys]; add missing axes with expand_dims",
            types.join(", ")
        );
    }
    let seen = masks.iter().map(|m| truth(m));
    Some(seen.reduce(|a, b| a.bitwise_and(b))?.astype(dtype))
}

/// Converts a mask to boolean.
pub(crate) fn truth(mask: &Array) -> Array {
    match mask.dtype() {
        DType::Bool => mask.clone(),
        _ => mask.ne(0),
    }
}

/// Returns which keys the queries attend to, from the positions of both, integers `[.., queries]`
/// and `[keys]`: no later keys if `is_causal` is true, and only keys in the window, numbers of keys
/// before and after the query.
pub(super) fn within_reach(
    queries: &Array,
    keys: &Array,
    is_causal: bool,
    window: Option<(usize, usize)>,
) -> Array {
    let queries = queries.expand_dims(&[-1]);
    let (before, after) = window.unwrap_or((usize::MAX, usize::MAX));
    let distance = |n: usize| i32::try_from(n).unwrap_or(i32::MAX);
    let mut near = if is_causal {
        queries.ge(keys)
    } else {
        (keys - &queries).le(distance(after))
    };
    if window.is_some() {
        near = near.bitwise_and((queries - keys).le(distance(before)));
    }
    near
}
