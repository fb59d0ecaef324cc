//! OCDBT databases, which Orbax keeps the arrays of a checkpoint in.
//!
//! A database is a folder that holds values by key, both of them bytes: a
//! `manifest.ocdbt`, and files in `d/` with large values and a B+tree of the keys.
//! It is a format of TensorStore; this is a reader and a writer of its own.
//!
//! [`Database`] reads one, whoever wrote it. [`Writer`] writes one, and [`merge`] makes
//! one of those that several processes wrote.
//!
//! A reader of a damaged file gets an error that names the file and the byte, as far as
//! the format has checksums: of the manifest and the tree, not of large values.

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
