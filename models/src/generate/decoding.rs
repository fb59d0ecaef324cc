//! `Decoding`: a sequence that a language model continues token by token.

use super::language_model::expect_tokens;
use super::stops::Stops;
use crate::{LanguageModel, Sampling};
use ramie_core::random::Key;
use ramie_core::{Array, jit};
use std::fmt;

type Step<M> =
    Box<dyn Fn(&mut M, Array, (Array, Array), Option<Array>, Key) -> Array + Send + Sync>;

/// A sequence of tokens that a language model continues one by one, for streaming and for chats.
///
/// The keys and values of the tokens stay in the model's caches, which have a fixed size. Two
/// programs serve prompts of any length: one for a chunk of tokens and one for a single token.
/// Replacing the sequence with one that has the same prefix, as in the next turn of a chat,
/// computes only the new tokens.
///
/// ```no_run
/// use ramie_core::random;
/// use ramie_nn::Rngs;
/// use ramie_models::{Decoding, Gpt2, Gpt2Config, Sampling};
/// let model = Gpt2::new(&Gpt2Config::default(), &mut Rngs::new(0));
/// let mut decoding = Decoding::new(&model, Sampling::greedy(), 256);
/// decoding.set_tokens(&[464, 3616, 286]);
/// for token in decoding.generate(20, &random::key(0)) {
///     println!("{token}");
/// }
/// assert_eq!(decoding.tokens().len(), 23);
/// ```
pub struct Decoding<M> {
    model: M,
    step: Step<M>,
    penalizes: bool,
    stops: Stops,
    tokens: Vec<i32>,
    /// Number of tokens whose keys and values are in the caches.
    cached: usize,
    /// Number of cached tokens according to the caches.
    index: usize,
    max_length: usize,
    chunk: usize,
}

impl<M: LanguageModel> Decoding<M> {
    /// Creates an empty sequence of up to `max_length` tokens, which `sampling` chooses. The model
    /// is used in evaluation mode and does not change.
    ///
    /// # Panics
    /// Panics if the model does not support the length.
    #[track_caller]
    pub fn new(model: &M, sampling: Sampling, max_length: usize) -> Decoding<M> {
        let room = model.max_length().unwrap_or(usize::MAX);
        assert!(
            max_length <= room,
            "Decoding: the maximum length is {max_length}, but the model supports at most \
             {room}\n  help: use a smaller length: Decoding::new(&model, sampling, {room})"
        );
        let mut model = model.evaluated();
        model.start_decoding(1, max_length);
        let penalizes = sampling.penalizes();
        let step = move |model: &mut M,
                         tokens: Array,
                         (last, length): (Array, Array),
                         history: Option<Array>,
                         key: Key| {
            let logits = model.logits(&tokens);
            let logits = logits.dynamic_slice_in_dim(&last, 1, 1).squeeze(&[1]);
            // Forget the padding of a chunk.
            model.rewind(&length);
            match history {
                Some(tokens) => sampling.choose(&key, &sampling.penalized(&logits, &tokens)),
                None => sampling.choose(&key, &logits),
            }
        };
        let step = jit(step);
        Decoding {
            model,
            step: Box::new(move |model, tokens, places, history, key| {
                step(model, tokens, places, history, key)
            }),
            penalizes,
            stops: Stops::default(),
            tokens: Vec::new(),
            cached: 0,
            index: 0,
            max_length,
            chunk: 64,
        }
    }

    /// Sets the number of tokens of a prompt that one step computes. Defaults to 64. Larger chunks
    /// are faster for long prompts and slower for short ones.
    ///
    /// # Panics
    /// Panics if the number is 0.
    #[must_use]
    #[track_caller]
    pub fn chunk_size(self, chunk: usize) -> Decoding<M> {
        assert!(
            chunk > 0,
            "Decoding::chunk_size: the size is 0, expected 1 or more\n  help: use the default, 64"
        );
        Decoding { chunk, ..self }
    }

    /// Adds a token that ends [`generate`](Decoding::generate), in addition to those of previous
    /// calls. Defaults to none.
    #[must_use]
    #[track_caller]
    pub fn eos_token_id(self, token: i32) -> Decoding<M> {
        self.stop_sequences(&[[token]])
    }

    /// Adds sequences of tokens that end [`generate`](Decoding::generate), in addition to those of
    /// previous calls. They end it only if all their tokens are new. Defaults to none.
    ///
    /// # Panics
    /// Panics if a sequence is empty.
    #[must_use]
    #[track_caller]
    pub fn stop_sequences<S: AsRef<[i32]>>(mut self, sequences: &[S]) -> Decoding<M> {
        for sequence in sequences {
            self.stops.add("Decoding", sequence.as_ref());
        }
        self
    }

