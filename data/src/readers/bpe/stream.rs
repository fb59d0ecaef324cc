//! `TextStream`: decoding token by token.

use super::ByteLevelBpe;
use crate::Result;

/// Decodes tokens one by one. A character whose bytes span several tokens is returned with the last
/// of them.
///
/// ```no_run
/// use ramie_data::readers::bpe::ByteLevelBpe;
/// let tokenizer = ByteLevelBpe::load("model.gguf")?;
/// let mut text = tokenizer.stream();
/// for token in [504, 3575, 282] {
///     print!("{}", text.push(token)?);
/// }
/// println!("{}", text.finish());
/// # Ok::<(), ramie_data::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct TextStream<'a> {
    tokenizer: &'a ByteLevelBpe,
    /// Bytes of an incomplete character.
    rest: Vec<u8>,
}

impl ByteLevelBpe {
    /// Starts decoding token by token.
    pub fn stream(&self) -> TextStream<'_> {
        TextStream {
            tokenizer: self,
            rest: Vec::new(),
        }
    }
}

impl TextStream<'_> {
    /// Returns the text that is complete with the next token; nothing for a control token. Bytes
    /// that are not UTF-8 are replaced.
    ///
    /// # Errors
    /// Returns an error if the token is out of range.
    pub fn push(&mut self, token: i32) -> Result<String> {
        self.rest.extend_from_slice(self.tokenizer.piece(token)?);
        let complete = match self.rest.utf8_chunks().last() {
            Some(last) => self.rest.len() - incomplete(last.invalid()),
            None => 0,
        };
        let rest = self.rest.split_off(complete);
        let text = String::from_utf8_lossy(&self.rest).into_owned();
        self.rest = rest;
        Ok(text)
    }

    /// Ends the text. Returns the replacement of an incomplete character, if there is one.
    pub fn finish(self) -> String {
        String::from_utf8_lossy(&self.rest).into_owned()
    }
}

/// Returns the number of bytes that are the start of a character.
fn incomplete(invalid: &[u8]) -> usize {
    let more = |e: &std::str::Utf8Error| e.error_len().is_none();
    match std::str::from_utf8(invalid) {
        Err(e) if more(&e) => invalid.len(),
        _ => 0,
    }
}
