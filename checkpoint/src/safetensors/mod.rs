//! The safetensors format: a header in JSON that names arrays with their
//! types, and then their bytes.
//!
//! Names are the dotted paths of the tree. Other programs read and write the
//! same files; given the same arrays, files are equal byte for byte to those of
//! the reference implementation.
//!
//! Large models are kept in several files, shards, with an index that says which
//! array is in which. Where a file is read, its index may be named instead.

mod index;
mod read;
mod write;

pub(crate) use index::{ENDING as INDEX_ENDING, is_index};
pub use index::{save_sharded, save_sharded_with_metadata};
pub use read::{load_abstract, load_into, load_metadata, load_state};
pub use write::{save, save_with_metadata};

use std::collections::BTreeMap;

/// Notes that a file carries beside its arrays: text by name.
pub type Metadata = BTreeMap<String, String>;
