//! Fine-tunes a published language model, SmolLM2-135M-Instruct, on a text file or, by default, this
//! project's documentation: low-rank adapters, or all weights with `--full`. The first run downloads
//! the model (93 MB).
//!
//! `cargo run --release --example finetune_llama`
#![forbid(unsafe_code)]

mod data;

use clap::Parser;
use ramie::checkpoint::gguf::GgufFile;
use ramie::data::readers::{bpe::ByteLevelBpe, text};
use ramie::data::{DataLoader, Placement, Resumable};
use ramie::models::{Decoding, Llama, LlamaConfig, Pretrained, Sampling};
use ramie::nn::nnx::{All, Any, Filter, of_type};
use ramie::nn::{
    LoraOptions, LoraParam, Module, Optimizer, Param, Rngs, apply_lora_with, value_and_grad_wrt,
};
use ramie::optim::{adamw, softmax_cross_entropy_with_integer_labels};
use ramie::train::{Trainer, Training};
use ramie::{Array, jit, random};
use ramie_examples::files::SMOLLM2;
use ramie_examples::{Result, Run, RunOptions, print_trained, project_text};
use std::path::PathBuf;
use std::process::ExitCode;

/// Fine-tune a language model on a text.
#[derive(Parser)]
struct Options {
    /// Text file, whose last tenth is held out; defaults to this project's documentation.
    #[arg(long)]
    text: Option<PathBuf>,
    /// Train all weights instead of low-rank adapters.
    #[arg(long)]
    full: bool,
    /// Training steps.
    #[arg(long, default_value_t = 20)]
    steps: u64,
    /// Rows per step.
    #[arg(long, default_value_t = 4)]
    batch_size: usize,
    /// Row length in tokens.
    #[arg(long, default_value_t = 128)]
    length: usize,
    /// Rank of the adapters.
    #[arg(long, default_value_t = 8)]
    rank: usize,
    /// Learning rate; defaults to 0.002, or 0.0001 with --full.
    #[arg(long)]
    learning_rate: Option<f64>,
    /// Seed of the adapters and the data order.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Prompt of the text that the model writes before and after.
    #[arg(long, default_value = "To train a model, call")]
    prompt: String,
    #[command(flatten)]
    run: RunOptions,
}

/// A batch of packed rows: tokens, segments and positions, `[batch, length]` each.
type Batch = (Array, Array, Array);

/// Selects the parameters that are trained: the adapters, or all weights.
fn tuned(full: bool) -> impl Filter {
    Any((of_type::<LoraParam>(), All((of_type::<Param>(), full))))
}

// ANCHOR: loss
/// Returns the mean cross entropy of the tokens that follow another one of their sequence.
fn loss(model: &mut Llama, (tokens, segments, positions): &Batch) -> Array {
    let logits = model.forward_packed(tokens, segments, positions);
    let next = |x: &Array| x.roll(-1, 1);
    let losses = softmax_cross_entropy_with_integer_labels(&logits, &next(tokens));
    // The last token of a sequence predicts nothing, and neither does padding.
    let mask = next(positions).eq(positions + 1).astype(losses.dtype());
    (losses * &mask).sum() / mask.sum()
}
// ANCHOR_END: loss

fn main() -> ExitCode {
    ramie_examples::main(run)
}

fn run(options: &Options) -> Result {
    let sizes = [options.rank, options.batch_size, options.length / 2];
    if options.steps == 0 || sizes.contains(&0) {
        return Err(
            "--steps, --rank and --batch-size must be at least 1, and --length at least 2".into(),
        );
    }
    let text = match &options.text {
        Some(file) => text::load(file)?,
        None => project_text(&["docs"], "md")?,
    };
    let path = SMOLLM2.fetch()?;
    // A checkpoint contains all weights, half a gigabyte: only the last step writes one.
    let run_options = RunOptions {
        checkpoint_every: options.run.checkpoint_every.or(Some(options.steps)),
        ..options.run.clone()
    };
    let run = Run::new("finetune_llama", &run_options, options.steps)?;
    let file = GgufFile::open(&path)?;
    let tokenizer = ByteLevelBpe::load(&path)?;
    let [train, test] = data::open(&text, &tokenizer, options)?;

    let full = options.full;
    let model = adapted(Llama::from_gguf(&file)?, options);
    print_trained(&model, tuned(full));
    let before = evaluate(&model, &test)?;
    println!("Before: {}", continued(&model, &tokenizer, options)?);
    let rate = options.learning_rate;
    let rate = rate.unwrap_or(if full { 1e-4 } else { 2e-3 });
    let optimizer = Optimizer::wrt(&model, adamw(rate), tuned(full));
    let mut state = Training { model, optimizer };
    state.model.train();
    let step = move |state: &mut Training<Llama>, tokens, segments, positions| {
        let batch = (tokens, segments, positions);
        let loss = |model: &mut Llama| loss(model, &batch);
        let (loss, grads) = value_and_grad_wrt(&mut state.model, tuned(full), loss);
        state.optimizer.update(&mut state.model, grads);
        loss
    };
    run.fit(Trainer::from_step(step), &mut state, train)?;
    let model = state.model;
    let after = evaluate(&model, &test)?;
    println!("After: {}", continued(&model, &tokenizer, options)?);

    // Both formats are those of Python libraries: PEFT and transformers.
    let folder = run.folder.join(if full { "model" } else { "adapter" });
    if full {
        model.save_pretrained(&folder, &LlamaConfig::from_gguf(&file)?)?
    } else {
        model.save_adapter(&folder)?
    }
    println!("Wrote {}", folder.display());
    println!("Held-out loss: {before:.3} before, {after:.3} after");
    Ok(())
}

/// Adds adapters to the linear layers of the blocks, unless all weights are trained.
fn adapted(mut model: Llama, options: &Options) -> Llama {
    if !options.full {
        let lora = LoraOptions {
            rank: options.rank,
            alpha: Some(2.0 * options.rank as f64),
            ..LoraOptions::default()
        };
        let selected = |path: &str| path.contains("self_attn.") || path.contains("mlp.");
        apply_lora_with(&mut model, &lora, selected, &mut Rngs::new(options.seed));
    }
    model
}

/// Returns the mean loss of the held-out rows.
fn evaluate(model: &Llama, rows: &DataLoader<data::Rows>) -> Result<f64> {
    let loss = jit(|model: &mut Llama, batch: Batch| loss(model, &batch));
    let mut model = model.evaluated();
    let mut losses = Vec::new();
    for batch in rows.iter().prefetch_to_device(2, Placement::default()) {
        losses.push(f64::from(loss(&mut model, batch?).item::<f32>()));
    }
    Ok(losses.iter().sum::<f64>() / losses.len() as f64)
}

/// Returns the prompt with the text that the model continues it by.
fn continued(model: &Llama, tokenizer: &ByteLevelBpe, options: &Options) -> Result<String> {
    let prompt = tokenizer.encode(&options.prompt);
    let mut decoding = Decoding::new(model, Sampling::greedy(), prompt.len() + 64);
    decoding.set_tokens(&prompt);
    decoding.generate(40, &random::key(0)).for_each(drop);
    Ok(tokenizer.decode(decoding.tokens())?)
}
