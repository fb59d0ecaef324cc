//! Batches of consecutive elements, with random access.

use super::{Source, by_epoch, check, derived};
use crate::{LastBatch, Result};

/// Batches of consecutive elements; see [`SourceExt::batch`](crate::SourceExt::batch).
#[derive(Clone, Debug)]
pub struct Batched<S, F> {
    source: S,
    size: usize,
    last: LastBatch,
    /// The function that makes the batch of some elements as of an epoch.
    make: F,
}

impl<S: Source, F> Batched<S, F> {
    #[track_caller]
    pub(crate) fn new(source: S, size: usize, last: LastBatch, make: F) -> Self {
        assert!(size > 0, "batch: the size is 0\n  help: pass at least 1");
        Batched {
            source,
            size,
            last,
            make,
        }
    }
}

impl<S, B, F> Source for Batched<S, F>
where
    S: Source,
    B: Send,
    F: Fn(&S, &[usize], usize) -> Result<B> + Send + Sync,
{
    type Item = B;
    fn len(&self) -> usize {
        derived(self.source.len(), |len| match self.last {
            LastBatch::Keep => len.div_ceil(self.size),
            LastBatch::Drop => len / self.size,
        })
    }
    by_epoch!(source);
    fn get_in_epoch(&self, index: usize, epoch: usize) -> Result<Self::Item> {
        check(index, self.len())?;
        let start = index * self.size;
        let end = (start + self.size).min(self.source.len());
        let indices: Vec<usize> = (start..end).collect();
        (self.make)(&self.source, &indices, epoch)
    }
}
