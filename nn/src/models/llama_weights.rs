//! Published checkpoints of Llama.

use super::pretrained::{PretrainedError, Weights, put, weights_in, without_parameters};
use super::{Llama, LlamaConfig};
use crate::{Module, RMSNorm, Rngs};
use std::path::Path;

impl Llama {
    /// Loads a published checkpoint, in evaluation mode, from a directory with `config.json`
    /// and `model.safetensors`, or with `model.safetensors.index.json` and the files that it
    /// lists.
    ///
    /// # Errors
    /// Returns an error as [`LlamaConfig::from_json`] and
    /// [`load_pretrained`](Llama::load_pretrained) do.
    pub fn from_pretrained(folder: impl AsRef<Path>) -> Result<Llama, PretrainedError> {
        let folder = folder.as_ref();
        let config = LlamaConfig::from_json(folder.join("config.json"))?;
        let mut model = without_parameters(|| Llama::new(&config, &mut Rngs::new(0)));
        model.load_pretrained(weights_in(folder))?;
        model.eval();
        Ok(model)
    }

    /// Replaces all weights by those of a safetensors file, or of the files that an index
    /// lists. The tensors have their published names: `model.layers.0.self_attn.q_proj.weight`
    /// and so on. They are converted to the dtypes of the model's parameters.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read, lacks a tensor, or contains a tensor that is
    /// not in the model or has another shape. Some weights may already have been replaced.
    pub fn load_pretrained(&mut self, path: impl AsRef<Path>) -> Result<(), PretrainedError> {
        let mut w = Weights::open(path.as_ref())?;
        w.below("model.");
        w.set("embed_tokens.weight", &mut self.embed_tokens.embedding)?;
        for (i, layer) in self.layers.iter_mut().enumerate() {
            let at = |name: &str| format!("layers.{i}.{name}");
            norm(&mut w, &at("input_layernorm"), &mut layer.input_layernorm)?;
            let after = &mut layer.post_attention_layernorm;
            norm(&mut w, &at("post_attention_layernorm"), after)?;
            let attn = &mut layer.self_attn;
            w.set_general(&at("self_attn.q_proj"), &mut attn.query, true)?;
            w.set_general(&at("self_attn.k_proj"), &mut attn.key, true)?;
            w.set_general(&at("self_attn.v_proj"), &mut attn.value, true)?;
            w.set_general(&at("self_attn.o_proj"), &mut attn.out, true)?;
            w.set_linear(&at("mlp.gate_proj"), &mut layer.mlp.gate_proj, true)?;
            w.set_linear(&at("mlp.up_proj"), &mut layer.mlp.up_proj, true)?;
            w.set_linear(&at("mlp.down_proj"), &mut layer.mlp.down_proj, true)?;
        }
        norm(&mut w, "norm", &mut self.norm)?;
        let tied = self.lm_head.is_none();
        if let Some(head) = &mut self.lm_head {
            let (features, tokens) = (head.kernel.shape()[0], head.kernel.shape()[1]);
            let weight = w.take_whole("lm_head.weight", &[tokens, features])?;
            put(&mut head.kernel, weight.transpose(&[1, 0]));
        }
        // Frequencies saved by older programs, and an output layer that repeats the tied
        // embedding.
        w.finish(|name| name.ends_with(".rotary_emb.inv_freq") || tied && name == "lm_head.weight")
    }
}

fn norm(w: &mut Weights, name: &str, norm: &mut RMSNorm) -> Result<(), PretrainedError> {
    w.set_some(&format!("{name}.weight"), &mut norm.scale)
}
