//! Text messages as tokens and labels.

use ndarray::{Array1, Array2};
use ramie::data::readers::text;
use ramie::data::readers::tokenizers::Tokenizer;
use ramie::data::{DataLoader, Error, IntoSource, Result, SourceExt, collate};
use std::collections::HashSet;
use std::path::Path;

/// Number of messages that are not trained on.
pub const TEST: usize = 896;

/// Token of padding.
pub const PAD: i32 = 0;

/// Padded lengths. Longer messages are truncated.
const LENGTHS: [usize; 2] = [32, 64];

/// Tokens and labels, `[batch, length]` and `[batch]`.
pub type Batch = (Array2<i32>, Array1<i32>);

/// Opens the training messages and the test messages. The workers of the loaders tokenize the
/// messages of a batch.
pub fn open(file: &Path, tokenizer: Tokenizer, seed: u64) -> Result<[DataLoader<Batch>; 2]> {
    let lines = text::load(file)?;
    // A message that occurs again must not be in both parts.
    let mut known = HashSet::new();
    let lines = lines.lines().filter(|line| known.insert(*line));
    let lines: Vec<String> = lines.map(str::to_owned).collect();
    let counts = [lines.len().saturating_sub(TEST), TEST];
    // ANCHOR: data
    let messages = lines.into_source().try_map(move |line| {
        let labelled = line.split_once('\t');
        let (label, text) = labelled.ok_or_else(|| Error::Other(format!("no label: {line:?}")))?;
        let mut tokens = tokenizer.encode(text)?;
        tokens.truncate(LENGTHS[1]);
        Ok((tokens, i32::from(label == "spam")))
    });
    let [train, test] = messages.random_split(counts, 0);
    let pad = collate::padded(&LENGTHS, PAD);
    let batch = move |items: Vec<(Vec<i32>, i32)>| {
        let (tokens, labels): (Vec<_>, Vec<i32>) = items.into_iter().unzip();
        Ok((pad(tokens)?.values, Array1::from(labels)))
    };
    // ANCHOR_END: data
    Ok([
        DataLoader::with_collate(train, batch.clone())
            .batch_size(32)
            .shuffle(seed)
            .drop_last()
            .workers(2),
        DataLoader::with_collate(test, batch)
            .batch_size(64)
            .workers(2),
    ])
}
