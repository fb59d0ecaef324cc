//! `AttentionInputs`: the arguments of an attention layer.

use crate::Tree;
use crate::setters::setters;
use ramie_core::random::Key;
use ramie_core::{Array, PartitionSpec};

/// The arguments of an attention layer: the inputs of queries, keys and values, a mask, and
/// options of the call.
///
/// ```no_run
/// use ramie_core::{Array, DType};
/// use ramie_nn::{AttentionInputs, MultiHeadAttention, Rngs, make_causal_mask};
/// let mut layer = MultiHeadAttention::new(8, 64, &mut Rngs::new(0));
/// let (x, memory) = (Array::zeros(&[2, 10, 64], DType::F32), Array::zeros(&[2, 20, 64], DType::F32));
/// // Cross attention, then causal self-attention.
/// let y = layer.forward_with(&AttentionInputs::of(&x).keys(&memory));
/// let y = layer.forward_with(&AttentionInputs::of(&x).causal());
/// ```
#[derive(Clone, Debug, Tree)]
pub struct AttentionInputs {
    /// The inputs of the queries, `[batch.., queries, features]`.
    pub inputs_q: Array,
    /// The inputs of the keys, `[batch.., keys, features]`. Defaults to the inputs of the
    /// queries.
    pub inputs_k: Option<Array>,
    /// The inputs of the values. Defaults to the inputs of the keys.
    pub inputs_v: Option<Array>,
    /// A boolean or numeric mask, in a shape that broadcasts to
    /// `[batch.., heads, queries, keys]`. Where it is false or 0, the query does not attend to
    /// the key. Defaults to none.
    pub mask: Option<Array>,
    /// The positions of the inputs, for self-attention with rotary embeddings: integers that
    /// broadcast to `[batch.., length]`. Defaults to counting from 0, or while decoding, from
    /// the number of cached positions.
    pub positions: Option<Array>,
    /// Whether each query only attends to keys at its own and earlier positions.
    #[tree(fixed)]
    pub is_causal: bool,
    /// Whether dropout is disabled. `None` uses the layer's mode.
    #[tree(fixed)]
    pub deterministic: Option<bool>,
    /// The RNG key of dropout. Defaults to a key from the layer's stream.
    pub dropout_rng: Option<Key>,
    /// Whether the attention weights are recorded. `None` uses the layer's option.
    #[tree(fixed)]
    pub sow_weights: Option<bool>,
    /// Whether the inputs continue the sequence in the cache. `None` uses the layer's mode.
    #[tree(fixed)]
    pub decode: Option<bool>,
    /// The sharding of the queries, keys and values over explicit axes of a mesh.
    #[tree(fixed)]
    pub qkv_sharding: Option<PartitionSpec>,
    /// The sharding of the result over explicit axes of a mesh.
    #[tree(fixed)]
    pub out_sharding: Option<PartitionSpec>,
}

impl AttentionInputs {
    /// Creates the arguments of self-attention: queries, keys and values have the same inputs.
    pub fn of(inputs_q: &Array) -> AttentionInputs {
        AttentionInputs {
            inputs_q: inputs_q.clone(),
            inputs_k: None,
            inputs_v: None,
            mask: None,
            positions: None,
            is_causal: false,
            deterministic: None,
            dropout_rng: None,
            sow_weights: None,
            decode: None,
            qkv_sharding: None,
            out_sharding: None,
        }
    }

    /// Sets the inputs of the keys, which are also those of the values unless set separately.
    #[must_use]
    pub fn keys(mut self, inputs_k: &Array) -> AttentionInputs {
        self.inputs_k = Some(inputs_k.clone());
        self
    }

    /// Sets the inputs of the values.
    #[must_use]
    pub fn values(mut self, inputs_v: &Array) -> AttentionInputs {
        self.inputs_v = Some(inputs_v.clone());
        self
    }

    /// Restricts each query to keys at its own and earlier positions.
    #[must_use]
    pub fn causal(mut self) -> AttentionInputs {
        self.is_causal = true;
        self
    }

    setters! {
        /// Sets the mask.
        mask: [Option<Array> as clone],
        /// Sets the positions of the inputs.
        positions: [Option<Array> as clone],
        /// Sets whether dropout is disabled, overriding the layer's mode.
        deterministic: [Option<bool>],
        /// Sets the RNG key of dropout.
        dropout_rng: [Option<Key> as clone],
        /// Sets whether the attention weights are recorded, overriding the layer's option.
        sow_weights: [Option<bool>],
        /// Sets whether the inputs continue the sequence in the cache, overriding the layer's mode.
        decode: [Option<bool>],
        /// Sets the sharding of the queries, keys and values, `[batch.., length, heads, size]`, over
        /// explicit axes of a mesh.
        qkv_sharding: [Option<PartitionSpec> as into],
        /// Sets the sharding of the result over explicit axes of a mesh.
        out_sharding: [Option<PartitionSpec> as into],
    }

    /// Returns the inputs of the keys and of the values.
    #[track_caller]
    pub(crate) fn keys_and_values(&self) -> (&Array, &Array) {
        assert!(
            self.inputs_k.is_some() || self.inputs_v.is_none(),
            "MultiHeadAttention: the call has inputs of values, but no inputs of keys\n  help: \
             pass them as inputs of keys, which are also used for values: \
             AttentionInputs::of(&x).keys(&memory)"
        );
        let keys = self.inputs_k.as_ref().unwrap_or(&self.inputs_q);
        (keys, self.inputs_v.as_ref().unwrap_or(keys))
    }
}
