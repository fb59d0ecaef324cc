//! Trains a classifier of handwritten digits, from built-in data to pictures of its
//! predictions.
//!
//! `cargo run --release --example digits -- --steps 500 --seed 0`
#![forbid(unsafe_code)]

#[path = "../common/mod.rs"]
mod common;
mod model;

use clap::Parser;
use common::picture::{self, Tile};
use common::{Result, Run, RunOptions, score};
use model::{Classifier, Trainer, evaluate, train_step};
use ndarray::{Array1, ArrayView2};
use ramie::data::digits::{self, Digits, Split};
use ramie::jit;
use ramie::nn::Rngs;
use std::process::ExitCode;

/// Train a classifier of handwritten digits.
#[derive(Parser)]
struct Options {
    /// Training steps, each on all 1,347 training images.
    #[arg(long, default_value_t = 500)]
    steps: u64,
    /// Seed of the initial parameters.
    #[arg(long, default_value_t = 0)]
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
    let mut run = Run::new("digits", &options.run, options.steps)?;
    let digits = digits::load()?;
    let data = &digits.train;
    run.draw(|folder| picture::tiles(folder, "digits.png", &tiles(data, &data.labels)))?;
    let model = Classifier::new(64, 128, 10, &mut Rngs::new(options.seed));
    let mut trainer = Trainer::new(model, options.learning_rate);
    let (loss, predicted) = train(&mut run, &mut trainer, &digits)?;

    let labels = &digits.test.labels;
    let correct = predicted.iter().zip(labels).filter(|(p, l)| p == l).count();
    run.finish()?;
    run.draw(|folder| picture::tiles(folder, "predictions.png", &tiles(&digits.test, &predicted)))?;
    println!("Test loss: {loss:.4}");
    println!("Test accuracy: {}", score(correct, digits.test.len()));
    Ok(())
}

/// Trains on all images in every step. Returns the loss on the test split and its predicted digits.
fn train(run: &mut Run, trainer: &mut Trainer, digits: &Digits) -> Result<(f32, Array1<i32>)> {
    let [train, test] = [&digits.train, &digits.test].map(|s| (s.image_array(), s.label_array()));
    let (step, evaluate) = (jit(train_step), jit(evaluate));
    // Every step uses all images, so there is no data position to save.
    run.restore::<()>(trainer)?;
    while run.goes_on() {
        common::ahead(|| step.lower_with(trainer, train.clone()))?;
        let loss = step(trainer, train.0.clone(), train.1.clone());
        run.stepped(&[("loss", &loss)])?;
        if run.step.is_multiple_of(100) {
            let losses = [&train, &test].map(|(x, y)| evaluate(&trainer.model, x, y).0);
            let [train, test] = losses.map(|loss| loss.item::<f32>());
            run.say(format!(
                "Step {}: training loss {train:.4}, test loss {test:.4}",
                run.step
            ));
        }
        run.checkpoint(trainer, &())?;
    }
    let (loss, predicted) = evaluate(&trainer.model, &test.0, &test.1);
    Ok((loss.item(), predicted.to_vec().into()))
}

/// Draws the first 100 images with digits, in green if they are the labels.
fn tiles(data: &Split, digits: &Array1<i32>) -> Vec<Tile> {
    let images = data.images.outer_iter().take(100);
    let tile = |(image, (digit, label)): (ArrayView2<'_, f32>, (&i32, &i32))| Tile {
        // 16 is the maximum brightness.
        pixels: image.iter().map(|p| p / 16.0).collect(),
        width: 8,
        text: digit.to_string(),
        right: digit == label,
    };
    images
        .zip(digits.iter().zip(&data.labels))
        .map(tile)
        .collect()
}
