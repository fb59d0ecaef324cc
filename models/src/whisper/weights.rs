//! Published checkpoints of Whisper.

use crate::{Pretrained, PretrainedError, Weights, Whisper, WhisperBlock, WhisperConfig};
use ramie_nn::{MultiHeadAttention, Rngs};

/// The tensors have the names `model.encoder.layers.0.self_attn.q_proj.weight` and so on.
impl Pretrained for Whisper {
    type Config = WhisperConfig;

    fn new(config: &WhisperConfig, rngs: &mut Rngs) -> Whisper {
        Whisper::new(config, rngs)
    }

    fn exchange(&mut self, w: &mut Weights) -> Result<(), PretrainedError> {
        w.below("model.");
        let encoder = &mut self.encoder;
        w.conv("encoder.conv1", &mut encoder.conv1)?;
        w.conv("encoder.conv2", &mut encoder.conv2)?;
        let positions = &mut encoder.embed_positions.embedding;
        w.variable("encoder.embed_positions.weight", positions)?;
        for (i, layer) in encoder.layers.iter_mut().enumerate() {
            layer.exchange(w, &format!("encoder.layers.{i}"))?;
        }
        w.layer_norm("encoder.layer_norm", &mut encoder.layer_norm)?;
        let decoder = &mut self.decoder;
        let tokens = &mut decoder.embed_tokens.embedding;
        w.variable("decoder.embed_tokens.weight", tokens)?;
        let positions = &mut decoder.embed_positions.embedding;
        w.variable("decoder.embed_positions.weight", positions)?;
        for (i, layer) in decoder.layers.iter_mut().enumerate() {
            layer.exchange(w, &format!("decoder.layers.{i}"))?;
        }
        w.layer_norm("decoder.layer_norm", &mut decoder.layer_norm)
    }

    /// Ignores the output layer, which shares the weights of the embedding.
    fn ignores(&self, name: &str) -> bool {
        name == "proj_out.weight"
    }
}

impl WhisperBlock {
    fn exchange(&mut self, w: &mut Weights, at: &str) -> Result<(), PretrainedError> {
        let at = |name: &str| format!("{at}.{name}");
        w.layer_norm(&at("self_attn_layer_norm"), &mut self.self_attn_layer_norm)?;
        attention(w, &at("self_attn"), &mut self.self_attn)?;
        if let Some(cross) = &mut self.encoder_attn {
            w.layer_norm(&at("encoder_attn_layer_norm"), &mut cross.layer_norm)?;
            attention(w, &at("encoder_attn"), &mut cross.attention)?;
        }
        w.layer_norm(&at("final_layer_norm"), &mut self.final_layer_norm)?;
        w.linear(&at("fc1"), &mut self.fc1)?;
        w.linear(&at("fc2"), &mut self.fc2)
    }
}

fn attention(
    w: &mut Weights,
    at: &str,
    attention: &mut MultiHeadAttention,
) -> Result<(), PretrainedError> {
    w.general(&format!("{at}.q_proj"), &mut attention.query)?;
    w.general(&format!("{at}.k_proj"), &mut attention.key)?;
    w.general(&format!("{at}.v_proj"), &mut attention.value)?;
    w.general(&format!("{at}.out_proj"), &mut attention.out)
}
