//! Files of data.
//!
//! A damaged file is an error that names the file, and the row or record; it is
//! never a panic, and memory is taken as data come, not as a file claims.

pub mod cifar;
pub mod csv;
mod file;
pub mod idx;
pub mod jsonl;
pub mod npy;
pub mod safetensors;
pub mod text;
pub mod tokens;
