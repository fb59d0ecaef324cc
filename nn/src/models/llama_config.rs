//! The configuration of Llama.

use super::activation;
use super::pretrained::{PretrainedError, read_config, unsupported};
use crate::{AttentionFn, RotaryEmbedding, RotaryScaling};
use ramie_core::DType;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// Options of [`Llama`](super::Llama) under their published names. Defaults to those of the
/// first model with 7 billion parameters.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LlamaConfig {
    /// Number of tokens in the vocabulary.
    pub vocab_size: usize,
    /// Number of features per position.
    pub hidden_size: usize,
    /// Number of hidden features of the MLP in each block.
    pub intermediate_size: usize,
    /// Number of blocks.
    pub num_hidden_layers: usize,
    /// Number of query heads.
    pub num_attention_heads: usize,
    /// Number of key and value heads. Defaults to the number of query heads.
    pub num_key_value_heads: Option<usize>,
    /// Size of a head. Defaults to the number of features divided by the number of heads.
    pub head_dim: Option<usize>,
    /// The activation of the MLPs.
    pub hidden_act: String,
    /// Maximum length of the training sequences.
    pub max_position_embeddings: usize,
    /// Standard deviation of the initial weights.
    pub initializer_range: f64,
    /// The constant that normalizations add to the mean square.
    pub rms_norm_eps: f64,
    /// Whether the output layer shares the weights of the token embedding.
    pub tie_word_embeddings: bool,
    /// The base of the frequencies of rotary embeddings.
    pub rope_theta: f64,
    /// The scaling of these frequencies, if any.
    pub rope_scaling: Option<RotaryScaling>,
    /// Whether the projections of attention have biases.
    pub attention_bias: bool,
    /// Whether the MLPs have biases.
    pub mlp_bias: bool,
    /// Dropout rate of the attention weights.
    pub attention_dropout: f64,
    /// The attention function of the blocks; blockwise attention suits long sequences.
    pub attention_fn: AttentionFn,
    /// The dtype of the computation. Defaults to that of the parameters.
    pub compute_dtype: Option<DType>,
    /// The dtype of the parameters. Defaults to `f32`.
    pub param_dtype: DType,
    /// Other entries of the file, such as the ids of tokens, which are saved again.
    pub(super) others: BTreeMap<String, serde_json::Value>,
}

impl Default for LlamaConfig {
    fn default() -> LlamaConfig {
        LlamaConfig {
            vocab_size: 32000,
            hidden_size: 4096,
            intermediate_size: 11008,
            num_hidden_layers: 32,
            num_attention_heads: 32,
            num_key_value_heads: None,
            head_dim: None,
            hidden_act: "silu".into(),
            max_position_embeddings: 2048,
            initializer_range: 0.02,
            rms_norm_eps: 1e-6,
            tie_word_embeddings: false,
            rope_theta: 10_000.0,
            rope_scaling: None,
            attention_bias: false,
            mlp_bias: false,
            attention_dropout: 0.0,
            attention_fn: AttentionFn::default(),
            compute_dtype: None,
            param_dtype: DType::F32,
            others: BTreeMap::new(),
        }
    }
}

/// The fields of a published file. Missing fields have the defaults of `LlamaConfig`.
#[derive(Serialize, Deserialize)]
pub(super) struct File {
    vocab_size: Option<usize>,
    hidden_size: Option<usize>,
    intermediate_size: Option<usize>,
    num_hidden_layers: Option<usize>,
    num_attention_heads: Option<usize>,
    num_key_value_heads: Option<usize>,
    head_dim: Option<usize>,
    hidden_act: Option<String>,
    max_position_embeddings: Option<usize>,
    initializer_range: Option<f64>,
    rms_norm_eps: Option<f64>,
    tie_word_embeddings: Option<bool>,
    rope_theta: Option<f64>,
    // `rope_parameters` is the newer name; it also contains the base.
    rope_scaling: Option<Rope>,
    rope_parameters: Option<Rope>,
    attention_bias: Option<bool>,
    mlp_bias: Option<bool>,
    attention_dropout: Option<f64>,
    #[serde(flatten)]
    others: BTreeMap<String, serde_json::Value>,
}

#[derive(Clone, Default, Serialize, Deserialize)]
struct Rope {
    #[serde(alias = "type")]
    rope_type: Option<String>,
    rope_theta: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    factor: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    low_freq_factor: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    high_freq_factor: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    original_max_position_embeddings: Option<usize>,
}

impl Rope {
    /// Returns the entries of a file for a base and a scaling of frequencies.
    fn of(rope_theta: f64, scaling: Option<RotaryScaling>) -> Rope {
        let rope = Rope {
            rope_theta: Some(rope_theta),
            ..Rope::default()
        };
        match scaling {
            None => Rope {
                rope_type: Some("default".into()),
                ..rope
            },
            Some(RotaryScaling::Linear { factor }) => Rope {
                rope_type: Some("linear".into()),
                factor: Some(factor),
                ..rope
            },
            Some(RotaryScaling::Llama3 {
                factor,
                low_freq_factor,
                high_freq_factor,
                original_max_position_embeddings,
            }) => Rope {
                rope_type: Some("llama3".into()),
                factor: Some(factor),
                low_freq_factor: Some(low_freq_factor),
                high_freq_factor: Some(high_freq_factor),
                original_max_position_embeddings: Some(original_max_position_embeddings),
                ..rope
            },
        }
    }

