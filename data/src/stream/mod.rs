//! Data sets that are read from front to end.

mod batch;
mod bucket;
mod cache;
mod interleave;
mod iter;
mod join;
mod map;
mod mix;
mod of;
mod order;
mod pack;
mod parallel;
mod position;
mod prefetch;
mod rebatch;
mod select;
mod window;

pub use batch::Batches;
pub use bucket::{Bucketed, Buckets};
pub use cache::CachedStream;
pub use interleave::{Interleave, interleave};
pub use iter::IntoIter;
pub use join::{Chain, ZipStream};
pub use map::{FlatMap, MapNumbered, MapStream};
pub use mix::{MixStream, mix};
pub use of::{IterStream, SourceStream, from_fn};
pub use order::{RepeatStream, WindowShuffle};
pub use pack::{Fit, PackStream, pack};
pub use parallel::ParallelMap;
pub use position::Position;
pub use prefetch::Prefetch;
pub use rebatch::{Rebatch, concat_split};
pub use select::{Filter, ShardStream, Skip, Take};
pub use window::WindowStream;

use crate::{Batch, Generator, LastBatch, Result, Sample, Shard};

/// A data set that is read from front to end: files of lines, sockets, endless
/// generators.
///
/// A stream always knows its [`position`](Stream::position), and goes on from
/// one that was saved, so that a run that was interrupted sees exactly what was
/// left. Stages keep that: whatever they hold back is found again.
///
/// ```
/// use ramie_data::{Stream, stream};
/// let lines = || "to be or not to be".split(' ').map(|w| Ok(w.to_string()));
/// let mut words = stream::from_fn(lines)
///     .filter(|w| w.len() == 2)
///     .window_shuffle(4, 7)
///     .repeat(2);
/// let first = words.next().unwrap()?;
/// let position = words.position();
/// let rest: Vec<String> = words.iter().collect::<Result<_, _>>()?;
/// assert_eq!(rest.len(), 9);
///
/// words.restore(&position)?;
/// assert_eq!(words.iter().collect::<Result<Vec<_>, _>>()?, rest);
/// # Ok::<(), ramie_data::Error>(())
/// ```
pub trait Stream: Send {
    /// What an element is.
    type Item: Send;

    /// The next element; `None` at the end, and from then on. After an error the
    /// stream goes on behind what failed.
    fn next(&mut self) -> Option<Result<Self::Item>>;

    /// Where the stream stands: behind the last element that was given.
    fn position(&self) -> Position;

    /// Goes to a position of this stream, or of one that was built alike.
    ///
    /// # Errors
    /// If the position is that of another stream, or reading on to it fails.
    fn restore(&mut self, position: &Position) -> Result<()>;

    /// Every element through a function.
    fn map<U: Send, F>(
        self,
        mut f: F,
    ) -> MapStream<Self, impl FnMut(Self::Item) -> Result<U> + Send>
    where
        Self: Sized,
        F: FnMut(Self::Item) -> U + Send,
    {
        MapStream::new(self, move |item| Ok(f(item)))
    }

    /// Every element through a function that may fail.
    fn try_map<U: Send, F>(self, f: F) -> MapStream<Self, F>
    where
        Self: Sized,
        F: FnMut(Self::Item) -> Result<U> + Send,
    {
        MapStream::new(self, f)
    }

    /// Every element, with its number from 0 on, through a function.
    fn map_with_index<U: Send, F>(self, f: F) -> MapNumbered<Self, F>
    where
        Self: Sized,
        F: FnMut(u64, Self::Item) -> U + Send,
    {
        MapNumbered::new(self, f)
    }

