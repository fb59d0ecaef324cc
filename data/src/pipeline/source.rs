//! Stages of sources.

use super::{Applied, Seeded};
use crate::source::{
    Batched, Cached, CollateAt, Concat, Map, MapRandom, MapWithIndex, Repeat, Shuffle, Source,
    Subset, Windows, Zip, check_fractions, finite, fixed_order, get_all, lengths_of,
};
use crate::stream::SourceStream;
use crate::{Generator, LastBatch, Result, Sample, Shard, Transform};
use std::hash::Hash;
use std::ops::RangeBounds;
use std::sync::Arc;

/// The methods that combine sources into pipelines. Every [`Source`] has them where this trait is
/// imported.
pub trait SourceExt: Source + Sized {
    /// Applies a function to every element.
    fn map<U: Send, F>(self, f: F) -> Map<Self, impl Fn(Self::Item) -> Result<U> + Send + Sync>
    where
        F: Fn(Self::Item) -> U + Send + Sync,
    {
        Map::new(self, move |item| Ok(f(item)))
    }

    /// Applies a fallible function to every element.
    fn try_map<U: Send, F>(self, f: F) -> Map<Self, F>
    where
        F: Fn(Self::Item) -> Result<U> + Send + Sync,
    {
        Map::new(self, f)
    }

    /// Applies a function to every element and its index.
    fn map_with_index<U: Send, F>(self, f: F) -> MapWithIndex<Self, F>
    where
        F: Fn(usize, Self::Item) -> U + Send + Sync,
    {
        MapWithIndex::new(self, f)
    }

    /// Applies a function that draws random numbers, such as an augmentation, to every element.
    /// Its generator depends on the seed, the epoch and the index. With `None`, the seed is derived
    /// from that of the [pipeline](SourceExt::seed).
    ///
    /// ```
    /// use ramie_data::{IntoSource, Source, SourceExt};
    /// let noisy = vec![1.0f32, 2.0].into_source().map_random(0, |x, g| x + g.uniform() as f32);
    /// assert_eq!(noisy.get(1)?, noisy.get(1)?);
    /// assert_ne!(noisy.get_in_epoch(1, 0)?, noisy.get_in_epoch(1, 1)?);
    /// # Ok::<(), ramie_data::Error>(())
    /// ```
    ///
    /// # Panics
    /// Panics if neither the call nor the pipeline provides a seed.
    #[doc(alias = "random_map")]
    #[track_caller]
    fn map_random<U: Send, F>(self, seed: impl Into<Option<u64>>, f: F) -> MapRandom<Self, F>
    where
        F: Fn(Self::Item, &mut Generator) -> U + Send + Sync,
    {
        let seed = self.default_seed().of_stage("map_random", seed.into());
        MapRandom::new(self, seed, f)
    }

    /// Applies a transformation, or a tuple of several, to every element
    /// (`grain.MapDataset.apply`); see [`Transform`]. Random transformations use the seed of the
    /// [pipeline](SourceExt::seed). The tuple counts as one stage for the seeds of later stages.
    fn apply<X: Transform<Self::Item>>(self, transform: X) -> Applied<Self, X> {
        let input = self.default_seed();
        Applied::new(self, transform, input)
    }

    /// Sets the default seed of the stages that follow (`grain.MapDataset.seed`). A random stage
    /// whose own seed is `None` derives its seed from this one and from the number of stages
    /// between, as Grain does, so every stage has another seed. A later call replaces the seed for
    /// the stages after it.
    ///
    /// The derived seed changes if a stage is added or removed before the random stage. Pass a seed
    /// to the stage itself to keep its order.
    ///
    /// ```
    /// use ramie_data::{IntoSource, Source, SourceExt};
    /// let source = (0..100).into_source().seed(0).shuffle(None).repeat(None);
    /// let noisy = source.map(|x| x as f64).map_random(None, |x, g| x + g.normal());
    /// assert_eq!(noisy.get(200)?, noisy.get(200)?);
    /// # Ok::<(), ramie_data::Error>(())
    /// ```
    fn seed(self, seed: u64) -> Seeded<Self> {
        Seeded::new(self, seed)
    }

    /// Concatenates this source and another.
    #[doc(alias = "concatenate")]
    fn concat<S: Source<Item = Self::Item>>(self, other: S) -> Concat<Self, S> {
        Concat::new(self, other)
    }

