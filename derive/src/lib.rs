//! Derive macros of Ramie.
#![forbid(unsafe_code)]
