//! Readers of dataset files.
//!
//! A damaged file is reported as an error that names the file and the row or record; it never
//! causes a panic. Memory is allocated as data is read, not by the sizes a file claims.

pub mod bpe;
pub mod cifar;
pub mod csv;
mod file;
pub mod idx;
#[cfg(feature = "images")]
pub mod images;
pub mod jsonl;
pub mod npy;
#[cfg(feature = "parquet")]
pub mod parquet;
pub mod safetensors;
pub mod text;
pub mod tfrecord;
#[cfg(feature = "tokenizers")]
pub mod tokenizers;
pub mod tokens;
pub mod wav;
