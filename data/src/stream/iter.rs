//! Streams as iterators.

use super::{
    Batches, Bucketed, CachedStream, Chain, Filter, FlatMap, Flatten, Interleave, IterStream,
    MapNumbered, MapStream, MixStream, PackStream, ParallelMap, Position, Prefetch, ReadStream,
    Rebatch, RepeatStream, ShardStream, Skip, SourceStream, Stream, Take, WindowShuffle,
    WindowStream, ZipStream,
};
use crate::source::Source;
use crate::{Result, Resumable};

/// An iterator over the elements of a stream; its [`state`](Resumable::state) is the stream's
/// position.
#[derive(Clone, Debug)]
pub struct IntoIter<S>(S);

impl<S> IntoIter<S> {
    /// Creates an iterator over the remaining elements of a stream.
    pub fn new(stream: S) -> IntoIter<S> {
        IntoIter(stream)
    }
}

/// Implements `IntoIterator` for stages, so that a `for` loop takes a stream.
macro_rules! iterable {
    ($($stage:ident <$($parameter:ident $(: $bound:ident)?),*>;)*) => { $(
        impl<$($parameter $(: $bound)?),*> IntoIterator for $stage<$($parameter),*>
        where
            Self: Stream,
        {
            type Item = $crate::Result<<Self as Stream>::Item>;
            type IntoIter = IntoIter<Self>;
            fn into_iter(self) -> IntoIter<Self> {
                IntoIter::new(self)
            }
        }
    )* };
}
pub(crate) use iterable;

iterable! {
    Batches<S: Stream, F>;
    Bucketed<S: Stream, L>;
    CachedStream<S: Stream>;
    Chain<A, B>;
    Filter<S, F>;
    FlatMap<S, I: IntoIterator, F>;
    Flatten<S>;
    Interleave<S>;
    IterStream<F, I>;
    MapNumbered<S, F>;
    MapStream<S, F>;
    MixStream<T>;
    PackStream<S>;
    ParallelMap<S: Stream, U>;
    Prefetch<S: Stream>;
    ReadStream<S: Source>;
    Rebatch<S: Stream>;
    RepeatStream<S>;
    ShardStream<S>;
    Skip<S>;
    SourceStream<S>;
    Take<S>;
    WindowShuffle<S: Stream>;
    WindowStream<S: Stream>;
    ZipStream<A, B>;
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
