//! Fine-tunes a pretrained model with low-rank adapters (LoRA).
//!
//! The model classifies upright digits and learns rotated ones. Only the adapters change.
#![forbid(unsafe_code)]

mod model;
mod options;
mod pretrained;

use model::{Classifier, evaluate, step};
use options::Options;
use ramie::checkpoint::safetensors::{load_into, save};
use ramie::data::{DataLoader, digits};
use ramie::nn::nnx::{self, of_type};
use ramie::nn::{LoraParam, Optimizer, Rngs, apply_lora, merge_lora};
use ramie::optim::adam;
use ramie::train::{Trainer, Training};
use ramie::{NamedSharding, P, device_put, make_mesh, runtime};
use std::error::Error;
use std::process::ExitCode;

fn main() -> ExitCode {
    ramie::train::exit_code(Options::read().and_then(|options| train(&options)))
}

fn train(options: &Options) -> Result<(), Box<dyn Error>> {
    // Each step shards its batch over all devices. Every device has all parameters.
    let devices = runtime()?.devices().len();
    let mesh = make_mesh(&[devices], &["data"])?;
    let replicated = NamedSharding::new(mesh, P![]);
    let sharded = NamedSharding::new(mesh, P!["data"]);

    let base = match &options.base {
        Some(file) => file.clone(),
        None => pretrained::file()?,
    };
    let mut model = Classifier::new(&mut Rngs::new(0));
    load_into(base, &mut model)?;
    // New adapters have no effect at first.
    let mut rngs = Rngs::new(options.seed);
    apply_lora(&mut model, options.rank, |_layer| true, &mut rngs);
    let optimizer = Optimizer::wrt(&model, adam(options.learning_rate), of_type::<LoraParam>());
    let mut state = device_put(&Training { model, optimizer }, replicated);

    let digits = digits::load()?;
    let train = DataLoader::new(digits.train)
        .batch_size(options.batch_size)
        .shuffle(options.seed)
        .drop_last();
    // One batch, with the same number of images for each device.
    let test = digits.test.len() / devices * devices;
    let test = DataLoader::new(digits.test).batch_size(test).drop_last();
    let history = Trainer::from_step(step)
        .metrics(["loss", "accuracy"])
        .epochs(options.epochs)
        .validate_with(evaluate, test)
        .folder(&options.out)
        .file("options.toml", toml::to_string(options)?)
        .resume(options.resume)
        .placement(sharded)
        .fit(&mut state, train)?;

    // The adapters, to be used with the base file; and an ordinary model with the sum of both.
    let adapters = nnx::state(&state.model, of_type::<LoraParam>());
    save(options.out.join("adapters.safetensors"), &adapters)?;
    merge_lora(&mut state.model);
    save(options.out.join("model.safetensors"), &state.model)?;
    let last = |metric| history.last(metric).unwrap_or(f64::NAN) as f32;
    println!("Training loss of the last step: {}", last("loss"));
    println!("Validation accuracy: {}", last("val_accuracy"));
    Ok(())
}
