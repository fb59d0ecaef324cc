//! Streams made from sources and from iterators.

use super::{Position, ReadStream, Stream};
use crate::source::Source;
use crate::{Error, ReadOptions, Result};

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

    /// Reads the elements ahead in threads (`to_iter_dataset(read_options)`). A panic while an
    /// element is read is returned as its error. Positions are those of the stream without threads.
    ///
    /// ```
    /// use ramie_data::{IntoSource, ReadOptions, SourceExt, Stream};
    /// let source = (0..10).into_source().seed(0).shuffle(None).repeat(None);
    /// let options = ReadOptions { num_threads: 2, ..ReadOptions::default() };
    /// let mut batches = source.batch(4).stream().read_options(options);
    /// assert_eq!(batches.next(), Some(Ok(ndarray::array![1, 2, 4, 5])));
    /// ```
    #[doc(alias = "to_iter_dataset")]
    pub fn read_options(self, options: ReadOptions) -> ReadStream<S>
    where
        S: 'static,
    {
        ReadStream::new(self.source, self.next, options)
    }

    /// Returns the position before an element.
    pub(super) fn position_of(next: usize) -> Position {
        Position::new("source", [next as u64], [])
    }

    /// Returns the element before which a position is.
    pub(super) fn restored(source: &S, position: &Position) -> Result<usize> {
        let ([next], []) = position.of("source")?;
        let len = source.len();
        match usize::try_from(next) {
            Ok(next) if next <= len => Ok(next),
            _ => Err(Error::position(format!(
                "it is after {next} elements, but the source has {len}"
            ))),
        }
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
        Self::position_of(self.next)
    }
    fn restore(&mut self, position: &Position) -> Result<()> {
        self.next = Self::restored(&self.source, position)?;
        Ok(())
    }
    seed_of_input!(source);
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
                return Err(Error::position(format!(
                    "it is after {taken} elements, but the iterator has only {before}"
                )));
            }
        }
        self.iterator = Some(iterator);
        self.taken = taken;
        Ok(())
    }
}
