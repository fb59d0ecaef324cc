//! `gpt`: a decoder of four layers, 128 wide with four heads and a vocabulary of 96 characters,
//! trained with AdamW on 16 sequences of 128 tokens per step.

use crate::linen_step::{Trainer, cross_entropy, trainer};
use crate::measure::Workload;
use ramie::core::{Array, DType, Result, random};
use ramie::nn::linen::{Dense, Embed, LayerNorm, Module, MultiHeadDotProductAttention, Scope};
use ramie::nn::{AttentionInputs, init, make_causal_mask};
use ramie::optim::adamw;

const VOCABULARY: usize = 96;
const WIDTH: usize = 128;
const HEADS: usize = 4;
const LAYERS: usize = 4;
const LENGTH: usize = 128;
const BATCH: usize = 16;

#[derive(Clone)]
struct Block;

impl Module for Block {
    fn call(&self, scope: &mut Scope, x: Array) -> Array {
        let mask = make_causal_mask(&Array::ones(&x.shape()[..2], DType::F32));
        let h = scope.child(&LayerNorm::new(), x.clone());
        let attention = MultiHeadDotProductAttention::new(HEADS);
        let x = x + scope.child(&attention, AttentionInputs::of(&h).mask(&mask));
        let h = scope.child(&LayerNorm::new(), x.clone());
        let h = scope.child(&Dense::new(4 * WIDTH), h).gelu();
        x + scope.child(&Dense::new(WIDTH), h)
    }
}

#[derive(Clone)]
struct Gpt;

impl Module for Gpt {
    fn call(&self, scope: &mut Scope, tokens: Array) -> Array {
        let mut embed = scope.setup("Embed_0", &Embed::new(VOCABULARY, WIDTH));
        let normal = init::normal(0.02);
        let positions = scope.param("positions", &normal, &[LENGTH, WIDTH], DType::F32);
        let mut x: Array = embed.call::<Array, Array>(tokens) + &positions;
        for _ in 0..LAYERS {
            x = scope.child(&Block, x);
        }
        let x = scope.child(&LayerNorm::new(), x);
        embed.with(|embed, scope| embed.attend(scope, &x))
    }
}

pub fn build() -> Result<Workload<Trainer, impl FnMut(&mut Trainer) -> Array>> {
    let shape = [BATCH, LENGTH + 1];
    let text = random::randint(&random::key(0), &shape, 0, VOCABULARY as i64, DType::I32);
    let part = |start: usize| text.slice_in_dim(start, start + LENGTH, 1, 1);
    trainer(&Gpt, adamw(1e-3), part(0), part(1), cross_entropy)
}
