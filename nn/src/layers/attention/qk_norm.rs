//! `QkNorm`: the normalization of queries and keys.

use crate::layers::promote::Promotion;
use crate::{Initializer, LayerNorm, Module, RMSNorm, Vars};
use ramie_core::{Array, DType};

/// The normalization of the queries and keys of an attention layer. Each head is normalized over
/// its features, with a scale for each feature that all heads share.
///
/// ```no_run
/// use ramie_nn::{MultiHeadAttention, QkNorm, Rngs};
/// let layer = MultiHeadAttention::heads(8)
///     .normalize_qk(QkNorm::RMSNorm { epsilon: 1e-6 })
///     .build(64, &mut Rngs::new(0));
/// assert!(layer.query_ln.is_some());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum QkNorm {
    /// No normalization, as `false` in Flax.
    #[default]
    None,
    /// Layer normalization without a bias, as `true` in Flax (Dehghani et al., *Scaling Vision
    /// Transformers to 22 Billion Parameters*, 2023).
    LayerNorm,
    /// RMS normalization, as in Qwen 3.
    RMSNorm {
        /// The constant added to the mean square before the square root.
        epsilon: f64,
    },
}

impl From<bool> for QkNorm {
    fn from(normalize: bool) -> QkNorm {
        if normalize {
            QkNorm::LayerNorm
        } else {
            QkNorm::None
        }
    }
}

impl QkNorm {
    /// Builds the layer for heads of `size` features, if there is one. Its scale has the given
    /// initializer and dtype.
    #[track_caller]
    pub(super) fn build(
        self,
        size: usize,
        how: Promotion<'_>,
        (scale_init, param_dtype): (&Initializer, DType),
        vars: &mut Vars<'_>,
        name: &str,
    ) -> Option<HeadNorm> {
        match self {
            QkNorm::None => None,
            QkNorm::LayerNorm => {
                let config = LayerNorm::config().use_bias(false).dtype(how.dtype);
                let config = config
                    .promote_dtype(how.rule.cloned())
                    .param_dtype(param_dtype)
                    .scale_init(scale_init.clone());
                let norm = vars.child(name, |v| config.build(size, v));
                Some(HeadNorm::LayerNorm(norm))
            }
            QkNorm::RMSNorm { epsilon } => {
                let config = RMSNorm::config().epsilon(epsilon).dtype(how.dtype);
                let config = config
                    .promote_dtype(how.rule.cloned())
                    .param_dtype(param_dtype)
                    .scale_init(scale_init.clone());
                let norm = vars.child(name, |v| config.build(size, v));
                Some(HeadNorm::RMSNorm(norm))
            }
        }
    }
}

/// The layer that normalizes the queries or the keys of an attention layer, as its option
/// [`QkNorm`] selects.
#[derive(Clone, Debug, Module)]
pub enum HeadNorm {
    /// Layer normalization.
    LayerNorm(LayerNorm),
    /// RMS normalization.
    RMSNorm(RMSNorm),
}

impl HeadNorm {
    /// Normalizes queries or keys `[batch.., length, heads, size]`.
    ///
    /// # Panics
    /// Panics if the heads have another size.
    #[track_caller]
    pub fn forward(&self, x: &Array) -> Array {
        match self {
            HeadNorm::LayerNorm(norm) => norm.forward(x),
            HeadNorm::RMSNorm(norm) => norm.forward(x),
        }
    }
}
