//! Trains a classifier of digits and exports it with its parameters to a file.
//! Another process, which does not contain the model's code, runs that file.
//!
//! `cargo run --release --example export_and_run`
//!
//! The format is that of `jax.export`. In Python:
//! `jax.export.deserialize(bytearray(open(path, "rb").read())).call(pixels)`.
#![forbid(unsafe_code)]

use clap::Parser;
use ramie::data::digits::{self, Digits};
use ramie::export::{Exported, export};
use ramie::nn::{Linear, Module, Optimizer, Rngs, value_and_grad};
use ramie::optim::{adam, softmax_cross_entropy_with_integer_labels};
use ramie::{Array, Platform, jit, tree};
use ramie_examples::{Result, score};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Export a trained classifier, and run the file in another process.
#[derive(Parser)]
struct Options {
    /// File of the exported program.
    #[arg(long, default_value = "out/export_and_run/classifier.bin")]
    file: PathBuf,
    /// Training steps, each on all 1,347 training images.
    #[arg(long, default_value_t = 150)]
    steps: usize,
    /// Run the file without training.
    #[arg(long)]
    run: bool,
    /// Platform: cpu, cuda, tpu, rocm, oneapi or metal; defaults to the best one available.
    #[arg(long)]
    platform: Option<Platform>,
}

fn main() -> ExitCode {
    ramie_examples::main(run)
}

fn run(options: &Options) -> Result {
    let folder = options.file.parent().filter(|_| !options.run);
    if let Some(folder) = folder.filter(|folder| !folder.as_os_str().is_empty()) {
        ramie_examples::create_folder(folder)?;
    }
    ramie_examples::start(options.platform)?;
    let digits = digits::load()?;
    if options.run {
        return run_file(&options.file, &digits);
    }
    let predicted = train_and_export(options, &digits)?;
    let expected = format!("Test accuracy: {}", correct(&predicted, &digits));
    println!("This process: {expected}");

    let mut other = Command::new(std::env::current_exe()?);
    other.arg("--run").arg("--file").arg(&options.file);
    if let Some(platform) = options.platform {
        other.arg("--platform").arg(platform.to_string());
    }
    let output = other.output()?;
    if !output.status.success() {
        let error = String::from_utf8_lossy(&output.stderr);
        return Err(format!("the other process failed: {}", error.trim()).into());
    }
    let said = String::from_utf8_lossy(&output.stdout);
    print!("{said}");
    if said.lines().last() == Some(&expected) {
        Ok(())
    } else {
        Err("the predictions of the other process differ".into())
    }
}

#[derive(Module)]
struct Classifier {
    hidden: Linear,
    out: Linear,
}

impl Classifier {
    /// Maps pixels `[n, 64]` to logits `[n, 10]`.
    fn forward(&self, x: &Array) -> Array {
        self.out.forward(&self.hidden.forward(x).relu())
    }
}

/// Writes the file and returns the predictions for the test images.
fn train_and_export(options: &Options, digits: &Digits) -> Result<Vec<i32>> {
    let rngs = &mut Rngs::new(0);
    let model = Classifier {
        hidden: Linear::new(64, 128, rngs),
        out: Linear::new(128, 10, rngs),
    };
    let mut state = (Optimizer::new(&model, adam(0.003)), model);
    let step = jit(
        |(optimizer, model): &mut (Optimizer, Classifier), x: Array, labels: Array| {
            let (loss, grads) = value_and_grad(model, |model| {
                softmax_cross_entropy_with_integer_labels(&model.forward(&x), &labels).mean()
            });
            optimizer.update(model, grads);
            loss
        },
    );
    let (pixels, labels) = (digits.train.pixel_array(), digits.train.label_array());
    for _ in 0..options.steps {
        ramie_examples::ahead(|| step.lower_with(&state, (pixels.clone(), labels.clone())))?;
        step(&mut state, pixels.clone(), labels.clone());
    }

    // ANCHOR: export
    // Values that the function captures become part of the program.
    let model = tree::copy(&state.1);
    let classify = jit(move |pixels: Array| model.forward(&pixels).argmax(-1));
    let pixels = digits.test.pixel_array();
    let exported = export(
        &classify,
        (Array::shape_dtype_struct(pixels.shape(), pixels.dtype()),),
    )?;
    let bytes = exported.serialize();
    // ANCHOR_END: export
    fs::write(&options.file, &bytes).map_err(|e| format!("{}: {e}", options.file.display()))?;
    println!("Wrote {}, {} bytes", options.file.display(), bytes.len());
    Ok(classify(pixels).to_vec())
}

/// Runs the file, which contains everything needed: program, parameters, types.
fn run_file(file: &Path, digits: &Digits) -> Result {
    let name = file.display();
    let bytes = fs::read(file)
        .map_err(|e| format!("{name}: cannot be read: {e}\n  help: omit --run to create it"))?;
    let program = Exported::deserialize(&bytes).map_err(|e| format!("{name}: {e}"))?;
    println!(
        "Another process: a program for {}, from {} to {}",
        program.platform,
        types(&program.in_avals),
        types(&program.out_avals)
    );
    let predicted = program.call((digits.test.pixel_array(),))?;
    println!("Test accuracy: {}", correct(&predicted[0].to_vec(), digits));
    Ok(())
}

fn types(avals: &[ramie::Aval]) -> String {
    let texts: Vec<String> = avals.iter().map(ToString::to_string).collect();
    texts.join(", ")
}

fn correct(predicted: &[i32], digits: &Digits) -> String {
    let pairs = predicted.iter().zip(&digits.test.labels);
    let correct = pairs.filter(|(p, l)| p == l).count();
    score(correct, predicted.len()).to_string()
}
