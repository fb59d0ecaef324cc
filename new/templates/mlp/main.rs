//! Trains a multilayer perceptron on images of handwritten digits.
#![forbid(unsafe_code)]

mod model;
mod options;

use model::{Mlp, loss};
use options::Options;
use ramie::checkpoint::safetensors::save;
use ramie::data::{DataLoader, digits};
use ramie::nn::Rngs;
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

    let digits = digits::load()?;
    let train = DataLoader::new(digits.train)
        .batch_size(options.batch_size)
        .shuffle(options.seed)
        .drop_last();
    // One batch, with the same number of images for each device.
    let test = digits.test.len() / devices * devices;
    let test = DataLoader::new(digits.test).batch_size(test).drop_last();

    let model = Mlp::new(128, &mut Rngs::new(options.seed));
    let state = Training::new(model, adam(options.learning_rate));
    let mut state = device_put(&state, replicated);
    let history = Trainer::new(loss)
        .metrics(["loss", "accuracy"])
        .epochs(options.epochs)
        .validate(test)
        .folder(&options.out)
        .file("options.toml", toml::to_string(options)?)
        .resume(options.resume)
        .placement(sharded)
        .fit(&mut state, train)?;

    save(options.out.join("model.safetensors"), &state.model)?;
    let last = |metric| history.last(metric).unwrap_or(f64::NAN) as f32;
    println!("Training loss of the last step: {}", last("loss"));
    println!("Validation accuracy: {}", last("val_accuracy"));
    Ok(())
}
