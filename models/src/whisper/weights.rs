//! Published checkpoints of Whisper.

use crate::pretrained::{
    PretrainedError, Weights, described, expect_saveable, loaded, save, weights_in,
    without_parameters,
};
use crate::{Whisper, WhisperBlock, WhisperConfig};
use ramie_nn::{MultiHeadAttention, Rngs};
use std::path::Path;

impl Whisper {
    /// Loads a published checkpoint, in evaluation mode, from a directory with `config.json` and
    /// `model.safetensors` or `pytorch_model.bin`, or the index of several and the files that it
    /// lists.
    ///
    /// # Errors
    /// Returns an error as [`WhisperConfig::from_json`] and
    /// [`load_pretrained`](Whisper::load_pretrained) do.
    pub fn from_pretrained(folder: impl AsRef<Path>) -> Result<Whisper, PretrainedError> {
        let folder = folder.as_ref();
        let config = WhisperConfig::from_json(folder.join("config.json"))?;
        let new = || Whisper::new(&config, &mut Rngs::new(0));
        loaded(new, |model| model.load_pretrained(weights_in(folder)))
    }

    /// Replaces all weights by those of a safetensors or PyTorch file, or of the files that an index
    /// lists. The tensors have their published names:
    /// `model.encoder.layers.0.self_attn.q_proj.weight` and so on. They are converted to the dtypes
    /// of the model's parameters.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read, lacks a tensor, or contains a tensor that is not in
    /// the model or has another shape. Some weights may already have been replaced.
    pub fn load_pretrained(&mut self, path: impl AsRef<Path>) -> Result<(), PretrainedError> {
        let mut weights = Weights::open(path.as_ref())?;
        self.exchange(&mut weights)?;
        // The output layer, which shares the weights of the embedding.
        weights.finish(|name| name == "proj_out.weight")
    }

    /// Saves the model in a directory as a checkpoint with published names, `config.json` and
    /// `model.safetensors`, which [`from_pretrained`](Whisper::from_pretrained) and other libraries
    /// load. Weights keep their dtype. An older checkpoint in the directory is replaced.
    ///
    /// # Errors
    /// Returns an error if a file cannot be written.
    ///
    /// # Panics
    /// Panics if the configuration is that of another model, or if a layer has a LoRA adapter that
    /// [`merge_lora`](ramie_nn::merge_lora) has not merged.
    #[track_caller]
    pub fn save_pretrained(
        &self,
        folder: impl AsRef<Path>,
        config: &WhisperConfig,
    ) -> Result<(), PretrainedError> {
        let other = without_parameters(|| Whisper::new(config, &mut Rngs::new(0)));
        expect_saveable("Whisper", self, other);
        let dtype = self.decoder.embed_tokens.embedding.dtype();
        let config = described(config, "whisper", "WhisperForConditionalGeneration", dtype);
        let mut model = self.clone();
        save(folder.as_ref(), &config, |weights| model.exchange(weights))
    }

    /// Exchanges all parameters, or all adapters, with tensors of their published names.
    pub(crate) fn exchange(&mut self, w: &mut Weights) -> Result<(), PretrainedError> {
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
        w.linear(&at("fc1"), &mut self.fc1, true)?;
        w.linear(&at("fc2"), &mut self.fc2, true)
    }
}

fn attention(
    w: &mut Weights,
    at: &str,
    attention: &mut MultiHeadAttention,
) -> Result<(), PretrainedError> {
    w.general(&format!("{at}.q_proj"), &mut attention.query, true)?;
    w.general(&format!("{at}.k_proj"), &mut attention.key, true)?;
    w.general(&format!("{at}.v_proj"), &mut attention.value, true)?;
    w.general(&format!("{at}.out_proj"), &mut attention.out, true)
}
