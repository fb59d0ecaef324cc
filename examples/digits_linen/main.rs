//! Trains a classifier of handwritten digits in the Linen style: the model contains
//! hyperparameters, and its variables are a value. The example `digits` does the same in the NNX
//! style.
//!
//! `cargo run --release --example digits_linen -- --steps 500 --seed 1`
#![forbid(unsafe_code)]

#[path = "../common/mod.rs"]
mod common;
mod model;

use clap::Parser;
use common::{Result, Run, RunOptions, score};
use model::{Classifier, evaluate, train_state, train_step};
use ramie::data::digits;
use ramie::nn::linen::Module;
use ramie::train::{Same, Trainer};
use ramie::{jit, random};
use std::process::ExitCode;

/// Train a classifier of handwritten digits.
#[derive(Parser)]
struct Options {
    /// Training steps, each on all 1,347 training images.
    #[arg(long, default_value_t = 500)]
    steps: u64,
    /// Seed of the initial parameters. With seed 0, gradient descent diverges at this
    /// rate, as in Flax.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Learning rate of gradient descent.
    #[arg(long, default_value_t = 0.05)]
    learning_rate: f64,
    #[command(flatten)]
    run: RunOptions,
}

fn main() -> ExitCode {
    common::main(run)
}

fn run(options: &Options) -> Result {
    let run = Run::new("digits_linen", &options.run, options.steps)?;
    let digits = digits::load()?;
    let (images, labels) = (digits.train.pixel_array(), digits.train.label_array());

    let variables = Classifier::default().init(random::key(options.seed), images.clone());
    let mut state = train_state(variables.params(), options.learning_rate);
    let trainer = Trainer::from_step(train_step).every(100, |context| {
        let (step, loss) = (context.status.step, context.history.last("loss"));
        let loss = loss.unwrap_or(f64::NAN);
        context.message(format!("Step {step}: training loss {loss:.4}"));
        Ok(())
    });
    // Every step uses all images.
    run.fit(trainer, &mut state, Same((images, labels)))?;

    let (images, labels) = (digits.test.pixel_array(), digits.test.label_array());
    let (loss, predicted) = jit(evaluate)(state.params, images, labels.clone());
    let correct = predicted.eq(&labels).count_nonzero().item::<i32>();
    println!("Test loss: {:.4}", loss.item::<f32>());
    println!(
        "Test accuracy: {}",
        score(correct as usize, digits.test.len())
    );
    Ok(())
}
