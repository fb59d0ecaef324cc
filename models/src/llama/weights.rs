//! Published checkpoints of Llama.

use crate::{Llama, LlamaConfig, Pretrained, PretrainedError, Weights};
use ramie_nn::{HeadNorm, Rngs};

/// The tensors have the names `model.layers.0.self_attn.q_proj.weight` and so on.
impl Pretrained for Llama {
    type Config = LlamaConfig;

    fn new(config: &LlamaConfig, rngs: &mut Rngs) -> Llama {
        Llama::new(config, rngs)
    }

    fn exchange(&mut self, w: &mut Weights) -> Result<(), PretrainedError> {
        w.below("model.");
        w.variable("embed_tokens.weight", &mut self.embed_tokens.embedding)?;
        for (i, layer) in self.layers.iter_mut().enumerate() {
            let at = |name: &str| format!("layers.{i}.{name}");
            w.rms_norm(&at("input_layernorm"), &mut layer.input_layernorm)?;
            let after = &mut layer.post_attention_layernorm;
            w.rms_norm(&at("post_attention_layernorm"), after)?;
            let attn = &mut layer.self_attn;
            w.general(&at("self_attn.q_proj"), &mut attn.query)?;
            w.general(&at("self_attn.k_proj"), &mut attn.key)?;
            w.general(&at("self_attn.v_proj"), &mut attn.value)?;
            w.general(&at("self_attn.o_proj"), &mut attn.out)?;
            let norms = [("q_norm", &mut attn.query_ln), ("k_norm", &mut attn.key_ln)];
            for (name, norm) in norms {
                let name = at(&format!("self_attn.{name}"));
                match norm {
                    Some(HeadNorm::RMSNorm(norm)) => w.rms_norm(&name, norm)?,
                    Some(HeadNorm::LayerNorm(norm)) => w.layer_norm(&name, norm)?,
                    None => {}
                }
            }
            w.linear(&at("mlp.gate_proj"), &mut layer.mlp.gate_proj)?;
            w.linear(&at("mlp.up_proj"), &mut layer.mlp.up_proj)?;
            w.linear(&at("mlp.down_proj"), &mut layer.mlp.down_proj)?;
        }
        w.rms_norm("norm", &mut self.norm)?;
        match &mut self.lm_head {
            Some(head) => w.whole(|w| w.linear("lm_head", head)),
            None => Ok(()),
        }
    }

    /// Ignores frequencies saved by older programs, and an output layer that repeats the tied
    /// embedding.
    fn ignores(&self, name: &str) -> bool {
        let tied = self.lm_head.is_none();
        name.ends_with(".rotary_emb.inv_freq") || tied && name == "lm_head.weight"
    }
}
