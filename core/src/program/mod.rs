//! Programs and the ways to evaluate them.

pub(crate) mod disable;
