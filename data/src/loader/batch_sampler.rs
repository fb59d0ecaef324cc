//! Batch samplers, which determine the elements of each batch.

use super::sampler::{Order, Sampler};
use crate::source::derived;
use crate::{Buckets, Generator, LastBatch, Permutation, Result};
use std::sync::Arc;

/// The batches of an epoch, as lists of indices (`torch.utils.data.BatchSampler`).
pub trait BatchSampler: Send + Sync {
    /// Returns the batches of an epoch, as a pure function of its number.
    fn batches(&self, epoch: usize) -> Vec<Vec<usize>>;
}

/// A function from the epoch to a list of batches is a batch sampler.
impl<F: Fn(usize) -> Vec<Vec<usize>> + Send + Sync> BatchSampler for F {
    fn batches(&self, epoch: usize) -> Vec<Vec<usize>> {
        self(epoch)
    }
}

/// A batch sampler that cuts the order of a sampler into batches of one size
/// (`torch.utils.data.BatchSampler`), for samplers of batches that build on another. A loader does
/// the same with `sampler`, `batch_size` and `drop_last`.
///
/// ```
/// use ramie_data::{BatchSampler, ConsecutiveBatches, LastBatch, SequentialSampler};
/// let batches = ConsecutiveBatches::new(SequentialSampler(5), 2, LastBatch::Drop);
/// assert_eq!(batches.batches(0), [[0, 1], [2, 3]]);
/// ```
#[derive(Clone, Debug)]
pub struct ConsecutiveBatches<S> {
    sampler: S,
    batch_size: usize,
    last: LastBatch,
}

impl<S: Sampler> ConsecutiveBatches<S> {
    /// Creates a sampler of batches of `batch_size` elements.
    ///
    /// # Panics
    /// Panics if `batch_size` is 0.
    #[track_caller]
    pub fn new(sampler: S, batch_size: usize, last: LastBatch) -> ConsecutiveBatches<S> {
        assert!(
            batch_size > 0,
            "ConsecutiveBatches: the batch size is 0\n  help: pass a batch size of at least 1"
        );
        ConsecutiveBatches {
            sampler,
            batch_size,
            last,
        }
    }
}

impl<S: Sampler> BatchSampler for ConsecutiveBatches<S> {
    fn batches(&self, epoch: usize) -> Vec<Vec<usize>> {
        let order: Vec<usize> = self.sampler.order(epoch).iter().collect();
        cut(&order, self.batch_size, self.last).collect()
    }
}

/// Cuts an order into batches of one size, of which the last may be incomplete.
fn cut(order: &[usize], size: usize, last: LastBatch) -> impl Iterator<Item = Vec<usize>> + '_ {
    let batches = order.chunks(size);
    let whole = move |batch: &&[usize]| last == LastBatch::Keep || batch.len() == size;
    batches.filter(whole).map(<[usize]>::to_vec)
}

/// A batch sampler that groups elements of similar length. It returns each element once, in
/// shuffled batches. This needs little padding and has few shapes to compile for.
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
    /// Creates a sampler of elements with these lengths. The last batch of each bucket may be
    /// smaller.
    ///
    /// # Errors
    /// Returns an error if an element is longer than the longest bucket.
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

    /// Drops the elements of each bucket that do not fill a batch.
    #[must_use]
    pub fn drop_last(mut self) -> BucketSampler {
        self.last = LastBatch::Drop;
        self
    }
}

impl BatchSampler for BucketSampler {
    fn batches(&self, epoch: usize) -> Vec<Vec<usize>> {
        let mut batches = Vec::new();
        for (b, members) in self.members.iter().enumerate() {
            let size = self.buckets.sizes()[b];
            let seed = Generator::new(self.seed).fold_in(b as u64).next_u64();
            let order = Permutation::new(members.len(), seed, epoch);
            let order: Vec<usize> = order.iter().map(|i| members[i]).collect();
            batches.extend(cut(&order, size, self.last));
        }
        Generator::new(self.seed)
            .fold_in(epoch as u64)
            .shuffle(&mut batches);
        batches
    }
}

/// The rule by which a loader groups elements into batches.
#[derive(Clone)]
pub(super) enum Plan {
    /// Consecutive elements of an order.
    Neighbours {
        sampler: Arc<dyn Sampler>,
        size: usize,
        last: LastBatch,
    },
    /// The batches listed by a batch sampler.
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
    pub(super) fn epoch(&self, epoch: usize) -> Batches {
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
    /// Returns the position at which a batch begins, or the end.
    pub(super) fn position(&self, batch: usize) -> usize {
        let position = match self {
            Batches::Neighbours { size, .. } => batch.saturating_mul(*size),
            Batches::Listed(_) => batch,
        };
        position.min(self.len())
    }

    /// Returns the end of the positions: the number of elements of the order, or of batches in
    /// the list.
    pub(super) fn len(&self) -> usize {
        match self {
            Batches::Neighbours { order, .. } => order.len(),
            Batches::Listed(batches) => batches.len(),
        }
    }

    /// Returns the number of batches.
    pub(super) fn count(&self) -> usize {
        self.count_from(0)
    }

    /// Returns the number of batches from a position on.
    pub(super) fn count_from(&self, position: usize) -> usize {
        match self {
            Batches::Neighbours { order, size, last } => derived(order.len(), |len| {
                let len = len.saturating_sub(position);
                match last {
                    LastBatch::Keep => len.div_ceil(*size),
                    LastBatch::Drop => len / size,
                }
            }),
            Batches::Listed(batches) => batches.len().saturating_sub(position),
        }
    }

    /// Returns the number of elements if they are fewer than a batch and therefore dropped.
    pub(super) fn all_dropped(&self) -> Option<usize> {
        match self {
            Batches::Neighbours {
                order,
                size,
                last: LastBatch::Drop,
            } => Some(order.len()).filter(|len| (1..*size).contains(len)),
            _ => None,
        }
    }

    /// Returns the number of elements of the batch that begins at a position, and the position
    /// after it. Returns `None` at the end.
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

    /// Returns an index of the batch that begins at a position. `place` wraps around at the end
    /// of the batch, so that a batch is filled up with its own elements.
    pub(super) fn index(&self, position: usize, len: usize, place: usize) -> usize {
        match self {
            Batches::Neighbours { order, .. } => order.get(position + place % len),
            Batches::Listed(batches) => batches[position][place % len],
        }
    }

    /// Returns a hash that distinguishes this order from most others.
    pub(super) fn fingerprint(&self) -> u64 {
        let mut hash = crate::generator::mix(self.len() as u64);
        for i in 0..self.len().min(16) {
            // Sixteen positions spread over the order.
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
