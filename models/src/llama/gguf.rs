//! Models in GGUF files.

use crate::pretrained::{Result, created, unsupported};
use crate::{Llama, LlamaConfig, LlamaFamily, PretrainedError, Weights};
use ramie_checkpoint::gguf::{GgufFile, Tensor, Value};
use ramie_core::Array;
use ramie_nn::RotaryScaling;
use std::collections::BTreeMap;

/// Names of the parts of a block: in the file, and as published for other formats.
const PARTS: [(&str, &str); 11] = [
    ("attn_norm", "input_layernorm"),
    ("attn_q", "self_attn.q_proj"),
    ("attn_k", "self_attn.k_proj"),
    ("attn_v", "self_attn.v_proj"),
    ("attn_output", "self_attn.o_proj"),
    ("attn_q_norm", "self_attn.q_norm"),
    ("attn_k_norm", "self_attn.k_norm"),
    ("ffn_norm", "post_attention_layernorm"),
    ("ffn_gate", "mlp.gate_proj"),
    ("ffn_up", "mlp.up_proj"),
    ("ffn_down", "mlp.down_proj"),
];

/// Names of the tensors outside of blocks.
const OTHERS: [(&str, &str); 3] = [
    ("token_embd.weight", "model.embed_tokens.weight"),
    ("output_norm.weight", "model.norm.weight"),
    ("output.weight", "lm_head.weight"),
];

/// Returns the published name of a tensor, or `None` for one that is not part of the model.
fn published(name: &str) -> Option<String> {
    let Some(rest) = name.strip_prefix("blk.") else {
        let other = OTHERS.iter().find(|(gguf, _)| *gguf == name)?;
        return Some(other.1.to_owned());
    };
    let mut parts = rest.splitn(3, '.');
    let (layer, part, kind) = (parts.next()?, parts.next()?, parts.next()?);
    let (_, part) = PARTS.iter().find(|(gguf, _)| *gguf == part)?;
    Some(format!("model.layers.{layer}.{part}.{kind}"))
}

impl LlamaConfig {
    /// Returns the configuration in the metadata of a GGUF file.
    ///
    /// # Errors
    /// Returns an error if an entry is missing or inconsistent, or if the file describes a model
    /// that [`Llama`] does not support.
    pub fn from_gguf(file: &GgufFile) -> Result<LlamaConfig> {
        let metadata = Metadata::of(file)?;
        let default = LlamaConfig::new(metadata.family);
        let (heads, kv_heads) = metadata.heads()?;
        let hidden_size = metadata.need("embedding_length")?;
        let layers = metadata.need("block_count")?;
        if layers > file.tensors().len() {
            return Err(metadata.wrong("block_count", layers, "at most the number of tensors"));
        }
        let head_dim = metadata.integer("attention.key_length")?;
        let head_size = head_dim.unwrap_or(hidden_size / heads);
        let rotated = metadata
            .integer("rope.dimension_count")?
            .unwrap_or(head_size);
        let whole = head_dim.is_some() || hidden_size.is_multiple_of(heads);
        if rotated != head_size || head_size == 0 || head_size % 2 == 1 || !whole {
            let expected = "the size of a head, which must be even";
            return Err(metadata.wrong("rope.dimension_count", rotated, expected));
        }
        let shape = file.tensor("token_embd.weight").map(|t| t.shape.clone());
        let vocab_size = shape.and_then(|shape| shape.first().copied());
        let has = |name: &str| file.tensor(name).is_some();
        let mut others = BTreeMap::new();
        for name in ["bos_token_id", "eos_token_id"] {
            let value = file.get(&format!("tokenizer.ggml.{name}"));
            if let Some(id) = value.and_then(Value::as_u64) {
                others.insert(name.to_owned(), id.into());
            }
        }
        let config = LlamaConfig {
            vocab_size: vocab_size.unwrap_or(default.vocab_size),
            hidden_size,
            intermediate_size: metadata.need("feed_forward_length")?,
            num_hidden_layers: layers,
            num_attention_heads: heads,
            num_key_value_heads: Some(kv_heads),
            head_dim,
            max_position_embeddings: metadata.need("context_length")?,
            rms_norm_eps: metadata
                .float("attention.layer_norm_rms_epsilon")?
                .unwrap_or(default.rms_norm_eps),
            tie_word_embeddings: !has("output.weight"),
            rope_theta: metadata
                .float("rope.freq_base")?
                .unwrap_or(default.rope_theta),
            rope_scaling: metadata.rope_scaling()?,
            attention_bias: has("blk.0.attn_q.bias"),
            mlp_bias: has("blk.0.ffn_gate.bias"),
            others,
            ..default
        };
        match config.unsupported() {
            Some((name, value)) => Err(unsupported(file.path(), name, format_args!("{value}"))),
            None => Ok(config),
        }
    }
}

impl Llama {
    /// Loads a model from a GGUF file, in evaluation mode. Quantized tensors become `f32`.
    ///
    /// ```no_run
    /// use ramie_checkpoint::gguf::GgufFile;
    /// use ramie_models::Llama;
    /// let model = Llama::from_gguf(&GgufFile::open("model.gguf")?)?;
    /// # Ok::<(), ramie_models::PretrainedError>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error as [`LlamaConfig::from_gguf`] does, and if a tensor cannot be read, is
    /// missing, is not part of the model, or has another shape.
    pub fn from_gguf(file: &GgufFile) -> Result<Llama> {
        let config = LlamaConfig::from_gguf(file)?;
        let heads = config.num_attention_heads;
        let kv_heads = config.num_key_value_heads.unwrap_or(heads);
        let mut arrays = BTreeMap::new();
        for tensor in file.tensors() {
            // The model reports names that are not its own.
            let name = published(&tensor.name).unwrap_or_else(|| tensor.name.clone());
            let array = file.array(&tensor.name)?;
            let array = match &*name {
                _ if config.model_type != LlamaFamily::Llama => array,
                name if name.contains(".q_proj.") => halves_of_heads(array, tensor, heads),
                name if name.contains(".k_proj.") => halves_of_heads(array, tensor, kv_heads),
                _ => array,
            };
            arrays.insert(name, array);
        }
        created(&config, Weights::of_file(file.path(), arrays))
    }
}

