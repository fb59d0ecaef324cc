//! Learns to predict a number of each row of a CSV table.
#![forbid(unsafe_code)]

mod model;
mod options;
mod predict;
mod table;

use model::{Regressor, loss};
use options::Options;
use predict::Predictor;
use ramie::checkpoint::safetensors::save;
use ramie::data::readers::csv;
use ramie::data::{DataLoader, IntoSource, Source, SourceExt};
use ramie::nn::Rngs;
use ramie::optim::adam;
use ramie::train::{Trainer, Training};
use ramie::{NamedSharding, P, device_put, make_mesh, runtime};
use std::error::Error;
use std::process::ExitCode;
use table::Encoding;

fn main() -> ExitCode {
    let outcome = Options::read().and_then(|options| match &options.predict {
        Some(file) => predict::file(file, &options.out),
        None => train(&options),
    });
    ramie::train::exit_code(outcome)
}

fn train(options: &Options) -> Result<(), Box<dyn Error>> {
    // Each step shards its batch over all devices. Every device has all parameters.
    let devices = runtime()?.devices().len();
    let mesh = make_mesh(&[devices], &["data"])?;
    let replicated = NamedSharding::new(mesh, P![]);
    let sharded = NamedSharding::new(mesh, P!["data"]);

    let table = match &options.data {
        Some(file) => csv::load(file, &csv::Options::default())?,
        None => table::houses()?,
    };
    // A fifth of the rows for the validation, with each category in proportion.
    let (categories, _) = table.classes(table::CATEGORY)?;
    let indices = (0..table.len()).into_source();
    let parts = indices.stratified_split([0.8, 0.2], &categories, options.seed);
    let [train, test] = parts.map(|part| table.rows(part.indices()));

    // Only the training rows determine the encoding.
    let encoding = Encoding::fit(&train)?;
    let train = DataLoader::new(encoding.rows(&train)?)
        .batch_size(options.batch_size)
        .shuffle(options.seed)
        .drop_last();
    // One batch, with the same number of rows for each device.
    let batch = test.len() / devices * devices;
    let validation = DataLoader::new(encoding.rows(&test)?)
        .batch_size(batch)
        .drop_last();

    let model = Regressor::new(encoding.categories(), &mut Rngs::new(options.seed));
    let state = Training::new(model, adam(options.learning_rate));
    let mut state = device_put(&state, replicated);
    let history = Trainer::new(loss)
        .metrics(["loss", "error"])
        .epochs(options.epochs)
        .validate(validation)
        .folder(&options.out)
        .file("options.toml", toml::to_string(options)?)
        .file(table::FILE, toml::to_string(&encoding)?)
        .resume(options.resume)
        .placement(sharded)
        .fit(&mut state, train)?;

    save(options.out.join("model.safetensors"), &state.model)?;
    Predictor::load(&options.out)?.plot(&test, &options.out)?;
    let last = |metric| history.last(metric).unwrap_or(f64::NAN);
    let error = encoding.in_units(last("val_error")) as f32;
    println!("Training loss of the last step: {}", last("loss") as f32);
    println!("Validation error, mean of absolute values: {error}");
    Ok(())
}
