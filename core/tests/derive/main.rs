//! `#[derive(Tree)]`: derived trees, and the messages for types that cannot be trees.
//!
//! These tests live here because a procedural macro is built for the host: as a development
//! dependency of `ramie-derive`, this crate would be compiled a second time.

mod mistakes;
mod trees;
