//! `AttentionInputs`: what attention is called with.

use crate::Tree;
use ramie_core::Array;
use ramie_core::random::Key;

/// What attention is called with: inputs of queries, of keys and of values, a
/// mask, and what this call does differently.
///
/// ```no_run
/// use ramie_core::{Array, DType};
/// use ramie_nn::{AttentionInputs, MultiHeadAttention, Rngs, make_causal_mask};
/// let mut layer = MultiHeadAttention::new(8, 64, &mut Rngs::new(0));
/// let (x, memory) = (Array::zeros(&[2, 10, 64], DType::F32), Array::zeros(&[2, 20, 64], DType::F32));
/// // Cross attention, and causal self attention.
/// let y = layer.forward_with(&AttentionInputs::of(&x).keys(&memory));
/// let y = layer.forward_with(&AttentionInputs::of(&x).causal());
/// ```
#[derive(Clone, Debug, Tree)]
pub struct AttentionInputs {
    /// Inputs of queries, `[batch.., queries, features]`.
    pub inputs_q: Array,
    /// Inputs of keys, `[batch.., keys, features]`; those of queries if not
    /// given.
    pub inputs_k: Option<Array>,
    /// Inputs of values; those of keys if not given.
    pub inputs_v: Option<Array>,
    /// Truth values or numbers, in a shape that broadcasts to `[batch.., heads,
    /// queries, keys]`: where they are false or 0, the query does not see the
    /// key.
    pub mask: Option<Array>,
    /// The places of the inputs of a self attention with rotary embeddings,
    /// integers that broadcast to `[batch.., length]`; by default they count on
    /// from what the cache holds.
    pub positions: Option<Array>,
    /// Whether queries see keys at their own place and before only.
    pub is_causal: bool,
    /// Whether no weights are dropped, whatever the layer's mode.
    pub deterministic: Option<bool>,
    /// The key that decides which weights are dropped.
    pub dropout_rng: Option<Key>,
}

impl AttentionInputs {
    /// Self attention: queries, keys and values from the same inputs.
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
        }
    }

    /// With other inputs for keys, and for values unless these are given, too.
    #[must_use]
    pub fn keys(mut self, inputs_k: &Array) -> AttentionInputs {
        self.inputs_k = Some(inputs_k.clone());
        self
    }

    /// With other inputs for values.
    #[must_use]
    pub fn values(mut self, inputs_v: &Array) -> AttentionInputs {
        self.inputs_v = Some(inputs_v.clone());
        self
    }

    /// With a mask.
    #[must_use]
    pub fn mask(mut self, mask: &Array) -> AttentionInputs {
        self.mask = Some(mask.clone());
        self
    }

    /// With the places of the inputs.
    #[must_use]
    pub fn positions(mut self, positions: &Array) -> AttentionInputs {
        self.positions = Some(positions.clone());
        self
    }

    /// Queries see keys at their own place and before only.
    #[must_use]
    pub fn causal(mut self) -> AttentionInputs {
        self.is_causal = true;
        self
    }

    /// Drops weights or not, whatever the layer's mode.
    #[must_use]
    pub fn deterministic(mut self, deterministic: bool) -> AttentionInputs {
        self.deterministic = Some(deterministic);
        self
    }

    /// With the key that decides which weights are dropped.
    #[must_use]
    pub fn dropout_rng(mut self, key: &Key) -> AttentionInputs {
        self.dropout_rng = Some(key.clone());
        self
    }

    /// Inputs of keys and of values.
    #[track_caller]
    pub(crate) fn keys_and_values(&self) -> (&Array, &Array) {
        assert!(
            self.inputs_k.is_some() || self.inputs_v.is_none(),
            "MultiHeadAttention: inputs of values were given without those of keys\n  help: give them \
             as inputs of keys, which values have by default: AttentionInputs::of(&x).keys(&memory)"
        );
        let keys = self.inputs_k.as_ref().unwrap_or(&self.inputs_q);
        (keys, self.inputs_v.as_ref().unwrap_or(keys))
    }
}
