//! Text generation: language models, their tokens one after the other, and the choice of tokens.

mod batch_decoding;
mod decoding;
mod generator;
mod language_model;
mod places;
mod sampling;
mod stops;

pub use batch_decoding::BatchDecoding;
pub use decoding::Decoding;
pub use generator::Generator;
pub use language_model::LanguageModel;
pub use places::Places;
pub use sampling::Sampling;