    /// Pairs the elements of two sources of equal length.
    ///
    /// # Panics
    /// Panics if the lengths differ.
    #[doc(alias = "ZipMapDataset")]
    #[track_caller]
    fn zip<S: Source>(self, other: S) -> Zip<Self, S> {
        Zip::new(self, other)
    }

    /// Selects the elements at some indices, in the given order. Indices may repeat.
    ///
    /// # Panics
    /// Panics if an index is out of range, or if the source is shuffled: call it before
    /// [`shuffle`](SourceExt::shuffle).
    #[track_caller]
    fn subset(self, indices: impl Into<Vec<usize>>) -> Subset<Self> {
        Subset::new(self, indices.into())
    }

    /// Selects a range of indices. After [`shuffle`](SourceExt::shuffle), these are other elements
    /// in each epoch: to divide data into parts, such as for training and for validation, call
    /// `slice` or [`random_split`](SourceExt::random_split) before `shuffle`.
    ///
    /// ```
    /// use ramie_data::{IntoSource, Source, SourceExt};
    /// let all = || (0..20).into_source();
    /// let (train, valid) = (all().slice(..15).shuffle(7), all().slice(15..));
    /// assert!((0..3).all(|epoch| train.get_in_epoch(4, epoch).unwrap() < 15));
    /// # assert_eq!(valid.get(0)?, 15);
    /// # Ok::<(), ramie_data::Error>(())
    /// ```
    ///
    /// # Panics
    /// Panics if the range ends after the last element.
    #[track_caller]
    fn slice(self, range: impl RangeBounds<usize>) -> Subset<Self> {
        Subset::range(self, range)
    }

    /// Selects this process's shard: every `count`-th element. Shards differ in length by at most
    /// one. In each epoch, the shards of a shuffled source have different elements and contain all
    /// of them together.
    fn shard(self, shard: Shard) -> Subset<Self> {
        Subset::shard(self, shard)
    }

    /// Replaces the elements for which a predicate returns `false` by `None`. The predicate is
    /// called when an element is read, and indices and length stay as they are, so shuffling,
    /// repeating and saved positions do not depend on it.
    /// [`StreamExt::flatten`](crate::StreamExt::flatten) drops the `None`s, before batches are
    /// made.
    ///
    /// A function that returns an `Option`, passed to [`map`](SourceExt::map), filters and maps at
    /// once. For a loader, which needs random access, use
    /// [`subset_where`](SourceExt::subset_where).
    ///
    /// ```
    /// use ramie_data::{IntoSource, Source, SourceExt, Stream, StreamExt};
    /// let odd = (0..6).into_source().filter(|x| x % 2 == 1);
    /// assert_eq!((odd.len(), odd.get(2)?, odd.get(3)?), (6, None, Some(3)));
    /// let mut batches = odd.stream().flatten().batch(2);
    /// assert_eq!(batches.next(), Some(Ok(ndarray::array![1, 3])));
    /// # Ok::<(), ramie_data::Error>(())
    /// ```
    fn filter<F>(
        self,
        predicate: F,
    ) -> Map<Self, impl Fn(Self::Item) -> Result<Option<Self::Item>> + Send + Sync>
    where
        F: Fn(&Self::Item) -> bool + Send + Sync,
    {
        Map::new(self, move |item| Ok(predicate(&item).then_some(item)))
    }

    /// Selects the elements for which a predicate returns `true`. This reads every element once, as
    /// of epoch 0, so that the result has a length and random access, as a
    /// [`DataLoader`](crate::DataLoader) needs.
    ///
    /// ```
    /// use ramie_data::{DataLoader, IntoSource, SourceExt};
    /// let odd = (0..6).into_source().subset_where(|x| x % 2 == 1)?;
    /// assert_eq!(odd.indices().collect::<Vec<_>>(), [1, 3, 5]);
    /// let loader = DataLoader::new(odd).batch_size(3).shuffle(0);
    /// # assert_eq!(loader.len(), 1);
    /// # Ok::<(), ramie_data::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`Error::Element`](crate::Error::Element) if an element cannot be read.
    ///
    /// # Panics
    /// Panics if the source is endless or shuffled: call it before [`shuffle`](SourceExt::shuffle).
    #[track_caller]
    fn subset_where(self, predicate: impl Fn(&Self::Item) -> bool) -> Result<Subset<Self>> {
        Subset::matching(self, predicate)
    }

