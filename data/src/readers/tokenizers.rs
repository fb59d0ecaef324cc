//! Hugging Face tokenizers (feature `tokenizers`).

use super::file::{damaged, decoded, name_of, read, without_mark};
use super::text::unknown_token;
use crate::panic::caught;
use crate::{Error, Result};
use std::path::Path;

/// A tokenizer loaded from a `tokenizer.json` file. It truncates texts if the file does, but it
/// never pads them: [`collate::padded`](crate::collate::padded) pads the tokens of a batch and returns
/// their lengths and mask.
///
/// ```no_run
/// use ramie_data::{SourceExt, readers::{text::Lines, tokenizers::Tokenizer}};
/// let tokenizer = Tokenizer::load("tokenizer.json")?;
/// let tokens = Lines::open("train.txt")?.try_map(move |line| tokenizer.encode(&line));
/// # Ok::<(), ramie_data::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Tokenizer(::tokenizers::Tokenizer);

impl Tokenizer {
    /// Loads a tokenizer from a file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or is damaged.
    pub fn load(path: impl AsRef<Path>) -> Result<Tokenizer> {
        let path = path.as_ref();
        Tokenizer::parse(&name_of(path), &read(path)?)
    }

    /// Parses the contents of a file. Errors refer to the file by the name `file`.
    ///
    /// # Errors
    /// Returns an error if the contents are damaged.
    pub fn parse(file: &str, bytes: &[u8]) -> Result<Tokenizer> {
        let bytes = without_mark(file, bytes)?;
        decoded(file, || {
            let tokenizer = ::tokenizers::Tokenizer::from_bytes(bytes);
            let bad = |e| damaged(file, format_args!("is not a tokenizer: {e}"));
            let mut tokenizer = tokenizer.map_err(bad)?;
            tokenizer.with_padding(None);
            Ok(Tokenizer(tokenizer))
        })
    }

    /// Returns the size of the vocabulary, including added tokens.
    pub fn len(&self) -> usize {
        self.0.get_vocab_size(true)
    }

    /// Returns `true` if the vocabulary is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Converts a string to tokens, including the special tokens that the tokenizer adds.
    ///
    /// # Errors
    /// Returns an error if the string cannot be tokenized.
    pub fn encode(&self, text: &str) -> Result<Vec<i32>> {
        let encoding = applied("tokenize the text", || self.0.encode(text, true))?;
        Ok(encoding.get_ids().iter().map(|id| *id as i32).collect())
    }

    /// Converts tokens to a string, without special tokens.
    ///
    /// # Errors
    /// Returns an error if a token is out of range, or if the tokens cannot be decoded.
    pub fn decode(&self, tokens: &[i32]) -> Result<String> {
        let size = self.len();
        let id = |(i, token): (usize, &i32)| match usize::try_from(*token) {
            // Numbers can have gaps, so that the largest is above the number of tokens.
            Ok(t) if u32::try_from(t).is_ok_and(|t| self.0.id_to_token(t).is_some()) => {
                Ok(t as u32)
            }
            _ => Err(unknown_token(format_args!("token {i}"), *token, size)),
        };
        let ids = tokens
            .iter()
            .enumerate()
            .map(id)
            .collect::<Result<Vec<u32>>>()?;
        applied("decode the tokens", || self.0.decode(&ids, true))
    }
}

/// Applies the library's tokenizer. With some settings of the file, it panics; this is returned as an
/// error, too.
fn applied<T>(attempt: &str, apply: impl FnOnce() -> ::tokenizers::Result<T>) -> Result<T> {
    let problem = match caught(apply) {
        Ok(Ok(result)) => return Ok(result),
        Ok(Err(error)) => error.to_string(),
        Err(panic) => panic,
    };
    Err(Error::Other(format!(
        "cannot {attempt}: {problem}\n  help: use the unmodified `tokenizer.json` of the model; its \
         vocabulary must contain the unknown token, and its truncation must have a stride less than \
         the maximum length"
    )))
}
