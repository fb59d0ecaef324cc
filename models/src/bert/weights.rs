//! Published checkpoints of BERT.

use crate::pretrained::{
    PretrainedError, Weights, described, expect_saveable, loaded, read_config, save, unsupported,
    weights_in, without_parameters,
};
use crate::{Bert, BertConfig, BertEmbeddings, activation};
use ramie_nn::Rngs;
use std::path::Path;

impl BertConfig {
    /// Reads a `config.json`.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or if it describes a variant that [`Bert`] does
    /// not support.
    pub fn from_json(path: impl AsRef<Path>) -> Result<BertConfig, PretrainedError> {
        let path = path.as_ref();
        let config: BertConfig = read_config(path)?;
        config.check(path)?;
        Ok(config)
    }

    /// Returns an error if the configuration at a path is not supported.
    pub(crate) fn check(&self, path: &Path) -> Result<(), PretrainedError> {
        let positions = &self.position_embedding_type;
        if positions != "absolute" {
            return Err(unsupported(path, "position_embedding_type", positions));
        }
        if self.is_decoder {
            return Err(unsupported(path, "is_decoder", true));
        }
        match activation::by_name(&self.hidden_act) {
            Some(_) => Ok(()),
            None => Err(unsupported(path, "hidden_act", &self.hidden_act)),
        }
    }
}

impl Bert {
    /// Loads a published checkpoint, in evaluation mode, from a directory with `config.json` and
    /// `model.safetensors` or `pytorch_model.bin`, or the index of several and the files that it
    /// lists. The layers for pretraining, whose names begin with `cls.`, are ignored.
    ///
    /// # Errors
    /// Returns an error as [`BertConfig::from_json`] and
    /// [`load_pretrained`](Bert::load_pretrained) do.
    pub fn from_pretrained(folder: impl AsRef<Path>) -> Result<Bert, PretrainedError> {
        let folder = folder.as_ref();
        let config = BertConfig::from_json(folder.join("config.json"))?;
        let new = || Bert::new(&config, &mut Rngs::new(0));
        loaded(new, |model| model.load_pretrained(weights_in(folder)))
    }

    /// Replaces all weights by those of a file, or of the files that an index lists. The tensors
    /// have their published names: `bert.embeddings.word_embeddings.weight` or
    /// `embeddings.word_embeddings.weight`, `encoder.layer.0.attention.self.query.weight`, and so on.
    /// They are converted to the dtypes of the model's parameters. If the file has no pooler, neither
    /// has the model afterwards.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read, lacks a tensor, or contains a tensor that is not
    /// in the model or has another shape. Some weights may already have been replaced.
    pub fn load_pretrained(&mut self, path: impl AsRef<Path>) -> Result<(), PretrainedError> {
        let mut weights = Weights::open(path.as_ref())?;
        weights.below("bert.");
        if !weights.has("pooler.dense.weight") {
            self.pooler = None;
        }
        self.exchange(&mut weights)?;
        // The layers for pretraining, and the numbers of the positions.
        weights.finish(|name| name.starts_with("cls.") || name.ends_with("embeddings.position_ids"))
    }

    /// Saves the model in a directory as a checkpoint with published names, `config.json` and
    /// `model.safetensors`, which [`from_pretrained`](Bert::from_pretrained) and other libraries
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
        config: &BertConfig,
    ) -> Result<(), PretrainedError> {
        let mut other = without_parameters(|| Bert::new(config, &mut Rngs::new(0)));
        if self.pooler.is_none() {
            other.pooler = None;
        }
        expect_saveable("Bert", self, other);
        let dtype = self.embeddings.word_embeddings.embedding.dtype();
        let config = described(config, "bert", "BertModel", dtype);
        let mut model = self.clone();
        save(folder.as_ref(), &config, |weights| model.exchange(weights))
    }

    /// Exchanges all parameters, or all adapters, with tensors of their published names.
    pub(crate) fn exchange(&mut self, w: &mut Weights) -> Result<(), PretrainedError> {
        self.embeddings.exchange(w)?;
        for (i, block) in self.layers.iter_mut().enumerate() {
            let at = |name: &str| format!("encoder.layer.{i}.{name}");
            let attention = &mut block.attention;
            w.general(&at("attention.self.query"), &mut attention.query, true)?;
            w.general(&at("attention.self.key"), &mut attention.key, true)?;
            w.general(&at("attention.self.value"), &mut attention.value, true)?;
            w.general(&at("attention.output.dense"), &mut attention.out, true)?;
            w.layer_norm(&at("attention.output.LayerNorm"), &mut block.attention_norm)?;
            w.linear(&at("intermediate.dense"), &mut block.intermediate, true)?;
            w.linear(&at("output.dense"), &mut block.output, true)?;
            w.layer_norm(&at("output.LayerNorm"), &mut block.output_norm)?;
        }
        match &mut self.pooler {
            Some(pooler) => w.linear("pooler.dense", pooler, true),
            None => Ok(()),
        }
    }
}

impl BertEmbeddings {
    /// Exchanges all parameters with tensors of their published names.
    pub(crate) fn exchange(&mut self, w: &mut Weights) -> Result<(), PretrainedError> {
        for (name, layer) in [
            ("word", &mut self.word_embeddings),
            ("position", &mut self.position_embeddings),
            ("token_type", &mut self.token_type_embeddings),
        ] {
            let name = format!("embeddings.{name}_embeddings.weight");
            w.variable(&name, &mut layer.embedding)?;
        }
        w.layer_norm("embeddings.LayerNorm", &mut self.norm)
    }
}
