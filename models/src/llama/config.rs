//! The configuration of Llama.

use super::family::LlamaFamily;
use crate::activation;
use crate::pretrained::{described, read_config, unsupported};
use crate::{Llama, PretrainedConfig, PretrainedError};
use ramie_core::DType;
use ramie_nn::{AttentionFn, RotaryEmbedding, RotaryScaling};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Options of [`Llama`](crate::Llama) under their published names. Defaults to those of the
/// family [`Llama`](LlamaFamily::Llama).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LlamaConfig {
    /// The family of the model.
    pub model_type: LlamaFamily,
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
    /// Whether the projections of attention have biases. In Qwen 2, the output projection has none.
    pub attention_bias: bool,
    /// Whether the MLPs have biases.
    pub mlp_bias: bool,
    /// Number of tokens that a token of a Mistral model attends to: its own and those before it.
    /// `None` is all of them.
    pub sliding_window: Option<usize>,
    /// Dropout rate of the attention weights.
    pub attention_dropout: f64,
    /// The attention function of the blocks; blockwise attention suits long sequences.
    pub attention_fn: AttentionFn,
    /// The dtype of the computation. Defaults to that of the parameters.
    pub compute_dtype: Option<DType>,
    /// The dtype of the parameters. Defaults to `f32`.
    pub param_dtype: DType,
    /// Other entries of the file, such as the ids of tokens, which are saved again.
    pub(crate) others: BTreeMap<String, Value>,
}

impl Default for LlamaConfig {
    fn default() -> LlamaConfig {
        LlamaConfig::new(LlamaFamily::Llama)
    }
}

impl LlamaConfig {
    /// Creates the options of a family with the defaults of `transformers`, which also apply to
    /// files that omit them.
    pub fn new(model_type: LlamaFamily) -> LlamaConfig {
        let llama = LlamaConfig {
            model_type,
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
            attention_bias: model_type == LlamaFamily::Qwen2,
            mlp_bias: false,
            sliding_window: None,
            attention_dropout: 0.0,
            attention_fn: AttentionFn::default(),
            compute_dtype: None,
            param_dtype: DType::F32,
            others: BTreeMap::new(),
        };
        match model_type {
            LlamaFamily::Llama => llama,
            LlamaFamily::Mistral => LlamaConfig {
                intermediate_size: 14336,
                num_key_value_heads: Some(8),
                max_position_embeddings: 131_072,
                sliding_window: Some(4096),
                ..llama
            },
            LlamaFamily::Qwen2 | LlamaFamily::Qwen3 => LlamaConfig {
                vocab_size: 151_936,
                intermediate_size: 22016,
                head_dim: (model_type == LlamaFamily::Qwen3).then_some(128),
                max_position_embeddings: 32768,
                ..llama
            },
        }
    }
}

/// The fields of a published file. Missing fields have the defaults of the family.
#[derive(Serialize, Deserialize)]
struct File {
    // The entry is written with that of the class.
    #[serde(skip_serializing)]
    model_type: Option<String>,
    vocab_size: Option<usize>,
    hidden_size: Option<usize>,
    intermediate_size: Option<usize>,
    num_hidden_layers: Option<usize>,
    num_attention_heads: Option<usize>,
    // A missing entry is the default of the family, and `null` the number of query heads.
    #[serde(default, deserialize_with = "present")]
    num_key_value_heads: Option<Option<usize>>,
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
    // A missing entry is the default of the family, and `null` no window.
    #[serde(default, deserialize_with = "present")]
    #[serde(skip_serializing_if = "Option::is_none")]
    sliding_window: Option<Option<usize>>,
    attention_dropout: Option<f64>,
    #[serde(flatten)]
    others: BTreeMap<String, Value>,
}

/// Reads an entry that exists, so that it differs from a missing one even if it is `null`.
fn present<'a, T: Deserialize<'a>, D: Deserializer<'a>>(from: D) -> Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}

#[derive(Clone, Default, Serialize, Deserialize)]
struct Rope {
    rope_type: Option<String>,
    // The older name. Files saved again by a newer version of the library have both.
    #[serde(rename = "type", skip_serializing)]
    older_type: Option<String>,
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
        let given = self.rope_type.as_ref().or(self.older_type.as_ref());
        let name = match given {
            Some(name) => name,
            None if self.factor.is_some() => return Err("a factor without rope_type".into()),
            None => "default",
        };
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

impl File {
    /// Returns the defaults of the file's family, or an error if the family is unknown.
    fn defaults(&self, path: &Path) -> Result<LlamaConfig, PretrainedError> {
        let name = self.model_type.as_deref().unwrap_or("llama");
        match LlamaFamily::named(name) {
            Some(family) => Ok(LlamaConfig::new(family)),
            None => Err(unsupported(path, "model_type", name)),
        }
    }

