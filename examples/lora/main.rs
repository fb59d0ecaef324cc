//! Fine-tunes a classifier from a safetensors file with low-rank adapters. It was
//! trained on upright digits and learns rotated ones. Its own weights do not change.
//!
//! `cargo run --release --example lora`
#![forbid(unsafe_code)]

mod model;

use clap::Parser;
use model::Classifier;
use ramie::checkpoint::{load_state, save};
use ramie::data::digits::{self, Split};
use ramie::nn::nnx::{self, of_type};
use ramie::nn::{Forward, LoraLinear, LoraParam, Optimizer, Param, Rngs, value_and_grad_wrt};
use ramie::optim::{adam, softmax_cross_entropy_with_integer_labels};
use ramie::train::{Same, Trainer, Training};
use ramie::{Array, State};
use ramie_examples::{Result, Run, RunOptions, print_trained, score};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Fine-tune a classifier with low-rank adapters.
#[derive(Parser)]
struct Options {
    /// Fine-tuning steps, each on all 1,347 training images.
    #[arg(long, default_value_t = 300)]
    steps: u64,
    /// Rank of the adapters.
    #[arg(long, default_value_t = 8)]
    rank: usize,
    /// Learning rate.
    #[arg(long, default_value_t = 0.003)]
    learning_rate: f64,
    /// Seed of the adapters.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Safetensors file of the classifier to fine-tune; by default, one is trained and
    /// written to base.safetensors in the output directory.
    #[arg(long)]
    base: Option<PathBuf>,
    #[command(flatten)]
    run: RunOptions,
}

fn main() -> ExitCode {
    ramie_examples::main(run)
}

fn run(options: &Options) -> Result {
    if options.rank == 0 {
        return Err("--rank must be at least 1".into());
    }
    let run = Run::new("lora", &options.run, options.steps)?;
    let digits = digits::load()?;
    let base = match &options.base {
        Some(file) => file.clone(),
        None => pretrained(&run.folder, &digits.train)?,
    };
    // The file contains no adapters; new adapters have no effect at first.
    let mut model = Classifier::adapted(options.rank, &mut Rngs::new(options.seed));
    let base = weights(&base, &nnx::state(&model, of_type::<Param>()))?;
    base.update(&mut model)?;
    let before = [upright(&digits.test), turned(&digits.test)];
    let [stands, lies] = before.map(|images| correct(&mut model, &images, &digits.test));
    let count = digits.test.len();
    println!("Before, upright: {}", score(stands, count));
    println!("Before, rotated: {}", score(lies, count));

    let mut state = Training {
        optimizer: Optimizer::wrt(&model, adam(options.learning_rate), of_type::<LoraParam>()),
        model,
    };
    print_trained(&state.model, of_type::<LoraParam>());
    let data = Same((turned(&digits.train), digits.train.label_array()));
    run.fit(Trainer::from_step(fine_tune), &mut state, data)?;
    let mut model = state.model;

    // The adapters are a small file, to be used together with the base file.
    let adapters = nnx::state(&model, of_type::<LoraParam>());
    let path = run.folder.join("adapters.safetensors");
    save(&path, &adapters)?;
    println!(
        "Wrote {}, {} bytes",
        path.display(),
        std::fs::metadata(&path)?.len()
    );
    for (path, weights) in nnx::state(&model, of_type::<Param>()).iter() {
        if weights.to_vec::<f32>() != base[path].to_vec::<f32>() {
            return Err(format!("{path} of the base model has changed").into());
        }
    }

    merge(&mut model, &run.folder, &digits.test)
}

/// Merges the adapters into the kernels, which gives an ordinary classifier again.
fn merge(model: &mut Classifier<LoraLinear>, folder: &Path, test: &Split) -> Result {
    let mut merged = model.merged();
    save(folder.join("merged.safetensors"), &merged)?;
    let images = turned(test);
    let apart = (model.forward(&images) - merged.forward(&images))
        .abs()
        .max()
        .item::<f32>();
    println!("Merged: logits at most {apart:.0e} apart");
    if apart > 1e-2 {
        return Err("the logits of the merged classifier differ".into());
    }
    let correct = correct(&mut merged, &images, test);
    println!("Test accuracy: {}", score(correct, test.len()));
    Ok(())
}

/// Loads the weights of a safetensors file, which must match those of the model in names, shapes
/// and dtypes.
fn weights(file: &Path, expected: &State) -> Result<State> {
    let base = load_state(file)?;
    for (path, array) in expected.iter() {
        let found = base.get(path);
        let fits = |a: &Array| (a.shape(), a.dtype()) == (array.shape(), array.dtype());
        if !found.is_some_and(fits) {
            let found = found.map_or("is missing".into(), |a| format!("is {}", a.aval()));
            return Err(format!(
                "{}: `{path}` {found}, expected {}\n  help: omit --base to create such a file",
                file.display(),
                array.aval()
            )
            .into());
        }
    }
    Ok(base)
}

/// Returns the pixels of upright images, `[n, 64]`.
fn upright(split: &Split) -> Array {
    split.pixel_array()
}

/// Returns the pixels of images rotated by 90 degrees, `[n, 64]`.
fn turned(split: &Split) -> Array {
    split
        .image_array()
        .rot90(1, [1, 2])
        .reshape(&[split.len(), 64])
}

/// Counts the correctly classified images.
fn correct<L: Forward>(model: &mut Classifier<L>, images: &Array, split: &Split) -> usize {
    let predicted = model.forward(images).argmax(-1);
    let right = predicted.eq(split.label_array()).count_nonzero();
    right.item::<i32>() as usize
}

fn loss(logits: &Array, labels: &Array) -> Array {
    softmax_cross_entropy_with_integer_labels(logits, labels).mean()
}

// ANCHOR: fine_tune
/// Runs one step that updates only the adapters. Returns the loss before the update.
fn fine_tune(state: &mut Training<Classifier<LoraLinear>>, images: Array, labels: Array) -> Array {
    let (value, grads) = value_and_grad_wrt(&mut state.model, of_type::<LoraParam>(), |model| {
        loss(&model.forward(&images), &labels)
    });
    state.optimizer.update(&mut state.model, grads);
    value
}
// ANCHOR_END: fine_tune

/// Returns the file of a classifier trained on upright digits, training it first if the file does
/// not exist.
fn pretrained(folder: &Path, train: &Split) -> Result<PathBuf> {
    let path = folder.join("base.safetensors");
    if path.exists() {
        return Ok(path);
    }
    let mut state = Training::new(Classifier::new(&mut Rngs::new(0)), adam(0.003));
    let loss = |model: &mut Classifier, images: Array, labels: Array| {
        loss(&model.forward(&images), &labels)
    };
    let data = Same((upright(train), train.label_array()));
    Trainer::new(loss)
        .steps(100)
        .quiet()
        .fit(&mut state, data)?;
    save(&path, &state.model)?;
    println!("Trained a classifier of upright digits: {}", path.display());
    Ok(path)
}
