//! `sample`: greedy decoding with the model of `gpt`, one sequence, and room for 1,024 tokens in
//! its caches. A step computes one token.

use crate::decoder::Sizes;
use crate::gpt::{GPT, Gpt};
use crate::measure::{Workload, compile_time, timed};
use ramie::core::random::{self, Key};
use ramie::core::{Array, DType, Result, jit};
use ramie::nn::Tree;
use ramie::nn::linen::{Apply, Module, Variables};

const DECODER: Gpt = Gpt {
    sizes: Sizes {
        length: 1024,
        ..GPT.sizes
    },
    decode: true,
    ..GPT
};

/// The state of a sequence.
#[derive(Tree)]
pub struct Sequence {
    caches: Variables,
    token: Array,
    position: Array,
}

pub fn build() -> Result<Workload<Sequence, impl FnMut(&mut Sequence)>> {
    let init = jit(|key: Key| {
        let tokens = Array::zeros(&[1, DECODER.sizes.length], DType::I32);
        DECODER.init(key, (tokens, Array::zeros(&[], DType::I32)))
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
        let (logits, caches) = DECODER.apply_with(&variables, inputs, &options);
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