    /// Every element through a function that draws random numbers, such as an
    /// augmentation: from a generator for this seed and the element's number. Put
    /// it behind [`repeat`](Stream::repeat), so that each round has other numbers.
    ///
    /// ```
    /// use ramie_data::{Stream, stream};
    /// let ones = || [1.0, 1.0].map(Ok);
    /// let mut noisy = stream::from_fn(ones).map_random(0, |x, g| x + g.uniform());
    /// assert_ne!(noisy.next(), noisy.next());
    /// ```
    fn map_random<U: Send, F>(
        self,
        seed: u64,
        mut f: F,
    ) -> MapNumbered<Self, impl FnMut(u64, Self::Item) -> U + Send>
    where
        Self: Sized,
        F: FnMut(Self::Item, &mut Generator) -> U + Send,
    {
        let generator = Generator::new(seed);
        MapNumbered::new(self, move |number, item| {
            f(item, &mut generator.fold_in(number))
        })
    }

    /// Every element through a function that runs in several threads, in the order
    /// of the elements. Each thread is two elements ahead at most. An error of the
    /// function is that of its element, and so is a panic.
    ///
    /// # Panics
    /// If there are no workers.
    #[track_caller]
    fn map_parallel<U, F>(self, workers: usize, f: F) -> ParallelMap<Self, U>
    where
        Self: Sized,
        Self::Item: 'static,
        U: Send + 'static,
        F: Fn(Self::Item) -> Result<U> + Send + Sync + 'static,
    {
        ParallelMap::new(self, workers, f)
    }

    /// The elements that a predicate holds for.
    fn filter<F>(self, predicate: F) -> Filter<Self, F>
    where
        Self: Sized,
        F: FnMut(&Self::Item) -> bool + Send,
    {
        Filter::new(self, predicate)
    }

    /// All that a function makes of each element. The function is a pure one:
    /// restoring calls it again for an element that was half used.
    fn flat_map<I, F>(self, f: F) -> FlatMap<Self, I, F>
    where
        Self: Sized,
        I: IntoIterator<IntoIter: Send, Item: Send>,
        F: FnMut(Self::Item) -> I + Send,
    {
        FlatMap::new(self, f)
    }

    /// The elements of this stream, then those of another.
    fn chain<S: Stream<Item = Self::Item>>(self, other: S) -> Chain<Self, S>
    where
        Self: Sized,
    {
        Chain::new(self, other)
    }

    /// Pairs of the elements of two streams, until one has no more.
    fn zip<S: Stream>(self, other: S) -> ZipStream<Self, S>
    where
        Self: Sized,
    {
        ZipStream::new(self, other)
    }

    /// The first elements.
    fn take(self, count: usize) -> Take<Self>
    where
        Self: Sized,
    {
        Take::new(self, count)
    }

    /// All but the first elements.
    fn skip(self, count: usize) -> Skip<Self>
    where
        Self: Sized,
    {
        Skip::new(self, count)
    }

    /// This process's part: every `count`-th element.
    fn shard(self, shard: Shard) -> ShardStream<Self>
    where
        Self: Sized,
    {
        ShardStream::new(self, shard)
    }

    /// Windows of `size` neighbours, beginning every `stride` elements; what does
    /// not fill a window at the end is left out.
    ///
    /// # Panics
    /// If `size` or `stride` is 0.
    #[track_caller]
    fn window(self, size: usize, stride: usize) -> WindowStream<Self>
    where
        Self: Sized,
        Self::Item: Clone,
    {
        WindowStream::new(self, size, stride)
    }

    /// Batches of neighbours, the last as small as it comes.
    ///
    /// # Panics
    /// If `size` is 0.
    #[track_caller]
    fn batch(
        self,
        size: usize,
    ) -> Batches<Self, fn(Vec<Self::Item>) -> Result<<Self::Item as Sample>::Batch>>
    where
        Self: Sized,
        Self::Item: Sample,
    {
        Batches::new(self, size, LastBatch::Keep, Sample::collate)
    }

    /// Batches of neighbours, all of them whole.
    ///
    /// # Panics
    /// If `size` is 0.
    #[track_caller]
    fn batch_drop_last(
        self,
        size: usize,
    ) -> Batches<Self, fn(Vec<Self::Item>) -> Result<<Self::Item as Sample>::Batch>>
    where
        Self: Sized,
        Self::Item: Sample,
    {
        Batches::new(self, size, LastBatch::Drop, Sample::collate)
    }

