//! Options of vision transformers.

use crate::activation;
use crate::pretrained::{described, read_config, unsupported};
use crate::{PretrainedConfig, PretrainedError, Vit};
use ramie_core::DType;
use ramie_nn::AttentionFn;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// The family of a [`Vit`](crate::Vit), which determines the names of its weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum VitFamily {
    /// The models of the paper on vision transformers, and others of that form.
    #[default]
    Vit,
    /// DINOv2, whose blocks scale the features of their outputs.
    Dinov2,
}

/// Options of a [`Vit`](crate::Vit) under their published names. Defaults to those of the base model of the family
/// [`Vit`](VitFamily::Vit), with 86 million parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct VitConfig {
    /// The family of the model.
    pub model_type: VitFamily,
    /// Height and width of the images in pixels.
    pub image_size: usize,
    /// Height and width of each patch in pixels.
    pub patch_size: usize,
    /// Number of features of each pixel.
    pub num_channels: usize,
    /// Number of features per patch.
    pub hidden_size: usize,
    /// Number of blocks.
    pub num_hidden_layers: usize,
    /// Number of attention heads.
    pub num_attention_heads: usize,
    /// Number of hidden features of the MLP in each block. Files of DINOv2 have `mlp_ratio` instead,
    /// the ratio of this number to `hidden_size`.
    pub intermediate_size: usize,
    /// The activation of the MLPs: `gelu`, `gelu_new`, `relu`, `silu` or `tanh`.
    pub hidden_act: String,
    /// Whether the projections to queries, keys and values have biases.
    pub qkv_bias: bool,
    /// The initial factor of the outputs of the blocks of DINOv2.
    pub layerscale_value: f64,
    /// Dropout rate of the embeddings and of the outputs of attention and MLP.
    pub hidden_dropout_prob: f64,
    /// Dropout rate of the attention weights.
    pub attention_probs_dropout_prob: f64,
    /// The constant that normalizations add to the variance.
    pub layer_norm_eps: f64,
    /// Standard deviation of the initial weights.
    pub initializer_range: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) mlp_ratio: Option<f64>,
    /// Rate of examples that skip a block in training. This model has no such dropout.
    pub(crate) drop_path_rate: f64,
    /// Whether MLPs are gated. This model's are not.
    pub(crate) use_swiglu_ffn: bool,
    /// The attention function of the blocks. Blockwise attention does not support dropout: it
    /// requires an `attention_probs_dropout_prob` of 0.
    #[serde(skip)]
    pub attention_fn: AttentionFn,
    /// The dtype of the computation. Defaults to that of the parameters.
    #[serde(skip)]
    pub compute_dtype: Option<DType>,
    /// The dtype of the parameters. Defaults to `f32`.
    #[serde(skip, default = "crate::pretrained::f32")]
    pub param_dtype: DType,
    /// Other entries of the file, such as the names of classes, which are saved again.
    #[serde(flatten)]
    pub(crate) others: BTreeMap<String, Value>,
}

impl Default for VitConfig {
    fn default() -> VitConfig {
        VitConfig {
            model_type: VitFamily::Vit,
            image_size: 224,
            patch_size: 16,
            num_channels: 3,
            hidden_size: 768,
            num_hidden_layers: 12,
            num_attention_heads: 12,
            intermediate_size: 3072,
            hidden_act: "gelu".into(),
            qkv_bias: true,
            layerscale_value: 1.0,
            hidden_dropout_prob: 0.0,
            attention_probs_dropout_prob: 0.0,
            layer_norm_eps: 1e-12,
            initializer_range: 0.02,
            mlp_ratio: None,
            drop_path_rate: 0.0,
            use_swiglu_ffn: false,
            attention_fn: AttentionFn::default(),
            compute_dtype: None,
            param_dtype: DType::F32,
            others: BTreeMap::new(),
        }
    }
}

impl PretrainedConfig<Vit> for VitConfig {
    fn from_json(path: impl AsRef<Path>) -> Result<VitConfig, PretrainedError> {
        let path = path.as_ref();
        let mut config: VitConfig = read_config(path)?;
        if config.model_type == VitFamily::Dinov2 {
            let ratio = config.mlp_ratio.unwrap_or(4.0);
            config.intermediate_size = (config.hidden_size as f64 * ratio) as usize;
        }
        if config.drop_path_rate != 0.0 {
            return Err(unsupported(path, "drop_path_rate", config.drop_path_rate));
        }
        if config.use_swiglu_ffn {
            return Err(unsupported(path, "use_swiglu_ffn", true));
        }
        match activation::by_name(&config.hidden_act) {
            Some(_) => Ok(config),
            None => Err(unsupported(path, "hidden_act", &config.hidden_act)),
        }
    }

    fn to_json(&self, model: &Vit) -> Value {
        let (kind, class) = match (self.model_type, model.classifier.is_some()) {
            (VitFamily::Vit, false) => ("vit", "ViTModel"),
            (VitFamily::Vit, true) => ("vit", "ViTForImageClassification"),
            (VitFamily::Dinov2, false) => ("dinov2", "Dinov2Model"),
            (VitFamily::Dinov2, true) => ("dinov2", "Dinov2ForImageClassification"),
        };
        let mut config = self.clone();
        let ratio = config.intermediate_size as f64 / config.hidden_size as f64;
        config.mlp_ratio = (config.model_type == VitFamily::Dinov2).then_some(ratio);
        if let Some(classifier) = &model.classifier {
            config.set_classes(classifier.kernel.shape()[1]);
        }
        let dtype = model.embeddings.cls_token.dtype();
        described(&config, kind, class, dtype)
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
