//! OCDBT databases, in which Orbax stores the arrays of a checkpoint.
//!
//! A database is a directory that maps keys to values, both byte strings. It contains a file
//! `manifest.ocdbt`, and files in `d/` with large values and a B+tree of the keys. OCDBT is a
//! format of TensorStore; this is an independent reader and writer.
//!
//! [`Database`] reads a database of any writer. [`Writer`] writes one, and [`merge`] merges those
//! that several processes wrote.
//!
//! Reading a damaged file returns an error that names the file and the byte, as far as the format
//! has checksums: the manifest and the tree have them, large values do not.

mod block;
mod cursor;
mod data_files;
mod database;
mod files;
mod keys;
mod location;
mod manifest;
mod merge;
mod node;
mod output;
mod tree;
mod versions;
mod writer;

pub use block::Compression;
pub use database::{Database, Version};
pub use keys::Keys;
pub(crate) use manifest::NAME as MANIFEST;
pub(crate) use merge::PREFIX as PROCESS_PREFIX;
pub use merge::{merge, merge_in, process_folder};
pub use writer::{Options, Writer};
