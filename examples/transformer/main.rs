//! Trains a decoder-only transformer on addition or on character-level text.
//!
//! `cargo run --release --example transformer -- --task addition`
//! `cargo run --release --example transformer -- --task text --text FILE`
#![forbid(unsafe_code)]

mod addition;
mod model;
mod text;

use addition::Sums;
use clap::{Parser, ValueEnum};
use model::{Decoder, Sizes, optimizer};
use ramie::Array;
use ramie::data::readers::text::Characters;
use ramie::data::{DataLoader, Source, SourceExt};
use ramie::nn::Rngs;
use ramie::train::{Trainer, Training};
use ramie_examples::{Result, Run, RunOptions};
use std::path::PathBuf;
use std::process::ExitCode;

/// Train a decoder-only transformer.
#[derive(Parser)]
struct Options {
    /// Task.
    #[arg(long, value_enum, default_value = "addition")]
    task: Task,
    /// Training steps.
    #[arg(long, default_value = "800", default_value_if("task", "text", "1000"))]
    steps: u64,
    /// Batch size: sums or windows of text.
    #[arg(long, default_value = "256", default_value_if("task", "text", "16"))]
    batch_size: usize,
    /// Model width; must be a multiple of 2 × --heads.
    #[arg(long, default_value = "64", default_value_if("task", "text", "128"))]
    width: usize,
    /// Attention heads.
    #[arg(long, default_value = "4")]
    heads: usize,
    /// Transformer blocks.
    #[arg(long, default_value = "2", default_value_if("task", "text", "4"))]
    layers: usize,
    /// Peak learning rate.
    #[arg(
        long,
        default_value = "0.003",
        default_value_if("task", "text", "0.002")
    )]
    learning_rate: f64,
    /// Seed of the initial parameters and of the data order.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Addition: digits per number.
    #[arg(long, default_value_t = 3)]
    digits: usize,
    /// Addition: held-out sums for testing.
    #[arg(long, default_value_t = 2000)]
    held_out: usize,
    /// Text: a file; defaults to the sources of this project. The last tenth, up to 100,000
    /// characters, is held out for testing.
    #[arg(long)]
    text: Option<PathBuf>,
    /// Text: window length in characters.
    #[arg(long, default_value_t = 128)]
    length: usize,
    /// Text: prompt of the samples.
    #[arg(long, default_value = "pub fn ")]
    prompt: String,
    /// Text: number of characters to sample at the end.
    #[arg(long, default_value_t = 400)]
    sample: usize,
    #[command(flatten)]
    run: RunOptions,
}

/// Maximum number of held-out characters to evaluate.
const JUDGED: usize = 100_000;

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Task {
    /// Sums of two numbers, such as 123+456=579.
    Addition,
    /// The next character of a text.
    Text,
}

fn main() -> ExitCode {
    ramie_examples::main(run)
}

fn run(options: &Options) -> Result {
    if options.heads == 0 || !options.width.is_multiple_of(2 * options.heads) || options.width == 0
    {
        return Err("--width must be a multiple of 2 × --heads".into());
    }
    if options.batch_size == 0 || options.length == 0 {
        return Err("--batch-size and --length must be at least 1".into());
    }
    match options.task {
        Task::Addition => add(options),
        Task::Text => write(options),
    }
}

fn add(options: &Options) -> Result {
    let sums = Sums {
        digits: options.digits,
    };
    if !(1..=4).contains(&sums.digits) || options.held_out >= sums.len() {
        return Err(
            "--digits must be from 1 to 4, and --held-out less than the number of sums".into(),
        );
    }
    let run = Run::new("transformer/addition", &options.run, options.steps)?;
    let lengths = [options.held_out, sums.len() - options.held_out];
    let [held_out, others] = sums.random_split(lengths, options.seed);
    let model = train(&run, options, addition::VOCABULARY, others, sums.given())?;
    println!("Held-out sums with the model's answers:");
    let (correct, total) = addition::exact_matches(&model, sums, held_out)?;
    let percent = 100.0 * correct as f64 / total.max(1) as f64;
    println!("Exact match: {correct}/{total} ({percent:.2}%)");
    Ok(())
}

fn write(options: &Options) -> Result {
    let text = text::load(options.text.as_deref())?;
    let characters = Characters::of(&text);
    let tokens = characters.encode(&text)?;
    let (first, last) = tokens.split_at(tokens.len() / 10 * 9);
    let judged = &last[..last.len().min(JUDGED)];
    // Fail now rather than after the training.
    if judged.len() <= options.length * options.batch_size {
        return Err(format!(
            "the held-out last tenth of the text has {} characters, too few for a batch of \
             --batch-size {} windows of --length {}: use a longer text, or smaller values",
            last.len(),
            options.batch_size,
            options.length
        )
        .into());
    }
    if options.prompt.is_empty() {
        return Err("--prompt must not be empty".into());
    }
    characters
        .encode(&options.prompt)
        .map_err(|e| format!("--prompt: {e}"))?;
    let run = Run::new("transformer/text", &options.run, options.steps)?;
    println!("{} characters, {} distinct", tokens.len(), characters.len());
    let windows = text::windows(first, options.length);
    let model = train(&run, options, characters.len(), windows, 1)?;
    if options.sample > 0 {
        let (prompt, count) = (&options.prompt, options.sample);
        let sample = text::sample(&model, &characters, prompt, count, options.seed)?;
        println!("--\n{sample}\n--");
    }
    let windows = text::windows(judged, options.length);
    let bits = text::bits_per_character(&model, windows, options.batch_size)?;
    println!("Bits per character: {bits:.3}");
    Ok(())
}

/// Trains a model on token sequences; the first `given` tokens of each are not learned.
fn train(
    run: &Run,
    options: &Options,
    vocabulary: usize,
    sequences: impl Source<Item = Vec<i32>> + 'static,
    given: usize,
) -> Result<Decoder> {
    let sizes = Sizes {
        vocabulary,
        width: options.width,
        heads: options.heads,
        layers: options.layers,
    };
    let model = Decoder::new(&sizes, &mut Rngs::new(options.seed));
    let loader = DataLoader::new(sequences)
        .batch_size(options.batch_size)
        .shuffle(options.seed)
        .drop_last()
        .workers(1);
    if loader.is_empty() {
        return Err("not enough data for a batch: use a smaller --batch-size".into());
    }
    let mut state = Training::new(model, optimizer(options.learning_rate, options.steps));
    // ANCHOR: train
    let loss = move |model: &mut Decoder, tokens: Array| model.losses(&tokens, given).mean();
    let trainer = Trainer::new(loss).every(100, |context| {
        let (step, loss) = (context.status.step, context.history.last("loss"));
        let loss = loss.unwrap_or(f64::NAN);
        context.message(format!("Step {step}: training loss {loss:.4}"));
        Ok(())
    });
    run.fit(trainer, &mut state, loader)?;
    // ANCHOR_END: train
    Ok(state.model)
}
