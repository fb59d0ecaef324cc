//! Caching of elements in memory.

use super::{Source, by_epoch, check, finite, fixed_order};
use crate::Result;
use std::sync::OnceLock;

/// A source that keeps every element in memory once it has been read.
#[derive(Debug)]
pub struct Cached<S: Source> {
    source: S,
    kept: Box<[OnceLock<S::Item>]>,
}

impl<S: Source> Cached<S> {
    #[track_caller]
    pub(crate) fn new(source: S) -> Self {
        fixed_order("cache", &source);
        let kept = (0..finite("cache", &source))
            .map(|_| OnceLock::new())
            .collect();
        Cached { source, kept }
    }
}

/// The cache keeps the element of the first epoch that reads it. Cache before random
/// transformations, not after them.
impl<S: Source> Source for Cached<S>
where
    S::Item: Clone + Sync,
{
    type Item = S::Item;
    fn len(&self) -> usize {
        self.kept.len()
    }
    by_epoch!(source);
    fn get_in_epoch(&self, index: usize, epoch: usize) -> Result<S::Item> {
        check(index, self.len())?;
        if let Some(item) = self.kept[index].get() {
            return Ok(item.clone());
        }
        // Two threads may read the element at the same time; the result of the first to finish is
        // kept.
        let item = self.source.get_in_epoch(index, epoch)?;
        Ok(self.kept[index].get_or_init(|| item).clone())
    }
}
