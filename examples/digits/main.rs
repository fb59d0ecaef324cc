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
use model::{Classifier, evaluate, loss};
use ndarray::{Array1, Array2, Axis};
use ramie::data::digits::{self, Split};
use ramie::jit;
use ramie::nn::Rngs;
use ramie::optim::sgd;
use ramie::train::{Same, Trainer, Training};
use ramie_plot::{Colormap, HeatMap, Images};
use std::process::ExitCode;
use std::rc::Rc;

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
    let run = Run::new("digits", &options.run, options.steps)?;
    let digits = digits::load()?;
    let data = &digits.train;
    let [train, test] = [data, &digits.test].map(|s| (s.image_array(), s.label_array()));

    let model = Classifier::new(64, 128, 10, &mut Rngs::new(options.seed));
    let mut state = Training::new(model, sgd(options.learning_rate));
    let evaluate = Rc::new(jit(evaluate));
    let (losses_of, splits) = (Rc::clone(&evaluate), [train.clone(), test.clone()]);
    let trainer = Trainer::new(loss).every(100, move |context| {
        let model = &context.state.model;
        let losses = splits.each_ref().map(|(x, y)| losses_of(model, x, y).0);
        let [train, test] = losses.map(|loss| loss.item::<f32>());
        context.record("test_loss", test.into());
        let step = context.status.step;
        context.message(format!(
            "Step {step}: training loss {train:.4}, test loss {test:.4}"
        ));
        Ok(())
    });
    // Every step uses all images.
    run.fit(trainer, &mut state, Same(train))?;

    run.draw("digits.png", |path| images(data, &data.labels).save(path))?;
    let (loss, predicted) = evaluate(&state.model, &test.0, &test.1);
    let (predicted, labels) = (Array1::from(predicted.to_vec::<i32>()), &digits.test.labels);
    let correct = predicted.iter().zip(labels).filter(|(p, l)| p == l).count();
    run.draw("predictions.png", |path| {
        images(&digits.test, &predicted).save(path)
    })?;
    run.draw("confusion.png", |path| {
        confusion(labels, &predicted).save(path)
    })?;
    println!("Test loss: {:.4}", loss.item::<f32>());
    println!("Test accuracy: {}", score(correct, digits.test.len()));
    Ok(())
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

/// Counts the predictions of each digit.
fn confusion(labels: &Array1<i32>, predicted: &Array1<i32>) -> HeatMap {
    let mut counts = Array2::<i32>::zeros((10, 10));
    for (label, predicted) in labels.iter().zip(predicted) {
        counts[[*label as usize, *predicted as usize]] += 1;
    }
    HeatMap::new(&counts)
        .x_label("predicted")
        .y_label("label")
        .colormap(Colormap::Blues)
        .values()
}
