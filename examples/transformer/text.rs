//! Character-level text: reading, evaluating and sampling.

use crate::model::Decoder;
use ramie::data::readers::text::{self, Characters};
use ramie::data::{DataLoader, IntoSource, Placement, Resumable, Source, SourceExt};
use ramie::models::{Generator, Sampling};
use ramie::{Array, jit, random, tree};
use ramie_examples::{Result, project_text};
use std::path::Path;

/// Loads the text of a file or, by default, the sources of this project.
pub fn load(file: Option<&Path>) -> Result<String> {
    match file {
        Some(file) => Ok(text::load(file)?),
        None => project_text(
            &["core/src", "nn/src", "optim/src", "data/src", "examples"],
            "rs",
        ),
    }
}

/// Returns windows of `length` inputs and the following character. Each window begins where the
/// inputs of the previous one end.
pub fn windows(tokens: &[i32], length: usize) -> impl Source<Item = Vec<i32>> + 'static {
    tokens.to_vec().into_source().window(length + 1, length)
}

/// Returns the model's average cross entropy in bits per character. There must be enough windows
/// for at least one batch.
pub fn bits_per_character(
    model: &Decoder,
    windows: impl Source<Item = Vec<i32>> + 'static,
    batch_size: usize,
) -> Result<f64> {
    let losses = jit(|model: &mut Decoder, tokens: Array| model.losses(&tokens, 1).sum());
    let mut model = tree::copy(model);
    let loader = DataLoader::new(windows).batch_size(batch_size).drop_last();
    let (mut nats, mut count) = (0.0, 0);
    for batch in loader.iter().prefetch_to_device(2, Placement::default()) {
        let batch: Array = batch?;
        let [rows, columns] = batch.dims();
        nats += f64::from(losses(&mut model, batch).item::<f32>());
        count += rows * (columns - 1);
    }
    Ok(nats / count as f64 / std::f64::consts::LN_2)
}

/// Returns the prompt followed by `count` characters sampled from the model.
pub fn sample(
    model: &Decoder,
    characters: &Characters,
    prompt: &str,
    count: usize,
    seed: u64,
) -> Result<String> {
    let prompt = characters.encode(prompt)?;
    let prompt = Array::from_slice(&prompt, &[1, prompt.len()]);
    let sampling = Sampling::greedy().temperature(0.8).top_p(0.95);
    let generator = Generator::new(sampling, count);
    let tokens = generator.generate(model, &prompt, &random::key(seed));
    Ok(characters.decode(&tokens.to_vec::<i32>())?)
}
