//! `BatchDecoding`: sequences that a language model continues together.

use super::language_model::expect_tokens;
use super::sampling::{Method, TextSampling};
use crate::{LanguageModel, Sampling};
use ramie_core::random::{self, Key};
use ramie_core::{Array, jit, stack, vmap};
use ramie_nn::nnx::{self, of_type};
use ramie_nn::{Cache, Tree};
use std::fmt;

type PromptReader<M> = Box<dyn Fn(&mut M, Array, Array) + Send + Sync>;
type Step<M> = Box<dyn Fn(&mut M, StepInputs) -> Array + Send + Sync>;

/// The least length that prompts are padded to.
const SHORTEST: usize = 32;

/// Sequences that a language model continues together, for servers. Each has its own sampling
/// options, and starts and ends at any step (continuous batching: Yu et al., *Orca: A Distributed
/// Serving System for Transformer-Based Generative Models*, 2022).
///
/// The model's caches have a fixed number of slots, one for each sequence.
/// [`start`](BatchDecoding::start) computes a prompt into a free slot, padded to a power of two.
/// [`step`](BatchDecoding::step) computes the next token of all sequences, which are the tokens
/// of each sequence alone.
///
/// ```no_run
/// use ramie_core::random;
/// use ramie_nn::Rngs;
/// use ramie_models::{BatchDecoding, Gpt2, Gpt2Config, Sampling};
/// let model = Gpt2::new(&Gpt2Config::default(), &mut Rngs::new(0));
/// let mut batch = BatchDecoding::new(&model, 8, 256).compiled();
/// let first = batch.start(&[464, 3616, 286], Sampling::greedy(), &random::key(0));
/// batch.step();
/// let random = Sampling::greedy().temperature(0.8);
/// let second = batch.start(&[1212], random, &random::key(1));
/// for (slot, token) in batch.step() {
///     println!("{slot}: {token}");
/// }
/// assert_eq!(batch.end(first).len(), 5);
/// assert_eq!(batch.free_slots(), 7);
/// ```
pub struct BatchDecoding<M> {
    model: M,
    read: PromptReader<M>,
    step: Step<M>,
    slots: Vec<Option<Sequence>>,
    max_length: usize,
    /// The key of free slots.
    key: Key,
}

/// A sequence in a slot. The keys and values of all its tokens but the last are cached.
struct Sequence {
    tokens: Vec<i32>,
    sampling: Sampling,
    key: Key,
}

/// The inputs of a step, one for each slot.
#[derive(Clone, Tree)]
struct StepInputs {
    /// The last tokens, `[slots, 1]`.
    tokens: Array,
    /// The numbers of tokens before them, `[slots]`.
    lengths: Array,
    keys: Vec<Key>,
    sampling: TextSampling,
}

impl<M: LanguageModel> BatchDecoding<M> {
    /// Creates caches for `slots` sequences of up to `max_length` tokens each. The model is used in
    /// evaluation mode and does not change.
    ///
    /// # Panics
    /// Panics if there are no slots, or if the model does not support the length.
    #[track_caller]
    pub fn new(model: &M, slots: usize, max_length: usize) -> BatchDecoding<M> {
        let room = model.max_length().unwrap_or(usize::MAX);
        assert!(
            slots > 0 && (1..=room).contains(&max_length),
            "BatchDecoding: {slots} slots for sequences of {max_length} tokens, expected 1 or more \
             slots and at most {room} tokens\n  help: use BatchDecoding::new(&model, 8, {})",
            room.min(1024)
        );
        let mut model = model.evaluated();
        model.start_decoding(slots, max_length);
        model.rewind(&Array::from(vec![0; slots]));
        let (read, step) = (jit(read::<M>), jit(step::<M>));
        BatchDecoding {
            model,
            read: Box::new(move |model, tokens, slot| read(model, tokens, slot)),
            step: Box::new(move |model, next| step(model, next)),
            slots: (0..slots).map(|_| None).collect(),
            max_length,
            key: random::key(0),
        }
    }

