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
use ramie::data::digits::{self, Split};
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
    let model = Classifier::new(&mut Rngs::new(options.seed));
    let mut trainer = Trainer::new(model, options.learning_rate);
    train(&mut run, &mut trainer, &digits.train)?;

    let (loss, predicted) = jit(evaluate)(
        trainer.model,
        digits.test.pixel_array(),
        digits.test.label_array(),
    );
    let predicted = predicted.to_vec::<i32>();
    let pairs = predicted.iter().zip(&digits.test.labels);
    let correct = pairs.filter(|(p, l)| p == l).count();
    run.finish()?;
    run.draw(|folder| picture::tiles(folder, "predictions.png", &tiles(&digits.test, &predicted)))?;
    println!("Test loss: {:.4}", loss.item::<f32>());
    println!("Test accuracy: {}", score(correct, digits.test.len()));
    Ok(())
}

fn train(run: &mut Run, trainer: &mut Trainer, data: &Split) -> Result {
    let (images, labels) = (data.pixel_array(), data.label_array());
    let step = jit(train_step);
    // Every step uses all images, so there is no data position to save.
    run.restore::<()>(trainer)?;
    while run.goes_on() {
        common::ahead(|| step.lower_with(trainer, (images.clone(), labels.clone())))?;
        let loss = step(trainer, images.clone(), labels.clone());
        run.stepped(&[("loss", &loss)])?;
        if run.step.is_multiple_of(100) {
            run.say(format!("Step {}: training loss {loss:.4}", run.step));
        }
        run.checkpoint(trainer, &())?;
    }
    Ok(())
}

/// Draws the first 100 images with their predicted digits.
fn tiles(data: &Split, predicted: &[i32]) -> Vec<Tile> {
    let images = data.images.outer_iter().take(100);
    let tile = |(image, (predicted, label)): (ndarray::ArrayView2<'_, f32>, (&i32, &i32))| Tile {
        // 16 is the maximum brightness.
        pixels: image.iter().map(|p| p / 16.0).collect(),
        width: 8,
        text: predicted.to_string(),
        right: predicted == label,
    };
    images
        .zip(predicted.iter().zip(&data.labels))
        .map(tile)
        .collect()
}
