//! The sampler that divides an order among processes.

use super::sampler::{Order, RandomSampler, Sampler, SequentialSampler};
use crate::{LastBatch, Shard};
use std::sync::Arc;

/// A sampler for one process: every `count`-th element of an order that all processes share
/// (`torch.utils.data.DistributedSampler`). All processes get the same number of elements: the
/// last ones repeat the first elements, or the remainder is dropped.
///
/// The epoch comes from the loader, so there is no `set_epoch` to forget. A loader with this
/// sampler makes batches of its process alone, and its state can only be resumed with the same
/// number of processes. [`DataLoader::shard`](crate::DataLoader::shard) divides the batches
/// instead, and its state can be resumed with any number of processes.
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
    /// Creates a sampler of a process's share of `len` elements, in order.
    pub fn new(len: usize, shard: Shard) -> DistributedSampler {
        DistributedSampler {
            sampler: Arc::new(SequentialSampler(len)),
            len,
            shard,
            last: LastBatch::Keep,
        }
    }

    /// Shuffles every epoch in its own random order, which is the same in all processes.
    #[must_use]
    pub fn shuffle(mut self, seed: u64) -> DistributedSampler {
        self.sampler = Arc::new(RandomSampler::new(self.len, seed));
        self
    }

    /// Drops the elements that do not divide evenly, instead of repeating the first ones.
    #[must_use]
    pub fn drop_last(mut self) -> DistributedSampler {
        self.last = LastBatch::Drop;
        self
    }
}

impl Sampler for DistributedSampler {
    fn order(&self, epoch: usize) -> Order {
        self.sampler.order(epoch).part(self.shard, self.last)
    }
    fn selects_elements(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Recorded from PyTorch 2.15, without PyTorch's shuffling.
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
