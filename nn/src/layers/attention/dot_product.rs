//! Attention by scaled products, as Flax computes it.

use super::mask::{combine_masks_with, truth};
use crate::layers::promote::promote;
use ramie_core::random::{self, Key};
use ramie_core::{Array, DType, DotDimensionNumbers, Precision, finfo, where_};

/// How [`dot_product_attention`] weighs values.
///
/// ```no_run
/// use ramie_core::{Array, DType};
/// use ramie_nn::{AttentionOptions, dot_product_attention};
/// let x = Array::ones(&[1, 4, 2, 8], DType::F32);
/// let how = AttentionOptions { is_causal: true, ..AttentionOptions::default() };
/// assert_eq!(dot_product_attention(&x, &x, &x, &how).shape(), [1, 4, 2, 8]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct AttentionOptions {
    /// What is added to products, in a shape that broadcasts to `[batch.., heads,
    /// queries, keys]`.
    pub bias: Option<Array>,
    /// Truth values or numbers in such a shape: where they are false or 0, the
    /// query does not see the key.
    pub mask: Option<Array>,
    /// What of the weights is dropped; nothing by default.
    pub dropout: Option<AttentionDropout>,
    /// The element type of the computation; by default the one that the inputs
    /// promote to.
    pub dtype: Option<DType>,
    /// The precision of the products.
    pub precision: Option<Precision>,
    /// Whether queries see keys at their own place and before only.
    pub is_causal: bool,
    /// Whether the softmax is always computed in `f32`.
    pub force_fp32_for_softmax: bool,
}

/// Weights of attention that are zero by chance, the others scaled up.
#[derive(Clone, Debug)]
pub struct AttentionDropout {
    /// Probability of dropping an attention weight.
    pub rate: f64,
    /// The key that decides which.
    pub key: Key,
    /// Whether the same are dropped for all examples and heads.
    pub broadcast: bool,
}

/// Sizes of queries and keys after the batch: queries, keys, heads of keys, query
/// heads for each.
struct Heads {
    batch: usize,
    t: usize,
    s: usize,
    heads: usize,
    group: usize,
}

impl Heads {
    #[track_caller]
    fn of(q: &Array, k: &Array) -> Heads {
        let rank = q.ndim();
        assert!(
            rank >= 3 && k.ndim() == rank && q.shape()[..rank - 3] == k.shape()[..rank - 3],
            "dot_product_attention: queries {} and keys or values {} do not fit together\n  help: \
             they are [batch.., length, heads, size], with the same batch",
            q.aval(),
            k.aval()
        );
        let (n, heads) = (q.shape()[rank - 2], k.shape()[rank - 2]);
        assert!(
            heads > 0 && n.is_multiple_of(heads),
            "dot_product_attention: {n} heads of queries cannot share {heads} of keys and values\n  \
             queries {}, keys or values {}\n  help: the number of query heads must be a multiple of \
             theirs",
            q.aval(),
            k.aval()
        );
        Heads {
            batch: rank - 3,
            t: q.shape()[rank - 3],
            s: k.shape()[rank - 3],
            heads,
            group: n / heads,
        }
    }

    /// The batch axes, and after them another.
    fn batch_and(&self, axis: usize) -> Vec<usize> {
        (0..self.batch).chain([axis]).collect()
    }

    fn shape(&self, of: &Array, rest: &[usize]) -> Vec<usize> {
        [&of.shape()[..self.batch], rest].concat()
    }
}

