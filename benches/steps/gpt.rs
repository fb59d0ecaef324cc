//! `gpt`: a decoder of four layers, 128 wide with four heads and a vocabulary of 96 characters,
//! trained with AdamW on 16 sequences of 128 tokens per step. `layers_N` has N layers, and `batch_N`
//! N sequences.

use crate::linen_step::{Trainer, cross_entropy, trainer};
use crate::measure::Workload;
use ramie::core::{Array, DType, Result, random};
use ramie::nn::linen::{Dense, Embed, LayerNorm, Module, MultiHeadDotProductAttention, Scope};
use ramie::nn::{AttentionInputs, init, make_causal_mask};
use ramie::optim::adamw;

const VOCABULARY: usize = 96;
const WIDTH: usize = 128;
const HEADS: usize = 4;
const LENGTH: usize = 128;
/// The number of layers of `gpt`.
pub const LAYERS: usize = 4;
/// The number of sequences per step of `gpt`.
pub const BATCH: usize = 16;

/// A block, which is causal or continues the sequence in its cache.
#[derive(Clone)]
struct Block {
    decode: bool,
}

impl Module for Block {
    fn call(&self, scope: &mut Scope, x: Array) -> Array {
        let h = scope.child(&LayerNorm::new(), x.clone());
        let attention = MultiHeadDotProductAttention::new(HEADS).decode(self.decode);
        let mask = make_causal_mask(&Array::ones(&x.shape()[..2], DType::F32));
        let inputs = match self.decode {
            true => AttentionInputs::of(&h),
            false => AttentionInputs::of(&h).mask(&mask),
        };
        let x = x + scope.child(&attention, inputs);
        let h = scope.child(&LayerNorm::new(), x.clone());
        let h = scope.child(&Dense::new(4 * WIDTH), h).gelu();
        x + scope.child(&Dense::new(WIDTH), h)
    }
}

/// A model of sequences of up to `length` tokens.
#[derive(Clone)]
pub struct Gpt {
    pub length: usize,
    pub layers: usize,
    pub decode: bool,
}

impl Gpt {
    /// Computes logits from tokens and the embeddings of their positions.
    fn logits(
        &self,
        scope: &mut Scope,
        tokens: Array,
        positions: impl FnOnce(&Array) -> Array,
    ) -> Array {
        let mut embed = scope.setup("Embed_0", &Embed::new(VOCABULARY, WIDTH));
        let normal = init::normal(0.02);
        let all = scope.param("positions", &normal, &[self.length, WIDTH], DType::F32);
        let mut x: Array = embed.call::<Array, Array>(tokens) + positions(&all);
        for _ in 0..self.layers {
            let decode = self.decode;
            x = scope.child(&Block { decode }, x);
        }
        let x = scope.child(&LayerNorm::new(), x);
        embed.with(|embed, scope| embed.attend(scope, &x))
    }
}

/// Tokens of whole sequences.
impl Module for Gpt {
    fn call(&self, scope: &mut Scope, tokens: Array) -> Array {
        self.logits(scope, tokens, Array::clone)
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
    let shape = [batch, LENGTH + 1];
    let text = random::randint(&random::key(0), &shape, 0, VOCABULARY as i64, DType::I32);
    let part = |start: usize| text.slice_in_dim(start, start + LENGTH, 1, 1);
    let model = Gpt {
        length: LENGTH,
        layers,
        decode: false,
    };
    trainer(model, adamw(1e-3), part(0), part(1), cross_entropy)
}
