//! Tokenizers of Hugging Face (feature `tokenizers`).

use super::file::{bad_file, decoded, name_of, read};
use crate::{Error, Result};
use std::path::Path;

/// A tokenizer as its `tokenizer.json` says.
///
/// ```no_run
/// use ramie_data::{Source, readers::{text::Lines, tokenizers::Tokenizer}};
/// let tokenizer = Tokenizer::load("tokenizer.json")?;
/// let tokens = Lines::open("train.txt")?.try_map(move |line| tokenizer.encode(&line));
/// # Ok::<(), ramie_data::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Tokenizer(::tokenizers::Tokenizer);

impl Tokenizer {
    /// The tokenizer of a file.
    ///
    /// # Errors
    /// If it cannot be read, or is damaged.
    pub fn load(path: impl AsRef<Path>) -> Result<Tokenizer> {
        let path = path.as_ref();
        Tokenizer::parse(&name_of(path), &read(path)?)
    }

    /// The tokenizer of the bytes of a file; `file` is its name in errors.
    ///
    /// # Errors
    /// If they are damaged.
    pub fn parse(file: &str, bytes: &[u8]) -> Result<Tokenizer> {
        decoded(file, || {
            let tokenizer = ::tokenizers::Tokenizer::from_bytes(bytes);
            let bad = |e| bad_file(file, format!("is no tokenizer: {e}"));
            Ok(Tokenizer(tokenizer.map_err(bad)?))
        })
    }

    /// How many tokens there are, added ones included.
    pub fn len(&self) -> usize {
        self.0.get_vocab_size(true)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The tokens of a text, special ones as the tokenizer adds them.
    ///
    /// # Errors
    /// If the tokenizer cannot write it.
    pub fn encode(&self, text: &str) -> Result<Vec<i32>> {
        let encoding = self.0.encode(text, true);
        let encoding =
            encoding.map_err(|e| Error::Other(format!("the text has no tokens: {e}")))?;
        Ok(encoding.get_ids().iter().map(|id| *id as i32).collect())
    }

    /// The text of tokens, special ones left out.
    ///
    /// # Errors
    /// If there is no such token.
    pub fn decode(&self, tokens: &[i32]) -> Result<String> {
        let size = self.len();
        let id = |(i, token): (usize, &i32)| match usize::try_from(*token) {
            Ok(t) if t < size => Ok(t as u32),
            _ => Err(Error::Other(format!(
                "token {i} is {token}, expected less than {size}"
            ))),
        };
        let ids = tokens
            .iter()
            .enumerate()
            .map(id)
            .collect::<Result<Vec<u32>>>()?;
        let text = self.0.decode(&ids, true);
        text.map_err(|e| Error::Other(format!("the tokens have no text: {e}")))
    }
}
