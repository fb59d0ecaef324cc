//! Files of data.
//!
//! A damaged file is an error that names the file, and the row or record; it is
//! never a panic, and memory is taken as data come, not as a file claims.

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