    /// Returns the window of attention. The layers that `layer_types` lists must all be alike.
    fn take_window(
        &mut self,
        path: &Path,
        default: &LlamaConfig,
    ) -> Result<Option<usize>, PretrainedError> {
        // Other families have an entry that only applies if `use_sliding_window` is true.
        let (window, kind) = match (default.model_type, self.sliding_window) {
            (LlamaFamily::Mistral, Some(None)) => (None, "full_attention"),
            (LlamaFamily::Mistral, size) => {
                (size.unwrap_or(default.sliding_window), "sliding_attention")
            }
            _ => (None, "full_attention"),
        };
        if self.others.get("use_sliding_window") == Some(&true.into()) {
            return Err(unsupported(path, "use_sliding_window", true));
        }
        let kinds = self.others.remove("layer_types").unwrap_or_default();
        let mut kinds = kinds.as_array().into_iter().flatten();
        match kinds.find(|other| **other != kind) {
            Some(other) => Err(unsupported(path, "layer_types", format_args!("{other}"))),
            None => Ok(window),
        }
    }
}

impl PretrainedConfig<Llama> for LlamaConfig {
    /// Reads a `config.json` of a Llama, Mistral, Qwen 2 or Qwen 3 model.
    fn from_json(path: impl AsRef<Path>) -> Result<LlamaConfig, PretrainedError> {
        let path = path.as_ref();
        let mut file: File = read_config(path)?;
        let default = file.defaults(path)?;
        let sliding_window = file.take_window(path, &default)?;
        let rope = file.rope_parameters.or(file.rope_scaling);
        let theta = rope.as_ref().and_then(|r| r.rope_theta).or(file.rope_theta);
        let scaling = rope.map_or(Ok(None), |r| r.scaling());
        let hidden_act = file.hidden_act.unwrap_or(default.hidden_act);
        if activation::by_name(&hidden_act).is_none() {
            return Err(unsupported(path, "hidden_act", hidden_act));
        }
        // Files of Qwen 2 do not mention its biases.
        let biases = file.attention_bias.filter(|_| !default.attention_bias);
        let config = LlamaConfig {
            model_type: default.model_type,
            vocab_size: file.vocab_size.unwrap_or(default.vocab_size),
            hidden_size: file.hidden_size.unwrap_or(default.hidden_size),
            intermediate_size: file.intermediate_size.unwrap_or(default.intermediate_size),
            num_hidden_layers: file.num_hidden_layers.unwrap_or(default.num_hidden_layers),
            num_attention_heads: file
                .num_attention_heads
                .unwrap_or(default.num_attention_heads),
            num_key_value_heads: file
                .num_key_value_heads
                .unwrap_or(default.num_key_value_heads),
            head_dim: file.head_dim.or(default.head_dim),
            hidden_act,
            max_position_embeddings: file
                .max_position_embeddings
                .unwrap_or(default.max_position_embeddings),
            initializer_range: file.initializer_range.unwrap_or(default.initializer_range),
            rms_norm_eps: file.rms_norm_eps.unwrap_or(default.rms_norm_eps),
            tie_word_embeddings: file.tie_word_embeddings.unwrap_or(false),
            rope_theta: theta.unwrap_or(default.rope_theta),
            rope_scaling: scaling.map_err(|name| unsupported(path, "rope_type", name))?,
            attention_bias: biases.unwrap_or(default.attention_bias),
            mlp_bias: file.mlp_bias.unwrap_or(false),
            sliding_window,
            attention_dropout: file.attention_dropout.unwrap_or(0.0),
            attention_fn: default.attention_fn,
            compute_dtype: None,
            param_dtype: DType::F32,
            others: file.others,
        };
        match config.unsupported() {
            Some((name, value)) => Err(unsupported(path, name, format_args!("{value}"))),
            None => Ok(config),
        }
    }

    fn to_json(&self, model: &Llama) -> Value {
        let dtype = model.embed_tokens.embedding.dtype();
        let (name, class) = self.model_type.published();
        described(&self.to_file(), name, class, dtype)
    }
}

impl LlamaConfig {
    /// Returns the fields of a published file.
    fn to_file(&self) -> File {
        let rope = Rope::of(self.rope_theta, self.rope_scaling);
        let has_window = self.model_type != LlamaFamily::Llama;
        File {
            model_type: None,
            vocab_size: Some(self.vocab_size),
            hidden_size: Some(self.hidden_size),
            intermediate_size: Some(self.intermediate_size),
            num_hidden_layers: Some(self.num_hidden_layers),
            num_attention_heads: Some(self.num_attention_heads),
            num_key_value_heads: Some(self.num_key_value_heads.or(Some(self.num_attention_heads))),
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
            sliding_window: has_window.then_some(self.sliding_window),
            attention_dropout: Some(self.attention_dropout),
            others: self.others.clone(),
        }
    }

    /// Returns the size of a head.
    pub(crate) fn head_size(&self) -> usize {
        self.head_dim
            .unwrap_or(self.hidden_size / self.num_attention_heads.max(1))
    }

    /// Returns the rotary embedding of queries and keys.
    #[track_caller]
    pub(crate) fn rotary(&self) -> RotaryEmbedding {
        let rotary = RotaryEmbedding::new(self.head_size()).base(self.rope_theta);
        match self.rope_scaling {
            None => rotary,
            Some(scaling) => rotary.scaling(scaling),
        }
    }

    /// Returns the dtype of the computation.
    pub(crate) fn computed(&self) -> DType {
        self.compute_dtype.unwrap_or(self.param_dtype)
    }
}