/// The weights that queries `[batch.., T, N, H]` give to keys `[batch.., S, K,
/// H]`: `[batch.., N, T, S]`. `N` is `K`, or a multiple of it: then neighbouring
/// query heads share a key head.
///
/// # Panics
/// If shapes do not fit together.
#[track_caller]
pub fn dot_product_attention_weights(query: &Array, key: &Array, how: &AttentionOptions) -> Array {
    let [query, key] = promote(how.dtype, [query, key]);
    let dtype = query.dtype();
    let at = Heads::of(&query, &key);
    let h = query.shape()[at.batch + 2];
    assert!(
        key.shape()[at.batch + 2] == h,
        "dot_product_attention: queries {} and keys {} have heads of different sizes\n  help: \
         project both to the same size",
        query.aval(),
        key.aval()
    );
    let query = query / Array::scalar((h as f64).sqrt(), dtype);
    let grouped = query.reshape(&at.shape(&query, &[at.t, at.heads, at.group, h]));
    let numbers = DotDimensionNumbers::new(
        [&[at.batch + 3], &[at.batch + 2]],
        [&at.batch_and(at.batch + 1), &at.batch_and(at.batch + 1)],
    );
    // [batch.., K, T, G, S], then [batch.., K, G, T, S].
    let logits = grouped
        .dot_general_with(&key, numbers, how.precision, None)
        .swap_axes(-3, -2);
    let full = at.shape(&query, &[at.heads * at.group, at.t, at.s]);
    let mut logits = logits.reshape(&full);
    if let Some(bias) = &how.bias {
        fits("bias", bias, &full);
        logits += bias;
    }
    if let Some(mask) = seen(how, &full) {
        logits = where_(&mask, logits, finfo(dtype).min);
    }
    let weights = match how.force_fp32_for_softmax {
        true => logits.astype(DType::F32).softmax(-1),
        false => logits.softmax(-1).astype(dtype),
    };
    match &how.dropout {
        Some(dropout) if dropout.rate > 0.0 => {
            let keep_prob = 1.0 - dropout.rate;
            let mut shape = full.clone();
            if dropout.broadcast {
                shape[..at.batch + 1].fill(1);
            }
            let keep = random::bernoulli(&dropout.key, keep_prob, &shape).astype(dtype);
            weights * (keep / Array::scalar(keep_prob, dtype))
        }
        _ => weights,
    }
}

/// What mask and causality let be seen.
#[track_caller]
fn seen(how: &AttentionOptions, full: &[usize]) -> Option<Array> {
    if let Some(mask) = &how.mask {
        fits("mask", mask, full);
    }
    let mask = how.mask.as_ref().map(truth);
    if !how.is_causal {
        return mask;
    }
    let places = &full[full.len() - 2..];
    let causal = Array::iota(places, 0, DType::I32).ge(Array::iota(places, 1, DType::I32));
    let causal = causal.reshape(&[&vec![1; full.len() - 2][..], places].concat());
    match mask {
        Some(mask) if mask.ndim() == full.len() => {
            combine_masks_with(&[Some(&mask), Some(&causal)], DType::Bool)
        }
        Some(mask) => Some(mask.bitwise_and(causal)),
        None => Some(causal),
    }
}

#[track_caller]
fn fits(what: &str, x: &Array, full: &[usize]) {
    let each = x.shape().iter().rev().zip(full.iter().rev());
    assert!(
        x.ndim() <= full.len() && each.clone().all(|(x, n)| x == n || *x == 1),
        "dot_product_attention: the {what} is {}, which does not broadcast to [batch.., heads, \
         queries, keys] = {full:?}\n  help: give size 1 for axes that it does not depend on: one of \
         [batch, queries, keys] needs an axis for the heads, expand_dims(&[1])",
        x.aval()
    );
}

/// The means of the values `[batch.., S, K, D]` for each query, by the weights of
/// [`dot_product_attention_weights`]: `[batch.., T, N, D]`
/// (`flax.linen.dot_product_attention`).
///
/// [`ramie_core::Attention`] has local windows, lengths and segments, and takes
/// less memory in blocks; [`AttentionFn::blockwise`](crate::AttentionFn::blockwise)
/// is that for layers.
///
/// Vaswani et al., *Attention Is All You Need*, 2017.
///
/// # Panics
/// If shapes do not fit together.
#[track_caller]
pub fn dot_product_attention(
    query: &Array,
    key: &Array,
    value: &Array,
    how: &AttentionOptions,
) -> Array {
    let [query, key, value] = promote(how.dtype, [query, key, value]);
    let weights = dot_product_attention_weights(&query, &key, how);
    weigh(&weights, &query, &value, how)
}

/// The means of values by weights.
#[track_caller]
pub(crate) fn weigh(
    weights: &Array,
    query: &Array,
    value: &Array,
    how: &AttentionOptions,
) -> Array {
    let at = Heads::of(query, value);
    assert!(
        weights.shape().last() == Some(&at.s),
        "dot_product_attention: there are weights {} for values {}\n  help: keys and values have the \
         same length",
        weights.aval(),
        value.aval()
    );
    let [weights, value] = promote(None, [weights, value]);
    let d = value.shape()[at.batch + 2];
    let grouped = weights.reshape(&at.shape(query, &[at.heads, at.group, at.t, at.s]));
    let numbers = DotDimensionNumbers::new(
        [&[at.batch + 3], &[at.batch]],
        [&at.batch_and(at.batch), &at.batch_and(at.batch + 1)],
    );
    // [batch.., K, G, T, D], then [batch.., T, K, G, D].
    let means = grouped.dot_general_with(&value, numbers, how.precision, None);
    means
        .move_axis(-2, at.batch as isize)
        .reshape(&at.shape(query, &[at.t, at.heads * at.group, d]))
}
