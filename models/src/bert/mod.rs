//! BERT encoders.

mod weights;

use crate::activation::{self, Activation};
use crate::layers::Layers;
use ramie_core::options::Reduction;
use ramie_core::{Array, DType, where_};
use ramie_nn::{
    AttentionFn, AttentionInputs, Dropout, Embed, LayerNorm, Linear, Module, MultiHeadAttention,
    Rngs,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Options of [`Bert`] under their published names. Defaults to those of the base model with 110
/// million parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct BertConfig {
    /// Number of tokens in the vocabulary.
    pub vocab_size: usize,
    /// Maximum length of a sequence.
    pub max_position_embeddings: usize,
    /// Number of segments that [`forward_segments`](Bert::forward_segments) distinguishes.
    pub type_vocab_size: usize,
    /// Number of features per position.
    pub hidden_size: usize,
    /// Number of blocks.
    pub num_hidden_layers: usize,
    /// Number of attention heads.
    pub num_attention_heads: usize,
    /// Number of hidden features of the MLP in each block.
    pub intermediate_size: usize,
    /// The activation of the MLPs: `gelu`, `gelu_new`, `relu`, `silu` or `tanh`.
    pub hidden_act: String,
    /// Dropout rate of the embeddings and of the outputs of attention and MLP.
    pub hidden_dropout_prob: f64,
    /// Dropout rate of the attention weights.
    pub attention_probs_dropout_prob: f64,
    /// The constant that normalizations add to the variance.
    pub layer_norm_eps: f64,
    /// Standard deviation of the initial weights.
    pub initializer_range: f64,
    /// Representation of positions. This model has an embedding per position.
    pub(crate) position_embedding_type: String,
    /// Whether attention is causal. This model's never is.
    pub(crate) is_decoder: bool,
    /// The attention function of the blocks. Blockwise attention does not support dropout: it
    /// requires an `attention_probs_dropout_prob` of 0.
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

impl Default for BertConfig {
    fn default() -> BertConfig {
        BertConfig {
            vocab_size: 30522,
            max_position_embeddings: 512,
            type_vocab_size: 2,
            hidden_size: 768,
            num_hidden_layers: 12,
            num_attention_heads: 12,
            intermediate_size: 3072,
            hidden_act: "gelu".into(),
            hidden_dropout_prob: 0.1,
            attention_probs_dropout_prob: 0.1,
            layer_norm_eps: 1e-12,
            initializer_range: 0.02,
            position_embedding_type: "absolute".into(),
            is_decoder: false,
            attention_fn: AttentionFn::default(),
            compute_dtype: None,
            param_dtype: DType::F32,
            others: BTreeMap::new(),
        }
    }
}

/// BERT (Devlin et al., *BERT: Pre-training of Deep Bidirectional Transformers for Language
/// Understanding*, 2018): an encoder of text.
///
/// The fields have the names of published checkpoints, which
/// [`from_pretrained`](crate::Pretrained::from_pretrained) loads. [`embed`](Bert::embed) returns the embeddings of
/// sentences (Reimers and Gurevych, *Sentence-BERT*, 2019).
///
/// ```no_run
/// use ramie_core::Array;
/// use ramie_models::{Bert, Pretrained};
/// # fn main() -> Result<(), ramie_models::PretrainedError> {
/// let mut model = Bert::from_pretrained("checkpoints/all-MiniLM-L6-v2")?;
/// let tokens = Array::from([[101i32, 1037, 4937, 102], [101, 4937, 102, 0]]);
/// let mask = tokens.ne(0); // the second sentence is padded
/// let embeddings = model.embed(&tokens, &mask);
/// let similarities = embeddings.dot(embeddings.transpose(&[1, 0]));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Module)]
pub struct Bert {
    /// The embeddings of tokens, positions and segments.
    pub embeddings: BertEmbeddings,
    /// The blocks.
    pub layers: Vec<BertBlock>,
    /// The linear layer of [`pool`](Bert::pool). Checkpoints without it are loaded without it.
    pub pooler: Option<Linear>,
}

/// The sum of three embeddings, with a normalization.
#[derive(Clone, Debug, Module)]
pub struct BertEmbeddings {
    /// The token embedding.
    pub word_embeddings: Embed,
    /// The position embedding.
    pub position_embeddings: Embed,
    /// The segment embedding.
    pub token_type_embeddings: Embed,
    /// The normalization of the sum.
    pub norm: LayerNorm,
    /// The dropout of the normalized sum.
    pub dropout: Dropout,
}

/// A block: attention and an MLP, each with a residual connection and a normalization of the sum.
#[derive(Clone, Debug, Module)]
pub struct BertBlock {
    /// The attention.
    pub attention: MultiHeadAttention,
    /// The normalization after attention.
    pub attention_norm: LayerNorm,
    /// The linear layer to the hidden features.
    pub intermediate: Linear,
    /// The linear layer back to the input's features.
    pub output: Linear,
    /// The normalization after the MLP.
    pub output_norm: LayerNorm,
    /// The dropout of both outputs.
    pub dropout: Dropout,
    /// The activation of the hidden features.
    #[tree(fixed)]
    pub activation: Activation,
}

impl BertConfig {
    pub(crate) fn layers(&self) -> Layers {
        Layers {
            features: self.hidden_size,
            epsilon: self.layer_norm_eps,
            deviation: self.initializer_range,
            attention_dropout: self.attention_probs_dropout_prob,
            attention_fn: self.attention_fn.clone(),
            compute_dtype: self.compute_dtype,
            param_dtype: self.param_dtype,
        }
    }

    #[track_caller]
    pub(crate) fn activation(&self) -> Activation {
        activation::named("BertConfig", &self.hidden_act)
    }
}

impl BertEmbeddings {
    #[track_caller]
    pub(crate) fn new(config: &BertConfig, rngs: &mut Rngs) -> BertEmbeddings {
        let layers = config.layers();
        let embed = |count, rngs: &mut Rngs| layers.embed(count, layers.weights(), rngs);
        BertEmbeddings {
            word_embeddings: embed(config.vocab_size, rngs),
            position_embeddings: embed(config.max_position_embeddings, rngs),
            token_type_embeddings: embed(config.type_vocab_size, rngs),
            norm: layers.norm(rngs),
            dropout: Dropout::new(config.hidden_dropout_prob, rngs),
        }
    }

    /// Checks the arguments of a model: `mask` and `segments` have the shape of the tokens.
    #[track_caller]
    pub(crate) fn check(&self, model: &str, tokens: &Array, mask: &Array, segments: &Array) {
        let room = self.position_embeddings.embedding.shape()[0];
        assert!(
            tokens.ndim() == 2 && tokens.shape()[1] <= room,
            "{model}: the tokens are {}, expected [batch, length] with a length of {room} or \
             less\n  help: truncate the text to that length",
            tokens.aval()
        );
        for (what, array) in [("mask is", mask), ("segments are", segments)] {
            assert!(
                array.shape() == tokens.shape(),
                "{model}: the {what} {}, expected the shape of the tokens, {:?}\n  help: pass a \
                 value per token, such as the mask tokens.ne(padding)",
                array.aval(),
                tokens.shape()
            );
        }
    }

    #[track_caller]
    pub(crate) fn forward(&mut self, tokens: &Array, segments: &Array) -> Array {
        let positions = Array::arange(tokens.shape()[1]).astype(DType::I32);
        let x = self.word_embeddings.forward(tokens)
            + self.position_embeddings.forward(&positions)
            + self.token_type_embeddings.forward(segments);
        self.dropout.forward(&self.norm.forward(&x))
    }
}

impl BertBlock {
    #[track_caller]
    pub(crate) fn new(config: &BertConfig, rngs: &mut Rngs) -> BertBlock {
        let (features, inner) = (config.hidden_size, config.intermediate_size);
        let layers = config.layers();
        BertBlock {
            attention: layers.attention(config.num_attention_heads, rngs),
            attention_norm: layers.norm(rngs),
            intermediate: layers.linear(features, inner, rngs),
            output: layers.linear(inner, features, rngs),
            output_norm: layers.norm(rngs),
            dropout: Dropout::new(config.hidden_dropout_prob, rngs),
            activation: config.activation(),
        }
    }

    #[track_caller]
    pub(crate) fn forward(&mut self, x: &Array, mask: &Array) -> Array {
        let y = self
            .attention
            .forward_with(&AttentionInputs::of(x).mask(mask));
        let x = self.attention_norm.forward(&(x + self.dropout.forward(&y)));
        let y = (self.activation)(&self.intermediate.forward(&x));
        let y = self.output.forward(&y);
        self.output_norm.forward(&(&x + self.dropout.forward(&y)))
    }
}

impl Bert {
    /// Creates a model with random weights, in training mode.
    ///
    /// # Panics
    /// Panics if the number of heads does not divide the number of features, or if the activation
    /// is unknown.
    #[track_caller]
    pub fn new(config: &BertConfig, rngs: &mut Rngs) -> Bert {
        Bert {
            embeddings: BertEmbeddings::new(config, rngs),
            layers: (0..config.num_hidden_layers)
                .map(|_| BertBlock::new(config, rngs))
                .collect(),
            pooler: Some(
                config
                    .layers()
                    .linear(config.hidden_size, config.hidden_size, rngs),
            ),
        }
    }

    /// Computes the features of each token in its context: from integers `[batch, length]` to
    /// `[batch, length, hidden_size]`. `mask` has the shape of the tokens and is false or 0 for
    /// padding, which other tokens do not attend to. All tokens belong to the first segment.
    ///
    /// # Panics
    /// Panics if the tokens do not have two axes, if there are more of them than positions, or if
    /// the mask has another shape.
    #[track_caller]
    pub fn forward(&mut self, tokens: &Array, mask: &Array) -> Array {
        self.forward_segments(tokens, mask, &tokens.zeros_like())
    }

    /// Computes the features of each token like [`forward`](Bert::forward). `segments` has the shape
    /// of the tokens and contains the segment of each: usually 0 for the first sentence of a pair
    /// and 1 for the second.
    ///
    /// # Panics
    /// Panics like [`forward`](Bert::forward), or if the segments have another shape.
    #[track_caller]
    pub fn forward_segments(&mut self, tokens: &Array, mask: &Array, segments: &Array) -> Array {
        self.embeddings.check("Bert", tokens, mask, segments);
        let mut x = self.embeddings.forward(tokens, segments);
        let keys = mask.expand_dims(&[1, 2]);
        for layer in &mut self.layers {
            x = layer.forward(&x, &keys);
        }
        x
    }

    /// Computes features of each sequence for classifiers, `[batch, hidden_size]`, from the features
    /// of its tokens: a linear layer with `tanh` on those of the first token.
    ///
    /// # Panics
    /// Panics if the model was loaded from a checkpoint without this layer.
    #[track_caller]
    pub fn pool(&self, features: &Array) -> Array {
        first_pooling("Bert", self.pooler.as_ref(), features)
    }

    /// Computes the embedding of each sentence, `[batch, hidden_size]`: the mean of the features of
    /// its tokens, divided by its norm. The product of two embeddings is the cosine of their angle.
    ///
    /// # Panics
    /// Panics like [`forward`](Bert::forward).
    #[track_caller]
    pub fn embed(&mut self, tokens: &Array, mask: &Array) -> Array {
        unit(&mean_pooling(&self.forward(tokens, mask), mask))
    }
}

/// Divides the vectors along the last axis by their norms. Zeros remain zeros.
pub(crate) fn unit(x: &Array) -> Array {
    let squares = x.square().sum_over(Reduction::over(-1).keepdims());
    // The maximum comes first, because the derivative of the square root is infinite at 0.
    x / squares.maximum(1e-24).sqrt()
}

/// Computes features of each sequence from those of its first token.
#[track_caller]
pub(crate) fn first_pooling(model: &str, pooler: Option<&Linear>, features: &Array) -> Array {
    let Some(pooler) = pooler else {
        panic!(
            "{model}::pool: the checkpoint of the model has no pooler\n  help: use \
             mean_pooling(&features, &mask)"
        )
    };
    let first = features.index_in_dim(0, 1).squeeze(&[1]);
    pooler.forward(&first).tanh()
}

/// Returns the mean of the features of each sequence's tokens: from `[batch, length, features]` to
/// `[batch, features]`. `mask`, `[batch, length]`, is false or 0 for tokens to omit.
///
/// # Panics
/// Panics if the shapes do not match.
#[track_caller]
pub fn mean_pooling(features: &Array, mask: &Array) -> Array {
    let mask = mask.ne(0).expand_dims(&[2]);
    let mean = features.mean_over(Reduction::over(1).mask(&mask));
    where_(mask.any_over(1), mean, 0)
}
