//! Stages of streams.

use super::{Applied, Seeded};
use crate::stream::{
    Batches, Bucketed, CachedStream, Chain, Filter, FlatMap, Flatten, MapNumbered, MapStream,
    ParallelMap, Prefetch, Rebatch, RepeatStream, ShardStream, Skip, Stream, Take, WindowShuffle,
    WindowStream, ZipStream,
};
use crate::{Batch, Buckets, Generator, LastBatch, Result, Sample, Shard, Transform};

/// The methods that combine streams into pipelines. Every [`Stream`] has them where this trait is
/// imported.
pub trait StreamExt: Stream + Sized {
    /// Applies a function to every element.
    fn map<U: Send, F>(
        self,
        mut f: F,
    ) -> MapStream<Self, impl FnMut(Self::Item) -> Result<U> + Send>
    where
        F: FnMut(Self::Item) -> U + Send,
    {
        MapStream::new(self, move |item| Ok(f(item)))
    }

    /// Applies a fallible function to every element.
    fn try_map<U: Send, F>(self, f: F) -> MapStream<Self, F>
    where
        F: FnMut(Self::Item) -> Result<U> + Send,
    {
        MapStream::new(self, f)
    }

    /// Applies a function to every element and its number, counted from 0.
    fn map_with_index<U: Send, F>(self, f: F) -> MapNumbered<Self, F>
    where
        F: FnMut(u64, Self::Item) -> U + Send,
    {
        MapNumbered::new(self, f)
    }

    /// Applies a function that draws random numbers, such as an augmentation, to every element. Its
    /// generator depends on the seed and the element's number. Call this after
    /// [`repeat`](StreamExt::repeat), so that each repetition has different numbers. With `None`,
    /// the seed is derived from that of the [pipeline](StreamExt::seed).
    ///
    /// ```
    /// use ramie_data::{Stream, StreamExt, stream};
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
        F: FnMut(Self::Item, &mut Generator) -> U + Send,
    {
        let seed = self.default_seed().of_stage("map_random", seed.into());
        let generator = Generator::new(seed);
        MapNumbered::new(self, move |number, item| {
            f(item, &mut generator.fold_in(number))
        })
    }

    /// Applies a transformation, or a tuple of several, to every element; see [`Transform`]. Random
    /// transformations use the seed of the [pipeline](StreamExt::seed).
    fn apply<X: Transform<Self::Item>>(self, transform: X) -> Applied<Self, X> {
        let input = self.default_seed();
        Applied::new(self, transform, input)
    }

