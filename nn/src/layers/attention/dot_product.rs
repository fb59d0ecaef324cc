//! Scaled dot-product attention, as computed by Flax.

use super::mask::{combine_masks_with, truth, within_reach};
use crate::layers::promote::promote;
use ramie_core::dtypes::finfo;
use ramie_core::lax::{DotDimensionNumbers, Precision};
use ramie_core::options::Contraction;
use ramie_core::random::{self, Key};
use ramie_core::{Array, DType, where_};

/// Options of [`dot_product_attention`].
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
    /// A bias added to the scaled products, in a shape that broadcasts to
    /// `[batch.., heads, queries, keys]`. Defaults to none.
    pub bias: Option<Array>,
    /// A boolean or numeric mask, in a shape that broadcasts to
    /// `[batch.., heads, queries, keys]`. Where it is false or 0, the query does not attend to
    /// the key. Defaults to none.
    pub mask: Option<Array>,
    /// Dropout of attention weights. Defaults to none.
    pub dropout: Option<AttentionDropout>,
    /// The dtype of the computation. Defaults to the dtype that the inputs promote to.
    pub dtype: Option<DType>,
    /// The precision of the products.
    pub precision: Option<Precision>,
    /// Whether each query only attends to keys at its own and earlier positions.
    pub is_causal: bool,
    /// The numbers of keys before and after the position of each query that it attends to.
    /// Defaults to all keys.
    pub window: Option<(usize, usize)>,
    /// Whether the softmax is always computed in `f32`.
    pub force_fp32_for_softmax: bool,
}

/// Dropout of attention weights: sets random weights to zero and scales the others.
#[derive(Clone, Debug)]
pub struct AttentionDropout {
    /// Probability of dropping an attention weight.
    pub rate: f64,
    /// The key of the random mask.
    pub key: Key,
    /// Whether all examples and heads share one dropout mask.
    pub broadcast: bool,
}

/// Number of batch axes `batch`, numbers of queries `t` and keys `s`, number of key heads
/// `heads`, and number of query heads per key head `group`.
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
            "dot_product_attention: queries {} and keys or values {} do not match\n  help: pass \
             arrays [batch.., length, heads, size] with the same batch axes",
            q.aval(),
            k.aval()
        );
        let (n, heads) = (q.shape()[rank - 2], k.shape()[rank - 2]);
        assert!(
            heads > 0 && n.is_multiple_of(heads),
            "dot_product_attention: {n} query heads cannot share {heads} key and value heads\n  \
             queries {}, keys or values {}\n  help: use a number of query heads that is a \
             multiple of the number of key heads",
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

    /// Returns the batch axes, followed by `axis`.
    fn batch_and(&self, axis: usize) -> Vec<usize> {
        (0..self.batch).chain([axis]).collect()
    }

    fn shape(&self, of: &Array, rest: &[usize]) -> Vec<usize> {
        [&of.shape()[..self.batch], rest].concat()
    }
}

/// Computes the attention weights `[batch.., N, T, S]` of queries `[batch.., T, N, H]` for keys
/// `[batch.., S, K, H]`. `N` is a multiple of `K`; groups of `N / K` adjacent query heads share
/// a key head.
///
/// # Panics
/// Panics if the shapes do not match, or if a dropout rate is not between 0 and 1.
#[track_caller]
pub fn dot_product_attention_weights(query: &Array, key: &Array, how: &AttentionOptions) -> Array {
    let [query, key] = promote(how.dtype, [query, key]);
    let dtype = query.dtype();
    let at = Heads::of(&query, &key);
    let h = query.shape()[at.batch + 2];
    assert!(
        key.shape()[at.batch + 2] == h,
        "dot_product_attention: queries {} and keys {} have different head sizes\n  help: \
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
        .dot_general_with(&key, numbers, Contraction::new().precision(how.precision))
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
    let weights = if how.force_fp32_for_softmax {
        logits.astype(DType::F32).softmax(-1)
    } else {
        logits.softmax(-1).astype(dtype)
    };
    match &how.dropout {
        Some(dropout) if dropout.rate != 0.0 => {
            assert!(
                (0.0..=1.0).contains(&dropout.rate),
                "dot_product_attention: the dropout rate is {}, expected a probability\n  help: \
                 pass the fraction of weights to drop, from 0.0 to 1.0",
                dropout.rate
            );
            if dropout.rate == 1.0 {
                return weights.zeros_like();
            }
            let keep_prob = 1.0 - dropout.rate;
            let mut shape = full.clone();
            if dropout.broadcast {
                shape[..at.batch + 1].fill(1);
            }
            let keep = random::bernoulli(&dropout.key, keep_prob, &shape);
            let scale = Array::scalar(1.0, dtype) / Array::scalar(keep_prob, dtype);
            where_(keep, weights * scale, 0)
        }
        _ => weights,
    }
}

/// Combines the mask with the causal mask and the window.
#[track_caller]
fn seen(how: &AttentionOptions, full: &[usize]) -> Option<Array> {
    if let Some(mask) = &how.mask {
        fits("mask", mask, full);
    }
    let mask = how.mask.as_ref().map(truth);
    if !how.is_causal && how.window.is_none() {
        return mask;
    }
    let batch = full.len() - 2;
    let [queries, keys] =
        [full[batch], full[batch + 1]].map(|n| Array::arange(n).astype(DType::I32));
    let near = within_reach(&queries, &keys, how.is_causal, how.window);
    let near = near.reshape(&[&vec![1; batch][..], &full[batch..]].concat());
    match mask {
        Some(mask) if mask.ndim() == full.len() => {
            combine_masks_with(&[Some(&mask), Some(&near)], DType::Bool)
        }
        Some(mask) => Some(mask.bitwise_and(near)),
        None => Some(near),
    }
}

#[track_caller]
fn fits(what: &str, x: &Array, full: &[usize]) {
    let each = x.shape().iter().rev().zip(full.iter().rev());
    assert!(
        x.ndim() <= full.len() && each.clone().all(|(x, n)| x == n || *x == 1),
        "dot_product_attention: the {what} is {}, which does not broadcast to [batch.., heads, \
         queries, keys] = {full:?}\n  help: use size 1 for axes that it does not depend on; for \
         [batch, queries, keys], add an axis for the heads: expand_dims(&[1])",
        x.aval()
    );
}

/// Computes attention: the means of the values `[batch.., S, K, D]` for each query, weighted by
/// [`dot_product_attention_weights`]. The result is `[batch.., T, N, D]`
/// (`flax.linen.dot_product_attention`).
///
/// [`ramie_core::options::Attention`] also supports sequence lengths and segments, and a blockwise
/// computation that needs less memory. Layers use the latter with
/// [`AttentionFn::blockwise`](crate::AttentionFn::blockwise).
///
/// Vaswani et al., *Attention Is All You Need*, 2017.
///
/// # Panics
/// Panics if the shapes do not match.
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

/// Computes the means of the values, weighted by `weights`.
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
        "dot_product_attention: the weights {} do not match the values {}\n  help: pass keys and \
         values of the same length",
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
    let means =
        grouped.dot_general_with(&value, numbers, Contraction::new().precision(how.precision));
    means
        .move_axis(-2, at.batch as isize)
        .reshape(&at.shape(query, &[at.t, at.heads * at.group, d]))
}
