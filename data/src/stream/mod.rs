//! Datasets with sequential access.

/// Defines `default_seed` of a stage with one input, which is the field `$input`.
macro_rules! seed_of_input {
    ($input:ident) => {
        fn default_seed(&self) -> $crate::DefaultSeed {
            $crate::DefaultSeed::after([self.$input.default_seed()])
        }
    };
}

/// Defines `position`, `restore` and `default_seed` of a stage with one input, whose position is
/// that of the input.
macro_rules! of_input {
    ($input:ident) => {
        fn position(&self) -> $crate::stream::Position {
            self.$input.position()
        }
        fn restore(&mut self, position: &$crate::stream::Position) -> $crate::Result<()> {
            self.$input.restore(position)
        }
        seed_of_input!($input);
    };
}

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
mod read;
mod rebatch;
mod select;
mod window;

pub use batch::Batches;
pub use bucket::Bucketed;
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
pub use read::ReadStream;
pub use rebatch::{Rebatch, concat_split};
pub use select::{Filter, Flatten, ShardStream, Skip, Take};
pub use window::WindowStream;

use crate::{
    Applied, Batch, Buckets, DefaultSeed, Generator, LastBatch, Result, Sample, Seeded, Shard,
    Transform,
};

/// A dataset with sequential access, such as files of lines, sockets and infinite generators.
///
/// A stream reports its [`position`](Stream::position) and can be restored to a saved one, so
/// that an interrupted run sees exactly the remaining elements. All stages preserve this
/// property: elements that they have buffered are read again.
///
/// All streams of this crate are `IntoIterator`, so a `for` loop takes them. [`iter`](Stream::iter)
/// borrows a stream instead. A stream of your own implements `IntoIterator` with
/// [`stream::IntoIter::new`](IntoIter::new), which also serves in functions of any stream.
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
///
/// for word in stream::from_fn(lines).take(2) {
///     println!("{}", word?);
/// }
/// # Ok::<(), ramie_data::Error>(())
/// ```
#[doc(alias = "IterDataset")]
pub trait Stream: Send {
    /// The type of an element.
    type Item: Send;

    /// Returns the next element, or `None` at the end and from then on. After an error, the
    /// stream continues with the element after the one that failed.
    fn next(&mut self) -> Option<Result<Self::Item>>;

    /// Returns the position after the last element that was returned.
    fn position(&self) -> Position;

    /// Restores a position of this stream, or of an identically built one.
    ///
    /// # Errors
    /// Returns an error if the position belongs to a different stream, or if reading up to it
    /// fails.
    fn restore(&mut self, position: &Position) -> Result<()>;

    /// Applies a function to every element.
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

    /// Applies a fallible function to every element.
    fn try_map<U: Send, F>(self, f: F) -> MapStream<Self, F>
    where
        Self: Sized,
        F: FnMut(Self::Item) -> Result<U> + Send,
    {
        MapStream::new(self, f)
    }

    /// Applies a function to every element and its number, counted from 0.
    fn map_with_index<U: Send, F>(self, f: F) -> MapNumbered<Self, F>
    where
        Self: Sized,
        F: FnMut(u64, Self::Item) -> U + Send,
    {
        MapNumbered::new(self, f)
    }

    /// Applies a function that draws random numbers, such as an augmentation, to every element.
    /// Its generator depends on the seed and the element's number. Call this after
    /// [`repeat`](Stream::repeat), so that each repetition has different numbers. With `None`, the
    /// seed is derived from that of the [pipeline](Stream::seed).
    ///
    /// ```
    /// use ramie_data::{Stream, stream};
    /// let ones = || [1.0, 1.0].map(Ok);
    /// let mut noisy = stream::from_fn(ones).map_random(0, |x, g| x + g.uniform());
    /// assert_ne!(noisy.next(), noisy.next());
    /// ```
    ///
    /// # Panics
    /// Panics if neither the call nor the pipeline provides a seed.
    #[doc(alias = "random_map")]
    #[track_caller]
    fn map_random<U: Send, F>(
        self,
        seed: impl Into<Option<u64>>,
        mut f: F,
    ) -> MapNumbered<Self, impl FnMut(u64, Self::Item) -> U + Send>
    where
        Self: Sized,
        F: FnMut(Self::Item, &mut Generator) -> U + Send,
    {
        let seed = self.default_seed().of_stage("map_random", seed.into());
        let generator = Generator::new(seed);
        MapNumbered::new(self, move |number, item| {
            f(item, &mut generator.fold_in(number))
        })
    }

