//! `AttentionFn`: the attention function of a layer.

use super::dot_product::{AttentionOptions, dot_product_attention};
use super::mask::truth;
use crate::layers::promote::promote;
use crate::shared_fn::SharedFn;
use ramie_core::Array;
use ramie_core::options::Attention;
use std::fmt;
use std::sync::Arc;

type Attend = dyn Fn(&Array, &Array, &Array, &AttentionOptions) -> Array + Send + Sync;

/// The attention function of a layer: the field `attention_fn` of Flax's attention.
///
/// A value made from a function compares equal only to its clones.
///
/// ```no_run
/// use ramie_nn::{AttentionFn, MultiHeadAttention, Rngs};
/// let layer = MultiHeadAttention::heads(8)
///     .attention_fn(AttentionFn::blockwise(256))
///     .build(512, &mut Rngs::new(0));
/// ```
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct AttentionFn(Kind);

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
enum Kind {
    #[default]
    DotProduct,
    Blockwise(usize),
    Function(SharedFn<Attend>),
}

impl AttentionFn {
    /// Selects [`dot_product_attention`](crate::dot_product_attention), the default.
    pub fn dot_product() -> AttentionFn {
        AttentionFn::default()
    }

    /// Selects blockwise attention, with `keys` keys in memory at a time, as
    /// [`Attention::blockwise`](ramie_core::options::Attention::blockwise). Memory grows linearly with
    /// the length instead of quadratically. Dropout of weights is not supported.
    pub fn blockwise(keys: usize) -> AttentionFn {
        AttentionFn(Kind::Blockwise(keys))
    }

    /// Creates an attention function from a function of queries `[batch.., T, N, H]`, keys and
    /// values `[batch.., S, K, H]`, and the options of the call.
    pub fn new(
        f: impl Fn(&Array, &Array, &Array, &AttentionOptions) -> Array + Send + Sync + 'static,
    ) -> AttentionFn {
        AttentionFn(Kind::Function(SharedFn::new(Arc::new(f))))
    }

    /// Panics if the function does not compute the full matrix of weights.
    #[track_caller]
    pub(super) fn expect_weights(&self) {
        assert!(
            matches!(self.0, Kind::DotProduct),
            "MultiHeadAttention: {self:?} does not compute the matrix of attention \
             weights\n  help: use AttentionFn::dot_product() to inspect weights"
        );
    }

    /// Computes attention of queries `[batch.., T, N, H]` to keys and values `[batch.., S, K, H]`.
    ///
    /// # Panics
    /// Panics if the shapes do not match, or if the function does not support the options.
    #[track_caller]
    pub fn attend(
        &self,
        query: &Array,
        key: &Array,
        value: &Array,
        how: &AttentionOptions,
    ) -> Array {
        match &self.0 {
            Kind::DotProduct => dot_product_attention(query, key, value, how),
            Kind::Blockwise(keys) => blockwise(*keys, [query, key, value], how),
            Kind::Function(f) => f(query, key, value, how),
        }
    }
}

#[track_caller]
fn blockwise(keys: usize, inputs: [&Array; 3], how: &AttentionOptions) -> Array {
    assert!(
        how.dropout.as_ref().is_none_or(|d| d.rate == 0.0),
        "AttentionFn::blockwise: attention weights cannot be dropped, because blockwise \
         attention does not compute the whole matrix\n  help: use dropout_rate 0, and drop \
         elements of the output with a Dropout layer"
    );
    let [q, k, v] = promote(how.dtype, inputs);
    let batch = q.ndim().saturating_sub(3);
    // Merge the batch axes into one.
    let four = |x: &Array| {
        let shape = x.shape();
        let size = shape[..batch].iter().product::<usize>();
        x.reshape(&[&[size], &shape[batch..]].concat())
    };
    let whole = |x: &Array| {
        let (full, rank) = (q.shape(), x.ndim());
        if rank <= 3 || batch == 1 {
            return x.clone();
        }
        let at = rank - 3;
        let lead = [&full[..batch], &x.shape()[at..]].concat();
        four(&x.broadcast_to(&lead))
    };
    let mut attention = Attention::new().blockwise(keys);
    if let Some(bias) = &how.bias {
        attention = attention.bias(&whole(bias));
    }
    if let Some(mask) = &how.mask {
        attention = attention.mask(&whole(&truth(mask)));
    }
    if how.is_causal {
        attention = attention.causal();
    }
    if let Some((before, after)) = how.window {
        attention = attention.window(before, after);
    }
    attention
        .of(&four(&q), &four(&k), &four(&v))
        .reshape(q.shape())
}

impl fmt::Debug for AttentionFn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
