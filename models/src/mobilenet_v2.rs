//! MobileNetV2, a network for images on small devices.

use crate::{Pretrained, PretrainedError, Weights};
use ramie_core::Array;
use ramie_nn::{BatchNorm, BatchNormConfig, Conv, ConvConfig, Dropout, Linear, Module, Rngs, init};

/// Options of a [`MobileNetV2`]. Defaults to those of the model with 3.5 million parameters for the
/// thousand classes of ImageNet.
#[derive(Clone, Debug, PartialEq)]
pub struct MobileNetV2Config {
    /// Number of features of the images.
    pub in_features: usize,
    /// Number of features of the first convolution.
    pub features: usize,
    /// The blocks, as in table 2 of the paper. Each row has the expansion `t`, the number of
    /// features `c`, the number of blocks `n`, and the strides of the first of them, `s`.
    pub stages: Vec<[usize; 4]>,
    /// Number of features of the last convolution.
    pub last_features: usize,
    /// Number of classes.
    pub classes: usize,
    /// Dropout rate of the averaged features.
    pub dropout: f64,
}

impl Default for MobileNetV2Config {
    fn default() -> MobileNetV2Config {
        MobileNetV2Config {
            in_features: 3,
            features: 32,
            stages: vec![
                [1, 16, 1, 1],
                [6, 24, 2, 2],
                [6, 32, 3, 2],
                [6, 64, 4, 2],
                [6, 96, 3, 1],
                [6, 160, 3, 2],
                [6, 320, 1, 1],
            ],
            last_features: 1280,
            classes: 1000,
            dropout: 0.2,
        }
    }
}

/// MobileNetV2 (Sandler et al., *MobileNetV2: Inverted Residuals and Linear Bottlenecks*, 2018): a
/// classifier of images.
///
/// [`from_weights`](Pretrained::from_weights) loads the weights that torchvision publishes.
/// They expect images of 224×224 pixels, scaled to numbers from 0 to 1 and normalized:
///
/// ```no_run
/// use ramie_core::{Array, DType};
/// use ramie_models::{MobileNetV2, MobileNetV2Config, Pretrained};
/// # fn main() -> Result<(), ramie_models::PretrainedError> {
/// let config = MobileNetV2Config::default();
/// let mut model = MobileNetV2::from_weights("mobilenet_v2-b0353104.pth", &config)?;
/// let images = Array::zeros(&[1, 224, 224, 3], DType::F32);
/// let mean = Array::from([0.485f32, 0.456, 0.406]);
/// let deviation = Array::from([0.229f32, 0.224, 0.225]);
/// let logits = model.forward(&((images - mean) / deviation));
/// let classes = logits.argmax(-1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Module)]
pub struct MobileNetV2 {
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

/// A convolution with a normalization.
#[derive(Clone, Debug, Module)]
pub struct ConvNorm {
    /// The convolution.
    pub conv: Conv,
    /// The normalization.
    pub norm: BatchNorm,
}

/// A block of a [`MobileNetV2`] or an [`EfficientNetLite`](crate::EfficientNetLite). It expands its
/// input to more features, convolves each of them by itself, and projects the result to few
/// features, without an activation. If input and result have the same shape, the block has a
/// residual connection.
#[derive(Clone, Debug, Module)]
pub struct InvertedResidual {
    /// The expansion, if there is one.
    pub expand: Option<ConvNorm>,
    /// The convolution of each feature by itself.
    pub depthwise: ConvNorm,
    /// The projection.
    pub project: ConvNorm,
    /// Whether the block has a residual connection.
    #[tree(fixed)]
    pub residual: bool,
}

impl ConvNorm {
    /// Creates the layers from the options of the convolution, which gets no bias, because the
    /// normalization has one.
    #[track_caller]
    pub(super) fn new(
        conv: ConvConfig,
        norm: &BatchNormConfig,
        inputs: usize,
        rngs: &mut Rngs,
    ) -> ConvNorm {
        let conv = conv.without_bias().kernel_init(init::he_normal());
        let conv = conv.build(inputs, rngs);
        let features = conv.kernel.shape()[3];
        ConvNorm {
            conv,
            norm: norm.build(features, rngs),
        }
    }

    /// Maps images `[batch, height, width, inputs]` to `[batch, height, width, features]`, with
    /// height and width divided by the strides.
    #[track_caller]
    pub fn forward(&mut self, x: &Array) -> Array {
        self.norm.forward(&self.conv.forward(x))
    }

