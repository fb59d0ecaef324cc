//! `Generator`: autoregressive text generation.

use super::language_model::foreign_token;
use super::{LanguageModel, Sampling};
use crate::layers::embed::known_range;
use ramie_core::random::Key;
use ramie_core::{Array, DType, concatenate, jit, where_};
use std::fmt;

type Step<M> = Box<dyn Fn(&mut M, Array, Option<Array>, Key) -> Array + Send + Sync>;

/// Continues sequences of tokens with a language model.
///
/// The prompt is processed in one step, then one token per step, with the keys and values of
/// previous tokens in the model's caches. Both steps are compiled in the first call and reused
/// by later calls with the same shapes.
///
/// ```no_run
/// use ramie_core::{Array, random};
/// use ramie_nn::Rngs;
/// use ramie_nn::models::{Generator, Gpt2, Gpt2Config, Sampling};
/// let model = Gpt2::new(&Gpt2Config::default(), &mut Rngs::new(0));
/// let prompt = Array::from([[464i32, 3616, 286]]);
/// let generator = Generator::new(Sampling::greedy().top_k(40), 20).eos_token_id(50256);
/// let tokens = generator.generate(&model, &prompt, &random::key(0));
/// assert_eq!(tokens.shape(), [1, 23]);
/// // Prompts of different lengths.
/// let prompts = [vec![464, 3616, 286], vec![1212]];
/// let texts: Vec<Vec<i32>> = generator.generate_prompts(&model, &prompts, &random::key(0));
/// ```
pub struct Generator<M> {
    step: Step<M>,
    max_new_tokens: usize,
    eos_token_id: Option<i64>,
    pad_token_id: i64,
}

impl<M: LanguageModel> Generator<M> {
    /// Creates a generator that appends up to `max_new_tokens` tokens, chosen by `sampling`.
    pub fn new(sampling: Sampling, max_new_tokens: usize) -> Generator<M> {
        let step = move |model: &mut M, tokens: Array, padding: Option<Array>, key: Key| {
            let logits = match padding {
                Some(padding) => model.logits_padded(&tokens, &padding),
                None => model.logits(&tokens),
            };
            let last = logits.shape()[1] - 1;
            let last = logits.slice_in_dim(last, last + 1, 1, 1).squeeze(&[1]);
            sampling.choose(&key, &last)
        };
        let step = jit(step);
        Generator {
            step: Box::new(move |model, tokens, padding, key| step(model, tokens, padding, key)),
            max_new_tokens,
            eos_token_id: None,
            pad_token_id: 0,
        }
    }

    /// Sets the token that ends a sequence. Generation stops when all sequences have ended.
    /// Defaults to none.
    #[must_use]
    pub fn eos_token_id(self, token: i64) -> Generator<M> {
        Generator {
            eos_token_id: Some(token),
            ..self
        }
    }

    /// Sets the token that pads sequences that have ended. Defaults to 0.
    #[must_use]
    pub fn pad_token_id(self, token: i64) -> Generator<M> {
        Generator {
            pad_token_id: token,
            ..self
        }
    }

    /// Continues the tokens `[batch, length]`, sequences of equal length; for others, use
    /// [`generate_prompts`](Generator::generate_prompts). Returns them with the
    /// new tokens, as `i32` of shape `[batch, length + new]`. The model is used in evaluation
    /// mode and does not change.
    ///
    /// # Panics
    /// Panics if the tokens are empty, not integers or not in the vocabulary, or if the model
    /// does not support the total length.
    #[track_caller]
    pub fn generate(&self, model: &M, tokens: &Array, key: &Key) -> Array {
        self.run(model, tokens, None, key)
    }