    /// Splits the source randomly into disjoint parts of these lengths
    /// (`torch.utils.data.random_split`).
    ///
    /// ```
    /// use ramie_data::{IntoSource, Source, SourceExt};
    /// let [train, test] = (0..100).into_source().random_split([80, 20], 42);
    /// assert_eq!((train.len(), test.len()), (80, 20));
    /// ```
    ///
    /// # Panics
    /// Panics if the lengths do not sum to that of the source, or if it is endless or shuffled:
    /// call it before [`shuffle`](SourceExt::shuffle).
    #[track_caller]
    fn random_split<const N: usize>(
        self,
        lengths: [usize; N],
        seed: u64,
    ) -> [Subset<Arc<Self>>; N] {
        Subset::random_split(self, lengths, seed)
    }

    /// Splits the source randomly into disjoint parts of these fractions, which must sum to 1.
    /// Elements left over by rounding go to the first parts, one each, as in PyTorch.
    ///
    /// # Panics
    /// Panics if a fraction is negative, if the fractions do not sum to 1, or if the source is
    /// endless or shuffled: call it before [`shuffle`](SourceExt::shuffle).
    #[doc(alias = "train_test_split")]
    #[track_caller]
    fn random_split_fractions<const N: usize>(
        self,
        fractions: [f64; N],
        seed: u64,
    ) -> [Subset<Arc<Self>>; N] {
        check_fractions("random_split_fractions", &fractions);
        let lengths = lengths_of(finite("random_split_fractions", &self), fractions);
        fixed_order("random_split_fractions", &self);
        Subset::random_split(self, lengths, seed)
    }

    /// Splits the elements of each label like
    /// [`random_split_fractions`](SourceExt::random_split_fractions), so that all parts have the
    /// labels in about the same proportions (scikit-learn's `train_test_split` with `stratify`).
    /// `labels` has the label of each element. Rounding is per label: a part with a fraction of 0.2
    /// may lack a label of fewer than 5 elements.
    ///
    /// ```
    /// use ramie_data::{Source, SourceExt, IntoSource};
    /// let kinds = ["iris", "iris", "iris", "lily", "lily", "lily", "lily", "lily", "lily"];
    /// let [train, test] = kinds.to_vec().into_source().stratified_split([2.0 / 3.0, 1.0 / 3.0], kinds, 0);
    /// let irises = |part: &dyn Source<Item = &'static str>| {
    ///     (0..part.len()).filter(|i| part.get(*i) == Ok("iris")).count()
    /// };
    /// assert_eq!((train.len(), irises(&train)), (6, 2));
    /// assert_eq!((test.len(), irises(&test)), (3, 1));
    /// ```
    ///
    /// # Panics
    /// Panics if the number of labels is not that of the elements, if a fraction is negative, if the
    /// fractions do not sum to 1, or if the source is endless or shuffled: call it before
    /// [`shuffle`](SourceExt::shuffle).
    #[doc(alias = "train_test_split")]
    #[doc(alias = "StratifiedShuffleSplit")]
    #[track_caller]
    fn stratified_split<const N: usize, L: Eq + Hash>(
        self,
        fractions: [f64; N],
        labels: impl IntoIterator<Item = L>,
        seed: u64,
    ) -> [Subset<Arc<Self>>; N] {
        Subset::stratified_split(self, fractions, labels, seed)
    }

    /// Shuffles the elements, in a different random order in each epoch: the order of Grain for the
    /// same seed (see [`Permutation`](crate::Permutation)). With `None`, the seed is derived from
    /// that of the [pipeline](SourceExt::seed).
    ///
    /// ```
    /// use ramie_data::{IntoSource, Source, SourceExt};
    /// // list(grain.MapDataset.range(7).shuffle(seed=5).repeat(2))
    /// let twice = (0..7).into_source().shuffle(5).repeat(2);
    /// let order: Vec<usize> = twice.iter().collect::<Result<_, _>>()?;
    /// assert_eq!(order, [4, 0, 5, 3, 1, 6, 2, 2, 5, 0, 3, 1, 4, 6]);
    /// # Ok::<(), ramie_data::Error>(())
    /// ```
    ///
    /// # Panics
    /// Panics if the source is endless, or if neither the call nor the pipeline provides a seed.
    #[track_caller]
    fn shuffle(self, seed: impl Into<Option<u64>>) -> Shuffle<Self> {
        let seed = self.default_seed().of_stage("shuffle", seed.into());
        Shuffle::new(self, seed)
    }

