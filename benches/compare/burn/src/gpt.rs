//! `gpt`: a decoder of four layers. `gpt2`: the same decoder with the sizes of GPT-2.

use crate::protocol::Workload;
use crate::sizes::Sizes;
use crate::{adam, classes, train};
use burn::module::{Initializer, Param};
use burn::nn::attention::{
    MhaInput, MultiHeadAttention, MultiHeadAttentionConfig, generate_autoregressive_mask,
};
use burn::nn::loss::CrossEntropyLossConfig;
use burn::nn::{Embedding, EmbeddingConfig, LayerNorm, LayerNormConfig, Linear, LinearConfig};
use burn::prelude::*;
use burn::tensor::activation::gelu_approximate;

fn norm(sizes: &Sizes, device: &Device) -> LayerNorm {
    let config = LayerNormConfig::new(sizes.width).with_epsilon(sizes.epsilon);
    config.init(device)
}

#[derive(Module, Debug)]
struct Block {
    norm1: LayerNorm,
    attention: MultiHeadAttention,
    norm2: LayerNorm,
    up: Linear,
    down: Linear,
}

impl Block {
    fn new(sizes: &Sizes, device: &Device) -> Block {
        let width = sizes.width;
        let attention = MultiHeadAttentionConfig::new(width, sizes.heads).with_dropout(0.0);
        Block {
            norm1: norm(sizes, device),
            attention: attention.init(device),
            norm2: norm(sizes, device),
            up: LinearConfig::new(width, 4 * width).init(device),
            down: LinearConfig::new(4 * width, width).init(device),
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
    fn new(sizes: &Sizes, device: &Device) -> Gpt {
        let normal = |std| Initializer::Normal { mean: 0.0, std };
        // Smaller than Burn's default, because the embedding is also the output layer.
        let narrow = normal((sizes.width as f64).powf(-0.5));
        let embed = EmbeddingConfig::new(sizes.vocabulary, sizes.width).with_initializer(narrow);
        Gpt {
            embed: embed.init(device),
            positions: normal(0.02).init([sizes.positions, sizes.width], device),
            blocks: (0..sizes.layers)
                .map(|_| Block::new(sizes, device))
                .collect(),
            norm: norm(sizes, device),
        }
    }

    /// Returns a row of logits for each position of each sequence.
    fn forward(&self, tokens: Tensor<2, Int>, mask: Tensor<3, Bool>) -> Tensor<2> {
        let [_, length] = tokens.dims();
        let positions = self.positions.val().narrow(0, 0, length);
        let mut x = self.embed.forward(tokens) + positions.unsqueeze::<3>();
        for block in &self.blocks {
            x = block.forward(x, mask.clone());
        }
        let x = self.norm.forward(x).flatten(0, 1);
        x.matmul(self.embed.weight.val().transpose())
    }
}

pub fn build(sizes: &Sizes, device: &Device) -> Workload {
    let (batch, length) = (sizes.batch, sizes.length);
    let text = classes(sizes.vocabulary, [batch, length + 1], device);
    let tokens = text.clone().narrow(1, 0, length);
    let targets = text.narrow(1, 1, length).reshape([batch * length]);
    let mask = generate_autoregressive_mask(batch, length, device);
    let loss = CrossEntropyLossConfig::new().init(device);
    train(Gpt::new(sizes, device), adam(1e-4), 1e-3, move |model| {
        let logits = model.forward(tokens.clone(), mask.clone());
        loss.forward(logits, targets.clone())
    })
}
