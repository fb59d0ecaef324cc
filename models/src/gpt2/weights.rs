//! Published checkpoints of GPT-2.

use crate::pretrained::{described, read_config, unsupported};
use crate::{Gpt2, Gpt2Config, Pretrained, PretrainedConfig, PretrainedError, Weights, activation};
use ramie_nn::Rngs;
use serde_json::Value;
use std::path::Path;

impl PretrainedConfig<Gpt2> for Gpt2Config {
    fn from_json(path: impl AsRef<Path>) -> Result<Gpt2Config, PretrainedError> {
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

    fn to_json(&self, model: &Gpt2) -> Value {
        let dtype = model.wte.embedding.dtype();
        described(self, "gpt2", "GPT2LMHeadModel", dtype)
    }
}

/// The tensors have the names `transformer.wte.weight` or `wte.weight`, `h.0.attn.c_attn.weight`, and
/// so on.
impl Pretrained for Gpt2 {
    type Config = Gpt2Config;

    fn new(config: &Gpt2Config, rngs: &mut Rngs) -> Gpt2 {
        Gpt2::new(config, rngs)
    }

    fn exchange(&mut self, w: &mut Weights) -> Result<(), PretrainedError> {
        w.below("transformer.");
        w.inputs_first();
        w.variable("wte.weight", &mut self.wte.embedding)?;
        w.variable("wpe.weight", &mut self.wpe.embedding)?;
        for (i, block) in self.h.iter_mut().enumerate() {
            let at = |name: &str| format!("h.{i}.{name}");
            w.layer_norm(&at("ln_1"), &mut block.ln_1)?;
            w.layer_norm(&at("ln_2"), &mut block.ln_2)?;
            let attn = &mut block.attn;
            let parts = vec![&mut attn.query, &mut attn.key, &mut attn.value];
            w.side_by_side(&at("attn.c_attn"), parts)?;
            w.general(&at("attn.c_proj"), &mut attn.out)?;
            w.linear(&at("mlp.c_fc"), &mut block.mlp.c_fc)?;
            w.linear(&at("mlp.c_proj"), &mut block.mlp.c_proj)?;
        }
        w.layer_norm("ln_f", &mut self.ln_f)
    }

    /// Ignores causal masks, and the output layer, which shares the weights of the embedding.
    fn ignores(&self, name: &str) -> bool {
        name.ends_with(".attn.bias")
            || name.ends_with(".attn.masked_bias")
            || name == "lm_head.weight"
    }
}
