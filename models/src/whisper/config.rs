//! Options of Whisper.

use crate::activation;
use crate::pretrained::{described, read_config, unsupported};
use crate::{PretrainedConfig, PretrainedError, Whisper};
use ramie_core::DType;
use ramie_nn::AttentionFn;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Options of a [`Whisper`](crate::Whisper) model under their published names. Defaults to those of
/// the tiny model with 39 million parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct WhisperConfig {
    /// Number of tokens in the vocabulary.
    pub vocab_size: usize,
    /// Number of bands of the sound's features.
    pub num_mel_bins: usize,
    /// Number of features per position.
    pub d_model: usize,
    /// Number of blocks of the encoder.
    pub encoder_layers: usize,
    /// Number of attention heads of the encoder.
    pub encoder_attention_heads: usize,
    /// Number of hidden features of the MLPs of the encoder.
    pub encoder_ffn_dim: usize,
    /// Number of blocks of the decoder.
    pub decoder_layers: usize,
    /// Number of attention heads of the decoder.
    pub decoder_attention_heads: usize,
    /// Number of hidden features of the MLPs of the decoder.
    pub decoder_ffn_dim: usize,
    /// Number of positions of encoded sound, half the number of frames.
    pub max_source_positions: usize,
    /// Maximum length of a text in tokens.
    pub max_target_positions: usize,
    /// The activation of convolutions and MLPs: `gelu`, `gelu_new`, `relu`, `silu` or `tanh`.
    pub activation_function: String,
    /// Dropout rate of the embeddings and of the outputs of attention and MLP.
    pub dropout: f64,
    /// Dropout rate of the attention weights.
    pub attention_dropout: f64,
    /// Standard deviation of the initial weights.
    pub init_std: f64,
    /// Dropout rate of the hidden features of the MLPs. This model has no such dropout.
    pub(crate) activation_dropout: f64,
    /// Whether embeddings are multiplied by the square root of their size. This model's never are.
    pub(crate) scale_embedding: bool,
    /// The attention function of the blocks. Blockwise attention does not support dropout: it
    /// requires an `attention_dropout` of 0.
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
    pub(crate) others: BTreeMap<String, Value>,
}

impl Default for WhisperConfig {
    fn default() -> WhisperConfig {
        WhisperConfig {
            vocab_size: 51865,
            num_mel_bins: 80,
            d_model: 384,
            encoder_layers: 4,
            encoder_attention_heads: 6,
            encoder_ffn_dim: 1536,
            decoder_layers: 4,
            decoder_attention_heads: 6,
            decoder_ffn_dim: 1536,
            max_source_positions: 1500,
            max_target_positions: 448,
            activation_function: "gelu".into(),
            dropout: 0.0,
            attention_dropout: 0.0,
            init_std: 0.02,
            activation_dropout: 0.0,
            scale_embedding: false,
            attention_fn: AttentionFn::default(),
            compute_dtype: None,
            param_dtype: DType::F32,
            others: BTreeMap::new(),
        }
    }
}

impl PretrainedConfig<Whisper> for WhisperConfig {
    fn from_json(path: impl AsRef<Path>) -> Result<WhisperConfig, PretrainedError> {
        let path = path.as_ref();
        let config: WhisperConfig = read_config(path)?;
        if config.activation_dropout != 0.0 {
            let rate = config.activation_dropout;
            return Err(unsupported(path, "activation_dropout", rate));
        }
        if config.scale_embedding {
            return Err(unsupported(path, "scale_embedding", true));
        }
        let function = &config.activation_function;
        match activation::by_name(function) {
            Some(_) => Ok(config),
            None => Err(unsupported(path, "activation_function", function)),
        }
    }

    fn to_json(&self, model: &Whisper) -> Value {
        let dtype = model.decoder.embed_tokens.embedding.dtype();
        described(self, "whisper", "WhisperForConditionalGeneration", dtype)
    }
}
