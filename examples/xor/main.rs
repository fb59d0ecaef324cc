//! Trains a classifier of noisy XOR with Linen, a train state, a data loader and
//! checkpoints.
//!
//! `cargo run --release --example xor -- --epochs 100 --seed 42`
#![forbid(unsafe_code)]

#[path = "../common/mod.rs"]
mod common;
mod model;

use clap::Parser;
use common::{Result, Run, RunOptions, score};
use model::{SimpleClassifier, count_right, train_state, train_step};
use ramie::data::{DataLoader, Placement, Resumable, synthetic};
use ramie::nn::training::TrainState;
use ramie::{jit, train_steps};
use std::process::ExitCode;

/// Train a classifier of noisy XOR.
#[derive(Parser)]
struct Options {
    /// Number of epochs over the 2,500 training points.
    #[arg(long, default_value_t = 100)]
    epochs: usize,
    /// Batch size.
    #[arg(long, default_value_t = 128)]
    batch_size: usize,
    /// Seed of the initial parameters and of the data order.
    #[arg(long, default_value_t = 42)]
    seed: u64,
    /// Learning rate of gradient descent.
    #[arg(long, default_value_t = 0.1)]
    learning_rate: f64,
    /// Number of loader threads.
    #[arg(long, default_value_t = 0)]
    workers: usize,
    /// Number of training steps per call. Several steps per call reduce the overhead of calls,
    /// which exceeds the time of a single step here.
    #[arg(long, default_value_t = 1)]
    steps_per_call: usize,
    #[command(flatten)]
    run: RunOptions,
}

/// Points with their classes, on the host.
type Batch = (ndarray::Array2<f32>, ndarray::Array1<i32>);

fn main() -> ExitCode {
    common::main(run)
}

fn run(options: &Options) -> Result {
    if options.batch_size == 0 || options.steps_per_call == 0 {
        return Err("--batch-size and --steps-per-call must be at least 1".into());
    }
    let loader = DataLoader::new(synthetic::noisy_xor(2500, 42, 0.1))
        .batch_size(options.batch_size)
        .shuffle(options.seed)
        .workers(options.workers)
        .epochs(options.epochs);
    let steps = options.epochs * loader.len();
    let mut run = Run::new("xor", &options.run, steps as u64)?;
    let model = SimpleClassifier {
        num_hidden: 8,
        num_outputs: 1,
    };
    println!("{model:?}");
    let mut state = train_state(&model, options.seed, options.learning_rate);
    train(
        &mut run,
        &model,
        &mut state,
        &loader,
        options.steps_per_call,
    )?;
    run.finish()?;

    let points = synthetic::noisy_xor(500, 123, 0.1);
    let total = points.y.len();
    let right = jit(count_right(model));
    let mut correct = 0;
    // The last batch is smaller.
    let batches = DataLoader::new(points)
        .batch_size(options.batch_size)
        .iter();
    for batch in batches.prefetch_to_device(2, Placement::default()) {
        let (x, y) = batch?;
        correct += right(state.clone(), x, y).item::<i32>() as usize;
    }
    println!("Test accuracy: {}", score(correct, total));
    Ok(())
}

fn train(
    run: &mut Run,
    model: &SimpleClassifier,
    state: &mut TrainState,
    loader: &DataLoader<Batch>,
    steps_per_call: usize,
) -> Result {
    let step = train_step(model.clone());
    let batches = match run.restore(state)? {
        Some(position) => loader.resume(&position)?,
        None => loader.iter(),
    };
    // While a step runs, the next batch is transferred to the device.
    // ANCHOR: train
    let place = Placement::default();
    let (step, mut batches) = match steps_per_call {
        1 => (jit(step), batches.prefetch_to_device(2, place)),
        n => {
            let steps = jit(train_steps(..=n, step));
            (steps, batches.stack(n).prefetch_to_device(2, place))
        }
    };
    while let Some(batch) = batches.next() {
        let (x, y) = batch?;
        common::ahead(|| step.lower_with(state, (x.clone(), y.clone())))?;
        let (loss, accuracy) = step(state, x, y);
        run.stepped(&[("loss", &loss), ("accuracy", &accuracy)])?;
        run.checkpoint(state, &batches.state())?;
    }
    // ANCHOR_END: train
    Ok(())
}
