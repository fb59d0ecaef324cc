//! Trains a convolutional network on small images.
#![forbid(unsafe_code)]

mod images;
mod model;
mod options;

use model::{Cnn, loss};
use options::Options;
use ramie::checkpoint::safetensors::save;
use ramie::nn::Rngs;
use ramie::optim::{adamw, schedules::cosine_decay_schedule};
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

    let (train, test) = images::load(options.mnist.as_deref())?;
    let train = train
        .loader(1, options.seed)
        .batch_size(options.batch_size)
        .shuffle(options.seed)
        .workers(1)
        .drop_last();
    // At most 512 images per batch, the same number for each device.
    let batch = test.labels.len().min(512) / devices * devices;
    let test = test.loader(0, 0).batch_size(batch).drop_last();

    let steps = options.epochs * train.len();
    let rate = cosine_decay_schedule(options.learning_rate, steps.max(1), 0.0, 1.0);
    let model = Cnn::new(options.width, &mut Rngs::new(options.seed));
    let mut state = device_put(&Training::new(model, adamw(rate)), replicated);
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
