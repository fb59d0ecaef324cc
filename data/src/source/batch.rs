//! Batches of neighbours, with random access.

use super::{Source, check};
use crate::{LastBatch, Result, Sample};

/// Batches of neighbours.
#[derive(Clone, Debug)]
pub struct Batched<S> {
    source: S,
    size: usize,
    last: LastBatch,
}

impl<S: Source> Batched<S> {
    #[track_caller]
    pub(super) fn new(source: S, size: usize, last: LastBatch) -> Self {
        assert!(
            size > 0,
            "batch: batches of 0 elements\n  help: give at least 1"
        );
        Batched { source, size, last }
    }
}

impl<S: Source> Source for Batched<S>
where
    S::Item: Sample,
{
    type Item = <S::Item as Sample>::Batch;
    fn len(&self) -> usize {
        match self.last {
            LastBatch::Keep => self.source.len().div_ceil(self.size),
            LastBatch::Drop => self.source.len() / self.size,
        }
    }
    fn get(&self, index: usize) -> Result<Self::Item> {
        self.get_in_epoch(index, 0)
    }
    fn get_in_epoch(&self, index: usize, epoch: u64) -> Result<Self::Item> {
        check(index, self.len())?;
        let start = index * self.size;
        let end = (start + self.size).min(self.source.len());
        let indices: Vec<usize> = (start..end).collect();
        self.source.get_batch(&indices, epoch)
    }
}
