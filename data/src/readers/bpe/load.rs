//! Loading a tokenizer from the metadata of a GGUF file.

use super::ByteLevelBpe;
use super::bytes;
use super::merge::Merges;
use super::words::PreTokenizer;
use crate::Result;
use crate::readers::file::{bad_file, damaged, name_of, rejected};
use ramie_core::files::gguf::{Header, Value};
use ramie_core::files::{self, Message, Problem};
use std::collections::HashMap;
use std::path::Path;

/// Type number of control tokens, which decoding skips.
const CONTROL: i64 = 3;

/// Type number of tokens that a user has added. They are text, and like control tokens matched
/// before words.
const USER_DEFINED: i64 = 4;

impl ByteLevelBpe {
    /// Loads the tokenizer of a GGUF file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or is damaged, if it has no tokenizer or one of
    /// another kind than GPT-2's or SmolLM's, or if it does not name the
    /// [rule for words](PreTokenizer) and its model is not GPT-2.
    pub fn load(path: impl AsRef<Path>) -> Result<ByteLevelBpe> {
        ByteLevelBpe::load_by(path.as_ref(), None)
    }

    /// Loads the tokenizer of a GGUF file with a rule for words, for a file that does not name its
    /// own. It replaces that of the file.
    ///
    /// ```no_run
    /// use ramie_data::readers::bpe::{ByteLevelBpe, PreTokenizer};
    /// let tokenizer = ByteLevelBpe::load_with("model.gguf", PreTokenizer::SmolLm)?;
    /// # Ok::<(), ramie_data::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or is damaged, or if it has no byte-level BPE
    /// tokenizer.
    pub fn load_with(path: impl AsRef<Path>, words: PreTokenizer) -> Result<ByteLevelBpe> {
        ByteLevelBpe::load_by(path.as_ref(), Some(words))
    }

    fn load_by(path: &Path, words: Option<PreTokenizer>) -> Result<ByteLevelBpe> {
        let name = name_of(path);
        let bad = |problem| rejected(&name, problem);
        let opened = files::open(path).and_then(|file| Ok((file.metadata()?.len(), file)));
        let (length, file) = opened.map_err(|e| bad(Problem::Io(e)))?;
        let header = Header::read(file, length).map_err(bad)?;
        Metadata {
            file: &name,
            header: &header,
        }
        .tokenizer(words)
    }
}

/// The metadata of a file.
struct Metadata<'a> {
    file: &'a str,
    header: &'a Header,
}