    pub(super) fn exchange(
        &mut self,
        w: &mut Weights,
        conv: &str,
        norm: &str,
    ) -> Result<(), PretrainedError> {
        w.conv(conv, &mut self.conv)?;
        w.batch_norm(norm, &mut self.norm)
    }
}

/// Returns the options of a convolution of windows of `size` × `size` pixels.
fn square(features: usize, size: usize, strides: usize) -> ConvConfig {
    let conv = Conv::features(features, [size, size]);
    conv.strides(strides).padding(size as isize / 2)
}

/// Returns the options of the normalizations.
fn norm() -> BatchNormConfig {
    BatchNorm::config().momentum(0.9)
}

/// Returns the options of a convolution of single pixels.
pub(super) fn pointwise(features: usize) -> ConvConfig {
    Conv::features(features, [1, 1])
}

impl InvertedResidual {
    /// Creates a block from `inputs` features over `inner` to `features`. `depthwise` is the
    /// convolution of each inner feature, with `inner` features.
    #[track_caller]
    pub fn new(
        [inputs, inner, features]: [usize; 3],
        depthwise: ConvConfig,
        norm: &BatchNormConfig,
        rngs: &mut Rngs,
    ) -> InvertedResidual {
        let expands = inner != inputs;
        let expand = expands.then(|| ConvNorm::new(pointwise(inner), norm, inputs, rngs));
        let depthwise = depthwise.feature_group_count(inner);
        let depthwise = ConvNorm::new(depthwise, norm, inner, rngs);
        let strides = depthwise.conv.config.strides.list();
        InvertedResidual {
            residual: strides.iter().all(|n| *n == 1) && inputs == features,
            expand,
            depthwise,
            project: ConvNorm::new(pointwise(features), norm, inner, rngs),
        }
    }

    /// Maps images `[batch, height, width, inputs]` to `[batch, height, width, features]`, with
    /// height and width divided by the strides.
    #[track_caller]
    pub fn forward(&mut self, x: &Array) -> Array {
        let y = match &mut self.expand {
            Some(expand) => expand.forward(x).relu6(),
            None => x.clone(),
        };
        let y = self.depthwise.forward(&y).relu6();
        let y = self.project.forward(&y);
        if self.residual { x + y } else { y }
    }

    /// Exchanges all parameters with the tensors of the layers `at`, which are numbered.
    fn exchange(&mut self, w: &mut Weights, at: &str) -> Result<(), PretrainedError> {
        let mut layer = 0;
        if let Some(expand) = &mut self.expand {
            expand.exchange(w, &format!("{at}.0.0"), &format!("{at}.0.1"))?;
            layer = 1;
        }
        let (conv, norm) = (format!("{at}.{layer}.0"), format!("{at}.{layer}.1"));
        self.depthwise.exchange(w, &conv, &norm)?;
        let (conv, norm) = (format!("{at}.{}", layer + 1), format!("{at}.{}", layer + 2));
        self.project.exchange(w, &conv, &norm)
    }
}

/// Creates the blocks of all stages and returns their number of features, too. Each row of `stages`
/// has the expansion, the number of features, the number of blocks, the strides of the first of
/// them, and the height and width of the windows. `square` takes features, size and strides.
#[track_caller]
pub(super) fn blocks(
    stages: impl IntoIterator<Item = [usize; 5]>,
    mut inputs: usize,
    square: fn(usize, usize, usize) -> ConvConfig,
    norm: &BatchNormConfig,
    rngs: &mut Rngs,
) -> (Vec<InvertedResidual>, usize) {
    let mut blocks = Vec::new();
    for [expansion, features, count, strides, size] in stages {
        for i in 0..count {
            let strides = if i == 0 { strides } else { 1 };
            let inner = expansion * inputs;
            let depthwise = square(inner, size, strides);
            let sizes = [inputs, inner, features];
            blocks.push(InvertedResidual::new(sizes, depthwise, norm, rngs));
            inputs = features;
        }
    }
    (blocks, inputs)
}

/// Maps images to the averages of their last features, `[batch, features]`.
#[track_caller]
pub(super) fn averaged(
    stem: &mut ConvNorm,
    blocks: &mut [InvertedResidual],
    last: &mut ConvNorm,
    images: &Array,
) -> Array {
    let mut x = stem.forward(images).relu6();
    for block in blocks {
        x = block.forward(&x);
    }
    last.forward(&x).relu6().mean_over([1, 2])
}

impl MobileNetV2 {
    /// Creates a model with random weights, in training mode.
    #[track_caller]
    pub fn new(config: &MobileNetV2Config, rngs: &mut Rngs) -> MobileNetV2 {
        let (features, norm) = (config.features, norm());
        let stem = ConvNorm::new(square(features, 3, 2), &norm, config.in_features, rngs);
        let stages = config.stages.iter().map(|&[t, c, n, s]| [t, c, n, s, 3]);
        let (blocks, inputs) = blocks(stages, features, square, &norm, rngs);
        MobileNetV2 {
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

/// The tensors have torchvision's names: `features.0.0.weight`, `features.1.conv.0.0.weight`, and so on.
impl Pretrained for MobileNetV2 {
    type Config = MobileNetV2Config;

    fn new(config: &MobileNetV2Config, rngs: &mut Rngs) -> MobileNetV2 {
        MobileNetV2::new(config, rngs)
    }

    fn exchange(&mut self, w: &mut Weights) -> Result<(), PretrainedError> {
        self.stem.exchange(w, "features.0.0", "features.0.1")?;
        for (i, block) in self.blocks.iter_mut().enumerate() {
            block.exchange(w, &format!("features.{}.conv", i + 1))?;
        }
        let last = format!("features.{}", self.blocks.len() + 1);
        self.last
            .exchange(w, &format!("{last}.0"), &format!("{last}.1"))?;
        w.linear("classifier.1", &mut self.head)
    }

    /// Ignores the numbers of training steps.
    fn ignores(&self, name: &str) -> bool {
        name.ends_with(".num_batches_tracked")
    }
}
