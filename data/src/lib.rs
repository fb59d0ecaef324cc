//! Datasets and loaders that feed compiled train steps.
//!
//! Part of Ramie; see the `ramie` crate.
//!
//! # From a dataset to a step
//!
//! A [`Source`] is a dataset with random access. Arrays of the `ndarray` crate, vectors and
//! ranges are sources ([`IntoSource`]), [`readers`] open files as sources, [`synthetic`] computes
//! some, and any type becomes one by implementing two methods. Sources can be mapped, shuffled,
//! split and concatenated ([`SourceExt`]), mixed and packed. A [`DataLoader`] makes batches of a
//! source in worker threads. [`Resumable::prefetch_to_device`] copies them to a device, or to the
//! devices of a mesh, while a step runs.
//!
//! ```no_run
//! use ramie_core::{Array, jit};
//! use ramie_data::{DataLoader, Generator, Placement, Resumable, Source, synthetic};
//!
//! let points = synthetic::noisy_xor(2500, 42, 0.1);
//! let loader = DataLoader::new(points).batch_size(128).shuffle(0).workers(2).epochs(100);
//! let mut step = jit(|x: Array, y: Array| (x.sum_over(1) - y).square().mean());
//! let mut batches = loader.iter().prefetch_to_device(2, Placement::default());
//! while let Some(batch) = batches.next() {
//!     let (x, y) = batch?;
//!     let loss = step(x, y);
//!     let position = batches.state(); // save it with the checkpoint
//! }
//! # Ok::<(), ramie_data::Error>(())
//! ```
//!
//! An infinite dataset, or one without random access, is a [`Stream`]. Both can be checkpointed and
//! resumed: a [`LoaderState`] or a stream's [`Position`](stream::Position) consists of a few
//! numbers that `serde` saves. Resuming from it returns exactly the remaining batches, even with
//! a different number of workers or processes.
//!
//! # Several processes
//!
//! [`DataLoader::shard`] selects a process's rows of every batch, [`DataLoader::shard_for`] the
//! rows that its devices have on a mesh. Together, the processes get the batches that a single
//! process would get.
//!
//! # Errors
//!
//! A damaged file, an element that cannot be read and a panic in a worker are returned as a
//! [`Result`]. The error names the file and its row or record, or the element's index. Mistakes
//! of the caller panic at the caller's line.
//!
//! # Features
//!
//! `images` (directories of PNG and JPEG files), `parquet` (Parquet and Arrow files) and
//! `tokenizers` (Hugging Face tokenizers) add dependencies. None is enabled by default.
#![forbid(unsafe_code)]

pub mod audio;
mod augment;
mod batch;
mod buckets;
pub mod collate;
mod device;
pub mod digits;
mod error;
mod generator;
mod loader;
pub mod mnist;
mod one_hot;
mod packed;
mod panic;
mod permutation;
mod pipeline;
mod pool;
mod progress;
mod read_options;
pub mod readers;
mod resumable;
mod rows;
mod sample;
mod seed;
mod shard;
pub mod source;
mod stacks;
mod standardizer;
pub mod stream;
pub mod synthetic;
pub mod testing;
mod transform;

pub use augment::Augment;
pub use batch::Batch;
pub use buckets::Buckets;
pub use device::{DevicePrefetch, HostArray, Placement, ToDevice};
pub use digits::{Digits, Split};
pub use error::{Error, Result};
pub use generator::Generator;
pub use loader::{
    BatchSampler, BucketSampler, ConsecutiveBatches, DataLoader, DistributedSampler, LoaderIter,
    LoaderState, Masked, Order, PerformanceBudget, PerformanceConfig, RandomSampler, Sampler,
    SequentialSampler, SubsetRandomSampler, WeightedRandomSampler,
};
pub use one_hot::one_hot;
pub use permutation::Permutation;
pub use pipeline::{Applied, Seeded, SourceExt, StreamExt};
pub use read_options::ReadOptions;
pub use resumable::Resumable;
pub use sample::Sample;
pub use seed::DefaultSeed;
pub use shard::{LastBatch, Shard};
pub use source::{IntoSource, Source};
pub use stacks::Stacks;
pub use standardizer::Standardizer;
pub use stream::Stream;
pub use transform::{Context, Transform};
