//! GPT-2 language models.

mod weights;

use crate::activation::{self, Activation};
use crate::layers::Layers;
use crate::{LanguageModel, Places};
use ramie_core::{Array, DType};
use ramie_nn::{
    AttentionFn, Dropout, Embed, LayerNorm, Linear, Module, MultiHeadAttention, Rngs, init,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Options of [`Gpt2`] under their published names. Defaults to those of the model with 124
/// million parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Gpt2Config {
    /// Number of tokens in the vocabulary.
    pub vocab_size: usize,
    /// Maximum length of a sequence.
    pub n_positions: usize,
    /// Number of features per position.
    pub n_embd: usize,
    /// Number of blocks.
    pub n_layer: usize,
    /// Number of attention heads.
    pub n_head: usize,
    /// Number of hidden features of the MLP in each block. Defaults to four times `n_embd`.
    pub n_inner: Option<usize>,
    /// The activation of the MLPs: `gelu_new`, `gelu`, `relu`, `silu` or `tanh`.
    pub activation_function: String,
    /// The constant that normalizations add to the variance.
    pub layer_norm_epsilon: f64,
    /// Dropout rate of the outputs of attention and MLP.
    pub resid_pdrop: f64,
    /// Dropout rate of the embeddings.
    pub embd_pdrop: f64,
    /// Dropout rate of the attention weights.
    pub attn_pdrop: f64,
    /// Standard deviation of the initial weights.
    pub initializer_range: f64,
    /// Whether attention logits are divided by the square root of the head size. This model
    /// always does.
    pub(crate) scale_attn_weights: bool,
    /// Whether attention logits are divided by the index of the layer. This model never does.
    pub(crate) scale_attn_by_inverse_layer_idx: bool,
    /// Whether blocks have cross attention. This model has none.
    pub(crate) add_cross_attention: bool,
    /// The attention function of the blocks. Blockwise attention does not support dropout: it
    /// requires an `attn_pdrop` of 0.
    #[serde(skip)]
    pub attention_fn: AttentionFn,
    /// The dtype of the computation. Defaults to that of the parameters.
    #[serde(skip)]
    pub compute_dtype: Option<DType>,
    /// The dtype of the parameters. Defaults to `f32`.
    #[serde(skip, default = "crate::pretrained::f32")]
    pub param_dtype: DType,
    /// Other entries of the file, such as the ids of tokens, which are saved again.
    #[serde(flatten)]
    pub(crate) others: BTreeMap<String, serde_json::Value>,
}

impl Default for Gpt2Config {
    fn default() -> Gpt2Config {
        Gpt2Config {
            vocab_size: 50257,
            n_positions: 1024,
            n_embd: 768,
            n_layer: 12,
            n_head: 12,
            n_inner: None,
            activation_function: "gelu_new".into(),
            layer_norm_epsilon: 1e-5,
            resid_pdrop: 0.1,
            embd_pdrop: 0.1,
            attn_pdrop: 0.1,
            initializer_range: 0.02,
            scale_attn_weights: true,
            scale_attn_by_inverse_layer_idx: false,
            add_cross_attention: false,
            attention_fn: AttentionFn::default(),
            compute_dtype: None,
            param_dtype: DType::F32,
            others: BTreeMap::new(),
        }
    }
}

/// GPT-2 (Radford et al., *Language Models are Unsupervised Multitask Learners*, 2019), whose
/// output layer shares the weights of the embedding.
///
/// The fields have the names of published checkpoints, which
/// [`from_pretrained`](crate::Pretrained::from_pretrained) loads.
///
/// ```no_run
/// use ramie_core::Array;
/// use ramie_nn::Rngs;
/// use ramie_models::{Gpt2, Gpt2Config};
/// let mut model = Gpt2::new(&Gpt2Config::default(), &mut Rngs::new(0));
/// let logits = model.forward(&Array::from([[464i32, 3616, 286]]));
/// assert_eq!(logits.shape(), [1, 3, 50257]);
/// ```
#[derive(Clone, Debug, Module)]
pub struct Gpt2 {
    /// The token embedding.
    pub wte: Embed,
    /// The position embedding.
    pub wpe: Embed,
    /// The dropout of the embeddings.
    pub drop: Dropout,
    /// The blocks.
    pub h: Vec<Gpt2Block>,
    /// The final normalization.
    pub ln_f: LayerNorm,
}

/// A block: attention and an MLP, each with a normalization of its input and a residual
/// connection.
#[derive(Clone, Debug, Module)]
pub struct Gpt2Block {
    /// The normalization before attention.
    pub ln_1: LayerNorm,
    /// The causal attention.
    pub attn: MultiHeadAttention,
    /// The normalization before the MLP.
    pub ln_2: LayerNorm,
    /// The MLP.
    pub mlp: Gpt2Mlp,
    /// The dropout of both outputs.
    pub dropout: Dropout,
}

