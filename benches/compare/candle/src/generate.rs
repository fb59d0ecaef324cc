//! `generate`: SmolLM2-135M continues prompts of 32 tokens greedily by 64 tokens in `f32`, one prompt
//! and eight together, as `benches/steps/generate.rs` does.

use crate::protocol::{median_and_best, seconds};
use candle_core::{D, DType, Device, IndexOp, Result, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::llama::{Cache, Llama, LlamaConfig};
use std::path::Path;

const PROMPT: usize = 32;
const NEW: usize = 64;
const WARMUP: usize = 3;

/// Prints a line per number of prompts. The arguments are `FOLDER [--samples N]`.
pub fn measure(mut args: impl Iterator<Item = String>) {
    let folder = args.next().expect("the folder of the checkpoint");
    let samples = args.nth(1).and_then(|samples| samples.parse().ok());
    let samples: usize = samples.unwrap_or(10);
    let read = |name| std::fs::read(Path::new(&folder).join(name)).expect("the checkpoint");
    let config: LlamaConfig = serde_json::from_slice(&read("config.json")).expect("JSON");
    let config = config.into_config(false);
    let weights = read("model.safetensors");
    let weights = VarBuilder::from_buffered_safetensors(weights, DType::F32, &Device::Cpu);
    let model = Llama::load(weights.expect("the weights"), &config).expect("the model");
    let cache = Cache::new(true, DType::F32, &config, &Device::Cpu).expect("a cache");
    for batch in [1, 8] {
        let run = |count| {
            let mut last = 0;
            let mut sample = || {
                let cache = cache.clone();
                seconds(|| last = generate(&model, cache, batch, count).expect("a token"))
            };
            let times: Vec<f64> = (0..WARMUP + samples).map(|_| sample()).collect();
            (median_and_best(times[WARMUP..].to_vec()), last)
        };
        let (((first, _), _), ((median, best), last)) = (run(1), run(NEW));
        let speed = (batch * NEW) as f64 / median;
        println!(
            "{{\"workload\": \"generate\", \"framework\": \"candle\", \"batch\": {batch}, \
             \"median_s\": {median:e}, \"best_s\": {best:e}, \"samples\": {samples}, \
             \"prompt_s\": {first:e}, \"tokens_per_s\": {speed:.1}, \"last\": {last}}}"
        );
    }
}

/// Continues prompts by `count` tokens. Returns the last token of the first one.
fn generate(model: &Llama, mut cache: Cache, batch: usize, count: usize) -> Result<u32> {
    let prompts = (0..batch * PROMPT).map(|i| (1000 + i * 7919 % 40_000) as u32);
    let mut tokens = Tensor::from_iter(prompts, &Device::Cpu)?.reshape((batch, PROMPT))?;
    let mut position = 0;
    for _ in 0..count {
        let logits = model.forward(&tokens, position, &mut cache)?;
        position += tokens.dim(1)?;
        tokens = logits.argmax_keepdim(D::Minus1)?;
    }
    tokens.i((0, 0))?.to_scalar()
}
