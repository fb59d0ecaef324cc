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
use model::{Classifier, evaluate, train_step, trainer};
use ramie::data::digits;
use ramie::nn::linen::Module;
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
    let mut run = Run::new("digits_linen", &options.run, options.steps)?;
    let digits = digits::load()?;
    let (images, labels) = (digits.train.pixel_array(), digits.train.label_array());

    let variables = Classifier::default().init(random::key(options.seed), images.clone());
    let mut state = trainer(variables.params(), options.learning_rate);
    let step = jit(train_step);
    // Every step uses all images, so there is no data position to save.
    run.restore::<()>(&mut state)?;
    while run.goes_on() {
        common::ahead(|| step.lower_with(&state, (images.clone(), labels.clone())))?;
        let loss = step(&mut state, images.clone(), labels.clone());
        run.stepped(&[("loss", &loss)])?;
        if run.step.is_multiple_of(100) {
            run.say(format!("Step {}: training loss {loss:.4}", run.step));
        }
        run.checkpoint(&state, &())?;
    }

    let (images, labels) = (digits.test.pixel_array(), digits.test.label_array());
    let (loss, predicted) = jit(evaluate)(state.params, images, labels.clone());
    let correct = predicted.eq(&labels).count_nonzero().item::<i32>();
    run.finish()?;
    println!("Test loss: {:.4}", loss.item::<f32>());
    println!(
        "Test accuracy: {}",
        score(correct as usize, digits.test.len())
    );
    Ok(())
}
