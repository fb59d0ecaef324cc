//! `LanguageModel`: the trait of models that generate text.

use ramie_core::Array;
use ramie_nn::{Module, MultiHeadAttention};

/// A model that predicts the next token, with a cache for autoregressive decoding.
pub trait LanguageModel: Module + Clone {
    /// Computes the logits of the next token after each token: from integers `[batch, length]`
    /// to `[batch, length, vocabulary]`.
    ///
    /// While decoding, the tokens continue the sequences in the cache.
    ///
    /// # Panics
    /// Panics if there are more tokens than the model or the cache supports.
    #[track_caller]
    fn logits(&mut self, tokens: &Array) -> Array;

    /// Like [`logits`](LanguageModel::logits), for sequences of different lengths with padding
    /// before the first token. `padding`, integers `[batch]`, is the number of padding tokens of
    /// each sequence, the same in each call while decoding. No token attends to padding, and
    /// positions count from the first token after it, as [`Places`](crate::Places) computes them.
    ///
    /// # Panics
    /// Panics as [`logits`](LanguageModel::logits) does.
    #[track_caller]
    fn logits_padded(&mut self, tokens: &Array, padding: &Array) -> Array;

    /// Returns the number of tokens in the vocabulary.
    fn vocab_size(&self) -> usize;

    /// Returns the maximum length of a sequence, or `None` if only memory limits it.
    fn max_length(&self) -> Option<usize>;

    /// Returns the attention layers that cache keys and values while decoding, in the order of
    /// their blocks.
    fn attentions(&mut self) -> impl Iterator<Item = &mut MultiHeadAttention>;

    /// Starts decoding with empty caches: tokens continue `batch` sequences of up to `length`
    /// tokens.
    fn start_decoding(&mut self, batch: usize, length: usize) {
        for attention in self.attentions() {
            attention.start_decoding(batch, length);
        }
    }

    /// Sets the number of cached tokens while decoding, a 0-d `i32` or one for each sequence,
    /// `[batch]`, and discards later tokens. It must be at most the number of previous tokens.
    ///
    /// # Panics
    /// Panics if the model is not decoding, or if the shape is another one.
    #[track_caller]
    fn rewind(&mut self, length: &Array) {
        for attention in self.attentions() {
            attention.rewind(length);
        }
    }

    /// Stops decoding and drops the caches: tokens are whole sequences again.
    fn stop_decoding(&mut self) {
        for attention in self.attentions() {
            attention.stop_decoding();
        }
    }
}

/// Panics if a token is not in the vocabulary.
#[track_caller]
pub(crate) fn expect_tokens(
    class: &str,
    tokens: impl IntoIterator<Item = i128>,
    vocabulary: usize,
) {
    for token in tokens {
        assert!(
            (0..vocabulary as i128).contains(&token),
            "{class}: the token {token} is not in the vocabulary of the model, which has \
             {vocabulary} tokens\n  help: encode the text with the tokenizer of this model"
        );
    }
}