/// Two linear layers with an activation between them.
#[derive(Clone, Debug, Module)]
pub struct Gpt2Mlp {
    /// The linear layer to the hidden features.
    pub c_fc: Linear,
    /// The linear layer back to the input's features.
    pub c_proj: Linear,
    /// The activation between both layers.
    #[tree(fixed)]
    pub activation: Activation,
}

impl Gpt2Block {
    #[track_caller]
    fn new(config: &Gpt2Config, rngs: &mut Rngs) -> Gpt2Block {
        let (features, layers) = (config.n_embd, config.layers());
        let weights = layers.weights();
        let inner = config.n_inner.unwrap_or(4 * features);
        // Scale the weights of residual branches by the number of branches.
        let branches = (2 * config.n_layer.max(1)) as f64;
        let last = init::normal(config.initializer_range / branches.sqrt());
        let linear = |outputs: usize, init: &init::Initializer| {
            Linear::features(outputs)
                .dtype(layers.dtype())
                .param_dtype(config.param_dtype)
                .kernel_init(init.clone())
        };
        Gpt2Block {
            ln_1: layers.norm(rngs),
            attn: layers
                .attention_config(config.n_head)
                .out_kernel_init(last.clone())
                .build(features, rngs),
            ln_2: layers.norm(rngs),
            mlp: Gpt2Mlp {
                c_fc: linear(inner, &weights).build(features, rngs),
                c_proj: linear(features, &last).build(inner, rngs),
                activation: activation::named("Gpt2", &config.activation_function),
            },
            dropout: Dropout::new(config.resid_pdrop, rngs),
        }
    }

    #[track_caller]
    fn forward(&mut self, x: &Array, places: &Places) -> Array {
        let y = self.ln_1.forward(x);
        let y = self.attn.forward_with(&places.attend(&y));
        let x = x + self.dropout.forward(&y).astype(x.dtype());
        let y = self.mlp.c_fc.forward(&self.ln_2.forward(&x));
        let y = self.mlp.c_proj.forward(&(self.mlp.activation)(&y));
        &x + self.dropout.forward(&y)
    }
}

impl Gpt2Config {
    fn layers(&self) -> Layers {
        Layers {
            features: self.n_embd,
            epsilon: self.layer_norm_epsilon,
            deviation: self.initializer_range,
            attention_dropout: self.attn_pdrop,
            attention_fn: self.attention_fn.clone(),
            compute_dtype: self.compute_dtype,
            param_dtype: self.param_dtype,
        }
    }
}

impl Gpt2 {
    /// Creates a model with random weights, in training mode.
    ///
    /// # Panics
    /// Panics if the number of heads does not divide the number of features, or if the
    /// activation is unknown.
    #[track_caller]
    pub fn new(config: &Gpt2Config, rngs: &mut Rngs) -> Gpt2 {
        let layers = config.layers();
        let embed = |count, rngs: &mut Rngs| layers.embed(count, layers.weights(), rngs);
        Gpt2 {
            wte: embed(config.vocab_size, rngs),
            wpe: embed(config.n_positions, rngs),
            drop: Dropout::new(config.embd_pdrop, rngs),
            h: (0..config.n_layer)
                .map(|_| Gpt2Block::new(config, rngs))
                .collect(),
            ln_f: layers.norm(rngs),
        }
    }

    /// Computes the logits of the next token after each token: from integers `[batch, length]`
    /// to `[batch, length, vocab_size]`.
    ///
    /// # Panics
    /// Panics if the tokens do not have two axes, or if there are more of them than positions.
    #[track_caller]
    pub fn forward(&mut self, tokens: &Array) -> Array {
        self.compute(tokens, None)
    }

    #[track_caller]
    fn compute(&mut self, tokens: &Array, padding: Option<&Array>) -> Array {
        let (length, room) = (
            tokens.shape().last().copied(),
            self.wpe.embedding.shape()[0],
        );
        assert!(
            tokens.ndim() == 2 && length <= Some(room),
            "Gpt2: the tokens are {}, expected [batch, length] with a length of {room} or \
             less\n  help: split the text into parts of at most that length",
            tokens.aval()
        );
        let attention = self.h.first().map(|block| &block.attn);
        let places = Places::of(attention, length.unwrap_or(0), padding);
        let x = self.wte.forward(tokens) + self.wpe.forward(&places.positions);
        let mut x = self.drop.forward(&x);
        for block in &mut self.h {
            x = block.forward(&x, &places);
        }
        self.wte.attend(&self.ln_f.forward(&x))
    }
}

impl LanguageModel for Gpt2 {
    #[track_caller]
    fn logits(&mut self, tokens: &Array) -> Array {
        self.forward(tokens)
    }
    #[track_caller]
    fn logits_padded(&mut self, tokens: &Array, padding: &Array) -> Array {
        self.compute(tokens, Some(padding))
    }
    fn vocab_size(&self) -> usize {
        self.wte.embedding.shape()[0]
    }
    fn max_length(&self) -> Option<usize> {
        Some(self.wpe.embedding.shape()[0])
    }
    fn attentions(&mut self) -> impl Iterator<Item = &mut MultiHeadAttention> {
        self.h.iter_mut().map(|block| &mut block.attn)
    }
}
