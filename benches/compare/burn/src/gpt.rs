//! `gpt`: a decoder of four layers.

use crate::protocol::Workload;
use crate::{adam, classes, train};
use burn::module::{Initializer, Param};
use burn::nn::attention::{
    MhaInput, MultiHeadAttention, MultiHeadAttentionConfig, generate_autoregressive_mask,
};
use burn::nn::loss::CrossEntropyLossConfig;
use burn::nn::{Embedding, EmbeddingConfig, LayerNorm, LayerNormConfig, Linear, LinearConfig};
use burn::prelude::*;
use burn::tensor::activation::gelu_approximate;

const VOCABULARY: usize = 96;
const WIDTH: usize = 128;
const HEADS: usize = 4;
const LAYERS: usize = 4;
const LENGTH: usize = 128;
const BATCH: usize = 16;

#[derive(Module, Debug)]
struct Block {
    norm1: LayerNorm,
    attention: MultiHeadAttention,
    norm2: LayerNorm,
    up: Linear,
    down: Linear,
}

impl Block {
    fn new(device: &Device) -> Block {
        let norm = || LayerNormConfig::new(WIDTH).with_epsilon(1e-6).init(device);
        let attention = MultiHeadAttentionConfig::new(WIDTH, HEADS).with_dropout(0.0);
        Block {
            norm1: norm(),
            attention: attention.init(device),
            norm2: norm(),
            up: LinearConfig::new(WIDTH, 4 * WIDTH).init(device),
            down: LinearConfig::new(4 * WIDTH, WIDTH).init(device),
        }
    }

    fn forward(&self, x: Tensor<3>, mask: Tensor<3, Bool>) -> Tensor<3> {
        let input = MhaInput::self_attn(self.norm1.forward(x.clone())).mask_attn(mask);
        let x = x + self.attention.forward(input).context;
        let h = gelu_approximate(self.up.forward(self.norm2.forward(x.clone())));
        x + self.down.forward(h)
    }
}

#[derive(Module, Debug)]
struct Gpt {
    embed: Embedding,
    positions: Param<Tensor<2>>,
    blocks: Vec<Block>,
    norm: LayerNorm,
}

impl Gpt {
    fn new(device: &Device) -> Gpt {
        let normal = |std| Initializer::Normal { mean: 0.0, std };
        // Smaller than Burn's default, because the embedding is also the output layer.
        let narrow = normal((WIDTH as f64).powf(-0.5));
        let embed = EmbeddingConfig::new(VOCABULARY, WIDTH).with_initializer(narrow);
        Gpt {
            embed: embed.init(device),
            positions: normal(0.02).init([LENGTH, WIDTH], device),
            blocks: (0..LAYERS).map(|_| Block::new(device)).collect(),
            norm: LayerNormConfig::new(WIDTH).with_epsilon(1e-6).init(device),
        }
    }

    /// Returns a row of logits for each position of each sequence.
    fn forward(&self, tokens: Tensor<2, Int>, mask: Tensor<3, Bool>) -> Tensor<2> {
        let mut x = self.embed.forward(tokens) + self.positions.val().unsqueeze::<3>();
        for block in &self.blocks {
            x = block.forward(x, mask.clone());
        }
        let x = self.norm.forward(x).reshape([BATCH * LENGTH, WIDTH]);
        x.matmul(self.embed.weight.val().transpose())
    }
}

pub fn build(device: &Device) -> Workload {
    let text = classes(VOCABULARY, [BATCH, LENGTH + 1], device);
    let tokens = text.clone().narrow(1, 0, LENGTH);
    let targets = text.narrow(1, 1, LENGTH).reshape([BATCH * LENGTH]);
    let mask = generate_autoregressive_mask(BATCH, LENGTH, device);
    let loss = CrossEntropyLossConfig::new().init(device);
    train(Gpt::new(device), adam(1e-4), 1e-3, move |model| {
        let logits = model.forward(tokens.clone(), mask.clone());
        loss.forward(logits, targets.clone())
    })
}
