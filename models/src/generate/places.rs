//! `Places`: positions of tokens, and masks of padding and of other sequences.

use ramie_core::{Array, DType};
use ramie_nn::{AttentionInputs, MultiHeadAttention};

/// The positions of the next tokens in their sequences, and the mask of padding: what a
/// [`LanguageModel`](crate::LanguageModel) passes to its attention layers.
///
/// ```no_run
/// use ramie_core::{Array, DType};
/// use ramie_models::Places;
/// use ramie_nn::{MultiHeadAttention, Rngs};
/// let mut layer = MultiHeadAttention::new(2, 8, &mut Rngs::new(0));
/// let x = Array::ones(&[2, 5, 8], DType::F32);
/// // The first three tokens of the second sequence are padding.
/// let places = Places::of(Some(&layer), 5, Some(&Array::from([0, 3])));
/// let y = layer.forward_with(&places.attend(&x));
/// assert_eq!(places.positions.index((1, ..)).to_vec::<i32>(), [0, 0, 0, 0, 1]);
/// ```
#[derive(Clone, Debug)]
pub struct Places {
    /// The positions, `[length]`, or `[batch, length]` with padding or if sequences in the cache
    /// have different lengths.
    pub positions: Array,
    /// The keys that a token can attend to, `[batch, 1, 1 or length, keys]`.
    mask: Option<Array>,
}

impl Places {
    /// Returns the places of `length` tokens, which continue those in the cache of the attention
    /// layers, if they decode; pass one of the layers. `padding` contains the number of padding
    /// tokens at the start of each sequence, integers `[batch]`.
    #[track_caller]
    pub fn of(
        attention: Option<&MultiHeadAttention>,
        length: usize,
        padding: Option<&Array>,
    ) -> Places {
        let cache = attention.filter(|layer| layer.decode);
        let mut positions = match attention {
            Some(layer) => layer.next_positions(length),
            None => Array::arange(length).astype(DType::I32),
        };
        let cached = cache.and_then(|layer| layer.cached_key.as_ref());
        let keys = cached.map_or(length, |keys| keys.shape()[1]);
        let mask = padding.map(|padding| {
            let first = padding.astype(DType::I32).expand_dims(&[1]);
            positions = (&positions - &first).maximum(0);
            let kept = Array::arange(keys).ge(first);
            kept.expand_dims(&[1, 2])
        });
        Places { positions, mask }
    }

    /// Returns the places of rows that contain several sequences, as
    /// `ramie_data::readers::tokens::pack` creates them: the number of each token's sequence and its
    /// position there, integers `[batch, length]`. No token attends to another sequence.
    pub fn packed(segment_ids: &Array, positions: &Array) -> Places {
        let same = segment_ids
            .expand_dims(&[2])
            .eq(segment_ids.expand_dims(&[1]));
        Places {
            positions: positions.astype(DType::I32),
            mask: Some(same.expand_dims(&[1])),
        }
    }

    /// Returns the arguments of causal attention for the features of these tokens, which attend
    /// neither to padding nor to other sequences.
    pub fn attend(&self, x: &Array) -> AttentionInputs {
        let inputs = AttentionInputs::of(x).causal().positions(&self.positions);
        match &self.mask {
            Some(mask) => inputs.mask(mask),
            None => inputs,
        }
    }
}
