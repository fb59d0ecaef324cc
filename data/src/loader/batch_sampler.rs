//! Which elements make which batch.

use super::sampler::{Order, Sampler};
use crate::{Buckets, Generator, LastBatch, Permutation, Result};
use std::sync::Arc;

/// The batches of an epoch, as indices (`torch.utils.data.BatchSampler`).
pub trait BatchSampler: Send + Sync {
    /// The batches of an epoch: a pure function of its number.
    fn batches(&self, epoch: u64) -> Vec<Vec<usize>>;
}

/// A function of the epoch that lists its batches is a batch sampler.
impl<F: Fn(u64) -> Vec<Vec<usize>> + Send + Sync> BatchSampler for F {
    fn batches(&self, epoch: u64) -> Vec<Vec<usize>> {
        self(epoch)
    }
}

/// Batches of elements of similar length, shuffled, each element once: little is
/// padded, and there are few shapes to compile for.
///
/// ```
/// use ramie_data::{BatchSampler, BucketSampler, Buckets};
/// let lengths = [3, 30, 4, 28, 2, 31];
/// let sampler = BucketSampler::new(&lengths, Buckets::new([8, 32], 2), 0)?;
/// for batch in sampler.batches(0) {
///     let short = batch.iter().filter(|i| lengths[**i] <= 8).count();
///     assert!(short == 0 || short == batch.len());
/// }
/// # Ok::<(), ramie_data::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct BucketSampler {
    /// The elements of each bucket.
    members: Vec<Vec<usize>>,
    buckets: Buckets,
    last: LastBatch,
    seed: u64,
}

impl BucketSampler {
    /// Batches of the elements of these lengths; smaller ones last in each bucket.
    ///
    /// # Errors
    /// If an element is longer than the longest bucket.
    pub fn new(lengths: &[usize], buckets: Buckets, seed: u64) -> Result<BucketSampler> {
        let mut members = vec![Vec::new(); buckets.lengths().len()];
        for (i, length) in lengths.iter().enumerate() {
            let bucket = buckets.of(*length);
            members[bucket.map_err(|e| crate::Error::element(i, e))?].push(i);
        }
        Ok(BucketSampler {
            members,
            buckets,
            last: LastBatch::Keep,
            seed,
        })
    }

    /// Leaves out what does not fill a batch.
    #[must_use]
    pub fn drop_last(mut self) -> BucketSampler {
        self.last = LastBatch::Drop;
        self
    }
}

impl BatchSampler for BucketSampler {
    fn batches(&self, epoch: u64) -> Vec<Vec<usize>> {
        let mut batches = Vec::new();
        for (b, members) in self.members.iter().enumerate() {
            let size = self.buckets.sizes()[b];
            let seed = Generator::new(self.seed).fold_in(b as u64).next_u64();
            let order = Permutation::new(members.len(), seed, epoch);
            let order: Vec<usize> = order.iter().map(|i| members[i]).collect();
            let whole = |batch: &&[usize]| self.last == LastBatch::Keep || batch.len() == size;
            batches.extend(order.chunks(size).filter(whole).map(<[usize]>::to_vec));
        }
        Generator::new(self.seed)
            .fold_in(epoch)
            .shuffle(&mut batches);
        batches
    }
}

/// How a loader makes batches.
#[derive(Clone)]
pub(super) enum Plan {
    /// Neighbours of an order.
    Neighbours {
        sampler: Arc<dyn Sampler>,
        size: usize,
        last: LastBatch,
    },
    /// As they are listed.
    Listed(Arc<dyn BatchSampler>),
}

/// The batches of an epoch.
#[derive(Clone)]
pub(super) enum Batches {
    Neighbours {
        order: Order,
        size: usize,
        last: LastBatch,
    },
    Listed(Vec<Vec<usize>>),
}

impl Plan {
    pub(super) fn epoch(&self, epoch: u64) -> Batches {
        match self {
            Plan::Neighbours {
                sampler,
                size,
                last,
            } => Batches::Neighbours {
                order: sampler.order(epoch),
                size: *size,
                last: *last,
            },
            Plan::Listed(sampler) => Batches::Listed(sampler.batches(epoch)),
        }
    }
}

impl Batches {
    /// Where a batch begins, or the end.
    pub(super) fn position(&self, batch: usize) -> usize {
        let position = match self {
            Batches::Neighbours { size, .. } => batch.saturating_mul(*size),
            Batches::Listed(_) => batch,
        };
        position.min(self.len())
    }

    /// How far positions go: elements of the order, or batches of the list.
    pub(super) fn len(&self) -> usize {
        match self {
            Batches::Neighbours { order, .. } => order.len(),
            Batches::Listed(batches) => batches.len(),
        }
    }

    /// How many batches there are.
    pub(super) fn count(&self) -> usize {
        match self {
            Batches::Neighbours { order, size, last } => match last {
                LastBatch::Keep => order.len().div_ceil(*size),
                LastBatch::Drop => order.len() / size,
            },
            Batches::Listed(batches) => batches.len(),
        }
    }

    /// The batch that begins at a position: how many elements it has, and the
    /// position behind it. `None` at the end.
    pub(super) fn at(&self, position: usize) -> Option<(usize, usize)> {
        match self {
            Batches::Neighbours { order, size, last } => {
                let len = order.len().saturating_sub(position).min(*size);
                let whole = len == *size || *last == LastBatch::Keep;
                (len > 0 && whole).then_some((len, position + len))
            }
            Batches::Listed(batches) => Some((batches.get(position)?.len(), position + 1)),
        }
    }

    /// An index of the batch that begins at a position. Places behind its end are
    /// filled with its elements, from its first on.
    pub(super) fn index(&self, position: usize, len: usize, place: usize) -> usize {
        match self {
            Batches::Neighbours { order, .. } => order.get(position + place % len),
            Batches::Listed(batches) => batches[position][place % len],
        }
    }

    /// A number that tells most other orders from this one.
    pub(super) fn fingerprint(&self) -> u64 {
        let mut hash = crate::generator::mix(self.len() as u64);
        for i in 0..self.len().min(16) {
            // Places from front to end.
            let place = (i as u128 * self.len() as u128 / 16.min(self.len() as u128)) as usize;
            let index = match self {
                Batches::Neighbours { order, .. } => order.get(place) as u64,
                Batches::Listed(batches) => batches[place]
                    .iter()
                    .fold(batches[place].len() as u64, |h, i| {
                        crate::generator::mix(h ^ *i as u64)
                    }),
            };
            hash = crate::generator::mix(hash ^ index);
        }
        hash
    }
}
