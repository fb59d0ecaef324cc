//! `gpt`: a decoder of four layers, 128 wide with four heads and a vocabulary of 96 characters,
//! trained with AdamW on 16 sequences of 128 tokens per step. `layers_N` has N layers, and `batch_N`
//! N sequences.
//!
//! `gpt2`: the same decoder with the sizes of GPT-2, 124 million parameters, trained on four
//! sequences of 64 tokens per step.

use crate::decoder::Sizes;
use crate::linen_step::{Trainer, cross_entropy, trainer};
use crate::measure::Workload;
use ramie::core::{Array, DType, Result, random};
use ramie::nn::linen::{Dense, Embed, LayerNorm, Module, MultiHeadDotProductAttention, Scope};
use ramie::nn::{AttentionInputs, init, make_causal_mask};
use ramie::optim::adamw;

/// The number of layers of `gpt`.
pub const LAYERS: usize = 4;
/// The number of sequences per step of `gpt`.
pub const BATCH: usize = 16;

/// The model of `gpt`.
pub const GPT: Gpt = Gpt {
    sizes: Sizes {
        vocabulary: 96,
        width: 128,
        heads: 4,
        layers: LAYERS,
        length: 128,
    },
    epsilon: 1e-6,
    decode: false,
};

/// The model of `gpt2`.
const GPT2: Gpt = Gpt {
    sizes: Sizes {
        vocabulary: 50_257,
        width: 768,
        heads: 12,
        layers: 12,
        length: 1024,
    },
    epsilon: 1e-5,
    decode: false,
};

/// A model of sequences of up to `sizes.length` tokens, which are causal or continue the sequence
/// in its caches.
#[derive(Clone, Copy)]
pub struct Gpt {
    pub sizes: Sizes,
    /// The constant that normalizations add to the variance.
    pub epsilon: f64,
    pub decode: bool,
}

/// A block of the model.
#[derive(Clone)]
struct Block(Gpt);

impl Module for Block {
    fn call(&self, scope: &mut Scope, x: Array) -> Array {
        let Block(Gpt { sizes, decode, .. }) = *self;
        let h = scope.child(&self.0.norm(), x.clone());
        let attention = MultiHeadDotProductAttention::new(sizes.heads).decode(decode);
        let mask = make_causal_mask(&Array::ones(&x.shape()[..2], DType::F32));
        let inputs = if decode {
            AttentionInputs::of(&h)
        } else {
            AttentionInputs::of(&h).mask(&mask)
        };
        let x = x + scope.child(&attention, inputs);
        let h = scope.child(&self.0.norm(), x.clone());
        let h = scope.child(&Dense::new(4 * sizes.width), h).gelu();
        x + scope.child(&Dense::new(sizes.width), h)
    }
}

impl Gpt {
    fn norm(&self) -> LayerNorm {
        LayerNorm::new().epsilon(self.epsilon)
    }

    /// Computes logits from tokens and the embeddings of their positions.
    fn logits(
        &self,
        scope: &mut Scope,
        tokens: Array,
        positions: impl FnOnce(&Array) -> Array,
    ) -> Array {
        let Sizes {
            vocabulary,
            width,
            length,
            ..
        } = self.sizes;
        let mut embed = scope.setup("Embed_0", &Embed::new(vocabulary, width));
        let normal = init::normal(0.02);
        let all = scope.param("positions", &normal, &[length, width], DType::F32);
        let mut x: Array = embed.call::<Array, Array>(tokens) + positions(&all);
        for _ in 0..self.sizes.layers {
            x = scope.child(&Block(*self), x);
        }
        let x = scope.child(&self.norm(), x);
        embed.with(|embed, scope| embed.attend(scope, &x))
    }
}

/// Tokens of whole sequences.
impl Module for Gpt {
    fn call(&self, scope: &mut Scope, tokens: Array) -> Array {
        let count = tokens.shape()[1];
        self.logits(scope, tokens, |all| all.slice_in_dim(0, count, 1, 0))
    }
}

/// Tokens `[1, n]` and the position of the first.
impl Module<(Array, Array)> for Gpt {
    fn call(&self, scope: &mut Scope, (tokens, position): (Array, Array)) -> Array {
        let count = tokens.shape()[1];
        self.logits(scope, tokens, |all| {
            all.dynamic_slice_in_dim(&position, count, 0)
        })
    }
}

pub fn build(
    layers: usize,
    batch: usize,
) -> Result<Workload<Trainer, impl FnMut(&mut Trainer) -> Array>> {
    let mut model = GPT;
    model.sizes.layers = layers;
    train(model, batch, model.sizes.length)
}

pub fn build_gpt2() -> Result<Workload<Trainer, impl FnMut(&mut Trainer) -> Array>> {
    train(GPT2, 4, 64)
}

/// Creates a workload that trains the model on `batch` sequences of `length` tokens.
fn train(
    model: Gpt,
    batch: usize,
    length: usize,
) -> Result<Workload<Trainer, impl FnMut(&mut Trainer) -> Array>> {
    let (shape, vocabulary) = ([batch, length + 1], model.sizes.vocabulary as i64);
    let text = random::randint(&random::key(0), &shape, 0, vocabulary, DType::I32);
    let part = |start: usize| text.slice_in_dim(start, start + length, 1, 1);
    trainer(model, adamw(1e-3), part(0), part(1), cross_entropy)
}
