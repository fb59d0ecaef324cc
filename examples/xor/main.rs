//! Trains a classifier of noisy XOR with Linen, a train state, a data loader and
//! checkpoints.
//!
//! `cargo run --release --example xor -- --epochs 100 --seed 42`
#![forbid(unsafe_code)]

mod model;

use clap::Parser;
use model::{SimpleClassifier, eval_step, train_state, train_step};
use ramie::data::{DataLoader, Placement, Resumable, synthetic};
use ramie::jit;
use ramie::train::{PerCall, Trainer};
use ramie_examples::{Result, Run, RunOptions, score};
use std::process::ExitCode;

/// Train a classifier of noisy XOR.
#[derive(Parser)]
struct Options {
    /// Number of epochs over the 2,500 training points.
    #[arg(long, default_value_t = 100)]
    epochs: usize,
    /// Batch size.
    #[arg(long, default_value_t = 128)]
    batch_size: usize,
    /// Seed of the initial parameters and of the data order.
    #[arg(long, default_value_t = 42)]
    seed: u64,
    /// Learning rate of gradient descent.
    #[arg(long, default_value_t = 0.1)]
    learning_rate: f64,
    /// Number of loader threads.
    #[arg(long, default_value_t = 0)]
    workers: usize,
    /// Number of training steps per call. Several steps per call reduce the overhead of calls,
    /// which exceeds the time of a single step here.
    #[arg(long, default_value_t = 1)]
    steps_per_call: usize,
    #[command(flatten)]
    run: RunOptions,
}

fn main() -> ExitCode {
    ramie_examples::main(run)
}

fn run(options: &Options) -> Result {
    if options.batch_size == 0 || options.steps_per_call == 0 {
        return Err("--batch-size and --steps-per-call must be at least 1".into());
    }
    let loader = DataLoader::new(synthetic::noisy_xor(2500, 42, 0.1))
        .batch_size(options.batch_size)
        .shuffle(options.seed)
        .workers(options.workers)
        .epochs(options.epochs);
    let steps = options.epochs * loader.len();
    let run = Run::new("xor", &options.run, steps as u64)?;
    let model = SimpleClassifier {
        num_hidden: 8,
        num_outputs: 1,
    };
    println!("{model:?}");
    let mut state = train_state(model, options.seed, options.learning_rate);
    // ANCHOR: train
    let trainer = Trainer::from_step(train_step).metrics(["loss", "accuracy"]);
    match options.steps_per_call {
        1 => run.fit(trainer, &mut state, loader)?,
        n => run.fit(trainer, &mut state, PerCall::new(n, loader))?,
    };
    // ANCHOR_END: train

    let points = synthetic::noisy_xor(500, 123, 0.1);
    let total = points.y.len();
    let accuracy = jit(eval_step);
    // The last batch is smaller, so batches count by their sizes.
    let mut correct = 0.0;
    let batches = DataLoader::new(points)
        .batch_size(options.batch_size)
        .iter();
    for batch in batches.prefetch_to_device(2, Placement::default()) {
        let (x, y) = batch?;
        let size = x.shape()[0] as f32;
        correct += accuracy(&state, x, y).item::<f32>() * size;
    }
    println!("Test accuracy: {}", score(correct.round() as usize, total));
    Ok(())
}