    /// Returns the tokens of the sequence.
    pub fn tokens(&self) -> &[i32] {
        &self.tokens
    }

    /// Returns the maximum number of tokens.
    pub fn max_length(&self) -> usize {
        self.max_length
    }

    /// Returns `true` if the sequence has the maximum number of tokens.
    pub fn is_full(&self) -> bool {
        self.tokens.len() == self.max_length
    }

    /// Replaces the sequence. The cached part of the common prefix is reused.
    ///
    /// # Panics
    /// Panics if there are more tokens than the maximum, or if one is not in the vocabulary.
    #[track_caller]
    pub fn set_tokens(&mut self, tokens: &[i32]) {
        assert!(
            tokens.len() <= self.max_length,
            "Decoding: the sequence has {} tokens, but at most {} fit\n  help: create it with a \
             larger maximum, or pass only the last tokens",
            tokens.len(),
            self.max_length
        );
        let numbers = tokens.iter().map(|token| i128::from(*token));
        expect_tokens("Decoding", numbers, self.model.vocab_size());
        let pairs = self.tokens.iter().zip(tokens);
        let common = pairs.take_while(|(old, new)| old == new).count();
        self.cached = self.cached.min(common);
        self.tokens = tokens.to_vec();
    }

    /// Continues the sequence. Returns an iterator over the new tokens that computes each when
    /// asked for it. It ends after `max_new_tokens` tokens, after the token or the sequence of
    /// tokens that ends a text, or when the sequence is full. The loop can end earlier, too: the
    /// sequence then contains the tokens so far.
    ///
    /// Random choices depend on the key and the length of the sequence.
    ///
    /// # Panics
    /// The iterator panics if the sequence is empty.
    pub fn generate(
        &mut self,
        max_new_tokens: usize,
        key: &Key,
    ) -> impl Iterator<Item = i32> + use<'_, M> {
        let (start, key) = (self.tokens.len(), key.clone());
        (0..max_new_tokens).map_while(move |_| {
            if self.is_full() || self.stops.end(&self.tokens[start..]) {
                return None;
            }
            let key = key.fold_in(self.tokens.len() as i64);
            Some(self.next_token(&key))
        })
    }

    /// Chooses the next token and appends it to the sequence. The key is for random choices; use
    /// another one for each token.
    ///
    /// # Panics
    /// Panics if the sequence is empty or full.
    #[track_caller]
    pub fn next_token(&mut self, key: &Key) -> i32 {
        assert!(
            !self.tokens.is_empty() && !self.is_full(),
            "Decoding: the sequence has {} tokens, expected 1 or more, and less than {}\n  help: \
             start with a prompt: decoding.set_tokens(&[token]); end when \
             `is_full` returns true",
            self.tokens.len(),
            self.max_length
        );
        // The logits of the last token are needed, even if its keys and values are cached.
        self.cached = self.cached.min(self.tokens.len() - 1);
        loop {
            let next = self.advance(key);
            if self.cached == self.tokens.len() {
                let next = next.to_vec::<i32>()[0];
                self.tokens.push(next);
                return next;
            }
        }
    }

    /// Computes the next tokens that are not cached. Returns the token that follows them, `i32[1]`.
    #[track_caller]
    fn advance(&mut self, key: &Key) -> Array {
        let left = self.tokens.len() - self.cached;
        let fits = self.cached + self.chunk <= self.max_length;
        let size = if left > 1 && fits { self.chunk } else { 1 };
        let count = left.min(size);
        let start = self.cached;
        let mut part = self.tokens[start..start + count].to_vec();
        // No token attends to the padding after it, so any token in the vocabulary serves.
        part.resize(size, 0);
        self.cached += count;
        let number = |n: usize| Array::from(n as i32);
        let places = (number(count - 1), number(self.cached));
        let part = Array::from_vec(part, &[1, size]);
        if self.index != start {
            self.model.rewind(&number(start));
        }
        self.index = self.cached;
        let history = self.penalizes.then(|| self.history());
        (self.step)(&mut self.model, part, places, history, key.clone())
    }

    /// Returns the tokens that a repetition penalty applies to, `[1, max_length]`. The first one
    /// fills the rest.
    fn history(&self) -> Array {
        let mut tokens = self.tokens.clone();
        tokens.resize(self.max_length, tokens[0]);
        Array::from_vec(tokens, &[1, self.max_length])
    }
}

impl<M> fmt::Debug for Decoding<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoding")
            .field("tokens", &self.tokens)
            .field("max_length", &self.max_length)
            .field("chunk", &self.chunk)
            .finish_non_exhaustive()
    }
}
