//! `sample`: greedy decoding with the model of `gpt`, one sequence, and room for 1,024 tokens in
//! its caches. A step computes one token.

use crate::measure::{Workload, compile_time, timed};
use ramie::core::random::{self, Key};
use ramie::core::{Array, DType, Result, jit};
use ramie::nn::Tree;
use ramie::nn::linen::{
    Apply, Dense, Embed, LayerNorm, Module, MultiHeadDotProductAttention, Scope, Variables,
};
use ramie::nn::{AttentionInputs, init};

const VOCABULARY: usize = 96;
const WIDTH: usize = 128;
const HEADS: usize = 4;
const LAYERS: usize = 4;
const LENGTH: usize = 1024;

#[derive(Clone)]
struct Block;

impl Module for Block {
    fn call(&self, scope: &mut Scope, x: Array) -> Array {
        let h = scope.child(&LayerNorm::new(), x.clone());
        let attention = MultiHeadDotProductAttention::new(HEADS).decode(true);
        let x = x + scope.child(&attention, AttentionInputs::of(&h));
        let h = scope.child(&LayerNorm::new(), x.clone());
        let h = scope.child(&Dense::new(4 * WIDTH), h).gelu();
        x + scope.child(&Dense::new(WIDTH), h)
    }
}

#[derive(Clone)]
struct Decoder;

/// Tokens `[1, n]` and the position of the first.
impl Module<(Array, Array)> for Decoder {
    fn call(&self, scope: &mut Scope, (tokens, position): (Array, Array)) -> Array {
        let mut embed = scope.setup("Embed_0", &Embed::new(VOCABULARY, WIDTH));
        let normal = init::normal(0.02);
        let positions = scope.param("positions", &normal, &[LENGTH, WIDTH], DType::F32);
        let positions = positions.dynamic_slice_in_dim(&position, tokens.shape()[1], 0);
        let mut x: Array = embed.call::<Array, Array>(tokens) + positions;
        for _ in 0..LAYERS {
            x = scope.child(&Block, x);
        }
        let x = scope.child(&LayerNorm::new(), x);
        embed.with(|embed, scope| embed.attend(scope, &x))
    }
}

/// The state of a sequence.
#[derive(Tree)]
pub struct Sequence {
    caches: Variables,
    token: Array,
    position: Array,
}

pub fn build() -> Result<Workload<Sequence, impl FnMut(&mut Sequence)>> {
    let init = jit(|key: Key| {
        let tokens = Array::zeros(&[1, LENGTH], DType::I32);
        Decoder.init(key, (tokens, Array::zeros(&[], DType::I32)))
    });
    let mut params = init(random::key(0));
    let caches = params.remove("cache").unwrap_or_default();
    let state = Sequence {
        caches: Variables::new().with("cache", caches),
        token: Array::zeros(&[1, 1], DType::I32),
        position: Array::zeros(&[], DType::I32),
    };
    let step = jit(|state: &mut Sequence, params: Variables| {
        let variables = params.updated(state.caches.clone());
        let options = Apply::new().mutable("cache");
        let inputs = (state.token.clone(), state.position.clone());
        let (logits, caches) = Decoder.apply_with(&variables, inputs, &options);
        state.token = logits.argmax(-1).astype(DType::I32);
        state.position = &state.position + 1;
        state.caches = caches;
    });
    let (lowered, trace_lower_s) = timed(|| step.lower_with(&state, (params.clone(),)))?;
    let compile_s = compile_time(lowered)?;
    Ok(Workload {
        state,
        step: move |state: &mut Sequence| step(state, params.clone()),
        trace_lower_s,
        compile_s,
    })
}
