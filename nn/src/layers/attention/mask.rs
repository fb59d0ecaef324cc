//! Masks of attention: which queries see which keys.
//!
//! Masks are numbers, 0 for what is not seen, as Flax makes them; attention
//! takes truth values as well.

use ramie_core::{Array, DType};

/// A mask `[batch.., 1, queries, keys]` from an input for each query and each
/// key, `[batch.., queries]` and `[batch.., keys]`: their products, in `f32`.
/// Inputs that are 1 for tokens and 0 for padding give the mask that hides the
/// padding.
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
/// If the axes before the last do not broadcast.
#[track_caller]
pub fn make_attention_mask(query_input: &Array, key_input: &Array) -> Array {
    let product = |q: &Array, k: &Array| match q.dtype() {
        DType::Bool => q.bitwise_and(k),
        _ => q * k,
    };
    make_attention_mask_with(query_input, key_input, product, 0, DType::F32)
}

/// [`make_attention_mask`] with another function of a query's and a key's input,
/// so many axes of size 1 in front, and another element type.
///
/// ```no_run
/// use ramie_core::{Array, DType};
/// use ramie_nn::make_attention_mask_with;
/// // Several sequences in a row: each sees itself.
/// let segments = Array::from([[0i32, 0, 1, 1]]);
/// let equal = |q: &Array, k: &Array| q.eq(k);
/// let mask = make_attention_mask_with(&segments, &segments, equal, 0, DType::Bool);
/// assert_eq!(mask.shape(), [1, 1, 4, 4]);
/// ```
///
/// # Panics
/// If the axes before the last do not broadcast.
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

/// A mask `[batch.., 1, length, length]` with which each place of `x`, `[batch..,
/// length]`, sees itself and those before, in `f32`.
///
/// # Panics
/// If `x` has no axes.
#[track_caller]
pub fn make_causal_mask(x: &Array) -> Array {
    make_causal_mask_with(x, 0, DType::F32)
}

/// [`make_causal_mask`] with so many axes of size 1 in front, and another
/// element type.
///
/// # Panics
/// If `x` has no axes.
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

/// What all masks let be seen, in `f32`; `None` if there are none.
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
/// If the masks have different numbers of axes, or do not broadcast.
#[track_caller]
pub fn combine_masks(masks: &[Option<&Array>]) -> Option<Array> {
    combine_masks_with(masks, DType::F32)
}

/// [`combine_masks`] with another element type.
///
/// # Panics
/// If the masks have different numbers of axes, or do not broadcast.
#[track_caller]
pub fn combine_masks_with(masks: &[Option<&Array>], dtype: DType) -> Option<Array> {
    let masks: Vec<&Array> = masks.iter().copied().flatten().collect();
    let first = masks.first()?;
    if masks.iter().any(|m| m.ndim() != first.ndim()) {
        let types: Vec<String> = masks.iter().map(|m| m.aval().to_string()).collect();
        panic!(
            "combine_masks: the masks have different numbers of axes: {}\n  help: a mask is [batch.., \
             heads or 1, queries, keys]; add the axes that are missing with expand_dims",
            types.join(", ")
        );
    }
    let seen = masks.iter().map(|m| truth(m));
    Some(seen.reduce(|a, b| a.bitwise_and(b))?.astype(dtype))
}

/// A mask as truth values.
pub(crate) fn truth(mask: &Array) -> Array {
    match mask.dtype() {
        DType::Bool => mask.clone(),
        _ => mask.ne(0),
    }
}
