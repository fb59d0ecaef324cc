//! Published checkpoints of vision transformers.

use crate::{Pretrained, PretrainedError, Vit, VitConfig, VitEmbeddings, VitFamily, Weights};
use ramie_nn::Rngs;

/// The tensors have the names of the model's family: `encoder.layer.0.norm1.weight` for DINOv2 and
/// `encoder.layer.0.layernorm_before.weight` for others, also below `dinov2.` or `vit.`, and so
/// on. The model has a pooler, a classifier and, for DINOv2, an embedding of masked patches
/// afterwards if the file has them.
impl Pretrained for Vit {
    type Config = VitConfig;

    fn new(config: &VitConfig, rngs: &mut Rngs) -> Vit {
        Vit::new(config, rngs)
    }

    fn exchange(&mut self, w: &mut Weights) -> Result<(), PretrainedError> {
        match self.classifier {
            Some(_) => w.below(self.prefix()),
            None => w.read_below(self.prefix()),
        }
        self.embeddings.exchange(w)?;
        let [norm1, norm2, fc1, fc2] = match self.family {
            VitFamily::Vit => [
                "layernorm_before",
                "layernorm_after",
                "intermediate.dense",
                "output.dense",
            ],
            VitFamily::Dinov2 => ["norm1", "norm2", "mlp.fc1", "mlp.fc2"],
        };
        for (i, block) in self.layers.iter_mut().enumerate() {
            let at = |name: &str| format!("encoder.layer.{i}.{name}");
            let attention = &mut block.attention;
            w.layer_norm(&at(norm1), &mut block.norm1)?;
            w.general(&at("attention.attention.query"), &mut attention.query)?;
            w.general(&at("attention.attention.key"), &mut attention.key)?;
            w.general(&at("attention.attention.value"), &mut attention.value)?;
            w.general(&at("attention.output.dense"), &mut attention.out)?;
            w.optional(&at("layer_scale1.lambda1"), &mut block.layer_scale1)?;
            w.layer_norm(&at(norm2), &mut block.norm2)?;
            w.linear(&at(fc1), &mut block.fc1)?;
            w.linear(&at(fc2), &mut block.fc2)?;
            w.optional(&at("layer_scale2.lambda1"), &mut block.layer_scale2)?;
        }
        w.layer_norm("layernorm", &mut self.layer_norm)?;
        if let Some(pooler) = &mut self.pooler {
            w.linear("pooler.dense", pooler)?;
        }
        match &mut self.classifier {
            Some(classifier) => w.whole(|w| w.linear("classifier", classifier)),
            None => Ok(()),
        }
    }

    /// Ignores the embedding of masked patches that some files of the family `Vit` have.
    fn ignores(&self, name: &str) -> bool {
        name.ends_with("embeddings.mask_token")
    }

    fn fit(&mut self, weights: &Weights) {
        let prefix = self.prefix();
        let has = |name: &str| weights.has(prefix, name);
        if !has("pooler.dense.weight") {
            self.pooler = None;
        }
        if !has("embeddings.mask_token") {
            self.embeddings.mask_token = None;
        }
        let classes = weights
            .shape("classifier.weight")
            .and_then(|shape| shape.first());
        self.classifier = classes.map(|classes| self.new_classifier(*classes));
    }
}

impl Vit {
    /// Returns the prefix of all names but those of a classifier, in the files of classifiers.
    fn prefix(&self) -> &'static str {
        match self.family {
            VitFamily::Vit => "vit.",
            VitFamily::Dinov2 => "dinov2.",
        }
    }
}

impl VitEmbeddings {
    fn exchange(&mut self, w: &mut Weights) -> Result<(), PretrainedError> {
        let at = |name: &str| format!("embeddings.{name}");
        w.variable(&at("cls_token"), &mut self.cls_token)?;
        w.optional(&at("mask_token"), &mut self.mask_token)?;
        w.variable(&at("position_embeddings"), &mut self.position_embeddings)?;
        w.conv(&at("patch_embeddings.projection"), &mut self.projection)
    }
}
