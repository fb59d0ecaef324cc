//! A server for a language model, with the interface of OpenAI: completions and chats, as a whole or
//! streamed. Requests in flight are decoded together by one thread, which owns the model.
#![forbid(unsafe_code)]

mod api;
mod engine;
mod error;
mod http;
mod metrics;
mod options;
// The crate of the examples would also build plots.
#[path = "../../common/src/template.rs"]
mod template;
mod text;

pub use engine::{Engine, Limits, Model};
pub use http::serve;
