//! The convolutional network, its loss and its optimizer.

use ramie::Array;
use ramie::lax::Padding;
use ramie::nn::{BatchNorm, Conv, Dropout, Linear, Module, Rngs, max_pool};
use ramie::optim::schedules::cosine_decay_schedule;
use ramie::optim::{GradientTransformation, adamw, softmax_cross_entropy_with_integer_labels};

/// Four convolution stages, the mean over the image, and a linear layer. Images
/// may have any size.
#[derive(Module)]
pub struct Cnn {
    stem: ConvBlock,
    stage1: ConvBlock,
    stage2: ConvBlock,
    stage3: ConvBlock,
    stage4: ConvBlock,
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
    pub fn new(width: usize, dropout: f64, rngs: &mut Rngs) -> Cnn {
        Cnn {
            stem: ConvBlock::new(1, width, rngs),
            stage1: ConvBlock::new(width, width, rngs),
            stage2: ConvBlock::new(width, 2 * width, rngs),
            stage3: ConvBlock::new(2 * width, 4 * width, rngs),
            stage4: ConvBlock::new(4 * width, 4 * width, rngs),
            dropout: Dropout::new(dropout, rngs),
            head: Linear::new(4 * width, 10, rngs),
        }
    }

    // ANCHOR: forward
    /// Maps images `[n, height, width, 1]` to logits `[n, 10]`.
    pub fn forward(&mut self, x: &Array) -> Array {
        let halved = |x: Array| max_pool(&x, &[2, 2], &[2, 2], Padding::Same);
        let x = halved(self.stage1.forward(&self.stem.forward(x)));
        let x = halved(self.stage2.forward(&x));
        let x = halved(self.stage3.forward(&x));
        let x = self.stage4.forward(&x).mean_over([1, 2]);
        self.head.forward(&self.dropout.forward(&x))
    }
    // ANCHOR_END: forward
}

/// Creates AdamW with a learning rate that decays to 0.
pub fn optimizer(learning_rate: f64, steps: usize) -> GradientTransformation {
    let rate = cosine_decay_schedule(learning_rate, steps.max(1), 0.0, 1.0);
    adamw(rate).into()
}

/// Returns the mean loss and the accuracy on images and labels `[n]`.
pub fn loss(model: &mut Cnn, images: Array, labels: Array) -> (Array, Array) {
    let logits = model.forward(&images);
    let loss = softmax_cross_entropy_with_integer_labels(&logits, &labels).mean();
    (loss, logits.argmax(-1).eq(&labels).mean())
}

/// Returns the predicted digits of a model in evaluation mode.
pub fn classify(model: &mut Cnn, images: Array) -> Array {
    model.forward(&images).argmax(-1)
}