    /// Sets the default seed of the stages that follow; see
    /// [`SourceExt::seed`](crate::SourceExt::seed). A stream of a source already has that of the
    /// source.
    fn seed(self, seed: u64) -> Seeded<Self> {
        Seeded::new(self, seed)
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
        Self::Item: 'static,
        U: Send + 'static,
        F: Fn(Self::Item) -> Result<U> + Send + Sync + 'static,
    {
        ParallelMap::new(self, workers, f)
    }

    /// Keeps the elements for which a predicate returns `true`.
    fn filter<F>(self, predicate: F) -> Filter<Self, F>
    where
        F: FnMut(&Self::Item) -> bool + Send,
    {
        Filter::new(self, predicate)
    }

    /// Drops the `None`s of a stream of options, such as the elements that
    /// [`SourceExt::filter`](crate::SourceExt::filter) rejects.
    ///
    /// ```
    /// use ramie_data::{Stream, StreamExt, stream};
    /// let mut some = stream::from_fn(|| [Some(1), None, Some(3)].map(Ok)).flatten();
    /// assert_eq!(some.iter().collect::<Result<Vec<i32>, _>>()?, [1, 3]);
    /// # Ok::<(), ramie_data::Error>(())
    /// ```
    fn flatten<T: Send>(self) -> Flatten<Self>
    where
        Self: Stream<Item = Option<T>>,
    {
        Flatten::new(self)
    }

    /// Applies a function to every element and returns the elements of all the resulting
    /// iterators. The function must be pure: restoring calls it again for a partially consumed
    /// element.
    #[doc(alias("FlatMapIterDataset", "FlatMapMapDataset"))]
    fn flat_map<I, F>(self, f: F) -> FlatMap<Self, I, F>
    where
        I: IntoIterator<IntoIter: Send, Item: Send>,
        F: FnMut(Self::Item) -> I + Send,
    {
        FlatMap::new(self, f)
    }

    /// Concatenates this stream and another.
    fn chain<S: Stream<Item = Self::Item>>(self, other: S) -> Chain<Self, S> {
        Chain::new(self, other)
    }

    /// Pairs the elements of two streams, until either ends.
    fn zip<S: Stream>(self, other: S) -> ZipStream<Self, S> {
        ZipStream::new(self, other)
    }

    /// Keeps the first `count` elements.
    #[doc(alias = "LimitIterDataset")]
    fn take(self, count: usize) -> Take<Self> {
        Take::new(self, count)
    }

    /// Skips the first `count` elements.
    fn skip(self, count: usize) -> Skip<Self> {
        Skip::new(self, count)
    }

    /// Keeps this process's shard: every `count`-th element.
    fn shard(self, shard: Shard) -> ShardStream<Self> {
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
        F: FnMut(Vec<Self::Item>) -> Result<B> + Send,
    {
        Batches::new(self, size, last, collate)
    }

    /// Regroups batches of any number of rows into batches of `size` rows (Grain's
    /// `RebatchIterDataset`).
    ///
    /// ```
    /// use ramie_data::{LastBatch, Stream, StreamExt, stream};
    /// let batches = || [vec![1, 2, 3], vec![4], vec![5, 6]].map(Ok);
    /// let mut pairs = stream::from_fn(batches).rebatch(4, LastBatch::Keep);
    /// assert_eq!(pairs.iter().collect::<Result<Vec<_>, _>>()?, [vec![1, 2, 3, 4], vec![5, 6]]);
    /// # Ok::<(), ramie_data::Error>(())
    /// ```
    ///
    /// # Panics
    /// Panics if `size` is 0.
    #[doc(alias = "RebatchIterDataset")]
    #[track_caller]
    fn rebatch(self, size: usize, last: LastBatch) -> Rebatch<Self>
    where
        Self::Item: Batch,
    {
        Rebatch::new("rebatch", self, size, last)
    }

    /// Groups elements of similar length into batches, in the order of the stream; see
    /// [`Buckets`].
    fn bucket<L>(self, buckets: Buckets, length: L) -> Bucketed<Self, L>
    where
        L: FnMut(&Self::Item) -> usize + Send,
    {
        Bucketed::new(self, buckets, length)
    }

    /// Shuffles the elements within consecutive windows of `size` elements (Grain's
    /// `WindowShuffleIterDataset`, with its order). A larger window shuffles better and takes more
    /// memory. With `None`, the seed is derived from that of the [pipeline](StreamExt::seed).
    ///
    /// # Panics
    /// Panics if `size` is 0, or if neither the call nor the pipeline provides a seed.
    #[doc(alias = "WindowShuffleIterDataset")]
    #[track_caller]
    fn window_shuffle(self, size: usize, seed: impl Into<Option<u64>>) -> WindowShuffle<Self> {
        let seed = self.default_seed().of_stage("window_shuffle", seed.into());
        WindowShuffle::new(self, size, seed)
    }

    /// Repeats the stream `times` times, or forever with `None`. Repetitions restart from the
    /// current position and have the same order; to vary the order, shuffle after `repeat`.
    fn repeat(self, times: impl Into<Option<usize>>) -> RepeatStream<Self> {
        RepeatStream::new(self, times.into())
    }

    /// Caches the elements in memory for later repetitions, and the errors of those that cannot be
    /// read. Call this before [`repeat`](StreamExt::repeat).
    #[doc(alias = "CacheIterDataset")]
    fn cache(self) -> CachedStream<Self>
    where
        Self::Item: Clone,
    {
        CachedStream::new(self)
    }

    /// Reads at most `count` elements ahead in a background thread.
    ///
    /// # Panics
    /// Panics if `count` is 0.
    #[doc(alias("PrefetchIterator", "ThreadPrefetchIterDataset"))]
    #[track_caller]
    fn prefetch(self, count: usize) -> Prefetch<Self>
    where
        Self: 'static,
    {
        Prefetch::new(self, count)
    }
}

impl<S: Stream> StreamExt for S {}
