//! Llama language models, and others of their form.

mod config;
mod family;
mod gguf;
mod weights;

pub use config::LlamaConfig;
pub use family::LlamaFamily;

use crate::activation::{self, Activation};
use crate::{LanguageModel, Places};
use ramie_core::Array;
use ramie_nn::{Embed, Linear, Module, MultiHeadAttention, QkNorm, RMSNorm, Rngs, init};

/// The decoder of the Llama models (Touvron et al., *LLaMA: Open and Efficient Foundation
/// Language Models*, 2023; Grattafiori et al., *The Llama 3 Herd of Models*, 2024), with RMS
/// normalization, rotary embeddings, grouped-query attention and gated MLPs.
///
/// Mistral (Jiang et al., *Mistral 7B*, 2023), Qwen 2 and Qwen 3 (Yang et al., *Qwen3 Technical
/// Report*, 2025) are the same decoder with other options of attention, which the family in the
/// configuration selects.
///
/// The fields have the names of published checkpoints, which
/// [`from_pretrained`](crate::Pretrained::from_pretrained) loads.
///
/// ```no_run
/// use ramie_core::Array;
/// use ramie_nn::Rngs;
/// use ramie_models::{Llama, LlamaConfig};
/// let mut config = LlamaConfig::default();
/// (config.hidden_size, config.intermediate_size) = (256, 688);
/// (config.num_hidden_layers, config.num_attention_heads) = (4, 8);
/// config.num_key_value_heads = Some(2);
/// let mut model = Llama::new(&config, &mut Rngs::new(0));
/// let logits = model.forward(&Array::from([[1i32, 306, 4658]]));
/// assert_eq!(logits.shape(), [1, 3, 32000]);
/// ```
#[derive(Clone, Debug, Module)]
pub struct Llama {
    /// The token embedding.
    pub embed_tokens: Embed,
    /// The blocks.
    pub layers: Vec<LlamaBlock>,
    /// The final normalization.
    pub norm: RMSNorm,
    /// The output layer. Without it, the weights of the token embedding are used.
    pub lm_head: Option<Linear>,
}

/// A block: attention and a gated MLP, each with a normalization of its input and a residual
/// connection.
#[derive(Clone, Debug, Module)]
pub struct LlamaBlock {
    /// The normalization before attention.
    pub input_layernorm: RMSNorm,
    /// The causal attention.
    pub self_attn: MultiHeadAttention,
    /// The normalization before the MLP.
    pub post_attention_layernorm: RMSNorm,
    /// The gated MLP.
    pub mlp: LlamaMlp,
}

/// A gated MLP: the hidden features are the product of two linear maps, one of them with an
/// activation (Shazeer, *GLU Variants Improve Transformer*, 2020).
#[derive(Clone, Debug, Module)]
pub struct LlamaMlp {
    /// The linear map to the gates, before the activation.
    pub gate_proj: Linear,
    /// The linear map to the gated features.
    pub up_proj: Linear,
    /// The linear map back to the input's features.
    pub down_proj: Linear,
    /// The activation of the gates.
    #[tree(fixed)]
    pub activation: Activation,
}

impl LlamaMlp {
    /// Maps an array `[.., features]` to one of the same shape.
    ///
    /// # Panics
    /// Panics if the last axis of the input has another size.
    #[track_caller]
    pub fn forward(&self, x: &Array) -> Array {
        let gate = (self.activation)(&self.gate_proj.forward(x));
        self.down_proj.forward(&(gate * self.up_proj.forward(x)))
    }
}

impl LlamaConfig {
    #[track_caller]
    fn build_norm(&self, rngs: &mut Rngs) -> RMSNorm {
        RMSNorm::config()
            .epsilon(self.rms_norm_eps)
            .dtype(self.computed())
            .param_dtype(self.param_dtype)
            .build(self.hidden_size, rngs)
    }

    #[track_caller]
    fn build_linear(&self, inputs: usize, outputs: usize, bias: bool, rngs: &mut Rngs) -> Linear {
        Linear::features(outputs)
            .use_bias(bias)
            .dtype(self.computed())
            .param_dtype(self.param_dtype)
            .kernel_init(init::normal(self.initializer_range))
            .build(inputs, rngs)
    }
}

impl LlamaBlock {
    #[track_caller]
    fn new(config: &LlamaConfig, rngs: &mut Rngs) -> LlamaBlock {
        let (features, inner) = (config.hidden_size, config.intermediate_size);
        let heads = config.num_attention_heads;
        let family = config.model_type;
        let epsilon = config.rms_norm_eps;
        let norms = match family {
            LlamaFamily::Qwen3 => QkNorm::RMSNorm { epsilon },
            _ => QkNorm::None,
        };
        let activation = activation::named("Llama", &config.hidden_act);
        let project = |inputs, outputs, rngs: &mut Rngs| {
            config.build_linear(inputs, outputs, config.mlp_bias, rngs)
        };
        LlamaBlock {
            input_layernorm: config.build_norm(rngs),
            self_attn: MultiHeadAttention::heads(heads)
                .num_kv_heads(config.num_key_value_heads.unwrap_or(heads))
                .qkv_features(heads * config.head_size())
                .use_bias(config.attention_bias)
                .out_use_bias(config.attention_bias && family != LlamaFamily::Qwen2)
                .normalize_qk(norms)
                .window(config.sliding_window.map(|size| (size - 1, 0)))
                .dropout_rate(config.attention_dropout)
                .broadcast_dropout(false)
                .dtype(config.computed())
                .param_dtype(config.param_dtype)
                .kernel_init(init::normal(config.initializer_range))
                .force_fp32_for_softmax(true)
                .attention_fn(config.attention_fn.clone())
                .rotary(config.rotary())
                .build(features, rngs),
            post_attention_layernorm: config.build_norm(rngs),
            mlp: LlamaMlp {
                gate_proj: project(features, inner, rngs),
                up_proj: project(features, inner, rngs),
                down_proj: project(inner, features, rngs),
                activation,
            },
        }
    }

