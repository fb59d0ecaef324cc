//! Published checkpoints of GPT-2.

use super::pretrained::{
    PretrainedError, Weights, put, read_config, unsupported, weights_in, without_parameters,
};
use super::{Gpt2, Gpt2Config, activation};
use crate::{LayerNorm, LinearGeneral, Module, Rngs};
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
    /// and `model.safetensors`, or with `model.safetensors.index.json` and the files that it
    /// lists.
    ///
    /// # Errors
    /// Returns an error as [`Gpt2Config::from_json`] and
    /// [`load_pretrained`](Gpt2::load_pretrained) do.
    pub fn from_pretrained(folder: impl AsRef<Path>) -> Result<Gpt2, PretrainedError> {
        let folder = folder.as_ref();
        let config = Gpt2Config::from_json(folder.join("config.json"))?;
        let mut model = without_parameters(|| Gpt2::new(&config, &mut Rngs::new(0)));
        model.load_pretrained(weights_in(folder))?;
        model.eval();
        Ok(model)
    }

    /// Replaces all weights by those of a safetensors file, or of the files that an index
    /// lists. The tensors have their published names: `transformer.wte.weight` or `wte.weight`,
    /// `h.0.attn.c_attn.weight`, and so on. They are converted to the dtypes of the model's
    /// parameters.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read, lacks a tensor, or contains a tensor that is
    /// not in the model or has another shape. Some weights may already have been replaced.
    pub fn load_pretrained(&mut self, path: impl AsRef<Path>) -> Result<(), PretrainedError> {
        let mut w = Weights::open(path.as_ref())?;
        w.below("transformer.");
        w.set("wte.weight", &mut self.wte.embedding)?;
        w.set("wpe.weight", &mut self.wpe.embedding)?;
        for (i, block) in self.h.iter_mut().enumerate() {
            let at = |name: &str| format!("h.{i}.{name}");
            norm(&mut w, &at("ln_1"), &mut block.ln_1)?;
            norm(&mut w, &at("ln_2"), &mut block.ln_2)?;
            let attn = &mut block.attn;
            let parts = [&mut attn.query, &mut attn.key, &mut attn.value];
            together(&mut w, &at("attn.c_attn"), parts)?;
            w.set_general(&at("attn.c_proj"), &mut attn.out, false)?;
            w.set_linear(&at("mlp.c_fc"), &mut block.mlp.c_fc, false)?;
            w.set_linear(&at("mlp.c_proj"), &mut block.mlp.c_proj, false)?;
        }
        norm(&mut w, "ln_f", &mut self.ln_f)?;
        // Causal masks, and the output layer, which shares the weights of the embedding.
        w.finish(|name| {
            name.ends_with(".attn.bias")
                || name.ends_with(".attn.masked_bias")
                || name == "lm_head.weight"
        })
    }
}

fn norm(w: &mut Weights, name: &str, norm: &mut LayerNorm) -> Result<(), PretrainedError> {
    w.set_some(&format!("{name}.weight"), &mut norm.scale)?;
    w.set_some(&format!("{name}.bias"), &mut norm.bias)
}

/// Sets the projections to queries, keys and values, which are published as one tensor.
fn together(
    w: &mut Weights,
    name: &str,
    parts: [&mut LinearGeneral; 3],
) -> Result<(), PretrainedError> {
    let features = parts[0].kernel.shape()[0];
    let weight = w.take(&format!("{name}.weight"), &[features, 3 * features])?;
    let bias = w.take(&format!("{name}.bias"), &[3 * features])?;
    let split = weight.split(3, 1).into_iter().zip(bias.split(3, 0));
    for (part, (weight, bias)) in parts.into_iter().zip(split) {
        let shape = part.kernel.shape().to_vec();
        put(&mut part.kernel, weight.reshape(&shape));
        if let Some(param) = &mut part.bias {
            put(param, bias.reshape(&shape[1..]));
        }
    }
    Ok(())
}
