//! Published checkpoints of Llama.

use crate::pretrained::{
    PretrainedError, Weights, described, expect_saveable, loaded, save, weights_in,
    without_parameters,
};
use crate::{Llama, LlamaConfig};
use ramie_nn::{RMSNorm, Rngs};
use std::path::Path;

impl Llama {
    /// Loads a published checkpoint, in evaluation mode, from a directory with `config.json`
    /// and `model.safetensors` or `pytorch_model.bin`, or the index of several and the files that it
    /// lists.
    ///
    /// # Errors
    /// Returns an error as [`LlamaConfig::from_json`] and
    /// [`load_pretrained`](Llama::load_pretrained) do.
    pub fn from_pretrained(folder: impl AsRef<Path>) -> Result<Llama, PretrainedError> {
        let folder = folder.as_ref();
        let config = LlamaConfig::from_json(folder.join("config.json"))?;
        let new = || Llama::new(&config, &mut Rngs::new(0));
        loaded(new, |model| model.load_pretrained(weights_in(folder)))
    }

    /// Replaces all weights by those of a safetensors or PyTorch file, or of the files that an
    /// index lists. The tensors have their published names: `model.layers.0.self_attn.q_proj.weight`
    /// and so on. They are converted to the dtypes of the model's parameters.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read, lacks a tensor, or contains a tensor that is
    /// not in the model or has another shape. Some weights may already have been replaced.
    pub fn load_pretrained(&mut self, path: impl AsRef<Path>) -> Result<(), PretrainedError> {
        self.take_weights(Weights::open(path.as_ref())?)
    }

    /// Replaces all weights by tensors with published names.
    pub(crate) fn take_weights(&mut self, mut weights: Weights) -> Result<(), PretrainedError> {
        self.exchange(&mut weights)?;
        let tied = self.lm_head.is_none();
        // Frequencies saved by older programs, and an output layer that repeats the tied
        // embedding.
        weights.finish(|name| {
            name.ends_with(".rotary_emb.inv_freq") || tied && name == "lm_head.weight"
        })
    }

    /// Saves the model in a directory as a checkpoint with published names, `config.json` and
    /// `model.safetensors`, which [`from_pretrained`](Llama::from_pretrained) and other
    /// libraries load. Weights keep their dtype. An older checkpoint in the directory is
    /// replaced.
    ///
    /// # Errors
    /// Returns an error if a file cannot be written.
    ///
    /// # Panics
    /// Panics if the configuration is that of another model, or if a layer has a LoRA adapter
    /// that [`merge_lora`](ramie_nn::merge_lora) has not merged.
    #[track_caller]
    pub fn save_pretrained(
        &self,
        folder: impl AsRef<Path>,
        config: &LlamaConfig,
    ) -> Result<(), PretrainedError> {
        let other = without_parameters(|| Llama::new(config, &mut Rngs::new(0)));
        expect_saveable("Llama", self, other);
        let dtype = self.embed_tokens.embedding.dtype();
        let (name, class) = config.model_type.published();
        let config = described(&config.to_file(), name, class, dtype);
        let mut model = self.clone();
        save(folder.as_ref(), &config, |weights| model.exchange(weights))
    }

    /// Exchanges all parameters, or all adapters, with tensors of their published names.
    pub(crate) fn exchange(&mut self, w: &mut Weights) -> Result<(), PretrainedError> {
        w.below("model.");
        w.variable("embed_tokens.weight", &mut self.embed_tokens.embedding)?;
        for (i, layer) in self.layers.iter_mut().enumerate() {
            let at = |name: &str| format!("layers.{i}.{name}");
            norm(w, &at("input_layernorm"), &mut layer.input_layernorm)?;
            let after = &mut layer.post_attention_layernorm;
            norm(w, &at("post_attention_layernorm"), after)?;
            let attn = &mut layer.self_attn;
            w.general(&at("self_attn.q_proj"), &mut attn.query, true)?;
            w.general(&at("self_attn.k_proj"), &mut attn.key, true)?;
            w.general(&at("self_attn.v_proj"), &mut attn.value, true)?;
            w.general(&at("self_attn.o_proj"), &mut attn.out, true)?;
            let norms = [("q_norm", &mut attn.query_ln), ("k_norm", &mut attn.key_ln)];
            for (name, norm) in norms {
                if let Some(norm) = norm {
                    w.optional(&at(&format!("self_attn.{name}.weight")), norm.scale_mut())?;
                }
            }
            w.linear(&at("mlp.gate_proj"), &mut layer.mlp.gate_proj, true)?;
            w.linear(&at("mlp.up_proj"), &mut layer.mlp.up_proj, true)?;
            w.linear(&at("mlp.down_proj"), &mut layer.mlp.down_proj, true)?;
        }
        norm(w, "norm", &mut self.norm)?;
        match &mut self.lm_head {
            Some(head) => w.whole(|w| w.linear("lm_head", head, true)),
            None => Ok(()),
        }
    }
}

fn norm(w: &mut Weights, name: &str, norm: &mut RMSNorm) -> Result<(), PretrainedError> {
    w.optional(&format!("{name}.weight"), &mut norm.scale)
}
