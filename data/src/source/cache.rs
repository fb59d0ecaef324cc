//! Elements that are read once.

use super::{Source, check};
use crate::Result;
use std::sync::OnceLock;

/// Keeps every element in memory once it was asked for.
#[derive(Debug)]
pub struct Cached<S: Source> {
    source: S,
    kept: Box<[OnceLock<S::Item>]>,
}

impl<S: Source> Cached<S> {
    pub(super) fn new(source: S) -> Self {
        let kept = (0..source.len()).map(|_| OnceLock::new()).collect();
        Cached { source, kept }
    }
}

/// What is kept is the element of the epoch that asked for it first: cache
/// before what is random, not after.
impl<S: Source> Source for Cached<S>
where
    S::Item: Clone + Sync,
{
    type Item = S::Item;
    fn len(&self) -> usize {
        self.kept.len()
    }
    fn get(&self, index: usize) -> Result<S::Item> {
        self.get_in_epoch(index, 0)
    }
    fn get_in_epoch(&self, index: usize, epoch: u64) -> Result<S::Item> {
        check(index, self.len())?;
        if let Some(item) = self.kept[index].get() {
            return Ok(item.clone());
        }
        // Two threads may read it at once; either result will do.
        let item = self.source.get_in_epoch(index, epoch)?;
        Ok(self.kept[index].get_or_init(|| item).clone())
    }
}
