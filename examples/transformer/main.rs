//! Trains a decoder-only transformer: to add numbers, or to continue a text
//! character by character.
//!
//! `cargo run --release --example transformer -- --task addition`
//! `cargo run --release --example transformer -- --task text --text FILE`
#![forbid(unsafe_code)]

mod addition;
#[path = "../common/mod.rs"]
mod common;
mod model;
mod text;

use addition::Sums;
use clap::{Parser, ValueEnum};
use common::{Result, Run, RunOptions};
use model::{Decoder, Sizes, Trainer, train_step};
use ramie::data::readers::text::Characters;
use ramie::data::{DataLoader, Placement, Resumable, Source};
use ramie::jit;
use ramie::nn::Rngs;
use std::path::PathBuf;
use std::process::ExitCode;

/// Train a decoder-only transformer.
#[derive(Parser)]
struct Options {
    /// What to learn.
    #[arg(long, value_enum, default_value = "addition")]
    task: Task,
    /// How many steps to train.
    #[arg(long, default_value = "800", default_value_if("task", "text", "1000"))]
    steps: u64,
    /// Sums or windows of text in a step.
    #[arg(long, default_value = "256", default_value_if("task", "text", "16"))]
    batch_size: usize,
    /// Features of a token; a multiple of twice the heads.
    #[arg(long, default_value = "64", default_value_if("task", "text", "128"))]
    width: usize,
    /// Heads of attention.
    #[arg(long, default_value = "4")]
    heads: usize,
    /// Blocks of attention and perceptron.
    #[arg(long, default_value = "2", default_value_if("task", "text", "4"))]
    layers: usize,
    /// The highest learning rate.
    #[arg(
        long,
        default_value = "0.003",
        default_value_if("task", "text", "0.002")
    )]
    learning_rate: f64,
    /// The seed of the initial parameters and of the order of the data.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Addition: digits of the numbers.
    #[arg(long, default_value_t = 3)]
    digits: usize,
    /// Addition: sums that are not trained on, but tested.
    #[arg(long, default_value_t = 2000)]
    held_out: usize,
    /// Text: a file; without it the sources of this project. The last tenth is not
    /// trained on, but tested, up to 100,000 characters of it.
    #[arg(long)]
    text: Option<PathBuf>,
    /// Text: characters of a window.
    #[arg(long, default_value_t = 128)]
    length: usize,
    /// Text: what samples begin with.
    #[arg(long, default_value = "pub fn ")]
    prompt: String,
    /// Text: how many characters to sample at the end.
    #[arg(long, default_value_t = 400)]
    sample: usize,
    #[command(flatten)]
    run: RunOptions,
}

/// How many characters of the held-out text are judged.
const JUDGED: usize = 100_000;

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Task {
    /// Sums of two numbers, such as 123+456=579.
    Addition,
    /// The next character of a text.
    Text,
}

fn main() -> ExitCode {
    common::main(run)
}

fn run(options: &Options) -> Result {
    if options.heads == 0 || !options.width.is_multiple_of(2 * options.heads) || options.width == 0
    {
        return Err("--width is to be a multiple of twice --heads".into());
    }
    if options.batch_size == 0 || options.length == 0 {
        return Err("--batch-size and --length are 1 or more".into());
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
        return Err("--digits is 1 to 4, and --held-out less than there are sums".into());
    }
    let mut run = Run::new("transformer/addition", &options.run, options.steps)?;
    let lengths = [options.held_out, sums.len() - options.held_out];
    let [held_out, others] = sums.random_split(lengths, options.seed);
    let model = train(
        &mut run,
        options,
        addition::VOCABULARY,
        others,
        sums.given(),
    )?;
    run.finish()?;
    println!("Held-out sums, of which the model made what is behind the sign:");
    let (correct, total) = addition::exact_matches(&model, sums, held_out)?;
    let percent = 100.0 * correct as f64 / total.max(1) as f64;
    run.record(&[("exact_match", percent / 100.0)])?;
    println!("Exact match: {correct}/{total} ({percent:.2}%)");
    Ok(())
}

fn write(options: &Options) -> Result {
    let text = text::load(options.text.as_deref())?;
    let characters = Characters::of(&text);
    let tokens = characters.encode(&text)?;
    let (first, last) = tokens.split_at(tokens.len() / 10 * 9);
    let judged = &last[..last.len().min(JUDGED)];
    // Better to fail now than after the training.
    if judged.len() <= options.length * options.batch_size {
        return Err(format!(
            "the last tenth of the text, {} characters, which is tested, does not fill a batch of \
             --batch-size {} windows of --length {}: give a longer text, or less of these",
            last.len(),
            options.batch_size,
            options.length
        )
        .into());
    }
    if options.prompt.is_empty() {
        return Err("--prompt is to have a character at least".into());
    }
    characters
        .encode(&options.prompt)
        .map_err(|e| format!("--prompt: {e}"))?;
    let mut run = Run::new("transformer/text", &options.run, options.steps)?;
    println!(
        "{} characters, of which {} differ",
        tokens.len(),
        characters.len()
    );
    let windows = text::windows(first, options.length);
    let model = train(&mut run, options, characters.len(), windows, 1)?;
    run.finish()?;
    if options.sample > 0 {
        let (prompt, count) = (&options.prompt, options.sample);
        let sample = text::sample(&model, &characters, prompt, count, options.seed)?;
        println!("--\n{sample}\n--");
    }
    let windows = text::windows(judged, options.length);
    let bits = text::bits_per_character(&model, windows, options.batch_size)?;
    run.record(&[("bits_per_character", bits)])?;
    println!("Bits per character: {bits:.3}");
    Ok(())
}

/// A model trained on sequences of tokens, of which the first `given` are not to
/// be learned.
fn train(
    run: &mut Run,
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
    let mut trainer = Trainer::new(model, options.learning_rate, options.steps);
    let loader = DataLoader::new(sequences)
        .batch_size(options.batch_size)
        .shuffle(options.seed)
        .drop_last()
        .workers(1)
        .epochs(u64::MAX);
    if loader.is_empty() {
        return Err("there is not enough for a batch: give a smaller --batch-size".into());
    }
    let step = jit(train_step(given));
    let batches = match run.restore(&mut trainer)? {
        Some(position) => loader.resume(&position)?,
        None => loader.iter(),
    };
    let mut batches = batches.prefetch_to_device(2, Placement::default());
    while run.goes_on() {
        let tokens = batches.next().ok_or("there are no batches left")??;
        common::ahead(|| step.lower_with(&trainer, (tokens.clone(),)))?;
        let loss = step(&mut trainer, tokens);
        run.stepped(&[("loss", &loss)])?;
        if run.step.is_multiple_of(100) {
            run.say(format!("Step {}: training loss {loss:.4}", run.step));
        }
        run.checkpoint(&trainer, &batches.state())?;
    }
    Ok(trainer.model)
}
