//! Packed rows of paragraphs.

use crate::Options;
use ndarray::Array2;
use ramie::data::readers::bpe::ByteLevelBpe;
use ramie::data::readers::tokens::pack;
use ramie::data::{DataLoader, IntoSource, Source, SourceExt};
use ramie_examples::Result;

/// Rows that are not trained on.
const HELD_OUT: usize = 32;

/// Tokens, segments and positions of rows, `[batch, length]` each.
pub type Rows = (Array2<i32>, Array2<i32>, Array2<i32>);

/// Returns the training rows and the held-out ones, which are from the last tenth of the text.
pub fn open(
    text: &str,
    tokenizer: &ByteLevelBpe,
    options: &Options,
) -> Result<[DataLoader<Rows>; 2]> {
    let text = text.replace("\r\n", "\n");
    let paragraphs: Vec<&str> = text.split("\n\n").collect();
    let (first, last) = paragraphs.split_at(paragraphs.len() / 10 * 9);
    let length = options.length;
    // ANCHOR: data
    let rows = |paragraphs: &[&str]| {
        let sequences = paragraphs.iter().flat_map(|paragraph| {
            let words: Vec<&str> = paragraph.split_whitespace().collect();
            let tokens = tokenizer.encode(&words.join(" "));
            // A longer paragraph becomes several sequences.
            tokens
                .chunks(length)
                .map(<[i32]>::to_vec)
                .collect::<Vec<_>>()
        });
        pack(sequences.collect::<Vec<_>>(), length)
    };
    let (train, test) = (rows(first)?, rows(last)?);
    // ANCHOR_END: data
    let (size, count) = (options.batch_size, HELD_OUT.min(test.len()));
    if train.len() < size || count < size {
        return Err("the text is too short: use a longer one, or a smaller --batch-size".into());
    }
    let test = test.into_source().slice(0..count);
    let loader = DataLoader::new(train)
        .batch_size(size)
        .shuffle(options.seed);
    Ok([
        loader.drop_last(),
        DataLoader::new(test).batch_size(size).drop_last(),
    ])
}
