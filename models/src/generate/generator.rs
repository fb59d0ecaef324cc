//! `Generator`: autoregressive text generation.

use super::language_model::expect_tokens;
use super::stops::{OnToken, Stops, Texts};
use crate::{LanguageModel, Sampling};
use ramie_core::random::Key;
use ramie_core::{Array, DType, concatenate, jit};
use ramie_nn::{Tree, known_range};
use std::fmt;
use std::ops::ControlFlow;

type PromptReader<M> = Box<dyn Fn(&mut M, Array, Option<Array>) + Send + Sync>;
type Step<M> =
    Box<dyn Fn(&mut (M, Option<History>), Array, Option<Array>, Key) -> Array + Send + Sync>;

/// Continues sequences of tokens with a language model.
///
/// The prompt without its last token is processed in one step, then one token per step, with the
/// keys and values of previous tokens in the model's caches. Both steps are compiled in the first
/// call and reused by later calls with the same shapes.
///
/// ```no_run
/// use ramie_core::{Array, random};
/// use ramie_nn::Rngs;
/// use ramie_models::{Generator, Gpt2, Gpt2Config, Sampling};
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
    /// Computes the keys and values of tokens.
    read: PromptReader<M>,
    /// Computes the token after the given ones.
    step: Step<M>,
    penalizes: bool,
    max_new_tokens: usize,
    stops: Stops,
    pad_token_id: i32,
}

/// The tokens that a repetition penalty applies to.
#[derive(Clone, Tree)]
struct History {
    /// The tokens of the prompt and the new ones, `[batch, total]`. Padding repeats the first
    /// token of the prompt.
    tokens: Array,
    /// The number of tokens with padding before them, a 0-d `i32`.
    count: Array,
}

impl History {
    /// Creates the history of prompts `[batch, length]` with space for new tokens.
    fn new(prompts: &Array, new: usize) -> History {
        let [batch, length] = prompts.dims();
        let space = prompts.slice_in_dim(0, 1, 1, 1).broadcast_to(&[batch, new]);
        History {
            tokens: concatenate(&[prompts.clone(), space], 1),
            count: Array::from(length as i32),
        }
    }

    /// Adds the next token of each text, `[batch]`.
    fn push(&mut self, next: &Array) {
        self.tokens = (self.tokens).dynamic_update_index_in_dim(next, &self.count, 1);
        self.count = &self.count + 1;
    }
}

impl<M: LanguageModel> Generator<M> {
    /// Creates a generator that appends up to `max_new_tokens` tokens, chosen by `sampling`.
    pub fn new(sampling: Sampling, max_new_tokens: usize) -> Generator<M> {
        let penalizes = sampling.penalizes();
        let step = move |(model, history): &mut (M, Option<History>),
                         tokens: Array,
                         padding: Option<Array>,
                         key: Key| {
            let last = logits(model, &tokens, padding.as_ref()).squeeze(&[1]);
            let Some(history) = history else {
                return sampling.choose(&key, &last);
            };
            let next = sampling.choose(&key, &sampling.penalized(&last, &history.tokens));
            history.push(&next);
            next
        };
        // XLA removes the unused logits.
        let read = |model: &mut M, tokens: Array, padding: Option<Array>| {
            logits(model, &tokens, padding.as_ref());
        };
        let (read, step) = (jit(read), jit(step));
        Generator {
            read: Box::new(move |model, tokens, padding| read(model, tokens, padding)),
            step: Box::new(move |state, tokens, padding, key| step(state, tokens, padding, key)),
            penalizes,
            max_new_tokens,
            stops: Stops::default(),
            pad_token_id: 0,
        }
    }

    /// Adds a token that ends a sequence, in addition to those of previous calls. Generation
    /// stops when all sequences have ended. Defaults to none.
    #[must_use]
    #[track_caller]
    pub fn eos_token_id(self, token: i32) -> Generator<M> {
        self.stop_sequences(&[[token]])
    }

    /// Adds sequences of tokens that end a text, in addition to those of previous calls. They end
    /// it only if all their tokens are new. Defaults to none.
    ///
    /// ```no_run
    /// use ramie_models::{Generator, Llama, Sampling};
    /// let generator: Generator<Llama> = Generator::new(Sampling::greedy(), 100)
    ///     .eos_token_id(2)
    ///     .stop_sequences(&[vec![198, 198], vec![42]]);
    /// ```
    ///
    /// # Panics
    /// Panics if a sequence is empty.
    #[must_use]
    #[track_caller]
    pub fn stop_sequences<S: AsRef<[i32]>>(mut self, sequences: &[S]) -> Generator<M> {
        for sequence in sequences {
            self.stops.add("Generator", sequence.as_ref());
        }
        self
    }

    /// Sets the token that pads sequences that have ended. Defaults to 0.
    #[must_use]
    pub fn pad_token_id(self, token: i32) -> Generator<M> {
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
        self.check(model, tokens);
        let tokens = tokens.astype(DType::I32);
        let texts = self.run(model, tokens.clone(), None, key, None);
        let (batch, length) = (texts.len(), tokens.shape()[1]);
        let total = length + texts.iter().map(Vec::len).max().unwrap_or(0);
        let mut all = Vec::with_capacity(batch * total);
        for (prompt, text) in tokens.to_vec::<i32>().chunks_exact(length).zip(texts) {
            all.extend_from_slice(prompt);
            all.extend_from_slice(&text);
            all.resize(all.len() + total - length - text.len(), self.pad_token_id);
        }
        Array::from_vec(all, &[batch, total])
    }

