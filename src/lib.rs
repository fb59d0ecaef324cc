//! Ramie: train neural networks in Rust, compiled by XLA.
#![forbid(unsafe_code)]
