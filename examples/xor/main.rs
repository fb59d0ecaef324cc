//! Trains a classifier of noisy XOR: Linen, a train state, a data loader, a
//! checkpoint.
//!
//! `cargo run --release --example xor -- --epochs 100 --seed 42`
#![forbid(unsafe_code)]

#[path = "../common/mod.rs"]
mod common;
mod model;

use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};
use model::{SimpleClassifier, count_right, train_state, train_step};
use ramie::checkpoint::checkpoints::{SaveOptions, save_checkpoint_with};
use ramie::checkpoint::restore_checkpoint;
use ramie::data::{DataLoader, ToDevice, synthetic};
use ramie::nn::training::TrainState;
use ramie::{jit, runtime};
use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

/// Train a classifier of noisy XOR.
#[derive(Parser)]
struct Options {
    /// How often to go through the training points.
    #[arg(long, default_value_t = 100)]
    epochs: u64,
    /// Points of a step.
    #[arg(long, default_value_t = 128)]
    batch_size: usize,
    /// The seed of the initial parameters and of the order of the points.
    #[arg(long, default_value_t = 42)]
    seed: u64,
    /// The learning rate of gradient descent.
    #[arg(long, default_value_t = 0.1)]
    learning_rate: f64,
    /// Threads that make batches.
    #[arg(long, default_value_t = 0)]
    workers: usize,
    /// The folder for the checkpoint.
    #[arg(long, default_value = "out/xor")]
    out: PathBuf,
}

fn main() -> ExitCode {
    common::main(run)
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    if options.batch_size == 0 {
        return Err("--batch-size is 1 or more".into());
    }
    // A missing plugin is an error here, not a panic at the first array.
    runtime()?;
    let model = SimpleClassifier {
        num_hidden: 8,
        num_outputs: 1,
    };
    println!("{model:?}");
    let mut state = train_state(&model, options.seed, options.learning_rate);
    train(&model, &mut state, options)?;

    let save = SaveOptions::new().prefix("xor_").overwrite(true);
    let path = save_checkpoint_with(&options.out, &state, options.epochs, &save)?;
    println!("Wrote {}", path.display());

    // What is evaluated is what was saved.
    let mut restored = train_state(&model, options.seed + 1, options.learning_rate);
    restore_checkpoint(&path, &mut restored)?;
    let points = synthetic::noisy_xor(500, 123, 0.1);
    let total = points.y.len();
    let right = jit(count_right(model));
    let mut correct = 0;
    // The last batch has fewer points.
    for batch in &DataLoader::new(points).batch_size(options.batch_size) {
        let (x, y) = batch?.to_device(&Default::default())?;
        correct += right(restored.clone(), x, y).item::<i32>();
    }
    let percent = 100.0 * f64::from(correct) / total as f64;
    println!("Test accuracy: {correct}/{total} correct ({percent:.2}%)");
    Ok(())
}

fn train(
    model: &SimpleClassifier,
    state: &mut TrainState,
    options: &Options,
) -> Result<(), Box<dyn Error>> {
    let loader = DataLoader::new(synthetic::noisy_xor(2500, 42, 0.1))
        .batch_size(options.batch_size)
        .shuffle(options.seed)
        .workers(options.workers);
    let step = jit(train_step(model.clone()));
    let bar = ProgressBar::new(options.epochs).with_style(
        ProgressStyle::with_template("{bar:30} epoch {pos}/{len}  {per_sec}  {msg}")
            .expect("the template is well-formed"),
    );
    for epoch in 0..options.epochs {
        let mut last = None;
        for batch in loader.epoch(epoch) {
            let (x, y) = batch?.to_device(&Default::default())?;
            last = Some(step(state, x, y));
        }
        if let Some((loss, accuracy)) = last {
            let (loss, accuracy) = (loss.item::<f32>(), accuracy.item::<f32>());
            bar.set_message(format!("loss {loss:.4}  accuracy {accuracy:.3}"));
        }
        bar.inc(1);
    }
    bar.finish();
    Ok(())
}