impl Metadata<'_> {
    /// Returns a value as `read` converts it; an error if it has another type.
    fn get<'v, T>(
        &'v self,
        key: &str,
        expected: &str,
        read: impl FnOnce(&'v Value) -> Option<T>,
    ) -> Result<Option<T>> {
        let Some(value) = self.header.get(key) else {
            return Ok(None);
        };
        let wrong = || {
            let found = value.type_name();
            damaged(
                self.file,
                format_args!("has `{key}` of type {found}, expected {expected}"),
            )
        };
        read(value).map(Some).ok_or_else(wrong)
    }

    fn need<T>(&self, key: &str, value: Option<T>) -> Result<T> {
        value.ok_or_else(|| {
            bad_file(
                self.file,
                Message::new(format!(
                    "has no metadata `{key}`, so it contains no byte-level BPE tokenizer"
                ))
                .help(
                    "use a file with its tokenizer, or load a tokenizer.json with \
                `readers::tokenizers`",
                ),
            )
        })
    }

    fn unsupported(&self, key: &str, value: &str, expected: &str) -> crate::Error {
        bad_file(
            self.file,
            Message::new(format!("has `{key}` `{value}`, expected {expected}"))
                .help("load the model's tokenizer.json with `readers::tokenizers`"),
        )
    }

    /// Returns a token of the vocabulary.
    fn token(&self, key: &str, len: usize) -> Result<Option<i32>> {
        let in_range = |id: u64| usize::try_from(id).is_ok_and(|id| id < len);
        self.get(key, "the index of a token", |v| {
            v.as_u64().filter(|id| in_range(*id))
        })
        .map(|id| id.and_then(|id| i32::try_from(id).ok()))
    }

    fn tokenizer(&self, words: Option<PreTokenizer>) -> Result<ByteLevelBpe> {
        const MODEL: &str = "tokenizer.ggml.model";
        const TOKENS: &str = "tokenizer.ggml.tokens";
        const MERGES: &str = "tokenizer.ggml.merges";
        let text = |key: &'static str| self.get(key, "a string", Value::as_str);
        let strings = |key: &'static str| {
            let strings = self.get(key, "an array of strings", Value::as_strings)?;
            self.need(key, strings)
        };
        let model = self.need(MODEL, text(MODEL)?)?;
        // `gpt2` is GGUF's name of byte-level BPE, whatever the model.
        if model != "gpt2" {
            return Err(self.unsupported(MODEL, model, "`gpt2`"));
        }
        let words = match words {
            Some(words) => words,
            None => self.pre_tokenizer()?,
        };
        let tokens = strings(TOKENS)?;
        // Token arrays are `i32`.
        if i32::try_from(tokens.len()).is_err() {
            return Err(damaged(self.file, "has more tokens than an i32 can count"));
        }
        let types = self.types(tokens.len())?;
        let is_added = |id: usize| [CONTROL, USER_DEFINED].contains(&types[id]);
        let ids: HashMap<&str, u32> = (0..).zip(tokens).map(|(id, t)| (t.as_str(), id)).collect();
        let merges = Merges::new(&ids, strings(MERGES)?);
        let pieces = tokens.iter().enumerate().map(|(id, token)| {
            // Added tokens are plain text; the others spell bytes in GPT-2's alphabet.
            if is_added(id) {
                token.as_bytes().to_vec()
            } else {
                bytes::of_token(token)
            }
        });
        let mut added: Vec<(String, u32)> = (0u32..)
            .zip(tokens)
            .filter(|(id, token)| is_added(*id as usize) && !token.is_empty())
            .map(|(id, token)| (token.clone(), id))
            .collect();
        // In descending order a name precedes its prefixes, so the first match is the longest.
        added.sort_by(|a, b| b.cmp(a));
        Ok(ByteLevelBpe {
            pieces: pieces.collect(),
            added,
            is_control: types.iter().map(|t| *t == CONTROL).collect(),
            merges: merges.map_err(|message| damaged(self.file, message))?,
            words,
            bos_token_id: self.token("tokenizer.ggml.bos_token_id", tokens.len())?,
            eos_token_id: self.token("tokenizer.ggml.eos_token_id", tokens.len())?,
            chat_template: text("tokenizer.chat_template")?.map(str::to_owned),
        })
    }

    /// Returns the rule for words that the file names. Another rule gives valid tokens and bad
    /// answers, so no rule is assumed for models other than GPT-2.
    fn pre_tokenizer(&self) -> Result<PreTokenizer> {
        const PRE: &str = "tokenizer.ggml.pre";
        const ARCHITECTURE: &str = "general.architecture";
        let architecture = self.get(ARCHITECTURE, "a string", Value::as_str)?;
        let missing = |model: &str| {
            bad_file(
                self.file,
                Message::new(format!(
                    "has no metadata `{PRE}`, and {model} does not determine how text is split \
                into words"
                ))
                .help(
                    "convert the model again with a current llama.cpp, or pass the rule of the \
                model to `ByteLevelBpe::load_with`",
                ),
            )
        };
        match (self.get(PRE, "a string", Value::as_str)?, architecture) {
            // Old converters wrote no rule; the architecture GPT-2 has only one.
            (Some("gpt-2"), _) | (None, Some("gpt2")) => Ok(PreTokenizer::Gpt2),
            (Some("smollm"), _) => Ok(PreTokenizer::SmolLm),
            (Some(other), _) => Err(self.unsupported(PRE, other, "`gpt-2` or `smollm`")),
            (None, Some(model)) => Err(missing(&format!("the architecture `{model}`"))),
            (None, None) => Err(missing(&format!("a missing `{ARCHITECTURE}`"))),
        }
    }

    /// Returns the type number of each token, 0 without types.
    fn types(&self, len: usize) -> Result<Vec<i64>> {
        const TYPES: &str = "tokenizer.ggml.token_type";
        let types = self.get(TYPES, "an array of integers", Value::as_integers)?;
        let Some(types) = types else {
            return Ok(vec![0; len]);
        };
        if types.len() == len {
            Ok(types)
        } else {
            Err(damaged(
                self.file,
                format_args!("has {} items in `{TYPES}`, but {len} tokens", types.len()),
            ))
        }
    }
}