    /// Repeats the source `epochs` times, or endlessly with `None`. Every repetition is a later
    /// epoch, so shuffling and random functions differ each time, unless
    /// [`same_each_time`](Repeat::same_each_time) follows. The length of an endless source is
    /// `usize::MAX`; a source without elements stays empty.
    ///
    /// ```
    /// use ramie_data::{IntoSource, Source, SourceExt};
    /// let endless = (0..5).into_source().shuffle(1).repeat(None);
    /// assert!(endless.is_endless());
    /// let mut twentieth: Vec<usize> = (100..105).map(|i| endless.get(i)).collect::<Result<_, _>>()?;
    /// twentieth.sort();
    /// assert_eq!(twentieth, [0, 1, 2, 3, 4]);
    /// # Ok::<(), ramie_data::Error>(())
    /// ```
    ///
    /// # Panics
    /// Panics if the source is endless, or if the number of elements overflows a `usize`.
    #[doc(alias = "num_epochs")]
    #[track_caller]
    fn repeat(self, epochs: impl Into<Option<usize>>) -> Repeat<Self> {
        Repeat::new(self, epochs.into())
    }

    /// Groups the elements into windows of `size` consecutive elements, which begin every
    /// `stride` elements. An incomplete window at the end is dropped.
    ///
    /// # Panics
    /// Panics if `size` or `stride` is 0.
    #[track_caller]
    fn window(self, size: usize, stride: usize) -> Windows<Self> {
        Windows::new(self, size, stride)
    }

    /// Groups consecutive elements into batches. The last batch is smaller if the size does not
    /// divide the length.
    ///
    /// # Panics
    /// Panics if `size` is 0.
    #[track_caller]
    fn batch(self, size: usize) -> Batched<Self, CollateAt<Self>>
    where
        Self::Item: Sample,
    {
        Batched::new(self, size, LastBatch::Keep, Self::get_batch)
    }

    /// Groups consecutive elements into batches and drops the last one if it is incomplete.
    ///
    /// # Panics
    /// Panics if `size` is 0.
    #[doc(alias = "drop_remainder")]
    #[track_caller]
    fn batch_drop_last(self, size: usize) -> Batched<Self, CollateAt<Self>>
    where
        Self::Item: Sample,
    {
        Batched::new(self, size, LastBatch::Drop, Self::get_batch)
    }

    /// Groups consecutive elements into batches with a custom collate function, such as
    /// [`collate::padded`](crate::collate::padded) (`batch_fn`).
    ///
    /// ```
    /// use ramie_data::{IntoSource, LastBatch, Source, SourceExt};
    /// let words = vec!["to", "be", "or"].into_source();
    /// let pairs = words.batch_with(2, LastBatch::Keep, |words| Ok(words.join(" ")));
    /// assert_eq!((pairs.get(0)?, pairs.get(1)?), ("to be".to_string(), "or".to_string()));
    /// # Ok::<(), ramie_data::Error>(())
    /// ```
    ///
    /// # Panics
    /// Panics if `size` is 0.
    #[doc(alias = "batch_fn")]
    #[track_caller]
    fn batch_with<B: Send, C>(
        self,
        size: usize,
        last: LastBatch,
        collate: C,
    ) -> Batched<Self, impl Fn(&Self, &[usize], usize) -> Result<B> + Send + Sync>
    where
        C: Fn(Vec<Self::Item>) -> Result<B> + Send + Sync,
    {
        let make = move |source: &Self, indices: &[usize], epoch: usize| {
            collate(get_all(source, indices, epoch)?)
        };
        Batched::new(self, size, last, make)
    }

    /// Caches every element in memory when it is first read.
    ///
    /// # Panics
    /// Panics if the source is endless or shuffled: call it before [`shuffle`](SourceExt::shuffle).
    #[track_caller]
    fn cache(self) -> Cached<Self>
    where
        Self::Item: Clone + Sync,
    {
        Cached::new(self)
    }

    /// Returns a stream of the elements, in order and as of epoch 0. The calling thread reads them,
    /// unless [`read_options`](SourceStream::read_options) follows.
    #[doc(alias = "to_iter_dataset")]
    fn stream(self) -> SourceStream<Self> {
        SourceStream::new(self)
    }
}

impl<S: Source> SourceExt for S {}
