//! A decoder-only transformer.

use ramie::models::{LanguageModel, Places};
use ramie::nn::{Embed, Linear, MultiHeadAttention, RMSNorm, Rngs, RotaryEmbedding, init};
use ramie::optim::softmax_cross_entropy_with_integer_labels;
use ramie::{Array, Module};

/// Sizes of a decoder.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Number of different tokens.
    pub vocabulary: usize,
    /// Features of a token: a multiple of 2 × `heads`.
    pub width: usize,
    pub heads: usize,
    pub layers: usize,
}

/// A decoder that predicts the next tokens.
#[derive(Clone, Module)]
pub struct Decoder {
    embed: Embed,
    blocks: Vec<Block>,
    norm: RMSNorm,
    head: Linear,
}

/// Attention and a multilayer perceptron, each with pre-normalization and a residual connection.
#[derive(Clone, Module)]
struct Block {
    norm1: RMSNorm,
    attention: MultiHeadAttention,
    norm2: RMSNorm,
    up: Linear,
    down: Linear,
}

impl Block {
    fn new(sizes: &Sizes, rngs: &mut Rngs) -> Block {
        let (width, inner) = (sizes.width, 4 * sizes.width);
        Block {
            norm1: RMSNorm::new(width, rngs),
            // Rotary embeddings encode the positions.
            attention: MultiHeadAttention::heads(sizes.heads)
                .use_bias(false)
                .rotary(RotaryEmbedding::new(width / sizes.heads))
                .build(width, rngs),
            norm2: RMSNorm::new(width, rngs),
            up: Linear::new(width, inner, rngs),
            down: Linear::new(inner, width, rngs),
        }
    }

    fn forward(&mut self, x: &Array, places: &Places) -> Array {
        let y = places.attend(&self.norm1.forward(x));
        let x = x + self.attention.forward_with(&y);
        let hidden = self.up.forward(&self.norm2.forward(&x)).gelu();
        &x + self.down.forward(&hidden)
    }
}

impl Decoder {
    pub fn new(sizes: &Sizes, rngs: &mut Rngs) -> Decoder {
        Decoder {
            embed: Embed::new(sizes.vocabulary, sizes.width, rngs),
            blocks: (0..sizes.layers).map(|_| Block::new(sizes, rngs)).collect(),
            norm: RMSNorm::new(sizes.width, rngs),
            // Small weights make all tokens about equally likely at first.
            head: Linear::features(sizes.vocabulary)
                .kernel_init(init::normal(0.02))
                .build(sizes.width, rngs),
        }
    }

    /// Maps tokens `[batch, length]` to logits of the next ones, `[batch, length, vocabulary]`.
    fn forward(&mut self, tokens: &Array, padding: Option<&Array>) -> Array {
        let attention = self.blocks.first().map(|block| &block.attention);
        let places = Places::of(attention, tokens.shape()[1], padding);
        let mut x = self.embed.forward(tokens);
        for block in &mut self.blocks {
            x = block.forward(&x, &places);
        }
        self.head.forward(&self.norm.forward(&x))
    }

    /// Returns the cross entropies, in nats, of predicting each token of `[batch, length]` from
    /// those before it, except for the first `given` tokens: `[batch, length - given]`.
    pub fn losses(&mut self, tokens: &Array, given: usize) -> Array {
        let length = tokens.shape()[1];
        let logits = self.forward(&tokens.slice_in_dim(0, length - 1, 1, 1), None);
        let logits = logits.slice_in_dim(given - 1, length - 1, 1, 1);
        let targets = tokens.slice_in_dim(given, length, 1, 1);
        softmax_cross_entropy_with_integer_labels(&logits, &targets)
    }
}

/// Interface for [`ramie::models::Generator`], which caches keys and values while it appends
/// tokens.
impl LanguageModel for Decoder {
    fn logits(&mut self, tokens: &Array) -> Array {
        self.forward(tokens, None)
    }
    fn logits_padded(&mut self, tokens: &Array, padding: &Array) -> Array {
        self.forward(tokens, Some(padding))
    }
    fn vocab_size(&self) -> usize {
        self.embed.embedding.shape()[0]
    }
    fn max_length(&self) -> Option<usize> {
        None
    }
    fn attentions(&mut self) -> impl Iterator<Item = &mut MultiHeadAttention> {
        self.blocks.iter_mut().map(|block| &mut block.attention)
    }
}
