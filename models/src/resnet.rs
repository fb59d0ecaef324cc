//! A residual network for small images.

use ramie_core::Array;
use ramie_nn::{BatchNorm, Conv, ConvConfig, Linear, Module, Rngs, init};

/// A residual network for small images (He et al., *Deep Residual Learning for
/// Image Recognition*, 2016, section 4.2).
///
/// ```no_run
/// use ramie_core::{Array, DType};
/// use ramie_nn::Rngs;
/// use ramie_models::{ResNet, ResNetConfig};
/// let mut model = ResNet::new(&ResNetConfig::default(), &mut Rngs::new(0));
/// let images = Array::zeros(&[8, 32, 32, 3], DType::F32);
/// assert_eq!(model.forward(&images).shape(), [8, 10]);
/// ```
#[derive(Clone, Debug, Module)]
pub struct ResNet {
    /// The first convolution.
    pub conv: Conv,
    /// The normalization after the first convolution.
    pub norm: BatchNorm,
    /// The blocks of all stages.
    pub blocks: Vec<ResNetBlock>,
    /// The linear layer from the averaged features to the logits.
    pub head: Linear,
}

/// A block of two convolutions with a residual connection.
#[derive(Clone, Debug, Module)]
pub struct ResNetBlock {
    /// The first convolution, which may be strided.
    pub conv1: Conv,
    /// The normalization after the first convolution.
    pub norm1: BatchNorm,
    /// The second convolution.
    pub conv2: Conv,
    /// The normalization after the second convolution. Its scale is initially zero, so that the
    /// block starts as the identity.
    pub norm2: BatchNorm,
    /// The projection of the input to the shape of the result, if these differ.
    pub projection: Option<(Conv, BatchNorm)>,
}

/// Options of a [`ResNet`]. Defaults to 20 layers, images with three colors and ten classes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResNetConfig {
    /// Number of features of the images.
    pub in_features: usize,
    /// Number of features of the first stage. Each later stage has twice as many features and
    /// half the height and width.
    pub features: usize,
    /// Number of blocks in each stage.
    pub stages: Vec<usize>,
    /// Number of classes.
    pub classes: usize,
}

impl Default for ResNetConfig {
    fn default() -> ResNetConfig {
        ResNetConfig {
            in_features: 3,
            features: 16,
            stages: vec![3, 3, 3],
            classes: 10,
        }
    }
}

/// Returns a square convolution without bias, because a normalization follows.
fn square(features: usize, size: usize, strides: usize) -> ConvConfig {
    Conv::features(features, [size, size])
        .strides(strides)
        .without_bias()
        .kernel_init(init::he_normal())
}

impl ResNetBlock {
    /// Creates a block from `inputs` to `features` features.
    #[track_caller]
    pub fn new(inputs: usize, features: usize, strides: usize, rngs: &mut Rngs) -> ResNetBlock {
        let project = inputs != features || strides != 1;
        ResNetBlock {
            conv1: square(features, 3, strides).build(inputs, rngs),
            norm1: BatchNorm::new(features, rngs),
            conv2: square(features, 3, 1).build(features, rngs),
            norm2: BatchNorm::config()
                .scale_init(init::zeros())
                .build(features, rngs),
            projection: project.then(|| {
                let conv = square(features, 1, strides).build(inputs, rngs);
                (conv, BatchNorm::new(features, rngs))
            }),
        }
    }

    /// Maps images `[batch, height, width, inputs]` to `[batch, height, width, features]`, with
    /// height and width divided by the strides.
    #[track_caller]
    pub fn forward(&mut self, x: &Array) -> Array {
        let y = self.norm1.forward(&self.conv1.forward(x)).relu();
        let y = self.norm2.forward(&self.conv2.forward(&y));
        let x = match &mut self.projection {
            None => x.clone(),
            Some((conv, norm)) => norm.forward(&conv.forward(x)),
        };
        (x + y).relu()
    }
}

impl ResNet {
    /// Creates a model with random weights.
    #[track_caller]
    pub fn new(config: &ResNetConfig, rngs: &mut Rngs) -> ResNet {
        let mut features = config.features;
        let conv = square(features, 3, 1).build(config.in_features, rngs);
        let norm = BatchNorm::new(features, rngs);
        let mut blocks = Vec::new();
        for (stage, &count) in config.stages.iter().enumerate() {
            for i in 0..count {
                let first = stage > 0 && i == 0;
                let (inputs, strides) = if first { (features, 2) } else { (features, 1) };
                features = if first { 2 * features } else { features };
                blocks.push(ResNetBlock::new(inputs, features, strides, rngs));
            }
        }
        ResNet {
            conv,
            norm,
            blocks,
            head: Linear::new(features, config.classes, rngs),
        }
    }

    /// Maps images `[batch, height, width, features]` to logits `[batch, classes]`.
    ///
    /// # Panics
    /// Panics if the images have another number of features.
    #[track_caller]
    pub fn forward(&mut self, images: &Array) -> Array {
        let mut x = self.norm.forward(&self.conv.forward(images)).relu();
        for block in &mut self.blocks {
            x = block.forward(&x);
        }
        self.head.forward(&x.mean_over([1, 2]))
    }
}
