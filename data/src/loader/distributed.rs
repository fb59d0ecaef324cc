//! The part of a process of an order.

use super::sampler::{Order, RandomSampler, Sampler, SequentialSampler};
use crate::{LastBatch, Shard};
use std::sync::Arc;

/// The elements of one process, every `count`-th of an order that all processes
/// have in common (`torch.utils.data.DistributedSampler`). All have equally many:
/// the last ones have first elements again, or what does not come apart is left
/// out.
///
/// The epoch is that of the loader; there is no `set_epoch` to forget. A loader
/// with such a sampler has batches of its process alone, and its state fits the
/// same number of processes only. [`DataLoader::shard`](crate::DataLoader::shard)
/// parts the batches instead, and goes on in any number.
///
/// ```
/// use ramie_data::{DistributedSampler, Sampler, Shard};
/// let of = |index| DistributedSampler::new(10, Shard::new(index, 4)).order(0).iter().collect::<Vec<_>>();
/// assert_eq!([of(0), of(3)], [[0, 4, 8], [3, 7, 1]]);
/// ```
#[derive(Clone)]
pub struct DistributedSampler {
    sampler: Arc<dyn Sampler>,
    len: usize,
    shard: Shard,
    last: LastBatch,
}

impl DistributedSampler {
    /// A process's part of `len` elements, first to last.
    pub fn new(len: usize, shard: Shard) -> DistributedSampler {
        DistributedSampler {
            sampler: Arc::new(SequentialSampler(len)),
            len,
            shard,
            last: LastBatch::Keep,
        }
    }

    /// Every epoch in a random order of its own, the same in all processes.
    #[must_use]
    pub fn shuffle(mut self, seed: u64) -> DistributedSampler {
        self.sampler = Arc::new(RandomSampler::new(self.len, seed));
        self
    }

    /// Leaves out what does not come apart, instead of having elements twice.
    #[must_use]
    pub fn drop_last(mut self) -> DistributedSampler {
        self.last = LastBatch::Drop;
        self
    }
}

impl Sampler for DistributedSampler {
    fn order(&self, epoch: u64) -> Order {
        self.sampler.order(epoch).part(self.shard, self.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Recorded from PyTorch 2.15, without its own shuffling.
    #[test]
    fn parts_are_those_of_pytorch() {
        let part = |len, count, index, drop: bool| {
            let sampler = DistributedSampler::new(len, Shard::new(index, count));
            let sampler = if drop { sampler.drop_last() } else { sampler };
            sampler.order(3).iter().collect::<Vec<usize>>()
        };
        let parts = |len, count, drop| {
            let parts = (0..count).map(|index| part(len, count, index, drop));
            parts.collect::<Vec<_>>()
        };
        assert_eq!(
            parts(10, 4, false),
            [[0, 4, 8], [1, 5, 9], [2, 6, 0], [3, 7, 1]]
        );
        assert_eq!(parts(10, 4, true), [[0, 4], [1, 5], [2, 6], [3, 7]]);
        assert_eq!(parts(8, 4, true), [[0, 4], [1, 5], [2, 6], [3, 7]]);
        assert_eq!(parts(1, 3, false), [[0], [0], [0]]);
        assert_eq!(parts(3, 4, true), [[]; 4] as [[usize; 0]; 4]);
        assert_eq!(parts(0, 2, false), [[]; 2] as [[usize; 0]; 2]);
    }

    #[test]
    fn all_processes_have_one_order() {
        let order = |index, epoch| {
            let sampler = DistributedSampler::new(12, Shard::new(index, 3)).shuffle(5);
            sampler.order(epoch).iter().collect::<Vec<usize>>()
        };
        let mut all = (0..3).flat_map(|i| order(i, 7)).collect::<Vec<_>>();
        assert_ne!(order(0, 7), order(0, 8));
        all.sort_unstable();
        assert_eq!(all, (0..12).collect::<Vec<_>>());
    }
}
