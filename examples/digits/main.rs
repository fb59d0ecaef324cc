//! Trains a classifier of handwritten digits, from data in the program to
//! pictures of what it got right and wrong.
//!
//! `cargo run --release --example digits -- --steps 500 --seed 0`
#![forbid(unsafe_code)]

#[path = "../common/mod.rs"]
mod common;
mod glyphs;
mod model;
mod plot;

use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};
use model::{Classifier, Trainer, evaluate, train_step};
use ramie::data::digits::{self, Split};
use ramie::nn::Rngs;
use ramie::{Array, Platform, RuntimeOptions, configure, jit, runtime};
use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

/// Train a classifier of handwritten digits.
#[derive(Parser)]
struct Options {
    /// How many steps to train, each on all 1,347 training images.
    #[arg(long, default_value_t = 500)]
    steps: usize,
    /// The seed of the initial parameters.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// The learning rate of gradient descent.
    #[arg(long, default_value_t = 0.05)]
    learning_rate: f64,
    /// The folder for the pictures.
    #[arg(long, default_value = "out/digits")]
    out: PathBuf,
    /// Where to train: cpu, cuda or tpu; by default the best that there is.
    #[arg(long)]
    platform: Option<Platform>,
    /// Write no pictures.
    #[arg(long)]
    no_plots: bool,
}

fn main() -> ExitCode {
    common::main(run)
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    // Better to fail now than after the training.
    if !options.no_plots {
        std::fs::create_dir_all(&options.out)
            .map_err(|e| format!("{}: the folder cannot be made: {e}", options.out.display()))?;
    }
    configure(RuntimeOptions {
        platform: options.platform,
        ..Default::default()
    })?;
    // A missing plugin is an error here, not a panic at the first array.
    runtime()?;
    let digits = digits::load()?;

    let model = Classifier::new(&mut Rngs::new(options.seed));
    let mut trainer = Trainer::new(model, options.learning_rate);
    let losses = train(&mut trainer, &digits.train, options.steps);

    let (loss, predicted) = jit(evaluate)(
        trainer.model,
        digits.test.pixel_array(),
        digits.test.label_array(),
    );
    let predicted = predicted.to_vec::<i32>();
    let correct = predicted
        .iter()
        .zip(&digits.test.labels)
        .filter(|(p, l)| p == l);
    let (correct, total) = (correct.count(), digits.test.len());

    if !options.no_plots {
        for path in [
            plot::predictions(&options.out, &digits.test, &predicted)?,
            plot::loss_curve(&options.out, &losses)?,
        ] {
            println!("Wrote {}", path.display());
        }
    }
    println!("Test loss: {:.4}", loss.item::<f32>());
    let percent = 100.0 * correct as f64 / total as f64;
    println!("Test accuracy: {correct}/{total} correct ({percent:.2}%)");
    Ok(())
}

/// Makes the steps, and returns the loss before each of them.
fn train(trainer: &mut Trainer, data: &Split, steps: usize) -> Vec<f32> {
    let (images, labels) = (data.pixel_array(), data.label_array());
    let step = jit(train_step);
    let bar = ProgressBar::new(steps as u64).with_style(
        ProgressStyle::with_template("{bar:30} step {pos}/{len}  {per_sec}  loss {msg}")
            .expect("the template is well-formed"),
    );
    let mut losses: Vec<Array> = Vec::with_capacity(steps);
    for i in 1..=steps {
        losses.push(step(trainer, images.clone(), labels.clone()));
        // The loss of some steps ago is computed by now: reading it does not
        // hold the device up.
        if i % 20 == 0 {
            let shown = losses[i.saturating_sub(10)].item::<f32>();
            bar.set_message(format!("{shown:.4}"));
            bar.set_position(i as u64);
        }
        if i % 100 == 0 {
            let loss = losses[i - 1].item::<f32>();
            bar.suspend(|| println!("Step {i}: training loss {loss:.4}"));
        }
    }
    bar.finish();
    losses.iter().map(Array::item).collect()
}
