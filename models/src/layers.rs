//! The layers that published transformers have in common.

use ramie_core::DType;
use ramie_nn::{
    AttentionFn, Embed, LayerNorm, Linear, MultiHeadAttention, MultiHeadAttentionConfig, Rngs, init,
};

/// Options of the layers of a model.
pub(super) struct Layers {
    /// Number of features of each token.
    pub features: usize,
    /// The constant that normalizations add to the variance.
    pub epsilon: f64,
    /// Standard deviation of the initial weights.
    pub deviation: f64,
    /// Dropout rate of the attention weights.
    pub attention_dropout: f64,
    pub attention_fn: AttentionFn,
    /// The dtype of the computation. Defaults to that of the parameters.
    pub compute_dtype: Option<DType>,
    pub param_dtype: DType,
}

impl Layers {
    /// Returns the dtype of the computation.
    pub fn dtype(&self) -> DType {
        self.compute_dtype.unwrap_or(self.param_dtype)
    }

    pub fn weights(&self) -> init::Initializer {
        init::normal(self.deviation)
    }

    #[track_caller]
    pub fn norm(&self, rngs: &mut Rngs) -> LayerNorm {
        LayerNorm::config()
            .epsilon(self.epsilon)
            .dtype(self.dtype())
            .param_dtype(self.param_dtype)
            .build(self.features, rngs)
    }

    #[track_caller]
    pub fn linear(&self, inputs: usize, outputs: usize, rngs: &mut Rngs) -> Linear {
        Linear::features(outputs)
            .dtype(self.dtype())
            .param_dtype(self.param_dtype)
            .kernel_init(self.weights())
            .build(inputs, rngs)
    }

    #[track_caller]
    pub fn embed(&self, count: usize, init: init::Initializer, rngs: &mut Rngs) -> Embed {
        Embed::features(count, self.features)
            .dtype(self.dtype())
            .param_dtype(self.param_dtype)
            .embedding_init(init)
            .build(rngs)
    }

    #[track_caller]
    pub fn attention(&self, heads: usize, rngs: &mut Rngs) -> MultiHeadAttention {
        self.attention_config(heads).build(self.features, rngs)
    }

    pub fn attention_config(&self, heads: usize) -> MultiHeadAttentionConfig {
        MultiHeadAttention::heads(heads)
            .dropout_rate(self.attention_dropout)
            .broadcast_dropout(false)
            .dtype(self.dtype())
            .param_dtype(self.param_dtype)
            .kernel_init(self.weights())
            .force_fp32_for_softmax(true)
            .attention_fn(self.attention_fn.clone())
    }
}