    /// Continues prompts of any lengths together. Returns each prompt with its new tokens, up to
    /// and including the token that ends a sequence. The model is used in evaluation mode and
    /// does not change.
    ///
    /// Shorter prompts are padded at the start, where the padding is masked, so each prompt is
    /// continued as if it were alone. Prompts whose longest has another length compile another
    /// program.
    ///
    /// # Panics
    /// Panics if there are no prompts, if a prompt is empty or has tokens that are not in the
    /// vocabulary, or if the model does not support the total length of the longest one.
    #[track_caller]
    pub fn generate_prompts<P: AsRef<[i32]>>(
        &self,
        model: &M,
        prompts: &[P],
        key: &Key,
    ) -> Vec<Vec<i32>> {
        let lengths = || prompts.iter().map(|prompt| prompt.as_ref().len());
        assert!(
            !prompts.is_empty() && lengths().all(|n| n > 0),
            "Generator: the prompts have the lengths {:?}, expected one or more tokens each\n  \
             help: start with the token that begins a text",
            lengths().collect::<Vec<_>>()
        );
        let longest = lengths().max().unwrap_or(0);
        let padding: Vec<usize> = lengths().map(|n| longest - n).collect();
        let mut tokens = Vec::with_capacity(prompts.len() * longest);
        for (prompt, &padding) in prompts.iter().zip(&padding) {
            // The mask excludes these tokens, so any in the vocabulary serves.
            tokens.extend(std::iter::repeat_n(0, padding));
            tokens.extend_from_slice(prompt.as_ref());
        }
        let tokens = Array::from_vec(tokens, &[prompts.len(), longest]);
        let counts: Vec<i32> = padding.iter().map(|&n| n as i32).collect();
        let all = self.run(model, &tokens, Some(Array::from(counts)), key);
        let total = all.shape()[1];
        let rows = all.to_vec::<i32>();
        let rows = rows.chunks_exact(total).zip(padding);
        rows.map(|(row, padding)| {
            let ends = |token: &i32| Some(i64::from(*token)) == self.eos_token_id;
            let end = row[longest..].iter().position(ends);
            row[padding..end.map_or(total, |i| longest + i + 1)].to_vec()
        })
        .collect()
    }

    #[track_caller]
    fn run(&self, model: &M, tokens: &Array, padding: Option<Array>, key: &Key) -> Array {
        self.check(model, tokens);
        let (batch, total) = (tokens.shape()[0], tokens.shape()[1] + self.max_new_tokens);
        let mut tokens = tokens.astype(DType::I32);
        if self.max_new_tokens == 0 {
            return tokens;
        }
        let mut model = model.evaluated();
        model.start_decoding(batch, total);
        let mut ended: Option<Array> = None;
        let mut parts = vec![tokens.clone()];
        for i in 0..self.max_new_tokens {
            let key = key.fold_in(i as i64);
            let mut next = (self.step)(&mut model, tokens, padding.clone(), key);
            if let Some(eos) = self.eos_token_id {
                if let Some(ended) = &ended {
                    next = where_(ended, self.pad_token_id, next);
                }
                let ends = next.eq(eos);
                ended = Some(ended.map_or_else(|| ends.clone(), |e| e.bitwise_or(&ends)));
            }
            tokens = next.expand_dims(&[1]);
            parts.push(tokens.clone());
            let all = |ended: &Array| ended.to_vec::<bool>().into_iter().all(|e| e);
            if ended.as_ref().is_some_and(all) {
                break;
            }
        }
        concatenate(&parts, 1)
    }

    /// Checks tokens `[batch, length]`.
    #[track_caller]
    fn check(&self, model: &M, tokens: &Array) {
        let &[_, length] = tokens.shape() else {
            panic!(
                "Generator: the tokens are {}, expected [batch, length]\n  help: add a batch \
                 axis: tokens.expand_dims(&[0])",
                tokens.aval()
            )
        };
        assert!(
            length > 0 && tokens.dtype().is_integer(),
            "Generator: the tokens are {}, expected one or more integers per sequence\n  help: \
             start with the token that begins a text",
            tokens.aval()
        );
        let vocabulary = model.vocab_size() as i128;
        let mut ends = known_range(tokens).into_iter().flatten();
        if let Some(token) = ends.find(|token| !(0..vocabulary).contains(token)) {
            foreign_token("Generator", token, model.vocab_size());
        }
        let (new, room) = (
            self.max_new_tokens,
            model.max_length().unwrap_or(usize::MAX),
        );
        assert!(
            length + new <= room,
            "Generator: {length} tokens and {new} more are {}, but the model supports at most \
             {room}\n  help: generate fewer tokens, or pass only the last tokens of the text",
            length + new
        );
    }
}

impl<M> fmt::Debug for Generator<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Generator")
            .field("max_new_tokens", &self.max_new_tokens)
            .field("eos_token_id", &self.eos_token_id)
            .field("pad_token_id", &self.pad_token_id)
            .finish_non_exhaustive()
    }
}
