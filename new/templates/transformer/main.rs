//! Trains a character-level language model on a text file.
#![forbid(unsafe_code)]

mod model;
mod options;

use model::{Decoder, Sizes};
use options::Options;
use ramie::checkpoint::safetensors::save;
use ramie::data::readers::text::{self, Characters};
use ramie::data::{DataLoader, IntoSource, SourceExt};
use ramie::models::{Generator, Sampling};
use ramie::nn::Rngs;
use ramie::optim::{adamw, chain, clip_by_global_norm};
use ramie::train::{Trainer, Training};
use ramie::{Array, NamedSharding, P, device_put, make_mesh, random, runtime};
use std::error::Error;
use std::process::ExitCode;

fn main() -> ExitCode {
    ramie::train::exit_code(Options::read().and_then(|options| train(&options)))
}

fn train(options: &Options) -> Result<(), Box<dyn Error>> {
    // Each step shards its batch over all devices. Every device has all parameters.
    let mesh = make_mesh(&[runtime()?.devices().len()], &["data"])?;
    let replicated = NamedSharding::new(mesh, P![]);
    let sharded = NamedSharding::new(mesh, P!["data"]);

    let text = match &options.text {
        Some(file) => text::load(file)?,
        None => concat!(include_str!("main.rs"), include_str!("model.rs")).to_owned(),
    };
    let characters = Characters::of(&text);
    let tokens = characters.encode(&text)?;
    println!("{} characters, {} distinct", tokens.len(), characters.len());
    // The last fifth of the text is for validation. A window has one character more than it has inputs.
    let (train, test) = tokens.split_at(tokens.len() / 5 * 4);
    let length = options.length;
    let windows = |tokens: &[i32]| {
        let windows = tokens.to_vec().into_source().window(length + 1, length);
        DataLoader::new(windows)
            .batch_size(options.batch_size)
            .drop_last()
    };
    let (train, test) = (windows(train).shuffle(options.seed), windows(test));

    let sizes = Sizes {
        vocabulary: characters.len(),
        width: 64,
        heads: 4,
        layers: 2,
    };
    let model = Decoder::new(&sizes, &mut Rngs::new(options.seed));
    let optimizer = chain((clip_by_global_norm(1.0), adamw(options.learning_rate)));
    let mut state = device_put(&Training::new(model, optimizer), replicated);
    let loss = |model: &mut Decoder, tokens: Array| model.losses(&tokens, 1).mean();
    let history = Trainer::new(loss)
        .steps(options.steps)
        .validate(test)
        .validate_every(50)
        .folder(&options.out)
        .file("options.toml", toml::to_string(options)?)
        .checkpoint_every(50)
        .resume(options.resume)
        .placement(sharded)
        .fit(&mut state, train)?;

    save(options.out.join("model.safetensors"), &state.model)?;
    let prompt = Array::from_slice(&tokens[..8], &[1, 8]);
    let generator = Generator::new(Sampling::greedy().temperature(0.8), options.sample);
    let sample = generator.generate(&state.model, &prompt, &random::key(options.seed));
    println!("--\n{}\n--", characters.decode(&sample.to_vec::<i32>())?);
    let last = |metric| history.last(metric).unwrap_or(f64::NAN) as f32;
    println!("Training loss of the last step: {}", last("loss"));
    println!("Validation loss: {} nats per character", last("val_loss"));
    Ok(())
}
