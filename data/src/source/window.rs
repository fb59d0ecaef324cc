//! Windows of consecutive elements.

use super::{Source, by_epoch, check, derived, get_all};
use crate::Result;

/// Windows of consecutive elements; see [`SourceExt::window`](crate::SourceExt::window).
#[derive(Clone, Debug)]
pub struct Windows<S> {
    source: S,
    size: usize,
    stride: usize,
}

impl<S: Source> Windows<S> {
    #[track_caller]
    pub(crate) fn new(source: S, size: usize, stride: usize) -> Self {
        assert!(
            size > 0 && stride > 0,
            "window: the size is {size} and the stride {stride}\n  help: pass at least 1 for both"
        );
        Windows {
            source,
            size,
            stride,
        }
    }
}

impl<S: Source> Source for Windows<S> {
    type Item = Vec<S::Item>;
    fn len(&self) -> usize {
        derived(self.source.len(), |len| match len.checked_sub(self.size) {
            Some(rest) => rest / self.stride + 1,
            None => 0,
        })
    }
    by_epoch!(source);
    fn get_in_epoch(&self, index: usize, epoch: usize) -> Result<Self::Item> {
        check(index, self.len())?;
        let start = index * self.stride;
        let indices: Vec<usize> = (start..start + self.size).collect();
        get_all(&self.source, &indices, epoch)
    }
}
