//! Streams as iterators.

use super::{Position, Stream};
use crate::{Result, Resumable};

/// An iterator over the elements of a stream; its [`state`](Resumable::state) is the stream's
/// position.
#[derive(Clone, Debug)]
pub struct IntoIter<S>(S);

impl<S> IntoIter<S> {
    pub(super) fn new(stream: S) -> IntoIter<S> {
        IntoIter(stream)
    }
}

impl<S: Stream> Iterator for IntoIter<S> {
    type Item = Result<S::Item>;
    fn next(&mut self) -> Option<Result<S::Item>> {
        self.0.next()
    }
}

impl<S: Stream> Resumable for IntoIter<S> {
    type State = Position;
    fn state(&self) -> Position {
        self.0.position()
    }
}
