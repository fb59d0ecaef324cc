//! Published checkpoints of GPT-2.

use crate::pretrained::{
    PretrainedError, Weights, described, expect_saveable, loaded, read_config, save, unsupported,
    weights_in, without_parameters,
};
use crate::{Gpt2, Gpt2Config, activation};
use ramie_nn::Rngs;
use std::path::Path;

impl Gpt2Config {
    /// Reads a `config.json`.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or if it describes a variant that [`Gpt2`]
    /// does not support.
    pub fn from_json(path: impl AsRef<Path>) -> Result<Gpt2Config, PretrainedError> {
        let path = path.as_ref();
        let config: Gpt2Config = read_config(path)?;
        let variants = [
            ("scale_attn_weights", config.scale_attn_weights, true),
            (
                "scale_attn_by_inverse_layer_idx",
                config.scale_attn_by_inverse_layer_idx,
                false,
            ),
            ("add_cross_attention", config.add_cross_attention, false),
        ];
        for (name, value, expected) in variants {
            if value != expected {
                return Err(unsupported(path, name, value));
            }
        }
        let function = &config.activation_function;
        match activation::by_name(function) {
            Some(_) => Ok(config),
            None => Err(unsupported(path, "activation_function", function)),
        }
    }
}

impl Gpt2 {
    /// Loads a published checkpoint, in evaluation mode, from a directory with `config.json`
    /// and `model.safetensors` or `pytorch_model.bin`, or the index of several and the files that it
    /// lists.
    ///
    /// # Errors
    /// Returns an error as [`Gpt2Config::from_json`] and
    /// [`load_pretrained`](Gpt2::load_pretrained) do.
    pub fn from_pretrained(folder: impl AsRef<Path>) -> Result<Gpt2, PretrainedError> {
        let folder = folder.as_ref();
        let config = Gpt2Config::from_json(folder.join("config.json"))?;
        let new = || Gpt2::new(&config, &mut Rngs::new(0));
        loaded(new, |model| model.load_pretrained(weights_in(folder)))
    }

    /// Replaces all weights by those of a safetensors or PyTorch file, or of the files that an
    /// index lists. The tensors have their published names: `transformer.wte.weight` or `wte.weight`,
    /// `h.0.attn.c_attn.weight`, and so on. They are converted to the dtypes of the model's
    /// parameters.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read, lacks a tensor, or contains a tensor that is
    /// not in the model or has another shape. Some weights may already have been replaced.
    pub fn load_pretrained(&mut self, path: impl AsRef<Path>) -> Result<(), PretrainedError> {
        let mut weights = Weights::open(path.as_ref())?;
        self.exchange(&mut weights)?;
        // Causal masks, and the output layer, which shares the weights of the embedding.
        weights.finish(|name| {
            name.ends_with(".attn.bias")
                || name.ends_with(".attn.masked_bias")
                || name == "lm_head.weight"
        })
    }

    /// Saves the model in a directory as a checkpoint with published names, `config.json` and
    /// `model.safetensors`, which [`from_pretrained`](Gpt2::from_pretrained) and other libraries
    /// load. Weights keep their dtype. An older checkpoint in the directory is replaced.
    ///
    /// ```no_run
    /// use ramie_models::{Gpt2, Gpt2Config};
    /// let config = Gpt2Config::from_json("checkpoints/gpt2/config.json")?;
    /// let model = Gpt2::from_pretrained("checkpoints/gpt2")?;
    /// model.save_pretrained("checkpoints/tuned", &config)?;
    /// # Ok::<(), ramie_models::PretrainedError>(())
    /// ```
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
        config: &Gpt2Config,
    ) -> Result<(), PretrainedError> {
        let other = without_parameters(|| Gpt2::new(config, &mut Rngs::new(0)));
        expect_saveable("Gpt2", self, other);
        let dtype = self.wte.embedding.dtype();
        let config = described(config, "gpt2", "GPT2LMHeadModel", dtype);
        let mut model = self.clone();
        save(folder.as_ref(), &config, |weights| model.exchange(weights))
    }

    /// Exchanges all parameters, or all adapters, with tensors of their published names.
    pub(crate) fn exchange(&mut self, w: &mut Weights) -> Result<(), PretrainedError> {
        w.below("transformer.");
        w.variable("wte.weight", &mut self.wte.embedding)?;
        w.variable("wpe.weight", &mut self.wpe.embedding)?;
        for (i, block) in self.h.iter_mut().enumerate() {
            let at = |name: &str| format!("h.{i}.{name}");
            w.layer_norm(&at("ln_1"), &mut block.ln_1)?;
            w.layer_norm(&at("ln_2"), &mut block.ln_2)?;
            let attn = &mut block.attn;
            let parts = vec![&mut attn.query, &mut attn.key, &mut attn.value];
            w.side_by_side(&at("attn.c_attn"), parts)?;
            w.general(&at("attn.c_proj"), &mut attn.out, false)?;
            w.linear(&at("mlp.c_fc"), &mut block.mlp.c_fc, false)?;
            w.linear(&at("mlp.c_proj"), &mut block.mlp.c_proj, false)?;
        }
        w.layer_norm("ln_f", &mut self.ln_f)
    }
}
