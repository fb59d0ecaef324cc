//! ALBERT encoders: BERT with shared layers.

use crate::activation::Activation;
use crate::bert::first_pooling;
use crate::pretrained::{described, read_config};
use crate::{
    BertBlock, BertConfig, BertEmbeddings, Pretrained, PretrainedConfig, PretrainedError, Weights,
};
use ramie_core::Array;
use ramie_nn::{LayerNorm, Linear, Module, Param, Rngs};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::Path;

/// Options of [`Albert`] under their published names. Defaults to those of the base model with 12
/// million parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct AlbertConfig {
    /// The options that BERT has, too. In JSON, they are entries of the same object.
    #[serde(flatten)]
    pub bert: BertConfig,
    /// Number of features of the embeddings.
    pub embedding_size: usize,
    /// Number of groups of layers.
    pub num_hidden_groups: usize,
    /// Number of blocks in each group. A layer applies all blocks of its group.
    pub inner_group_num: usize,
}

impl Default for AlbertConfig {
    fn default() -> AlbertConfig {
        AlbertConfig {
            bert: BertConfig {
                vocab_size: 30000,
                hidden_act: "gelu_new".into(),
                hidden_dropout_prob: 0.0,
                attention_probs_dropout_prob: 0.0,
                ..BertConfig::default()
            },
            embedding_size: 128,
            num_hidden_groups: 1,
            inner_group_num: 1,
        }
    }
}

/// ALBERT (Lan et al., *ALBERT: A Lite BERT for Self-supervised Learning of Language
/// Representations*, 2019): an encoder of text. It is [`Bert`](crate::Bert) with embeddings of fewer
/// features, and with layers that share their parameters.
///
/// [`from_pretrained`](crate::Pretrained::from_pretrained) loads published checkpoints. Those for masked tokens
/// predict tokens from their context:
///
/// ```no_run
/// use ramie_core::Array;
/// use ramie_models::{Albert, Pretrained};
/// # fn main() -> Result<(), ramie_models::PretrainedError> {
/// let mut model = Albert::from_pretrained("checkpoints/albert-base-v2")?;
/// let tokens = Array::from([[2i32, 14, 1057, 4, 26, 3]]); // 4 is the mask
/// let features = model.forward(&tokens, &tokens.ne(0));
/// let predicted = model.predict(&features).argmax(-1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Module)]
pub struct Albert {
    /// The embeddings of tokens, positions and segments.
    pub embeddings: BertEmbeddings,
    /// The linear layer from the features of the embeddings to those of the blocks.
    pub projection: Linear,
    /// The blocks of each group, which all layers of the group share.
    pub groups: Vec<Vec<BertBlock>>,
    /// Number of layers, which are distributed evenly over the groups.
    #[tree(fixed)]
    pub num_hidden_layers: usize,
    /// The linear layer of [`pool`](Albert::pool). Checkpoints without it are loaded without it.
    pub pooler: Option<Linear>,
    /// The layers of [`predict`](Albert::predict). Checkpoints without them are loaded without them.
    pub predictions: Option<AlbertPredictions>,
}

/// The layers that predict tokens. The last of them has the weights of the token embedding.
#[derive(Clone, Debug, Module)]
pub struct AlbertPredictions {
    /// The linear layer to the features of the embeddings.
    pub dense: Linear,
    /// The normalization after the activation.
    pub norm: LayerNorm,
    /// The bias of each token's logit.
    pub bias: Param,
    /// The activation.
    #[tree(fixed)]
    pub activation: Activation,
}

