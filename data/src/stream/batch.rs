//! Batches of consecutive elements.

use super::Stream;
use crate::{LastBatch, Result};

/// Batches of consecutive elements; see [`StreamExt::batch`](crate::StreamExt::batch).
#[derive(Clone, Debug)]
pub struct Batches<S: Stream, F> {
    stream: S,
    size: usize,
    last: LastBatch,
    collate: F,
}

impl<S: Stream, F> Batches<S, F> {
    #[track_caller]
    pub(crate) fn new(stream: S, size: usize, last: LastBatch, collate: F) -> Self {
        assert!(size > 0, "batch: the size is 0\n  help: pass at least 1");
        Batches {
            stream,
            size,
            last,
            collate,
        }
    }
}

/// If an element cannot be read, its error is returned instead of the whole batch.
impl<S: Stream, B: Send, F: FnMut(Vec<S::Item>) -> Result<B> + Send> Stream for Batches<S, F> {
    type Item = B;
    fn next(&mut self) -> Option<Result<B>> {
        let mut items = Vec::new();
        let mut failure = None;
        let mut read = 0;
        while read < self.size {
            let Some(item) = self.stream.next() else {
                break;
            };
            read += 1;
            match item {
                Ok(item) => items.push(item),
                Err(e) => failure = failure.or(Some(e)),
            }
        }
        if let Some(e) = failure {
            return Some(Err(e));
        }
        let whole = read == self.size;
        (whole || (read > 0 && self.last == LastBatch::Keep)).then(|| (self.collate)(items))
    }
    of_input!(stream);
}
