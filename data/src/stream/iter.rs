//! Streams as iterators.

use super::{Position, Stream};
use crate::{Result, Resumable};

/// The elements of a stream; [`state`](Resumable::state) is its position.
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
