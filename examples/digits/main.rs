//! Trains a classifier of handwritten digits, from built-in data to pictures of its
//! predictions.
//!
//! `cargo run --release --example digits -- --steps 500 --seed 0`
#![forbid(unsafe_code)]

#[path = "../common/mod.rs"]
mod common;
mod model;

use clap::Parser;
use common::{Result, Run, RunOptions, score};
use model::{Classifier, Trainer, evaluate, train_step};
use ndarray::{Array1, Axis};
use ramie::data::digits::{self, Digits, Split};
use ramie::jit;
use ramie::nn::Rngs;
use ramie_plot::{Colormap, Images};
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
    run.draw("digits.png", |path| images(data, &data.labels).save(path))?;
    let model = Classifier::new(64, 128, 10, &mut Rngs::new(options.seed));
    let mut trainer = Trainer::new(model, options.learning_rate);
    let (loss, predicted) = train(&mut run, &mut trainer, &digits)?;

    let labels = &digits.test.labels;
    let correct = predicted.iter().zip(labels).filter(|(p, l)| p == l).count();
    run.finish()?;
    run.draw("predictions.png", |path| {
        images(&digits.test, &predicted).save(path)
    })?;
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

// ANCHOR: images
/// Draws the first 100 images with digits, in green if they are the labels.
fn images(data: &Split, digits: &Array1<i32>) -> Images {
    let correct = digits.iter().zip(&data.labels).map(|(a, b)| a == b);
    Images::new(data.images.slice_axis(Axis(0), (..100).into()))
        .range(0.0..16.0)
        .colormap(Colormap::Greys)
        .captions(digits)
        .correct(correct)
}
// ANCHOR_END: images
