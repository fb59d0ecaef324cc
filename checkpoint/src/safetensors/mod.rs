//! The safetensors format: a JSON header with the names, dtypes and shapes of arrays, followed by
//! their bytes.
//!
//! Names are dotted paths of the tree. Other programs read and write the same files; for the same
//! arrays, files are byte for byte equal to those of the reference implementation.
//!
//! Large models are stored in several files, called shards, with an index that maps each array to
//! its shard. Functions that read a file also accept the path of an index.

mod index;
mod read;
mod write;

pub(crate) use index::ENDING as INDEX_ENDING;
pub use index::{save_sharded, save_sharded_with_metadata};
pub use read::{load_abstract, load_into, load_metadata, load_state};
pub use write::{save, save_with_metadata};

use std::collections::BTreeMap;

/// Metadata of a file: strings by name.
pub type Metadata = BTreeMap<String, String>;
