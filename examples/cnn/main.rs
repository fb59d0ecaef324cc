//! Trains a convolutional network with batch normalization, dropout and data
//! augmentation.
//!
//! `cargo run --release --example cnn`
//! `cargo run --release --example cnn -- --data mnist`
#![forbid(unsafe_code)]

mod images;
mod model;

use clap::Parser;
use images::{Batch, Images};
use model::{Cnn, classify, loss, optimizer};
use ndarray::{Array1, Array2, Axis};
use ramie::data::{Augment, DataLoader, Placement, Resumable};
use ramie::nn::nnx::{self, TabulateOptions};
use ramie::nn::{Module, Rngs};
use ramie::train::{Trainer, Training};
use ramie::{Array, DType, jit};
use ramie_examples::{Result, Run, RunOptions, score};
use ramie_plot::{Colormap, HeatMap};
use std::process::ExitCode;

/// Train a convolutional network on images of digits.
#[derive(Parser)]
struct Options {
    /// Number of epochs.
    #[arg(long, default_value_t = 25)]
    epochs: usize,
    /// Batch size.
    #[arg(long, default_value_t = 64)]
    batch_size: usize,
    /// Number of features of the first convolution.
    #[arg(long, default_value_t = 32)]
    width: usize,
    /// Dropout rate before the last layer.
    #[arg(long, default_value_t = 0.4)]
    dropout: f64,
    /// Images: `digits` (built in), `mnist` (downloaded once), or a directory of
    /// MNIST-format files: train-images-idx3-ubyte and so on, optionally .gz.
    #[arg(long, default_value = "digits")]
    data: String,
    /// Maximum random rotation of images, in degrees.
    #[arg(long, default_value_t = 15.0)]
    rotation: f64,
    /// Maximum random shift of images, in pixels.
    #[arg(long, default_value_t = 1)]
    shift: usize,
    /// Initial learning rate.
    #[arg(long, default_value_t = 0.003)]
    learning_rate: f64,
    /// Seed of all random numbers.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    run: RunOptions,
}

fn main() -> ExitCode {
    ramie_examples::main(run)
}

fn run(options: &Options) -> Result {
    if options.batch_size == 0 || options.width == 0 || !(0.0..1.0).contains(&options.dropout) {
        return Err("--batch-size and --width must be at least 1, and --dropout below 1".into());
    }
    let (train_images, test_images) = images::load(&options.data)?;
    let (mean, deviation) = train_images.statistics();
    let augment = train_images
        .moved(options.rotation, options.shift)
        .normalise(&mean, &deviation);
    let loader = train_images
        .loader(augment, options.seed)
        .batch_size(options.batch_size)
        .shuffle(options.seed)
        .drop_last()
        .workers(1)
        .epochs(options.epochs);
    let steps = options.epochs * loader.len();
    let run = Run::new("cnn", &options.run, steps as u64)?;

    let mut rngs = Rngs::new(options.seed);
    let model = Cnn::new(options.width, options.dropout, &mut rngs);
    let (_, height, width) = train_images.pixels.dim();
    let x = Array::zeros(&[1, height, width, 1], DType::F32);
    let table = TabulateOptions::new().depth(2);
    println!("{}", nnx::tabulate(&model, x, table, |m, x| m.forward(&x)));
    let as_they_are = Augment::new().normalise(&mean, &deviation);
    let test = || test_images.loader(as_they_are.clone(), 0).batch_size(450);
    let mut state = Training::new(model, optimizer(options.learning_rate, steps));
    let trainer = Trainer::new(loss)
        .metrics(["loss", "accuracy"])
        .validate(test());
    run.fit(trainer, &mut state, loader)?;

    let predicted = predictions(&mut state.model, &test())?;
    let pairs = predicted.iter().zip(&test_images.labels);
    let correct = pairs.filter(|(p, l)| p == l).count();
    run.draw("predictions.png", |path| {
        grid(&test_images, &predicted).save(path)
    })?;
    run.draw("confusion.png", |path| {
        confusion(&test_images.labels, &predicted).save(path)
    })?;
    println!("Test accuracy: {}", score(correct, predicted.len()));
    Ok(())
}

/// Returns the predicted digits. The model is in evaluation mode: no dropout, and
/// normalization with running statistics.
fn predictions(model: &mut Cnn, loader: &DataLoader<Batch>) -> Result<Vec<i32>> {
    model.eval();
    let classify = jit(classify);
    let mut predicted = Vec::new();
    for batch in loader.iter().prefetch_to_device(2, Placement::default()) {
        let (images, _) = batch?;
        predicted.extend(classify(model, images).to_vec::<i32>());
    }
    Ok(predicted)
}

// ANCHOR: grid
/// Draws a hundred images with their predicted digits, misclassified ones first.
fn grid(images: &Images, predicted: &[i32]) -> ramie_plot::Images {
    let right = |i: &usize| predicted[*i] == images.labels[*i];
    let mut order: Vec<usize> = (0..predicted.len()).collect();
    // The sort is stable.
    order.sort_by_key(right);
    order.truncate(100);
    let pixels = images.pixels.select(Axis(0), &order);
    ramie_plot::Images::new(pixels)
        .colormap(Colormap::Greys)
        .captions(order.iter().map(|i| predicted[*i]))
        .correct(order.iter().map(right))
}
// ANCHOR_END: grid

/// Counts the predictions of each digit.
fn confusion(labels: &Array1<i32>, predicted: &[i32]) -> HeatMap {
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