    /// Returns the scaling of frequencies, or the name of an unknown one as an error.
    fn scaling(&self) -> Result<Option<RotaryScaling>, String> {
        let name = self.rope_type.as_deref().unwrap_or("default");
        let need = |value: Option<f64>, what: &str| value.ok_or(format!("{name} without {what}"));
        match name {
            "default" => Ok(None),
            "linear" => Ok(Some(RotaryScaling::Linear {
                factor: need(self.factor, "factor")?,
            })),
            "llama3" => Ok(Some(RotaryScaling::Llama3 {
                factor: need(self.factor, "factor")?,
                low_freq_factor: need(self.low_freq_factor, "low_freq_factor")?,
                high_freq_factor: need(self.high_freq_factor, "high_freq_factor")?,
                original_max_position_embeddings: self
                    .original_max_position_embeddings
                    .ok_or("llama3 without original_max_position_embeddings")?,
            })),
            other => Err(other.to_owned()),
        }
    }
}

/// Returns an error for a model of another family, whose tensors can have the same names, and for
/// attention in a window.
fn check_family(
    path: &Path,
    entries: &BTreeMap<String, serde_json::Value>,
) -> Result<(), PretrainedError> {
    let window = entries.get("sliding_window");
    match entries.get("model_type").and_then(|name| name.as_str()) {
        None | Some("llama") => Ok(()),
        Some("mistral") if window.is_some_and(|size| size.is_null()) => Ok(()),
        // Files omit the default size of the window.
        Some("mistral") => {
            let size = window.and_then(|size| size.as_u64()).unwrap_or(4096);
            Err(unsupported(path, "sliding_window", size))
        }
        Some(other) => Err(unsupported(path, "model_type", other)),
    }
}

impl LlamaConfig {
    /// Reads a `config.json` of Llama, or of a Mistral model without a window of attention.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or if it describes a variant that
    /// [`Llama`](super::Llama) does not support.
    pub fn from_json(path: impl AsRef<Path>) -> Result<LlamaConfig, PretrainedError> {
        let path = path.as_ref();
        let file: File = read_config(path)?;
        check_family(path, &file.others)?;
        let default = LlamaConfig::default();
        let rope = file.rope_parameters.or(file.rope_scaling);
        let theta = rope.as_ref().and_then(|r| r.rope_theta).or(file.rope_theta);
        let scaling = rope.map_or(Ok(None), |r| r.scaling());
        let hidden_act = file.hidden_act.unwrap_or(default.hidden_act);
        if activation::by_name(&hidden_act).is_none() {
            return Err(unsupported(path, "hidden_act", hidden_act));
        }
        Ok(LlamaConfig {
            vocab_size: file.vocab_size.unwrap_or(default.vocab_size),
            hidden_size: file.hidden_size.unwrap_or(default.hidden_size),
            intermediate_size: file.intermediate_size.unwrap_or(default.intermediate_size),
            num_hidden_layers: file.num_hidden_layers.unwrap_or(default.num_hidden_layers),
            num_attention_heads: file
                .num_attention_heads
                .unwrap_or(default.num_attention_heads),
            num_key_value_heads: file.num_key_value_heads,
            head_dim: file.head_dim,
            hidden_act,
            max_position_embeddings: file
                .max_position_embeddings
                .unwrap_or(default.max_position_embeddings),
            initializer_range: file.initializer_range.unwrap_or(default.initializer_range),
            rms_norm_eps: file.rms_norm_eps.unwrap_or(default.rms_norm_eps),
            tie_word_embeddings: file.tie_word_embeddings.unwrap_or(false),
            rope_theta: theta.unwrap_or(default.rope_theta),
            rope_scaling: scaling.map_err(|name| unsupported(path, "rope_type", name))?,
            attention_bias: file.attention_bias.unwrap_or(false),
            mlp_bias: file.mlp_bias.unwrap_or(false),
            attention_dropout: file.attention_dropout.unwrap_or(0.0),
            attention_fn: default.attention_fn,
            compute_dtype: None,
            param_dtype: DType::F32,
            others: file.others,
        })
    }

    /// Returns the fields of a published file.
    pub(super) fn to_file(&self) -> File {
        let rope = Rope::of(self.rope_theta, self.rope_scaling);
        File {
            vocab_size: Some(self.vocab_size),
            hidden_size: Some(self.hidden_size),
            intermediate_size: Some(self.intermediate_size),
            num_hidden_layers: Some(self.num_hidden_layers),
            num_attention_heads: Some(self.num_attention_heads),
            num_key_value_heads: Some(self.num_key_value_heads.unwrap_or(self.num_attention_heads)),
            head_dim: Some(self.head_size()),
            hidden_act: Some(self.hidden_act.clone()),
            max_position_embeddings: Some(self.max_position_embeddings),
            initializer_range: Some(self.initializer_range),
            rms_norm_eps: Some(self.rms_norm_eps),
            tie_word_embeddings: Some(self.tie_word_embeddings),
            rope_theta: Some(self.rope_theta),
            // Older programs read the scaling under its older name.
            rope_scaling: self.rope_scaling.is_some().then(|| rope.clone()),
            rope_parameters: Some(rope),
            attention_bias: Some(self.attention_bias),
            mlp_bias: Some(self.mlp_bias),
            attention_dropout: Some(self.attention_dropout),
            others: self.others.clone(),
        }
    }

    /// Returns the size of a head.
    pub(super) fn head_size(&self) -> usize {
        self.head_dim
            .unwrap_or(self.hidden_size / self.num_attention_heads.max(1))
    }

    /// Returns the rotary embedding of queries and keys.
    #[track_caller]
    pub(super) fn rotary(&self) -> RotaryEmbedding {
        let rotary = RotaryEmbedding::new(self.head_size()).base(self.rope_theta);
        match self.rope_scaling {
            None => rotary,
            Some(scaling) => rotary.scaling(scaling),
        }
    }

    /// Returns the dtype of the computation.
    pub(super) fn computed(&self) -> DType {
        self.compute_dtype.unwrap_or(self.param_dtype)
    }
}