    /// Continues prompts of any lengths together. Returns each prompt with its new tokens, up to
    /// and including the token or the sequence that ends it. The model is used in evaluation
    /// mode and does not change.
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
        self.run_prompts(model, prompts, key, None)
    }

    /// Like [`generate_prompts`](Generator::generate_prompts), and calls a function with the index
    /// of a prompt and its next token as soon as it is known. `ControlFlow::Break` ends the text
    /// of this prompt. [`Decoding`](crate::Decoding) streams a single text.
    ///
    /// ```no_run
    /// use ramie_core::random;
    /// use ramie_models::{Generator, Llama, Pretrained, Sampling};
    /// use std::ops::ControlFlow;
    /// # fn main() -> Result<(), ramie_models::PretrainedError> {
    /// let model = Llama::from_pretrained("checkpoints/llama")?;
    /// let generator = Generator::new(Sampling::greedy(), 50);
    /// let prompts = [vec![1, 306, 4658], vec![1, 15043]];
    /// generator.generate_prompts_with(&model, &prompts, &random::key(0), |prompt, token| {
    ///     println!("{prompt}: {token}");
    ///     ControlFlow::Continue(())
    /// });
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    /// Panics as [`generate_prompts`](Generator::generate_prompts) does.
    #[track_caller]
    pub fn generate_prompts_with<P: AsRef<[i32]>>(
        &self,
        model: &M,
        prompts: &[P],
        key: &Key,
        mut on_token: impl FnMut(usize, i32) -> ControlFlow<()>,
    ) -> Vec<Vec<i32>> {
        self.run_prompts(model, prompts, key, Some(&mut on_token))
    }

    #[track_caller]
    fn run_prompts<'a, P: AsRef<[i32]>>(
        &'a self,
        model: &M,
        prompts: &[P],
        key: &Key,
        on_token: Option<OnToken<'a>>,
    ) -> Vec<Vec<i32>> {
        let lengths = || prompts.iter().map(|prompt| prompt.as_ref().len());
        assert!(
            !prompts.is_empty() && lengths().all(|n| n > 0),
            "Generator: the prompts have the lengths {:?}, expected one or more tokens each\n  \
             help: start with the token that begins a text",
            lengths().collect::<Vec<_>>()
        );
        let longest = lengths().max().unwrap_or(0);
        let padding: Vec<i32> = lengths().map(|n| (longest - n) as i32).collect();
        let mut tokens = Vec::with_capacity(prompts.len() * longest);
        for (prompt, &padding) in prompts.iter().zip(&padding) {
            let prompt = prompt.as_ref();
            // The mask excludes these tokens. One of the prompt changes no repetition penalty.
            tokens.extend(std::iter::repeat_n(prompt[0], padding as usize));
            tokens.extend_from_slice(prompt);
        }
        let tokens = Array::from_vec(tokens, &[prompts.len(), longest]);
        self.check(model, &tokens);
        let texts = self.run(model, tokens, Some(Array::from(padding)), key, on_token);
        let both = prompts.iter().zip(texts);
        both.map(|(prompt, text)| [prompt.as_ref(), &text].concat())
            .collect()
    }

    /// Returns the new tokens of each text.
    #[track_caller]
    fn run<'a>(
        &'a self,
        model: &M,
        mut tokens: Array,
        padding: Option<Array>,
        key: &Key,
        on_token: Option<OnToken<'a>>,
    ) -> Vec<Vec<i32>> {
        let [batch, length] = tokens.dims();
        let mut texts = Texts::new(batch, &self.stops, on_token);
        let history = (self.penalizes).then(|| History::new(&tokens, self.max_new_tokens));
        let mut state = (model.evaluated(), history);
        state.0.start_decoding(batch, length + self.max_new_tokens);
        if length > 1 && self.max_new_tokens > 0 {
            let parts = tokens.split_sizes(&[length - 1, 1], 1);
            (self.read)(&mut state.0, parts[0].clone(), padding.clone());
            tokens = parts[1].clone();
        }
        // Tokens that are not watched are read at the end, so that the device never waits.
        let mut steps = Vec::new();
        for i in 0..self.max_new_tokens {
            let key = key.fold_in(i as i64);
            let next = (self.step)(&mut state, tokens, padding.clone(), key);
            tokens = next.expand_dims(&[1]);
            steps.push(next);
            if texts.are_watched() && texts.add(steps.drain(..)) {
                break;
            }
        }
        texts.add(steps);
        texts.into_tokens()
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
        let ends = known_range(tokens).into_iter().flatten();
        expect_tokens("Generator", ends, model.vocab_size());
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

/// Computes the logits after each token.
#[track_caller]
fn logits<M: LanguageModel>(model: &mut M, tokens: &Array, padding: Option<&Array>) -> Array {
    match padding {
        Some(padding) => model.logits_padded(tokens, padding),
        None => model.logits(tokens),
    }
}

impl<M> fmt::Debug for Generator<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Generator")
            .field("max_new_tokens", &self.max_new_tokens)
            .field("stops", &self.stops)
            .field("pad_token_id", &self.pad_token_id)
            .finish_non_exhaustive()
    }
}
