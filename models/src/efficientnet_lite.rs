//! EfficientNet-Lite, a network for images on small devices.

use crate::mobilenet_v2::{averaged, blocks, pointwise};
use crate::{ConvNorm, InvertedResidual};
use crate::{Pretrained, PretrainedError, Weights};
use ramie_core::Array;
use ramie_nn::{BatchNorm, Conv, ConvConfig, Dropout, Linear, Module, Rngs, init};

/// Options of an [`EfficientNetLite`]. Defaults to those of EfficientNet-Lite0, the model with 4.7
/// million parameters for the thousand classes of ImageNet.
#[derive(Clone, Debug, PartialEq)]
pub struct EfficientNetLiteConfig {
    /// Number of features of the images.
    pub in_features: usize,
    /// Number of features of the first convolution.
    pub features: usize,
    /// The blocks. Each row has the expansion, the number of features, the number of blocks, the
    /// strides of the first of them, and the height and width of the windows.
    pub stages: Vec<[usize; 5]>,
    /// Number of features of the last convolution.
    pub last_features: usize,
    /// Number of classes.
    pub classes: usize,
    /// Dropout rate of the averaged features.
    pub dropout: f64,
}

impl Default for EfficientNetLiteConfig {
    fn default() -> EfficientNetLiteConfig {
        EfficientNetLiteConfig {
            in_features: 3,
            features: 32,
            stages: vec![
                [1, 16, 1, 1, 3],
                [6, 24, 2, 2, 3],
                [6, 40, 2, 2, 5],
                [6, 80, 3, 2, 3],
                [6, 112, 3, 1, 5],
                [6, 192, 4, 2, 5],
                [6, 320, 1, 1, 3],
            ],
            last_features: 1280,
            classes: 1000,
            dropout: 0.2,
        }
    }
}

/// EfficientNet-Lite (R. Liu, 2020), a version of EfficientNet (Tan and Le, *EfficientNet: Rethinking
/// Model Scaling for Convolutional Neural Networks*, 2019) for small devices: a classifier of images.
///
/// [`from_weights`](Pretrained::from_weights) loads weights in PyTorch's format. They
/// expect images of 224×224 pixels from 0 to 255, normalized:
///
/// ```no_run
/// use ramie_core::{Array, DType};
/// use ramie_models::{EfficientNetLite, EfficientNetLiteConfig, Pretrained};
/// # fn main() -> Result<(), ramie_models::PretrainedError> {
/// let config = EfficientNetLiteConfig::default();
/// let mut model = EfficientNetLite::from_weights("efficientnet-lite0-57934424.pth", &config)?;
/// let images = Array::zeros(&[1, 224, 224, 3], DType::F32);
/// let logits = model.forward(&((images - 127) / 128));
/// let classes = logits.argmax(-1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Module)]
pub struct EfficientNetLite {
    /// The first convolution.
    pub stem: ConvNorm,
    /// The blocks of all stages.
    pub blocks: Vec<InvertedResidual>,
    /// The last convolution.
    pub last: ConvNorm,
    /// The dropout of the averaged features.
    pub dropout: Dropout,
    /// The linear layer from the averaged features to the logits.
    pub head: Linear,
}

/// Returns the options of a convolution of windows of `size` × `size` pixels.
fn square(features: usize, size: usize, strides: usize) -> ConvConfig {
    Conv::features(features, [size, size]).strides(strides)
}

impl EfficientNetLite {
    /// Creates a model with random weights, in training mode.
    #[track_caller]
    pub fn new(config: &EfficientNetLiteConfig, rngs: &mut Rngs) -> EfficientNetLite {
        let norm = BatchNorm::config().momentum(0.99).epsilon(1e-3);
        let features = config.features;
        let stem = ConvNorm::new(square(features, 3, 2), &norm, config.in_features, rngs);
        let stages = config.stages.iter().copied();
        let (blocks, inputs) = blocks(stages, features, square, &norm, rngs);
        EfficientNetLite {
            stem,
            blocks,
            last: ConvNorm::new(pointwise(config.last_features), &norm, inputs, rngs),
            dropout: Dropout::new(config.dropout, rngs),
            head: Linear::features(config.classes)
                .kernel_init(init::normal(0.01))
                .build(config.last_features, rngs),
        }
    }

    /// Maps images `[batch, height, width, in_features]` to logits `[batch, classes]`. Images may
    /// have any size.
    ///
    /// # Panics
    /// Panics if the images have another number of features.
    #[track_caller]
    pub fn forward(&mut self, images: &Array) -> Array {
        let x = averaged(&mut self.stem, &mut self.blocks, &mut self.last, images);
        self.head.forward(&self.dropout.forward(&x))
    }
}

/// The tensors have the names of the Python library `efficientnet_lite_pytorch`: `_conv_stem.weight`,
/// `_blocks.0._depthwise_conv.weight`, and so on.
impl Pretrained for EfficientNetLite {
    type Config = EfficientNetLiteConfig;

    fn new(config: &EfficientNetLiteConfig, rngs: &mut Rngs) -> EfficientNetLite {
        EfficientNetLite::new(config, rngs)
    }

    fn exchange(&mut self, w: &mut Weights) -> Result<(), PretrainedError> {
        self.stem.exchange(w, "_conv_stem", "_bn0")?;
        for (i, block) in self.blocks.iter_mut().enumerate() {
            let at = |name: &str| format!("_blocks.{i}.{name}");
            if let Some(expand) = &mut block.expand {
                expand.exchange(w, &at("_expand_conv"), &at("_bn0"))?;
            }
            let (conv, norm) = (at("_depthwise_conv"), at("_bn1"));
            block.depthwise.exchange(w, &conv, &norm)?;
            let (conv, norm) = (at("_project_conv"), at("_bn2"));
            block.project.exchange(w, &conv, &norm)?;
        }
        self.last.exchange(w, "_conv_head", "_bn1")?;
        w.linear("_fc", &mut self.head)
    }

    /// Ignores the numbers of training steps.
    fn ignores(&self, name: &str) -> bool {
        name.ends_with(".num_batches_tracked")
    }
}
