//! Data sets and loaders that feed compiled train steps.
//!
//! Part of Ramie; see the `ramie` crate.
#![forbid(unsafe_code)]

mod augment;
pub mod collate;
mod device;
pub mod digits;
mod error;
mod generator;
mod loader;
mod panic;
mod permutation;
mod progress;
pub mod readers;
mod resumable;
mod sample;
mod shard;
pub mod source;
pub mod stream;
pub mod synthetic;

pub use augment::Augment;
pub use device::{DevicePrefetch, HostArray, Placement, ToDevice};
pub use digits::{Digits, Split};
pub use error::{Error, Result};
pub use generator::Generator;
pub use loader::{
    BatchSampler, BucketSampler, DataLoader, LoaderIter, LoaderState, Masked, Order, RandomSampler,
    Sampler, SequentialSampler, SubsetRandomSampler, WeightedRandomSampler,
};
pub use permutation::Permutation;
pub use resumable::Resumable;
pub use sample::Sample;
pub use shard::{LastBatch, Shard};
pub use source::{IntoSource, Source};
pub use stream::{Buckets, Stream};
