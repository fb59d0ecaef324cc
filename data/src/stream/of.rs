//! Streams made from sources and from iterators.

use super::{Position, Stream};
use crate::source::Source;
use crate::{DefaultSeed, Error, Result};

/// The elements of a source, in order.
#[derive(Clone, Debug)]
pub struct SourceStream<S> {
    source: S,
    next: usize,
}

impl<S: Source> SourceStream<S> {
    pub(crate) fn new(source: S) -> Self {
        SourceStream { source, next: 0 }
    }
}

impl<S: Source> Stream for SourceStream<S> {
    type Item = S::Item;
    fn next(&mut self) -> Option<Result<S::Item>> {
        if self.next >= self.source.len() {
            return None;
        }
        self.next += 1;
        let index = self.next - 1;
        let item = self.source.get(index);
        Some(item.map_err(|e| Error::element(index, e)))
    }
    fn position(&self) -> Position {
        Position::new("source", [self.next as u64], [])
    }
    fn restore(&mut self, position: &Position) -> Result<()> {
        let ([next], []) = position.of("source")?;
        let len = self.source.len();
        match usize::try_from(next) {
            Ok(next) if next <= len => self.next = next,
            _ => {
                return Err(Error::Position(format!(
                    "it is after {next} elements, but the source has {len}"
                )));
            }
        }
        Ok(())
    }
    fn default_seed(&self) -> DefaultSeed {
        DefaultSeed::after([self.source.default_seed()])
    }
}

/// The elements of iterators created by a function; see [`from_fn`].
#[derive(Clone, Debug)]
pub struct IterStream<F, I> {
    make: F,
    iterator: Option<I>,
    taken: u64,
}

/// Creates a stream from a function that returns an iterator. The function is called again
/// whenever the stream is restored, and must start from the beginning each time: for example, it
/// opens the file again. Restoring reads and discards the elements before the position.
///
/// ```
/// use ramie_data::{Stream, stream};
/// let mut numbers = stream::from_fn(|| (0..3).map(Ok));
/// assert_eq!(numbers.iter().collect::<Result<Vec<i32>, _>>()?, [0, 1, 2]);
/// # Ok::<(), ramie_data::Error>(())
/// ```
pub fn from_fn<T, I, F>(make: F) -> IterStream<F, I::IntoIter>
where
    T: Send,
    I: IntoIterator<Item = Result<T>, IntoIter: Send>,
    F: FnMut() -> I + Send,
{
    IterStream {
        make,
        iterator: None,
        taken: 0,
    }
}

impl<T, I, F> Stream for IterStream<F, I::IntoIter>
where
    T: Send,
    I: IntoIterator<Item = Result<T>, IntoIter: Send>,
    F: FnMut() -> I + Send,
{
    type Item = T;
    fn next(&mut self) -> Option<Result<T>> {
        let make = &mut self.make;
        let iterator = self.iterator.get_or_insert_with(|| make().into_iter());
        let item = iterator.next()?;
        self.taken += 1;
        Some(item)
    }
    fn position(&self) -> Position {
        Position::new("iterator", [self.taken], [])
    }
    fn restore(&mut self, position: &Position) -> Result<()> {
        let ([taken], []) = position.of("iterator")?;
        let mut iterator = (self.make)().into_iter();
        for before in 0..taken {
            if iterator.next().is_none() {
                return Err(Error::Position(format!(
                    "it is after {taken} elements, but the iterator has only {before}"
                )));
            }
        }
        self.iterator = Some(iterator);
        self.taken = taken;
        Ok(())
    }
}