/// Restores the order of the rows of Llama's projection to queries or keys: within each head,
/// llama.cpp stores the two features that are rotated together side by side, and other programs
/// half a head apart. It stores the other families as they are.
fn halves_of_heads(array: Array, tensor: &Tensor, heads: usize) -> Array {
    let shape = &tensor.shape;
    let rows = shape.first().copied().unwrap_or(0);
    if rows == 0 || !rows.is_multiple_of(2 * heads) {
        // The model reports the shape.
        return array;
    }
    let columns = array.size() / rows;
    let pairs = array.reshape(&[heads, rows / heads / 2, 2, columns]);
    pairs.transpose(&[0, 2, 1, 3]).reshape(shape)
}

/// The metadata of a file, with keys that start with the name of the family.
struct Metadata<'a> {
    file: &'a GgufFile,
    family: LlamaFamily,
}

impl Metadata<'_> {
    /// Returns an error if the file contains another model, or a variant with experts.
    fn of(file: &GgufFile) -> Result<Metadata<'_>> {
        let name = file.get("general.architecture").and_then(Value::as_str);
        // Files of Mistral models name Llama.
        let family = name.and_then(LlamaFamily::named);
        let family = family.filter(|family| *family != LlamaFamily::Mistral);
        let metadata = Metadata {
            file,
            family: family.unwrap_or_default(),
        };
        if family.is_none() {
            return Err(metadata.error(format!(
                "`general.architecture` is {}, expected llama, qwen2 or qwen3\n  help: use the file \
                 of a model of these families",
                name.unwrap_or("missing")
            )));
        }
        match metadata.integer("expert_count")? {
            None | Some(0) => Ok(metadata),
            Some(experts) => Err(metadata.wrong("expert_count", experts, "no experts")),
        }
    }

    /// Returns a key with the name of the family.
    fn key(&self, key: &str) -> String {
        format!("{}.{key}", self.family.published().0)
    }

    fn error(&self, message: String) -> PretrainedError {
        PretrainedError::Config {
            path: self.file.path().into(),
            message,
        }
    }

    fn wrong(&self, key: &str, value: impl std::fmt::Display, expected: &str) -> PretrainedError {
        self.error(format!(
            "`{}` is {value}, expected {expected}\n  help: this file is damaged or of a variant that \
             this model does not support; use another file",
            self.key(key)
        ))
    }

    /// Returns the numbers of query heads, and of key and value heads.
    fn heads(&self) -> Result<(usize, usize)> {
        let heads = self.need("attention.head_count")?;
        let kv_heads = self.integer("attention.head_count_kv")?.unwrap_or(heads);
        if heads == 0 || kv_heads == 0 || !heads.is_multiple_of(kv_heads) {
            let expected = "a positive divisor of the number of query heads";
            return Err(self.wrong("attention.head_count_kv", kv_heads, expected));
        }
        Ok((heads, kv_heads))
    }

    fn get(&self, key: &str) -> Option<&Value> {
        self.file.get(&self.key(key))
    }

    /// Returns a size.
    fn integer(&self, key: &str) -> Result<Option<usize>> {
        // Products of two sizes must not overflow.
        let size = |n: &u64| *n <= 1 << 24;
        let read = |value: &Value| value.as_u64().filter(size).map(|n| n as usize);
        self.read(key, "an integer of at most 2^24", read)
    }

    fn float(&self, key: &str) -> Result<Option<f64>> {
        let valid = |x: &f64| x.is_finite() && *x > 0.0;
        self.read(key, "a positive number", |value| {
            value.as_f64().filter(valid)
        })
    }

    fn read<T>(
        &self,
        key: &str,
        expected: &str,
        read: impl FnOnce(&Value) -> Option<T>,
    ) -> Result<Option<T>> {
        let Some(value) = self.get(key) else {
            return Ok(None);
        };
        let wrong = || self.wrong(key, format_args!("{} {value}", value.type_name()), expected);
        read(value).map(Some).ok_or_else(wrong)
    }

    fn need(&self, key: &str) -> Result<usize> {
        let missing = || {
            self.error(format!(
                "the metadata `{}` is missing\n  help: convert the model again with the scripts of \
                 llama.cpp",
                self.key(key)
            ))
        };
        self.integer(key)?.ok_or_else(missing)
    }

    fn rope_scaling(&self) -> Result<Option<RotaryScaling>> {
        if self.file.tensor("rope_freqs.weight").is_some() {
            return Err(self.error(
                "the tensor `rope_freqs.weight` scales the frequencies of rotary embeddings, which \
                 is not supported for GGUF files\n  help: load the model from safetensors: \
                 Llama::from_pretrained"
                    .to_owned(),
            ));
        }
        const TYPE: &str = "rope.scaling.type";
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let kind = self.read(TYPE, "none or linear", text)?;
        // As llama.cpp reads them: a factor without a type is linear, and older files have another key.
        let factor = match self.float("rope.scaling.factor")? {
            None => self.float("rope.scale_linear")?,
            some => some,
        };
        match kind.as_deref() {
            Some("none") => Ok(None),
            None | Some("linear") => Ok(factor.map(|factor| RotaryScaling::Linear { factor })),
            Some(other) => Err(self.wrong(TYPE, other, "none or linear")),
        }
    }
}
