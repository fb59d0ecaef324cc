//! Locks, tables, errors and source locations. Nothing here refers to arrays or uses another
//! folder.

pub(crate) mod erased;
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
