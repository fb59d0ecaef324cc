//! Published checkpoints of vision transformers.

use crate::pretrained::{
    PretrainedError, Weights, described, expect_saveable, loaded, save, weights_in,
    without_parameters,
};
use crate::{Vit, VitConfig, VitEmbeddings, VitFamily};
use ramie_nn::Rngs;
use std::path::Path;

impl Vit {
    /// Loads a published checkpoint, in evaluation mode, from a directory with `config.json` and
    /// `model.safetensors` or `pytorch_model.bin`, or the index of several and the files that it
    /// lists.
    ///
    /// # Errors
    /// Returns an error as [`VitConfig::from_json`] and [`load_pretrained`](Vit::load_pretrained) do.
    pub fn from_pretrained(folder: impl AsRef<Path>) -> Result<Vit, PretrainedError> {
        let folder = folder.as_ref();
        let config = VitConfig::from_json(folder.join("config.json"))?;
        let new = || Vit::new(&config, &mut Rngs::new(0));
        loaded(new, |model| model.load_pretrained(weights_in(folder)))
    }

    /// Replaces all weights by those of a file, or of the files that an index lists. The tensors
    /// have the published names of the model's family: `encoder.layer.0.norm1.weight` for DINOv2 and
    /// `encoder.layer.0.layernorm_before.weight` for others, also below `dinov2.` or `vit.`, and so
    /// on. They are converted to the dtypes of the model's parameters. The model has a pooler, a
    /// classifier and, for DINOv2, an embedding of masked patches afterwards if the file has them.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read, lacks a tensor, or contains a tensor that is not
    /// in the model or has another shape. Some weights may already have been replaced.
    pub fn load_pretrained(&mut self, path: impl AsRef<Path>) -> Result<(), PretrainedError> {
        let mut weights = Weights::open(path.as_ref())?;
        weights.below(self.prefix());
        if !weights.has("pooler.dense.weight") {
            self.pooler = None;
        }
        if !weights.has("embeddings.mask_token") {
            self.embeddings.mask_token = None;
        }
        let classifier = weights.arrays.get("classifier.weight");
        let classes = classifier.and_then(|weight| weight.shape().first().copied());
        self.classifier = classes.map(|classes| self.new_classifier(classes));
        self.exchange(&mut weights)?;
        // Some files of the family `Vit` have an embedding of masked patches.
        weights.finish(|name| name.ends_with("embeddings.mask_token"))
    }

    /// Saves the model in a directory as a checkpoint with published names, `config.json` and
    /// `model.safetensors`, which [`from_pretrained`](Vit::from_pretrained) and other libraries
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
        config: &VitConfig,
    ) -> Result<(), PretrainedError> {
        let mut other = without_parameters(|| Vit::new(config, &mut Rngs::new(0)));
        if self.pooler.is_none() {
            other.pooler = None;
        }
        if self.embeddings.mask_token.is_none() {
            other.embeddings.mask_token = None;
        }
        other.classifier = self.classifier.clone();
        expect_saveable("Vit", self, other);
        let (kind, class) = match (config.model_type, self.classifier.is_some()) {
            (VitFamily::Vit, false) => ("vit", "ViTModel"),
            (VitFamily::Vit, true) => ("vit", "ViTForImageClassification"),
            (VitFamily::Dinov2, false) => ("dinov2", "Dinov2Model"),
            (VitFamily::Dinov2, true) => ("dinov2", "Dinov2ForImageClassification"),
        };
        let mut config = config.clone();
        let ratio = config.intermediate_size as f64 / config.hidden_size as f64;
        config.mlp_ratio = (config.model_type == VitFamily::Dinov2).then_some(ratio);
        if let Some(classifier) = &self.classifier {
            config.set_classes(classifier.kernel.shape()[1]);
        }
        let dtype = self.embeddings.cls_token.dtype();
        let config = described(&config, kind, class, dtype);
        let mut model = self.clone();
        save(folder.as_ref(), &config, |weights| model.exchange(weights))
    }

    /// Exchanges all parameters, or all adapters, with tensors of their published names.
    pub(crate) fn exchange(&mut self, w: &mut Weights) -> Result<(), PretrainedError> {
        if self.classifier.is_some() {
            w.below(self.prefix());
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
            w.general(&at("attention.attention.query"), &mut attention.query, true)?;
            w.general(&at("attention.attention.key"), &mut attention.key, true)?;
            w.general(&at("attention.attention.value"), &mut attention.value, true)?;
            w.general(&at("attention.output.dense"), &mut attention.out, true)?;
            w.optional(&at("layer_scale1.lambda1"), &mut block.layer_scale1)?;
            w.layer_norm(&at(norm2), &mut block.norm2)?;
            w.linear(&at(fc1), &mut block.fc1, true)?;
            w.linear(&at(fc2), &mut block.fc2, true)?;
            w.optional(&at("layer_scale2.lambda1"), &mut block.layer_scale2)?;
        }
        w.layer_norm("layernorm", &mut self.layer_norm)?;
        if let Some(pooler) = &mut self.pooler {
            w.linear("pooler.dense", pooler, true)?;
        }
        match &mut self.classifier {
            Some(classifier) => w.whole(|w| w.linear("classifier", classifier, true)),
            None => Ok(()),
        }
    }

    /// Returns the prefix of all names but those of a classifier, in the files of classifiers.
    fn prefix(&self) -> &'static str {
        match self.family {
            VitFamily::Vit => "vit.",
            VitFamily::Dinov2 => "dinov2.",
        }
    }
}

impl VitConfig {
    /// Sets the number of classes. Names of classes are removed if there is another number of them.
    fn set_classes(&mut self, classes: usize) {
        let names = self
            .others
            .get("id2label")
            .and_then(|names| names.as_object());
        if names.is_none_or(|names| names.len() != classes) {
            self.others
                .retain(|entry, _| !["id2label", "label2id"].contains(&&**entry));
            self.others.insert("num_labels".into(), classes.into());
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
