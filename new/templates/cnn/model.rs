//! The model and its loss.

use ramie::lax::Padding;
use ramie::nn::{BatchNorm, Conv, Dropout, Linear, Rngs, max_pool};
use ramie::optim::softmax_cross_entropy_with_integer_labels;
use ramie::{Array, Module};

/// Two convolution stages, the mean over the image, and a linear layer. Images may have any size.
#[derive(Module)]
pub struct Cnn {
    stem: ConvBlock,
    stage1: ConvBlock,
    stage2: ConvBlock,
    dropout: Dropout,
    head: Linear,
}

/// A convolution with batch normalization.
#[derive(Module)]
struct ConvBlock {
    conv: Conv,
    norm: BatchNorm,
}

impl ConvBlock {
    fn new(inputs: usize, outputs: usize, rngs: &mut Rngs) -> ConvBlock {
        ConvBlock {
            // The normalization already has a bias.
            conv: Conv::features(outputs, [3, 3])
                .without_bias()
                .build(inputs, rngs),
            norm: BatchNorm::config().momentum(0.9).build(outputs, rngs),
        }
    }

    /// Takes `&mut self` because the running statistics change.
    fn forward(&mut self, x: &Array) -> Array {
        self.norm.forward(&self.conv.forward(x)).relu()
    }
}

impl Cnn {
    pub fn new(width: usize, rngs: &mut Rngs) -> Cnn {
        Cnn {
            stem: ConvBlock::new(1, width, rngs),
            stage1: ConvBlock::new(width, width, rngs),
            stage2: ConvBlock::new(width, 2 * width, rngs),
            dropout: Dropout::new(0.2, rngs),
            head: Linear::new(2 * width, 10, rngs),
        }
    }

    /// Maps images `[n, height, width, 1]` to logits `[n, 10]`.
    pub fn forward(&mut self, images: &Array) -> Array {
        let x = self.stage1.forward(&self.stem.forward(images));
        let x = max_pool(&x, &[2, 2], &[2, 2], Padding::Valid);
        let x = self.stage2.forward(&x).mean_over([1, 2]);
        self.head.forward(&self.dropout.forward(&x))
    }
}

/// Returns the mean loss and the accuracy on images `[n, height, width, 1]` and labels `[n]`.
pub fn loss(model: &mut Cnn, images: Array, labels: Array) -> (Array, Array) {
    let logits = model.forward(&images);
    let loss = softmax_cross_entropy_with_integer_labels(&logits, &labels).mean();
    (loss, logits.argmax(-1).eq(&labels).mean())
}
