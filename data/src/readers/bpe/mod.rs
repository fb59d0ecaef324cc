//! Byte-level BPE tokenizers of GGUF files: those of GPT-2 and SmolLM.
//!
//! Byte-pair encoding splits a string into words and each word into bytes, and then merges neighbors
//! in a fixed order (Sennrich et al., *Neural Machine Translation of Rare Words with Subword Units*,
//! 2016; Radford et al., *Language Models are Unsupervised Multitask Learners*, 2019).
//!
//! ```no_run
//! use ramie_data::readers::bpe::ByteLevelBpe;
//! let tokenizer = ByteLevelBpe::load("model.gguf")?;
//! let tokens = tokenizer.encode("The capital of France is");
//! assert_eq!(tokenizer.decode(&tokens)?, "The capital of France is");
//! # Ok::<(), ramie_data::Error>(())
//! ```

mod bytes;
mod load;
mod merge;
mod stream;
mod words;

pub use stream::TextStream;
pub use words::PreTokenizer;

use super::text::unknown_token;
use crate::Result;
use merge::Merges;

/// A byte-level BPE tokenizer. The vocabulary, the merges and the chat template come from a GGUF
/// file.
///
/// The tokens equal those of the library `tokenizers`, of which
/// [`readers::tokenizers`](crate::readers) loads other kinds of tokenizers with the feature
/// `tokenizers`.
#[derive(Clone, Debug)]
pub struct ByteLevelBpe {
    /// Bytes of each token; the name of a control token.
    pieces: Vec<Vec<u8>>,
    /// Names and numbers of the tokens that are matched before words: control tokens, and those that
    /// a user has added. A name comes before its own prefixes.
    added: Vec<(String, u32)>,
    is_control: Vec<bool>,
    merges: Merges,
    words: PreTokenizer,
    bos_token_id: Option<i32>,
    eos_token_id: Option<i32>,
    chat_template: Option<String>,
}

impl ByteLevelBpe {
    /// Returns the size of the vocabulary, including added tokens.
    pub fn len(&self) -> usize {
        self.pieces.len()
    }

    /// Returns `true` if the vocabulary is empty.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Returns the token that begins a sequence, if the file names one.
    pub fn bos_token_id(&self) -> Option<i32> {
        self.bos_token_id
    }

    /// Returns the token that ends a sequence, if the file names one.
    pub fn eos_token_id(&self) -> Option<i32> {
        self.eos_token_id
    }

    /// Returns the chat template, if the file has one: a Jinja template from the messages of a chat
    /// to the prompt of the model.
    pub fn chat_template(&self) -> Option<&str> {
        self.chat_template.as_deref()
    }

    /// Returns the string of a token, if it is in the vocabulary. Bytes that are not UTF-8 are
    /// replaced.
    pub fn text_of(&self, token: i32) -> Option<String> {
        let piece = self.pieces.get(usize::try_from(token).ok()?)?;
        Some(String::from_utf8_lossy(piece).into_owned())
    }

    /// Converts a string to tokens. Names of control tokens, such as `<|im_end|>`, and of tokens that
    /// a user has added become these tokens; no other control tokens are added.
    pub fn encode(&self, text: &str) -> Vec<i32> {
        let mut tokens = Vec::new();
        let mut put = |token: u32| tokens.push(token as i32);
        let (mut rest, mut at) = (text, 0);
        while at < rest.len() {
            let here = &rest[at..];
            match self.added.iter().find(|(s, _)| here.starts_with(s)) {
                None => at += here.chars().next().map_or(1, char::len_utf8),
                Some((name, token)) => {
                    self.encode_plain(&rest[..at], &mut put);
                    put(*token);
                    (rest, at) = (&here[name.len()..], 0);
                }
            }
        }
        self.encode_plain(rest, &mut put);
        tokens
    }

    /// Converts a string without the names of added tokens.
    fn encode_plain(&self, text: &str, put: &mut impl FnMut(u32)) {
        for word in self.words.split(text) {
            self.merges.encode(word.as_bytes(), put);
        }
    }

    /// Converts tokens to a string, without control tokens such as `<|im_end|>`. Bytes that are not
    /// UTF-8, such as those of an incomplete character, are replaced.
    ///
    /// # Errors
    /// Returns an error if a token is out of range.
    pub fn decode(&self, tokens: &[i32]) -> Result<String> {
        let mut bytes = Vec::new();
        for &token in tokens {
            bytes.extend_from_slice(self.piece(token)?);
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Returns the bytes of a token; none for a control token.
    fn piece(&self, token: i32) -> Result<&[u8]> {
        let index = usize::try_from(token).unwrap_or(usize::MAX);
        match (self.pieces.get(index), self.is_control.get(index)) {
            (Some(_), Some(true)) => Ok(&[]),
            (Some(piece), _) => Ok(piece),
            (None, _) => Err(unknown_token("the token", token, self.len())),
        }
    }
}