    /// Compiles the programs for prompts of all lengths and for all sampling options, so that no
    /// later call compiles.
    ///
    /// # Panics
    /// Panics if there are sequences already.
    #[must_use]
    #[track_caller]
    pub fn compiled(mut self) -> BatchDecoding<M> {
        assert!(
            self.free_slots() == self.slots.len(),
            "BatchDecoding::compiled: there are sequences already\n  help: call it first: \
             BatchDecoding::new(&model, slots, max_length).compiled()"
        );
        let mut length = SHORTEST;
        loop {
            self.read(&vec![0; length.min(self.max_length)], 0);
            if length >= self.max_length {
                break;
            }
            length *= 2;
        }
        for method in Method::ALL {
            let mut next = self.next();
            next.sampling = next.sampling.with_method(method);
            (self.step)(&mut self.model, next);
        }
        self
    }

    /// Returns the maximum number of tokens of a sequence.
    pub fn max_length(&self) -> usize {
        self.max_length
    }

    /// Returns the number of sequences that can start.
    pub fn free_slots(&self) -> usize {
        self.slots.iter().filter(|slot| slot.is_none()).count()
    }

    /// Returns the tokens of a sequence: the prompt and the new ones.
    ///
    /// # Panics
    /// Panics if the slot has no sequence.
    #[track_caller]
    pub fn tokens(&self, slot: usize) -> &[i32] {
        match self.slots.get(slot) {
            Some(Some(sequence)) => &sequence.tokens,
            _ => no_sequence("tokens", slot),
        }
    }

    /// Returns `true` if a sequence has the maximum number of tokens. It must then end.
    ///
    /// # Panics
    /// Panics if the slot has no sequence.
    #[track_caller]
    pub fn is_full(&self, slot: usize) -> bool {
        self.tokens(slot).len() == self.max_length
    }

    /// Starts a sequence with a prompt. Returns its slot. The key is for random choices, which depend
    /// on it and on the length of the sequence, as those of [`Decoding`](crate::Decoding) do.
    ///
    /// # Panics
    /// Panics if no slot is free, if the prompt is empty, too long or has tokens that are not in the
    /// vocabulary, or if the options have a repetition penalty.
    #[track_caller]
    pub fn start(&mut self, prompt: &[i32], sampling: Sampling, key: &Key) -> usize {
        self.check(prompt, &sampling, key);
        let Some(slot) = self.slots.iter().position(Option::is_none) else {
            panic!(
                "BatchDecoding::start: all {} slots have sequences\n  help: wait until \
                 `free_slots` is positive; sequences end with `end`",
                self.slots.len()
            )
        };
        let cached = &prompt[..prompt.len() - 1];
        if !cached.is_empty() {
            self.read(cached, slot);
        }
        self.slots[slot] = Some(Sequence {
            tokens: prompt.to_vec(),
            sampling,
            key: key.clone(),
        });
        slot
    }

    /// Chooses the next token of each sequence and appends it. Returns the slots and the tokens.
    ///
    /// # Panics
    /// Panics if a sequence is full.
    #[track_caller]
    pub fn step(&mut self) -> Vec<(usize, i32)> {
        let full = |s: &Option<Sequence>| {
            s.as_ref()
                .is_some_and(|s| s.tokens.len() == self.max_length)
        };
        if let Some(slot) = self.slots.iter().position(full) {
            panic!(
                "BatchDecoding::step: the sequence in slot {slot} has {} tokens, the maximum\n  \
                 help: end it when `is_full` returns true: batch.end({slot})",
                self.max_length
            )
        }
        if self.free_slots() == self.slots.len() {
            return Vec::new();
        }
        let next = self.next();
        let next = (self.step)(&mut self.model, next).to_vec::<i32>();
        let slots = self.slots.iter_mut().zip(next).enumerate();
        let mut chosen = Vec::new();
        for (slot, (sequence, token)) in slots {
            if let Some(sequence) = sequence {
                sequence.tokens.push(token);
                chosen.push((slot, token));
            }
        }
        chosen
    }

    /// Ends a sequence and frees its slot. Returns the tokens.
    ///
    /// # Panics
    /// Panics if the slot has no sequence.
    #[track_caller]
    pub fn end(&mut self, slot: usize) -> Vec<i32> {
        match self.slots.get_mut(slot).and_then(Option::take) {
            Some(sequence) => sequence.tokens,
            None => no_sequence("end", slot),
        }
    }

