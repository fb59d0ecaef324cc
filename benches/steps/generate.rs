//! `generate`: SmolLM2-135M continues prompts of 32 tokens greedily by 64 tokens in `f32`, one prompt
//! and eight together. `prompt_s` is the time of the first token alone.
//!
//! Writes the model as a checkpoint for `benches/compare/generate.py` to `out/smollm2`.

use crate::measure::Plan;
use crate::report::{Line, Times};
use ramie::checkpoint::gguf::GgufFile;
use ramie::models::{Generator, Llama, LlamaConfig, Pretrained, Sampling};
use ramie::{Array, random};
use ramie_examples::files::SMOLLM2;
use std::error::Error;
use std::path::Path;

const PROMPT: usize = 32;
const NEW: usize = 64;

pub fn measure(plan: &Plan) {
    let model = load().expect("the model loads and is saved");
    for batch in [1, 8] {
        let tokens: Vec<i32> = (0..batch * PROMPT).map(|i| prompt(i as i64)).collect();
        let tokens = Array::from_vec(tokens, &[batch, PROMPT]);
        let run = |count: usize| {
            let generator = Generator::new(Sampling::greedy(), count);
            let mut last = 0;
            let mut run = || {
                let all = generator.generate(&model, &tokens, &random::key(0));
                last = all.to_vec::<i32>()[PROMPT + count - 1];
            };
            (0..plan.warmup.max(1)).for_each(|_| run());
            let times = Times::sample(plan, 1, &mut run);
            (times, last)
        };
        let ((first, _), (times, last)) = (run(1), run(NEW));
        Line::of("generate")
            .value("batch", batch)
            .times(&times)
            .seconds("prompt_s", first.median())
            .value(
                "tokens_per_s",
                format_args!("{:.1}", (batch * NEW) as f64 / times.median()),
            )
            .value("last", last)
            .print();
    }
}

fn load() -> Result<Llama, Box<dyn Error>> {
    let file = GgufFile::open(SMOLLM2.fetch()?)?;
    let model = Llama::from_gguf(&file)?;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("out/smollm2");
    if !folder.join("config.json").exists() {
        model.save_pretrained(&folder, &LlamaConfig::from_gguf(&file)?)?;
    }
    Ok(model)
}

/// Returns a token of the prompts.
fn prompt(i: i64) -> i32 {
    (1000 + i * 7919 % 40_000) as i32
}
