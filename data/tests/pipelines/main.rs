//! Sources, readers, loaders and streams.

#[path = "../common/mod.rs"]
mod common;

mod audio;
mod bpe;
mod digits;
mod endless;
mod grain;
mod loader;
mod random;
mod readers;
mod reading;
mod seeds;
mod source;
mod stream;
mod tables;
mod text;
mod transform;
