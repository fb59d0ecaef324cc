//! `LanguageModel`: what text is generated with.

use crate::Module;
use ramie_core::Array;

/// A model that tells from tokens what the next one may be, and can keep what it
/// has computed of those before.
pub trait LanguageModel: Module + Clone {
    /// Logits of the next token after each of the tokens: `[batch, length]`, of
    /// integers, to `[batch, length, vocabulary]`.
    ///
    /// While decoding, the tokens are the next ones of the sequences.
    ///
    /// # Panics
    /// If there are more tokens than the model, or the cache, has room for.
    #[track_caller]
    fn logits(&mut self, tokens: &Array) -> Array;

    /// How many tokens a sequence may have; `None` for as many as there is
    /// memory for.
    fn max_length(&self) -> Option<usize>;

    /// Makes empty caches: from now on tokens are the next ones of `batch`
    /// sequences of up to `length` tokens.
    fn start_decoding(&mut self, batch: usize, length: usize);

    /// Drops the caches: tokens are whole sequences again.
    fn stop_decoding(&mut self);
}
