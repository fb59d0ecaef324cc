//! What every other part of the core uses, and which knows nothing of arrays.

pub(crate) mod error;
pub(crate) mod events;
pub(crate) mod hash;
pub(crate) mod intern;
pub(crate) mod location;
pub mod lock;
pub(crate) mod names;
pub(crate) mod program_cache;
pub(crate) mod scoped;
pub(crate) mod single_flight;
pub(crate) mod stack;
pub mod text;
pub(crate) mod thread_stack;
