//! Data sets and loaders that feed compiled train steps.
//!
//! Part of Ramie; see the `ramie` crate.
//!
//! # From a data set to a step
//!
//! A [`Source`] is a data set with random access: arrays of the `ndarray` crate,
//! vectors and ranges are ([`IntoSource`]), [`readers`] make sources of files,
//! [`synthetic`] computes some, and two methods make one of anything. Sources are
//! mapped, shuffled, split, joined, mixed, packed. A [`DataLoader`] makes batches
//! of one in worker threads; [`Resumable::prefetch_to_device`] brings them to a
//! device, or to the devices of a mesh, while a step runs.
//!
//! ```no_run
//! use ramie_core::{Array, jit};
//! use ramie_data::{DataLoader, Generator, Placement, Resumable, Source, synthetic};
//!
//! let points = synthetic::noisy_xor(2500, 42, 0.1);
//! let loader = DataLoader::new(points).batch_size(128).shuffle(0).workers(2).epochs(100);
//! let mut step = jit(|x: Array, y: Array| (x.sum_axes(&[1]) - y).square().mean());
//! let mut batches = loader.iter().prefetch_to_device(2, Placement::default());
//! while let Some(batch) = batches.next() {
//!     let (x, y) = batch?;
//!     let loss = step(x, y);
//!     let position = batches.state(); // belongs into a checkpoint
//! }
//! # Ok::<(), ramie_data::Error>(())
//! ```
//!
//! What has no index, or no end, is a [`Stream`]. Both stop where they are told and
//! go on from there: a [`LoaderState`] or a stream's
//! [`Position`](stream::Position) is a few numbers that `serde` saves, and gives
//! exactly the batches that were left, also with other numbers of workers and
//! processes.
//!
//! # Several processes
//!
//! [`DataLoader::shard`] gives a process its rows of every batch,
//! [`DataLoader::shard_for`] those that its devices have of a mesh. The batches of
//! all processes together are those that one has alone.
//!
//! # Errors
//!
//! A damaged file, an element that cannot be read and a function that panics in a
//! worker come as a [`Result`], with the file and its row or record, or the
//! element's index. Mistakes of the caller panic at the caller's line.
//!
//! # Features
//!
//! `images` (folders of PNG and JPEG files), `parquet` (Parquet and Arrow files) and
//! `tokenizers` (tokenizers of Hugging Face) bring dependencies of their own; none
//! is on by default.
#![forbid(unsafe_code)]

mod augment;
mod batch;
pub mod collate;
mod device;
pub mod digits;
mod error;
mod generator;
mod loader;
mod panic;
mod permutation;
mod pool;
mod progress;
pub mod readers;
mod resumable;
mod sample;
mod shard;
pub mod source;
mod stacks;
pub mod stream;
pub mod synthetic;
pub mod testing;

pub use augment::Augment;
pub use batch::Batch;
pub use device::{DevicePrefetch, HostArray, Placement, ToDevice};
pub use digits::{Digits, Split};
pub use error::{Error, Result};
pub use generator::Generator;
pub use loader::{
    BatchSampler, BucketSampler, DataLoader, DistributedSampler, LoaderIter, LoaderState, Masked,
    Order, PerformanceBudget, PerformanceConfig, RandomSampler, Sampler, SequentialSampler,
    SubsetRandomSampler, WeightedRandomSampler,
};
pub use permutation::Permutation;
pub use resumable::Resumable;
pub use sample::Sample;
pub use shard::{LastBatch, Shard};
pub use source::{IntoSource, Source};
pub use stacks::Stacks;
pub use stream::{Buckets, Stream};