    #[track_caller]
    fn forward(&mut self, x: &Array, places: &Places) -> Array {
        let y = self.input_layernorm.forward(x);
        let y = self.self_attn.forward_with(&places.attend(&y));
        let x = x + y;
        let y = self.mlp.forward(&self.post_attention_layernorm.forward(&x));
        x + y
    }
}

impl Llama {
    /// Creates a model with random weights, in training mode.
    ///
    /// # Panics
    /// Panics if the numbers of heads do not divide evenly, if the head size is odd, if the
    /// activation is unknown, or if the family does not support an option.
    #[track_caller]
    pub fn new(config: &LlamaConfig, rngs: &mut Rngs) -> Llama {
        if let Some((name, value)) = config.unsupported() {
            panic!(
                "Llama: `{name}` is {value}, which the family {0:?} does not support\n  help: start \
                 with its defaults: LlamaConfig::new(LlamaFamily::{0:?})",
                config.model_type
            )
        }
        Llama {
            embed_tokens: Embed::features(config.vocab_size, config.hidden_size)
                .dtype(config.computed())
                .param_dtype(config.param_dtype)
                .embedding_init(init::normal(config.initializer_range))
                .build(rngs),
            layers: (0..config.num_hidden_layers)
                .map(|_| LlamaBlock::new(config, rngs))
                .collect(),
            norm: config.build_norm(rngs),
            lm_head: (!config.tie_word_embeddings)
                .then(|| config.build_linear(config.hidden_size, config.vocab_size, false, rngs)),
        }
    }

    /// Computes the logits of the next token after each token: from integers `[batch, length]`
    /// to `[batch, length, vocab_size]`.
    ///
    /// # Panics
    /// Panics if the tokens do not have two axes.
    #[track_caller]
    pub fn forward(&mut self, tokens: &Array) -> Array {
        self.compute(tokens, None)
    }

    /// Like [`forward`](Llama::forward), for rows that contain several sequences. The segments and the
    /// positions, integers `[batch, length]`, are those of `ramie_data::readers::tokens::pack`. No
    /// token attends to another segment.
    ///
    /// # Panics
    /// Panics if the arrays do not have the same two axes.
    #[track_caller]
    pub fn forward_packed(
        &mut self,
        tokens: &Array,
        segment_ids: &Array,
        positions: &Array,
    ) -> Array {
        assert!(
            tokens.ndim() == 2
                && [segment_ids, positions]
                    .iter()
                    .all(|x| x.shape() == tokens.shape()),
            "Llama: the tokens are {}, the segments {} and the positions {}, expected [batch, length] \
             for all\n  help: pass the arrays of a batch of packed rows",
            tokens.aval(),
            segment_ids.aval(),
            positions.aval()
        );
        self.compute_at(tokens, &Places::packed(segment_ids, positions))
    }

    #[track_caller]
    fn compute(&mut self, tokens: &Array, padding: Option<&Array>) -> Array {
        assert!(
            tokens.ndim() == 2,
            "Llama: the tokens are {}, expected [batch, length]\n  help: add a batch axis: \
             tokens.expand_dims(&[0])",
            tokens.aval()
        );
        let attention = self.layers.first().map(|layer| &layer.self_attn);
        let places = Places::of(attention, tokens.shape()[1], padding);
        self.compute_at(tokens, &places)
    }

    #[track_caller]
    fn compute_at(&mut self, tokens: &Array, places: &Places) -> Array {
        let mut x = self.embed_tokens.forward(tokens);
        for layer in &mut self.layers {
            x = layer.forward(&x, places);
        }
        let x = self.norm.forward(&x);
        match &self.lm_head {
            Some(head) => head.forward(&x),
            None => self.embed_tokens.attend(&x),
        }
    }
}

impl LanguageModel for Llama {
    #[track_caller]
    fn logits(&mut self, tokens: &Array) -> Array {
        self.forward(tokens)
    }
    #[track_caller]
    fn logits_padded(&mut self, tokens: &Array, padding: &Array) -> Array {
        self.compute(tokens, Some(padding))
    }
    fn vocab_size(&self) -> usize {
        self.embed_tokens.embedding.shape()[0]
    }
    fn max_length(&self) -> Option<usize> {
        None
    }
    fn attentions(&mut self) -> impl Iterator<Item = &mut MultiHeadAttention> {
        self.layers.iter_mut().map(|layer| &mut layer.self_attn)
    }
}