    /// Applies a transformation, or a tuple of several, to every element; see [`Transform`]. Random
    /// transformations use the seed of the [pipeline](Stream::seed).
    fn apply<X: Transform<Self::Item>>(self, transform: X) -> Applied<Self, X>
    where
        Self: Sized,
    {
        let input = self.default_seed();
        Applied::new(self, transform, input)
    }

    /// Sets the default seed of the stages that follow; see [`Source::seed`](crate::Source::seed).
    /// A stream of a source already has that of the source.
    fn seed(self, seed: u64) -> Seeded<Self>
    where
        Self: Sized,
    {
        Seeded::new(self, seed)
    }

    /// Returns the default seed of the stages that follow. Stages pass on those of their inputs
    /// with [`DefaultSeed::after`].
    fn default_seed(&self) -> DefaultSeed {
        DefaultSeed::default()
    }

    /// Applies a function to every element in worker threads, and returns the results in the
    /// order of the elements. At most two elements per worker are in progress. Errors and panics
    /// of the function are returned as the errors of their elements.
    ///
    /// # Panics
    /// Panics if `workers` is 0.
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

    /// Keeps the elements for which a predicate returns `true`.
    fn filter<F>(self, predicate: F) -> Filter<Self, F>
    where
        Self: Sized,
        F: FnMut(&Self::Item) -> bool + Send,
    {
        Filter::new(self, predicate)
    }

    /// Drops the `None`s of a stream of options, such as the elements that
    /// [`Source::filter`](crate::Source::filter) rejects.
    ///
    /// ```
    /// use ramie_data::{Stream, stream};
    /// let mut some = stream::from_fn(|| [Some(1), None, Some(3)].map(Ok)).flatten();
    /// assert_eq!(some.iter().collect::<Result<Vec<i32>, _>>()?, [1, 3]);
    /// # Ok::<(), ramie_data::Error>(())
    /// ```
    fn flatten<T: Send>(self) -> Flatten<Self>
    where
        Self: Sized + Stream<Item = Option<T>>,
    {
        Flatten::new(self)
    }

    /// Applies a function to every element and returns the elements of all the resulting
    /// iterators. The function must be pure: restoring calls it again for a partially consumed
    /// element.
    fn flat_map<I, F>(self, f: F) -> FlatMap<Self, I, F>
    where
        Self: Sized,
        I: IntoIterator<IntoIter: Send, Item: Send>,
        F: FnMut(Self::Item) -> I + Send,
    {
        FlatMap::new(self, f)
    }

    /// Concatenates this stream and another.
    fn chain<S: Stream<Item = Self::Item>>(self, other: S) -> Chain<Self, S>
    where
        Self: Sized,
    {
        Chain::new(self, other)
    }

    /// Pairs the elements of two streams, until either ends.
    fn zip<S: Stream>(self, other: S) -> ZipStream<Self, S>
    where
        Self: Sized,
    {
        ZipStream::new(self, other)
    }

    /// Keeps the first `count` elements.
    fn take(self, count: usize) -> Take<Self>
    where
        Self: Sized,
    {
        Take::new(self, count)
    }

    /// Skips the first `count` elements.
    fn skip(self, count: usize) -> Skip<Self>
    where
        Self: Sized,
    {
        Skip::new(self, count)
    }