    /// Computes the keys and values of tokens into a slot.
    #[track_caller]
    fn read(&mut self, tokens: &[i32], slot: usize) {
        let size = tokens.len().next_power_of_two().max(SHORTEST);
        let size = size.min(self.max_length);
        let mut tokens = tokens.to_vec();
        // Later tokens overwrite the padding before they attend to it.
        tokens.resize(size, 0);
        let tokens = Array::from_vec(tokens, &[1, size]);
        (self.read)(&mut self.model, tokens, Array::from(slot as i32));
    }

    fn next(&self) -> StepInputs {
        let slots = || self.slots.iter().map(Option::as_ref);
        let last = |s: &Sequence| *s.tokens.last().expect("prompts are not empty");
        let tokens: Vec<i32> = slots().map(|s| s.map_or(0, last)).collect();
        // A step overwrites the first position of a free slot, and so does its next prompt.
        let lengths = slots().map(|s| s.map_or(0, |s| s.tokens.len() as i32 - 1));
        let keys = slots().map(|s| s.map_or(&self.key, |s| &s.key).clone());
        let sampling: Vec<_> = slots().map(|s| s.map(|s| &s.sampling)).collect();
        StepInputs {
            tokens: Array::from_vec(tokens, &[self.slots.len(), 1]),
            lengths: Array::from(lengths.collect::<Vec<i32>>()),
            keys: keys.collect(),
            sampling: TextSampling::of(&sampling),
        }
    }

    #[track_caller]
    fn check(&self, prompt: &[i32], sampling: &Sampling, key: &Key) {
        assert!(
            (1..self.max_length).contains(&prompt.len()),
            "BatchDecoding::start: the prompt has {} tokens, expected 1 or more, and less than {}\n  \
             help: create the batch with a larger maximum, or pass only the last tokens",
            prompt.len(),
            self.max_length
        );
        let numbers = prompt.iter().map(|token| i128::from(*token));
        expect_tokens("BatchDecoding", numbers, self.model.vocab_size());
        assert!(
            !sampling.penalizes(),
            "BatchDecoding::start: the sampling options have a repetition penalty, which a batch \
             does not support\n  help: use Decoding or Generator"
        );
        let (own, given) = (random::key_impl(&self.key), random::key_impl(key));
        assert!(
            own == given,
            "BatchDecoding::start: the key is of {given}, but the batch uses {own}\n  help: create \
             the key with random::key(seed)"
        );
    }
}

/// Computes the keys and values of tokens `[1, length]`, and writes them into a slot of the caches.
fn read<M: LanguageModel>(model: &mut M, tokens: Array, slot: Array) {
    let mut single = model.clone();
    single.start_decoding(1, tokens.shape()[1]);
    single.logits(&tokens);
    let mut caches = nnx::state(model, of_type::<Cache>());
    for (path, new) in nnx::state(&single, of_type::<Cache>()).iter() {
        // The index of the cache has no axis for sequences.
        if new.ndim() == 0 {
            continue;
        }
        let mut start = vec![Array::from(0); new.ndim()];
        start[0] = slot.clone();
        let cache = caches[path].dynamic_update_slice(new, &start);
        caches.insert(path, cache);
    }
    nnx::update(model, caches);
}

/// Computes the next token of each slot.
fn step<M: LanguageModel>(model: &mut M, next: StepInputs) -> Array {
    let StepInputs {
        tokens,
        lengths,
        keys,
        sampling,
    } = next;
    model.rewind(&lengths);
    let logits = model.logits(&tokens).squeeze(&[1]);
    let data: Vec<Array> = keys
        .iter()
        .map(|key| random::key_data(key).clone())
        .collect();
    let keys = random::wrap_key_data_with(stack(&data, 0), random::key_impl(&keys[0]));
    let fold = |key: Key, length: Array| key.fold_in(length);
    sampling.choose(vmap(fold)(keys, lengths + 1), &logits)
}

#[track_caller]
fn no_sequence(method: &str, slot: usize) -> ! {
    panic!(
        "BatchDecoding::{method}: slot {slot} has no sequence\n  help: use the slot that `start` \
         returned, until `end`"
    )
}

impl<M> fmt::Debug for BatchDecoding<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tokens = self.slots.iter().map(|s| s.as_ref().map(|s| &s.tokens));
        f.debug_struct("BatchDecoding")
            .field("slots", &tokens.collect::<Vec<_>>())
            .field("max_length", &self.max_length)
            .finish_non_exhaustive()
    }
}
