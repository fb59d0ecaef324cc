//! What every other part of the core uses, and which knows nothing of arrays.

pub(crate) mod location;
pub(crate) mod names;
