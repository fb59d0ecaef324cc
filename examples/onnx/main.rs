//! Finds the types of files by their contents with a published ONNX model, Magika, which the first run
//! downloads (16 MB). With `--learn TYPE`, it fine-tunes the model on the files.
//!
//! `cargo run --release --features onnx --example onnx -- README.md`
#![forbid(unsafe_code)]

use clap::Parser;
use ramie::checkpoint::safetensors;
use ramie::core::files::{self, WithHelp};
use ramie::onnx::Model;
use ramie::optim::{adamw, apply_updates};
use ramie::{Array, Platform, State, jit, stack, value_and_grad};
use ramie_examples::{Result, create_folder, files::MAGIKA};
use serde::Deserialize;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::slice;

/// Find the types of files by their contents.
#[derive(Parser)]
struct Options {
    /// Files to classify.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Type that the model learns for these files, such as `rust`.
    #[arg(long, value_name = "TYPE")]
    learn: Option<String>,
    /// Fine-tuning steps.
    #[arg(long, default_value_t = 20)]
    steps: usize,
    /// File of fine-tuned weights; defaults to the published weights.
    #[arg(long, value_name = "FILE")]
    weights: Option<PathBuf>,
    /// Directory of the fine-tuned weights.
    #[arg(long, default_value = "out/onnx")]
    out: PathBuf,
    /// Platform: cpu, cuda, tpu, rocm, oneapi or metal; defaults to the best one available.
    #[arg(long)]
    platform: Option<Platform>,
}

/// The configuration that is published with the model.
#[derive(Deserialize)]
struct Config {
    /// Number of bytes from the beginning and from the end of a file.
    beg_size: usize,
    end_size: usize,
    /// Number of bytes among which leading and trailing whitespace is skipped.
    block_size: usize,
    /// Number that stands for a missing byte.
    padding_token: i32,
    /// Names of the types, in the order of the model's output.
    target_labels_space: Vec<String>,
}

fn main() -> ExitCode {
    ramie_examples::main(run)
}

fn run(options: &Options) -> Result {
    let path = MAGIKA.fetch()?;
    let config = files::read(path.with_file_name("config.min.json"))?;
    let config: Config = serde_json::from_slice(&config)?;
    let label = options.learn.as_deref().map(|name| config.label(name));
    let label = label.transpose()?;
    let inputs = options.files.iter().map(|file| config.input(file));
    let inputs = inputs.collect::<Result<Vec<Vec<i32>>>>()?;
    ramie_examples::start(options.platform)?;
    let inputs: Vec<Array> = inputs.iter().map(|bytes| Array::from(&bytes[..])).collect();
    let bytes = stack(&inputs, 0);

    // ANCHOR: apply
    let model = Model::open(path)?;
    let weights = match &options.weights {
        Some(file) => safetensors::load_state(file)?,
        None => model.weights()?,
    };
    let classify = {
        let model = model.clone();
        jit(move |weights: State, bytes: Array| model.apply(&weights, &[bytes]).remove(0))
    };
    let probabilities = classify(weights.clone(), bytes.clone());
    // ANCHOR_END: apply
    config.print(&options.files, &probabilities);
    let Some(label) = label else { return Ok(()) };

    let weights = learn(model, weights, &bytes, label, options.steps);
    println!("After {} steps:", options.steps);
    config.print(&options.files, &classify(weights.clone(), bytes));
    create_folder(&options.out)?;
    let file = options.out.join("weights.safetensors");
    safetensors::save(&file, &weights)?;
    println!("Wrote {}", file.display());
    Ok(())
}

// ANCHOR: learn
/// Fine-tunes the weights, so that the model finds the type with the index `label` in `bytes`.
fn learn(model: Model, mut weights: State, bytes: &Array, label: i32, steps: usize) -> State {
    let tx = adamw(1e-4);
    let mut state = tx.init(&weights);
    let step = jit(move |(weights, state), bytes: Array| {
        let loss = |weights: State| {
            let probabilities = model.apply(&weights, slice::from_ref(&bytes)).remove(0);
            -probabilities.index((.., label)).log().mean()
        };
        let (_, gradients) = value_and_grad(loss)(Clone::clone(&weights));
        let (updates, state) = tx.update(gradients, state, Some(&weights));
        (apply_updates(&weights, &updates), state)
    });
    for _ in 0..steps {
        (weights, state) = step((weights, state), bytes.clone());
    }
    weights
}
// ANCHOR_END: learn

impl Config {
    /// Returns the index of a type.
    fn label(&self, name: &str) -> Result<i32> {
        let names = &self.target_labels_space;
        match names.iter().position(|label| label == name) {
            Some(at) => Ok(at as i32),
            None => Err(format!(
                "--learn: the model has no type `{name}`\n  help: use one of {}",
                names.join(", ")
            )
            .into()),
        }
    }

    /// Returns the input of the model for a file: its first and last bytes, without whitespace around
    /// the contents.
    fn input(&self, path: &Path) -> Result<Vec<i32>> {
        let name = path.display();
        let blocks = blocks(path, self.block_size);
        let [first, last] =
            blocks.map_err(|e| format!("{name}: cannot be read: {}", WithHelp(&e)))?;
        let (first, last) = (first.trim_ascii_start(), last.trim_ascii_end());
        let first = &first[..first.len().min(self.beg_size)];
        let last = &last[last.len().saturating_sub(self.end_size)..];
        let length = self.beg_size + self.end_size;
        let mut input = vec![self.padding_token; length];
        for (number, byte) in input.iter_mut().zip(first) {
            *number = (*byte).into();
        }
        for (number, byte) in input[length - last.len()..].iter_mut().zip(last) {
            *number = (*byte).into();
        }
        Ok(input)
    }

    /// Prints the most likely type of each file, and its probability.
    fn print(&self, files: &[PathBuf], probabilities: &Array) {
        let labels = probabilities.argmax(-1).to_vec::<i32>();
        let greatest = probabilities.max_over(-1).to_vec::<f32>();
        for ((file, label), probability) in files.iter().zip(labels).zip(greatest) {
            let name = &self.target_labels_space[label as usize];
            println!("{}: {name} {probability:.3}", file.display());
        }
    }
}

/// Reads the first and the last bytes of a file, `size` each at most.
fn blocks(path: &Path, size: usize) -> io::Result<[Vec<u8>; 2]> {
    let file = files::open(path)?;
    let length = file.metadata()?.len();
    let size = length.min(size as u64);
    let block = |at: u64| {
        let mut bytes = vec![0; size as usize];
        files::read_exact_at(&file, &mut bytes, at).map(|()| bytes)
    };
    Ok([block(0)?, block(length - size)?])
}