    /// Batches of neighbours that a function makes, such as
    /// [`collate::padded`](crate::collate::padded).
    ///
    /// # Panics
    /// If `size` is 0.
    #[track_caller]
    fn batch_with<B: Send, F>(self, size: usize, last: LastBatch, collate: F) -> Batches<Self, F>
    where
        Self: Sized,
        F: FnMut(Vec<Self::Item>) -> Result<B> + Send,
    {
        Batches::new(self, size, last, collate)
    }

    /// Batches of `size` rows of batches of any number of rows (Grain's
    /// `RebatchIterDataset`).
    ///
    /// ```
    /// use ramie_data::{LastBatch, Stream, stream};
    /// let batches = || [vec![1, 2, 3], vec![4], vec![5, 6]].map(Ok);
    /// let mut pairs = stream::from_fn(batches).rebatch(4, LastBatch::Keep);
    /// assert_eq!(pairs.iter().collect::<Result<Vec<_>, _>>()?, [vec![1, 2, 3, 4], vec![5, 6]]);
    /// # Ok::<(), ramie_data::Error>(())
    /// ```
    ///
    /// # Panics
    /// If `size` is 0.
    #[track_caller]
    fn rebatch(self, size: usize, last: LastBatch) -> Rebatch<Self>
    where
        Self: Sized,
        Self::Item: Batch,
    {
        Rebatch::new("rebatch", self, size, last)
    }

    /// Batches of elements of similar length, as they come; see [`Buckets`].
    fn bucket<L>(self, buckets: Buckets, length: L) -> Bucketed<Self, L>
    where
        Self: Sized,
        L: FnMut(&Self::Item) -> usize + Send,
    {
        Bucketed::new(self, buckets, length)
    }

    /// The elements of each `size` neighbours in a random order. A larger window
    /// shuffles better, and takes more memory.
    ///
    /// # Panics
    /// If `size` is 0.
    #[track_caller]
    fn window_shuffle(self, size: usize, seed: u64) -> WindowShuffle<Self>
    where
        Self: Sized,
    {
        WindowShuffle::new(self, size, seed)
    }

    /// The stream so many times; `None` for ever. It begins again from where it
    /// stands now, and comes in the same order each time: shuffle behind it for
    /// another order.
    fn repeat(self, times: impl Into<Option<u64>>) -> RepeatStream<Self>
    where
        Self: Sized,
    {
        RepeatStream::new(self, times.into())
    }

    /// Keeps the elements in memory, for when the stream is read again: put it
    /// before [`repeat`](Stream::repeat).
    fn cache(self) -> CachedStream<Self>
    where
        Self: Sized,
        Self::Item: Clone,
    {
        CachedStream::new(self)
    }

    /// Reads ahead in a thread of its own, `count` elements at most.
    ///
    /// # Panics
    /// If `count` is 0.
    #[track_caller]
    fn prefetch(self, count: usize) -> Prefetch<Self>
    where
        Self: Sized + 'static,
    {
        Prefetch::new(self, count)
    }

    /// The elements that are left, as an iterator that knows where it stands.
    fn into_iter(self) -> IntoIter<Self>
    where
        Self: Sized,
    {
        IntoIter::new(self)
    }

    /// The elements that are left, as an iterator.
    fn iter(&mut self) -> impl Iterator<Item = Result<Self::Item>> + '_
    where
        Self: Sized,
    {
        std::iter::from_fn(|| self.next())
    }
}

impl<S: Stream + ?Sized> Stream for Box<S> {
    type Item = S::Item;
    fn next(&mut self) -> Option<Result<S::Item>> {
        (**self).next()
    }
    fn position(&self) -> Position {
        (**self).position()
    }
    fn restore(&mut self, position: &Position) -> Result<()> {
        (**self).restore(position)
    }
}
