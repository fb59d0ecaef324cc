//! `gpt`: a decoder of four layers.

use crate::cnn::adam;
use crate::protocol::Workload;
use crate::{Parameters, classes};
use candle_core::{D, Device, Result, Tensor};
use candle_nn::{AdamW, Embedding, Init, Linear, Module, VarBuilder, linear, loss, ops};

const VOCABULARY: usize = 96;
const WIDTH: usize = 128;
const HEADS: usize = 4;
const LAYERS: usize = 4;
const LENGTH: usize = 128;
const BATCH: usize = 16;

/// Layer normalization from Candle's basic operations, because Candle's layer with a bias has no
/// gradient.
struct Norm {
    scale: Tensor,
    bias: Tensor,
}

impl Norm {
    fn new(vars: VarBuilder<'_>) -> Result<Norm> {
        let scale = vars.get_with_hints(WIDTH, "scale", Init::Const(1.0))?;
        let bias = vars.get_with_hints(WIDTH, "bias", Init::Const(0.0))?;
        Ok(Norm { scale, bias })
    }

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        ops::layer_norm_slow(x, &self.scale, &self.bias, 1e-6)
    }
}

struct Block {
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
    fn new(vars: VarBuilder<'_>) -> Result<Block> {
        let square = |name| linear(WIDTH, WIDTH, vars.pp(name));
        Ok(Block {
            norm1: Norm::new(vars.pp("norm1"))?,
            query: square("query")?,
            key: square("key")?,
            value: square("value")?,
            out: square("out")?,
            norm2: Norm::new(vars.pp("norm2"))?,
            up: linear(WIDTH, 4 * WIDTH, vars.pp("up"))?,
            down: linear(4 * WIDTH, WIDTH, vars.pp("down"))?,
        })
    }

    /// `mask` is 0 where a position may attend and negative infinity elsewhere.
    fn attention(&self, x: &Tensor, mask: &Tensor) -> Result<Tensor> {
        let heads = |layer: &Linear| {
            let h = layer.forward(x)?;
            let h = h.reshape((BATCH, LENGTH, HEADS, WIDTH / HEADS))?;
            h.transpose(1, 2)?.contiguous()
        };
        let scale = 1.0 / ((WIDTH / HEADS) as f64).sqrt();
        let query = (heads(&self.query)? * scale)?;
        let scores = query.matmul(&heads(&self.key)?.t()?)?;
        let weights = ops::softmax(&scores.broadcast_add(mask)?, D::Minus1)?;
        let mixed = weights.matmul(&heads(&self.value)?)?.transpose(1, 2)?;
        self.out.forward(&mixed.reshape((BATCH, LENGTH, WIDTH))?)
    }

    fn forward(&self, x: &Tensor, mask: &Tensor) -> Result<Tensor> {
        let x = (x + self.attention(&self.norm1.forward(x)?, mask)?)?;
        // Candle's `gelu` is the tanh approximation.
        let h = self.up.forward(&self.norm2.forward(&x)?)?.gelu()?;
        x + self.down.forward(&h)?
    }
}

pub fn build() -> Result<Workload> {
    let text = classes(VOCABULARY, &[BATCH, LENGTH + 1])?;
    let tokens = text.narrow(1, 0, LENGTH)?.contiguous()?;
    let targets = text.narrow(1, 1, LENGTH)?.flatten_all()?;
    let blocked: Vec<f32> = (0..LENGTH * LENGTH)
        .map(|i| match i % LENGTH > i / LENGTH {
            true => f32::NEG_INFINITY,
            false => 0.0,
        })
        .collect();
    let mask = Tensor::from_vec(blocked, (LENGTH, LENGTH), &Device::Cpu)?;
    let parameters = Parameters::new();
    let vars = parameters.builder();
    let normal = |stdev| Init::Randn { mean: 0.0, stdev };
    // Smaller than Candle's default, because the embedding is also the output layer.
    let narrow = normal((WIDTH as f64).powf(-0.5));
    let embed = vars.get_with_hints((VOCABULARY, WIDTH), "embed", narrow)?;
    let embed = Embedding::new(embed, WIDTH);
    let positions = vars.get_with_hints((LENGTH, WIDTH), "positions", normal(0.02))?;
    let blocks = (0..LAYERS)
        .map(|i| Block::new(vars.pp(format!("block{i}"))))
        .collect::<Result<Vec<_>>>()?;
    let norm = Norm::new(vars.pp("norm"))?;
    parameters.train::<AdamW>(adam(1e-4), move || {
        let mut x = embed.forward(&tokens)?.broadcast_add(&positions)?;
        for block in &blocks {
            x = block.forward(&x, &mask)?;
        }
        let x = norm.forward(&x)?.reshape((BATCH * LENGTH, WIDTH))?;
        let logits = x.matmul(&embed.embeddings().t()?)?;
        loss::cross_entropy(&logits, &targets)
    })
}