    /// Keeps this process's shard: every `count`-th element.
    fn shard(self, shard: Shard) -> ShardStream<Self>
    where
        Self: Sized,
    {
        ShardStream::new(self, shard)
    }

    /// Groups the elements into windows of `size` consecutive elements, which begin every
    /// `stride` elements. An incomplete window at the end is dropped.
    ///
    /// # Panics
    /// Panics if `size` or `stride` is 0.
    #[track_caller]
    fn window(self, size: usize, stride: usize) -> WindowStream<Self>
    where
        Self: Sized,
        Self::Item: Clone,
    {
        WindowStream::new(self, size, stride)
    }

    /// Groups consecutive elements into batches. The last batch may be smaller.
    ///
    /// # Panics
    /// Panics if `size` is 0.
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

    /// Groups consecutive elements into batches and drops the last one if it is incomplete.
    ///
    /// # Panics
    /// Panics if `size` is 0.
    #[doc(alias = "drop_remainder")]
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

    /// Groups consecutive elements into batches with a custom collate function, such as
    /// [`collate::padded`](crate::collate::padded).
    ///
    /// # Panics
    /// Panics if `size` is 0.
    #[doc(alias = "batch_fn")]
    #[track_caller]
    fn batch_with<B: Send, F>(self, size: usize, last: LastBatch, collate: F) -> Batches<Self, F>
    where
        Self: Sized,
        F: FnMut(Vec<Self::Item>) -> Result<B> + Send,
    {
        Batches::new(self, size, last, collate)
    }

    /// Regroups batches of any number of rows into batches of `size` rows (Grain's
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
    /// Panics if `size` is 0.
    #[track_caller]
    fn rebatch(self, size: usize, last: LastBatch) -> Rebatch<Self>
    where
        Self: Sized,
        Self::Item: Batch,
    {
        Rebatch::new("rebatch", self, size, last)
    }

    /// Groups elements of similar length into batches, in the order of the stream; see
    /// [`Buckets`].
    fn bucket<L>(self, buckets: Buckets, length: L) -> Bucketed<Self, L>
    where
        Self: Sized,
        L: FnMut(&Self::Item) -> usize + Send,
    {
        Bucketed::new(self, buckets, length)
    }

    /// Shuffles the elements within consecutive windows of `size` elements (Grain's
    /// `WindowShuffleIterDataset`, with its order). A larger window shuffles better and takes more
    /// memory. With `None`, the seed is derived from that of the [pipeline](Stream::seed).
    ///
    /// # Panics
    /// Panics if `size` is 0, or if neither the call nor the pipeline provides a seed.
    #[track_caller]
    fn window_shuffle(self, size: usize, seed: impl Into<Option<u64>>) -> WindowShuffle<Self>
    where
        Self: Sized,
    {
        let seed = self.default_seed().of_stage("window_shuffle", seed.into());
        WindowShuffle::new(self, size, seed)
    }

    /// Repeats the stream `times` times, or forever with `None`. Repetitions restart from the
    /// current position and have the same order; to vary the order, shuffle after `repeat`.
    fn repeat(self, times: impl Into<Option<usize>>) -> RepeatStream<Self>
    where
        Self: Sized,
    {
        RepeatStream::new(self, times.into())
    }

    /// Caches the elements in memory for later repetitions, and the errors of those that cannot be
    /// read. Call this before [`repeat`](Stream::repeat).
    fn cache(self) -> CachedStream<Self>
    where
        Self: Sized,
        Self::Item: Clone,
    {
        CachedStream::new(self)
    }

    /// Reads at most `count` elements ahead in a background thread.
    ///
    /// # Panics
    /// Panics if `count` is 0.
    #[track_caller]
    fn prefetch(self, count: usize) -> Prefetch<Self>
    where
        Self: Sized + 'static,
    {
        Prefetch::new(self, count)
    }

    /// Returns an iterator over the remaining elements that borrows the stream.
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
    fn default_seed(&self) -> DefaultSeed {
        (**self).default_seed()
    }
}
