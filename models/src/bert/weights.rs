//! Published checkpoints of BERT.

use crate::pretrained::{described, read_config, unsupported};
use crate::{
    Bert, BertConfig, BertEmbeddings, Pretrained, PretrainedConfig, PretrainedError, Weights,
    activation,
};
use ramie_nn::Rngs;
use serde_json::Value;
use std::path::Path;

impl PretrainedConfig<Bert> for BertConfig {
    fn from_json(path: impl AsRef<Path>) -> Result<BertConfig, PretrainedError> {
        let path = path.as_ref();
        let config: BertConfig = read_config(path)?;
        config.check(path)?;
        Ok(config)
    }

    fn to_json(&self, model: &Bert) -> Value {
        let dtype = model.embeddings.word_embeddings.embedding.dtype();
        described(self, "bert", "BertModel", dtype)
    }
}

impl BertConfig {
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

/// The tensors have the names `bert.embeddings.word_embeddings.weight` or
/// `embeddings.word_embeddings.weight`, `encoder.layer.0.attention.self.query.weight`, and so on. If a
/// file has no pooler, neither has the model afterwards.
impl Pretrained for Bert {
    type Config = BertConfig;

    fn new(config: &BertConfig, rngs: &mut Rngs) -> Bert {
        Bert::new(config, rngs)
    }

    fn exchange(&mut self, w: &mut Weights) -> Result<(), PretrainedError> {
        w.read_below("bert.");
        self.embeddings.exchange(w)?;
        for (i, block) in self.layers.iter_mut().enumerate() {
            let at = |name: &str| format!("encoder.layer.{i}.{name}");
            let attention = &mut block.attention;
            w.general(&at("attention.self.query"), &mut attention.query)?;
            w.general(&at("attention.self.key"), &mut attention.key)?;
            w.general(&at("attention.self.value"), &mut attention.value)?;
            w.general(&at("attention.output.dense"), &mut attention.out)?;
            w.layer_norm(&at("attention.output.LayerNorm"), &mut block.attention_norm)?;
            w.linear(&at("intermediate.dense"), &mut block.intermediate)?;
            w.linear(&at("output.dense"), &mut block.output)?;
            w.layer_norm(&at("output.LayerNorm"), &mut block.output_norm)?;
        }
        match &mut self.pooler {
            Some(pooler) => w.linear("pooler.dense", pooler),
            None => Ok(()),
        }
    }

    /// Ignores the layers for pretraining, and the numbers of the positions.
    fn ignores(&self, name: &str) -> bool {
        name.starts_with("cls.") || name.ends_with("embeddings.position_ids")
    }

    fn fit(&mut self, weights: &Weights) {
        if !weights.has("bert.", "pooler.dense.weight") {
            self.pooler = None;
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
