//! `gpt`: a decoder of four layers. `gpt2`: the same decoder with the sizes of GPT-2.

use crate::cnn::adam;
use crate::protocol::Workload;
use crate::sizes::Sizes;
use crate::{Parameters, classes};
use candle_core::{D, Device, Result, Tensor};
use candle_nn::{AdamW, Embedding, Init, Linear, Module, VarBuilder, linear, loss, ops};

/// Layer normalization from Candle's basic operations, because Candle's layer with a bias has no
/// gradient.
struct Norm {
    scale: Tensor,
    bias: Tensor,
    epsilon: f32,
}

impl Norm {
    fn new(sizes: &Sizes, vars: VarBuilder<'_>) -> Result<Norm> {
        Ok(Norm {
            scale: vars.get_with_hints(sizes.width, "scale", Init::Const(1.0))?,
            bias: vars.get_with_hints(sizes.width, "bias", Init::Const(0.0))?,
            epsilon: sizes.epsilon as f32,
        })
    }

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        ops::layer_norm_slow(x, &self.scale, &self.bias, self.epsilon)
    }
}

struct Block {
    heads: usize,
    norm1: Norm,
    query: Linear,
    key: Linear,
    value: Linear,
    out: Linear,
    norm2: Norm,
    up: Linear,
    down: Linear,
}

impl Block {
    fn new(sizes: &Sizes, vars: VarBuilder<'_>) -> Result<Block> {
        let width = sizes.width;
        let square = |name| linear(width, width, vars.pp(name));
        Ok(Block {
            heads: sizes.heads,
            norm1: Norm::new(sizes, vars.pp("norm1"))?,
            query: square("query")?,
            key: square("key")?,
            value: square("value")?,
            out: square("out")?,
            norm2: Norm::new(sizes, vars.pp("norm2"))?,
            up: linear(width, 4 * width, vars.pp("up"))?,
            down: linear(4 * width, width, vars.pp("down"))?,
        })
    }

    /// `mask` is 0 where a position may attend and negative infinity elsewhere.
    fn attention(&self, x: &Tensor, mask: &Tensor) -> Result<Tensor> {
        let (batch, length, width) = x.dims3()?;
        let depth = width / self.heads;
        let heads = |layer: &Linear| {
            let h = layer.forward(x)?;
            let h = h.reshape((batch, length, self.heads, depth))?;
            h.transpose(1, 2)?.contiguous()
        };
        let scale = 1.0 / (depth as f64).sqrt();
        let query = (heads(&self.query)? * scale)?;
        let scores = query.matmul(&heads(&self.key)?.t()?)?;
        let weights = ops::softmax(&scores.broadcast_add(mask)?, D::Minus1)?;
        let mixed = weights.matmul(&heads(&self.value)?)?.transpose(1, 2)?;
        self.out.forward(&mixed.reshape((batch, length, width))?)
    }

    fn forward(&self, x: &Tensor, mask: &Tensor) -> Result<Tensor> {
        let x = (x + self.attention(&self.norm1.forward(x)?, mask)?)?;
        // Candle's `gelu` is the tanh approximation.
        let h = self.up.forward(&self.norm2.forward(&x)?)?.gelu()?;
        x + self.down.forward(&h)?
    }
}

/// Returns 0 where a position may attend and negative infinity elsewhere.
fn causal_mask(length: usize) -> Result<Tensor> {
    let blocked = |i: usize| i % length > i / length;
    let mask: Vec<f32> = (0..length * length)
        .map(|i| if blocked(i) { f32::NEG_INFINITY } else { 0.0 })
        .collect();
    Tensor::from_vec(mask, (length, length), &Device::Cpu)
}

pub fn build(sizes: &Sizes) -> Result<Workload> {
    let (vocabulary, width, length) = (sizes.vocabulary, sizes.width, sizes.length);
    let text = classes(vocabulary, &[sizes.batch, length + 1])?;
    let tokens = text.narrow(1, 0, length)?.contiguous()?;
    let targets = text.narrow(1, 1, length)?.flatten_all()?;
    let mask = causal_mask(length)?;
    let parameters = Parameters::new();
    let vars = parameters.builder();
    let normal = |stdev| Init::Randn { mean: 0.0, stdev };
    // Smaller than Candle's default, because the embedding is also the output layer.
    let narrow = normal((width as f64).powf(-0.5));
    let embed = vars.get_with_hints((vocabulary, width), "embed", narrow)?;
    let embed = Embedding::new(embed, width);
    let shape = (sizes.positions, width);
    let positions = vars.get_with_hints(shape, "positions", normal(0.02))?;
    let blocks = (0..sizes.layers)
        .map(|i| Block::new(sizes, vars.pp(format!("block{i}"))))
        .collect::<Result<Vec<_>>>()?;
    let norm = Norm::new(sizes, vars.pp("norm"))?;
    parameters.train::<AdamW>(adam(1e-4), move || {
        let positions = positions.narrow(0, 0, length)?;
        let mut x = embed.forward(&tokens)?.broadcast_add(&positions)?;
        for block in &blocks {
            x = block.forward(&x, &mask)?;
        }
        let x = norm.forward(&x)?.flatten(0, 1)?;
        let logits = x.matmul(&embed.embeddings().t()?)?;
        loss::cross_entropy(&logits, &targets)
    })
}