impl Albert {
    /// Creates a model with random weights, in training mode.
    ///
    /// # Panics
    /// Panics if the number of heads does not divide the number of features, if the activation is
    /// unknown, or if there are no groups.
    #[track_caller]
    pub fn new(config: &AlbertConfig, rngs: &mut Rngs) -> Albert {
        let (bert, size) = (&config.bert, config.embedding_size);
        assert!(
            config.num_hidden_groups > 0,
            "Albert: num_hidden_groups is 0\n  help: use 1, so that all layers share their weights"
        );
        let layers = bert.layers();
        // Its norm is that of the embeddings.
        let embedding = BertConfig {
            hidden_size: size,
            ..bert.clone()
        };
        let group = |rngs: &mut Rngs| {
            let blocks = (0..config.inner_group_num).map(|_| BertBlock::new(bert, rngs));
            blocks.collect()
        };
        Albert {
            embeddings: BertEmbeddings::new(&embedding, rngs),
            projection: layers.linear(size, bert.hidden_size, rngs),
            groups: (0..config.num_hidden_groups).map(|_| group(rngs)).collect(),
            num_hidden_layers: bert.num_hidden_layers,
            pooler: Some(layers.linear(bert.hidden_size, bert.hidden_size, rngs)),
            predictions: Some(AlbertPredictions {
                dense: layers.linear(bert.hidden_size, size, rngs),
                norm: embedding.layers().norm(rngs),
                bias: Param::new(Array::zeros(&[bert.vocab_size], bert.param_dtype)),
                activation: bert.activation(),
            }),
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

    /// Computes the features of each token like [`forward`](Albert::forward). `segments` has the
    /// shape of the tokens and contains the segment of each: usually 0 for the first sentence of a
    /// pair and 1 for the second.
    ///
    /// # Panics
    /// Panics like [`forward`](Albert::forward), or if the segments have another shape.
    #[track_caller]
    pub fn forward_segments(&mut self, tokens: &Array, mask: &Array, segments: &Array) -> Array {
        self.embeddings.check("Albert", tokens, mask, segments);
        let x = self.embeddings.forward(tokens, segments);
        let mut x = self.projection.forward(&x);
        let keys = mask.expand_dims(&[1, 2]);
        for layer in 0..self.num_hidden_layers {
            let group = layer * self.groups.len() / self.num_hidden_layers;
            for block in &mut self.groups[group] {
                x = block.forward(&x, &keys);
            }
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
        first_pooling("Albert", self.pooler.as_ref(), features)
    }

    /// Computes the logits of the token at each position, `[batch, length, vocab_size]`, from the
    /// features of the tokens, of which some are masked.
    ///
    /// # Panics
    /// Panics if the model was loaded from a checkpoint without these layers.
    #[track_caller]
    pub fn predict(&self, features: &Array) -> Array {
        let Some(head) = &self.predictions else {
            panic!(
                "Albert::predict: the checkpoint of the model has no layers that predict tokens\n  \
                 help: use a checkpoint for masked tokens, such as one of AlbertForMaskedLM"
            )
        };
        let x = (head.activation)(&head.dense.forward(features));
        let table = &self.embeddings.word_embeddings;
        table.attend(&head.norm.forward(&x)) + head.bias.value()
    }
}

impl PretrainedConfig<Albert> for AlbertConfig {
    fn from_json(path: impl AsRef<Path>) -> Result<AlbertConfig, PretrainedError> {
        let path = path.as_ref();
        let config: AlbertConfig = read_config(path)?;
        config.bert.check(path)?;
        Ok(config)
    }

    fn to_json(&self, model: &Albert) -> Value {
        let layers = self.bert.num_hidden_layers;
        assert!(
            model.num_hidden_layers == layers,
            "Albert::save_pretrained: the model has {} layers, but the configuration has \
             {layers}\n  help: pass the configuration that the model was created with",
            model.num_hidden_layers
        );
        let class = match model.predictions {
            Some(_) => "AlbertForMaskedLM",
            None => "AlbertModel",
        };
        let dtype = model.embeddings.word_embeddings.embedding.dtype();
        described(self, "albert", class, dtype)
    }
}

/// The tensors have the names `albert.embeddings.word_embeddings.weight` or
/// `embeddings.word_embeddings.weight`, `predictions.dense.weight`, and so on. If a file has no pooler
/// or no layers that predict tokens, neither has the model afterwards.
impl Pretrained for Albert {
    type Config = AlbertConfig;

    fn new(config: &AlbertConfig, rngs: &mut Rngs) -> Albert {
        Albert::new(config, rngs)
    }

    fn exchange(&mut self, w: &mut Weights) -> Result<(), PretrainedError> {
        match self.predictions {
            Some(_) => w.below("albert."),
            None => w.read_below("albert."),
        }
        self.embeddings.exchange(w)?;
        let projection = "encoder.embedding_hidden_mapping_in";
        w.linear(projection, &mut self.projection)?;
        for (g, group) in self.groups.iter_mut().enumerate() {
            for (i, block) in group.iter_mut().enumerate() {
                let at = |name: &str| {
                    format!("encoder.albert_layer_groups.{g}.albert_layers.{i}.{name}")
                };
                let attention = &mut block.attention;
                w.general(&at("attention.query"), &mut attention.query)?;
                w.general(&at("attention.key"), &mut attention.key)?;
                w.general(&at("attention.value"), &mut attention.value)?;
                w.general(&at("attention.dense"), &mut attention.out)?;
                w.layer_norm(&at("attention.LayerNorm"), &mut block.attention_norm)?;
                w.linear(&at("ffn"), &mut block.intermediate)?;
                w.linear(&at("ffn_output"), &mut block.output)?;
                w.layer_norm(&at("full_layer_layer_norm"), &mut block.output_norm)?;
            }
        }
        if let Some(pooler) = &mut self.pooler {
            w.linear("pooler", pooler)?;
        }
        let Some(head) = &mut self.predictions else {
            return Ok(());
        };
        w.whole(|w| {
            w.linear("predictions.dense", &mut head.dense)?;
            w.layer_norm("predictions.LayerNorm", &mut head.norm)?;
            w.variable("predictions.bias", &mut head.bias)
        })
    }

    /// Ignores the last layer of the predictions again, a classifier of the order of sentences, and
    /// the numbers of the positions.
    fn ignores(&self, name: &str) -> bool {
        name.starts_with("predictions.decoder.")
            || name.starts_with("sop_classifier.")
            || name.ends_with("embeddings.position_ids")
    }

    fn fit(&mut self, weights: &Weights) {
        if weights.shape("predictions.bias").is_none() {
            self.predictions = None;
        }
        if !weights.has("albert.", "pooler.weight") {
            self.pooler = None;
        }
    }
}
