//! Trains a classifier of handwritten digits in the way of Linen: the model is
//! its hyperparameters, its variables a value. `digits` is the same in the way of
//! NNX.
//!
//! `cargo run --release --example digits_linen -- --steps 500 --seed 1`
#![forbid(unsafe_code)]

#[path = "../common/mod.rs"]
mod common;
mod model;

use clap::Parser;
use model::{Classifier, evaluate, train_step, trainer};
use ramie::data::digits;
use ramie::nn::linen::Module;
use ramie::nn::training::writers::{JsonLinesWriter, MetricWriter};
use ramie::{Platform, RuntimeOptions, configure, jit, random, runtime};
use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

/// Train a classifier of handwritten digits.
#[derive(Parser)]
struct Options {
    /// How many steps to train, each on all 1,347 training images.
    #[arg(long, default_value_t = 500)]
    steps: usize,
    /// The seed of the initial parameters. From those of seed 0 gradient descent
    /// diverges at this rate, here as in Flax.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The learning rate of gradient descent.
    #[arg(long, default_value_t = 0.05)]
    learning_rate: f64,
    /// A file for the losses, as JSON lines.
    #[arg(long)]
    log: Option<PathBuf>,
    /// Where to train: cpu, cuda or tpu; by default the best that there is.
    #[arg(long)]
    platform: Option<Platform>,
}

fn main() -> ExitCode {
    common::main(run)
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    configure(RuntimeOptions {
        platform: options.platform,
        ..Default::default()
    })?;
    // A missing plugin is an error here, not a panic at the first array.
    runtime()?;
    let mut log = options
        .log
        .as_ref()
        .map(JsonLinesWriter::create)
        .transpose()?;
    let digits = digits::load()?;
    let (images, labels) = (digits.train.pixel_array(), digits.train.label_array());

    let variables = Classifier::default().init(random::key(options.seed), images.clone());
    let mut state = trainer(variables.params(), options.learning_rate);
    let step = jit(train_step);
    for i in 1..=options.steps {
        let loss = step(&mut state, images.clone(), labels.clone());
        if i % 100 == 0 {
            println!("Step {i}: training loss {:.4}", loss.item::<f32>());
        }
        if let Some(log) = &mut log {
            log.scalar(i as u64, "loss", f64::from(loss.item::<f32>()))?;
        }
    }
    if let Some(log) = &mut log {
        log.flush()?;
    }

    let test = (digits.test.pixel_array(), digits.test.label_array());
    let (loss, predicted) = jit(evaluate)(state.params, test.0, test.1.clone());
    let correct = predicted.eq(&test.1).count_nonzero().item::<i32>();
    let total = digits.test.len();
    println!("Test loss: {:.4}", loss.item::<f32>());
    let percent = 100.0 * f64::from(correct) / total as f64;
    println!("Test accuracy: {correct}/{total} correct ({percent:.2}%)");
    Ok(())
}
