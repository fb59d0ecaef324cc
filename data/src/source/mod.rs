//! Data sets whose elements are asked for by index.

mod arrays;
mod batch;
mod cache;
mod join;
mod map;
mod mix;
mod order;
mod places;
mod select;
mod window;

pub use arrays::{ArraySource, Items, MapSource, RangeSource};
pub use batch::Batched;
pub use cache::Cached;
pub use join::{Concat, Zip};
pub use map::{Map, MapRandom, MapWithIndex};
pub use mix::{Mix, mix};
pub use order::{Repeat, Shuffle};
pub use places::{Places, select_from};
pub use select::Subset;
pub use window::Windows;

use crate::progress::Progress;
use crate::stream::SourceStream;
use crate::{Error, Generator, LastBatch, Result, Sample, Shard};
use std::any::Any;
use std::ops::RangeBounds;
use std::sync::Arc;

/// A data set with random access: it knows how many elements it has, and makes
/// any of them on request, from any thread.
///
/// Two methods make a source; the others combine sources, or are overridden for
/// speed. What is random in a source is a pure function of a seed, the epoch and
/// the index: an element comes out the same whoever asks for it, and when.
///
/// ```
/// use ramie_data::{IntoSource, Result, Source};
///
/// /// Numbers and their squares.
/// struct Squares(usize);
/// impl Source for Squares {
///     type Item = (f32, f32);
///     fn len(&self) -> usize {
///         self.0
///     }
///     fn get(&self, index: usize) -> Result<(f32, f32)> {
///         let x = index as f32;
///         Ok((x, x * x))
///     }
/// }
///
/// let batches = Squares(100)
///     .map(|(x, y)| (x / 100.0, y / 10_000.0))
///     .shuffle(42)
///     .batch(32)
///     .repeat(2);
/// assert_eq!(batches.len(), 8);
/// let (x, y) = batches.get(7)?;
/// assert_eq!((x.len(), y.len()), (4, 4));
/// # Ok::<(), ramie_data::Error>(())
/// ```
pub trait Source: Send + Sync {
    /// What an element is.
    type Item: Send;

    /// How many elements there are.
    fn len(&self) -> usize;

    /// An element, as it is in the first epoch.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if there is no such element; else whatever keeps it
    /// from being read.
    fn get(&self, index: usize) -> Result<Self::Item>;

    /// An element as it is in an epoch. Sources that shuffle or augment override
    /// it, and those around other sources pass it on.
    ///
    /// # Errors
    /// Those of [`get`](Source::get).
    fn get_in_epoch(&self, index: usize, epoch: u64) -> Result<Self::Item> {
        let _ = epoch;
        self.get(index)
    }

    /// The batch of some elements, in the order of the indices.
    ///
    /// # Errors
    /// Those of [`get`](Source::get), and of [`Sample::collate`].
    fn get_batch(&self, indices: &[usize], epoch: u64) -> Result<<Self::Item as Sample>::Batch>
    where
        Self: Sized,
        Self::Item: Sample,
    {
        match self.gather(indices, epoch) {
            Some(batch) => Ok(*batch?.downcast().unwrap_or_else(|_| {
                panic!(
                    "Source::gather: the batch is not a {}\n  help: return what `Sample::collate` of the \
                     elements would",
                    std::any::type_name::<<Self::Item as Sample>::Batch>()
                )
            })),
            None => {
                let progress = Progress::new();
                let mut places = indices.iter().enumerate();
                Sample::collate_each(indices.len(), &mut || {
                    let (place, &index) = places.next()?;
                    progress.at(place);
                    let item = self.get_in_epoch(index, epoch);
                    if item.is_ok() {
                        progress.made();
                    }
                    Some(item)
                })
            }
        }
    }

    /// For sources that can write their elements into a batch directly, without
    /// making each: the batch, of the type [`Sample::Batch`] of the elements.
    /// `None`, if they cannot; then the elements are asked for one by one.
    fn gather(&self, indices: &[usize], epoch: u64) -> Option<Result<Box<dyn Any + Send>>> {
        let _ = (indices, epoch);
        None
    }

    /// Whether there are no elements.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Every element through a function.
    fn map<U: Send, F>(self, f: F) -> Map<Self, impl Fn(Self::Item) -> Result<U> + Send + Sync>
    where
        Self: Sized,
        F: Fn(Self::Item) -> U + Send + Sync,
    {
        Map::new(self, move |item| Ok(f(item)))
    }

    /// Every element through a function that may fail.
    fn try_map<U: Send, F>(self, f: F) -> Map<Self, F>
    where
        Self: Sized,
        F: Fn(Self::Item) -> Result<U> + Send + Sync,
    {
        Map::new(self, f)
    }

    /// Every element, with its index, through a function.
    fn map_with_index<U: Send, F>(self, f: F) -> MapWithIndex<Self, F>
    where
        Self: Sized,
        F: Fn(usize, Self::Item) -> U + Send + Sync,
    {
        MapWithIndex::new(self, f)
    }

    /// Every element through a function that draws random numbers, such as an
    /// augmentation: from a generator for this seed, epoch and element.
    ///
    /// ```
    /// use ramie_data::{IntoSource, Source};
    /// let noisy = vec![1.0f32, 2.0].into_source().map_random(0, |x, g| x + g.uniform() as f32);
    /// assert_eq!(noisy.get(1)?, noisy.get(1)?);
    /// assert_ne!(noisy.get_in_epoch(1, 0)?, noisy.get_in_epoch(1, 1)?);
    /// # Ok::<(), ramie_data::Error>(())
    /// ```
    fn map_random<U: Send, F>(self, seed: u64, f: F) -> MapRandom<Self, F>
    where
        Self: Sized,
        F: Fn(Self::Item, &mut Generator) -> U + Send + Sync,
    {
        MapRandom::new(self, seed, f)
    }

    /// The elements of this source, then those of another.
    fn concat<S: Source<Item = Self::Item>>(self, other: S) -> Concat<Self, S>
    where
        Self: Sized,
    {
        Concat::new(self, other)
    }

    /// Pairs of the elements of two sources of one length.
    ///
    /// # Panics
    /// If the lengths differ.
    #[track_caller]
    fn zip<S: Source>(self, other: S) -> Zip<Self, S>
    where
        Self: Sized,
    {
        Zip::new(self, other)
    }

    /// The elements at some indices, in their order; indices may repeat.
    ///
    /// # Panics
    /// If there is no element at one of them.
    #[track_caller]
    fn subset(self, indices: impl Into<Vec<usize>>) -> Subset<Self>
    where
        Self: Sized,
    {
        Subset::new(self, indices.into())
    }

    /// The elements of a range.
    ///
    /// # Panics
    /// If it goes beyond the end.
    #[track_caller]
    fn slice(self, range: impl RangeBounds<usize>) -> Subset<Self>
    where
        Self: Sized,
    {
        Subset::range(self, range)
    }

    /// This process's part, of nearly equal parts: every `count`-th element.
    fn shard(self, shard: Shard) -> Subset<Self>
    where
        Self: Sized,
    {
        Subset::shard(self, shard)
    }

    /// The elements that a predicate holds for. All are asked for once, here, so
    /// that the result has random access too.
    ///
    /// # Errors
    /// [`Error::Element`] if an element cannot be read.
    fn filter(self, predicate: impl Fn(&Self::Item) -> bool) -> Result<Subset<Self>>
    where
        Self: Sized,
    {
        let mut indices = Vec::new();
        for index in 0..self.len() {
            match self.get(index) {
                Ok(item) if predicate(&item) => indices.push(index),
                Ok(_) => {}
                Err(e) => return Err(Error::element(index, e)),
            }
        }
        Ok(Subset::new(self, indices))
    }

    /// Random parts of these lengths that share no element
    /// (`torch.utils.data.random_split`).
    ///
    /// ```
    /// use ramie_data::{IntoSource, Source};
    /// let [train, test] = (0..100).into_source().random_split([80, 20], 42);
    /// assert_eq!((train.len(), test.len()), (80, 20));
    /// ```
    ///
    /// # Panics
    /// If the lengths do not sum to that of the source.
    #[track_caller]
    fn random_split<const N: usize>(self, lengths: [usize; N], seed: u64) -> [Subset<Arc<Self>>; N]
    where
        Self: Sized,
    {
        Subset::random_split(self, lengths, seed)
    }

    /// Random parts of these fractions, which sum to 1. What rounding leaves
    /// goes to the first parts, one each, as in PyTorch.
    ///
    /// # Panics
    /// If a fraction is negative, or they do not sum to 1.
    #[track_caller]
    fn random_split_fractions<const N: usize>(
        self,
        fractions: [f64; N],
        seed: u64,
    ) -> [Subset<Arc<Self>>; N]
    where
        Self: Sized,
    {
        let lengths = select::lengths_of(self.len(), fractions);
        Subset::random_split(self, lengths, seed)
    }

    /// The elements in a random order, another one in each epoch.
    fn shuffle(self, seed: u64) -> Shuffle<Self>
    where
        Self: Sized,
    {
        Shuffle::new(self, seed)
    }

    /// The source so many times, each time in a later epoch: what was shuffled
    /// is shuffled anew.
    ///
    /// # Panics
    /// If the elements would be more than a `usize` counts.
    #[track_caller]
    fn repeat(self, epochs: usize) -> Repeat<Self>
    where
        Self: Sized,
    {
        Repeat::new(self, epochs)
    }

    /// Windows of `size` neighbours, beginning every `stride` elements; what does
    /// not fill a window at the end is left out.
    ///
    /// # Panics
    /// If `size` or `stride` is 0.
    #[track_caller]
    fn window(self, size: usize, stride: usize) -> Windows<Self>
    where
        Self: Sized,
    {
        Windows::new(self, size, stride)
    }

    /// Batches of neighbours; the last is smaller where the size does not divide
    /// the length.
    ///
    /// # Panics
    /// If `size` is 0.
    #[track_caller]
    fn batch(self, size: usize) -> Batched<Self, CollateAt<Self>>
    where
        Self: Sized,
        Self::Item: Sample,
    {
        Batched::new(self, size, LastBatch::Keep, Self::get_batch)
    }

    /// Batches of neighbours, all of them whole.
    ///
    /// # Panics
    /// If `size` is 0.
    #[track_caller]
    fn batch_drop_last(self, size: usize) -> Batched<Self, CollateAt<Self>>
    where
        Self: Sized,
        Self::Item: Sample,
    {
        Batched::new(self, size, LastBatch::Drop, Self::get_batch)
    }

    /// Batches of neighbours that a function makes, such as
    /// [`collate::padded`](crate::collate::padded) (`batch_fn`).
    ///
    /// ```
    /// use ramie_data::{IntoSource, LastBatch, Source};
    /// let words = vec!["to", "be", "or"].into_source();
    /// let pairs = words.batch_with(2, LastBatch::Keep, |words| Ok(words.join(" ")));
    /// assert_eq!((pairs.get(0)?, pairs.get(1)?), ("to be".to_string(), "or".to_string()));
    /// # Ok::<(), ramie_data::Error>(())
    /// ```
    ///
    /// # Panics
    /// If `size` is 0.
    #[track_caller]
    fn batch_with<B: Send, C>(
        self,
        size: usize,
        last: LastBatch,
        collate: C,
    ) -> Batched<Self, impl Fn(&Self, &[usize], u64) -> Result<B> + Send + Sync>
    where
        Self: Sized,
        C: Fn(Vec<Self::Item>) -> Result<B> + Send + Sync,
    {
        let make = move |source: &Self, indices: &[usize], epoch: u64| {
            collate(get_all(source, indices, epoch)?)
        };
        Batched::new(self, size, last, make)
    }

    /// Keeps every element in memory once it was asked for.
    fn cache(self) -> Cached<Self>
    where
        Self: Sized,
        Self::Item: Clone + Sync,
    {
        Cached::new(self)
    }

    /// The elements one after the other, as in epoch 0.
    fn stream(self) -> SourceStream<Self>
    where
        Self: Sized,
    {
        SourceStream::new(self)
    }

    /// The elements one after the other, borrowed.
    fn iter(&self) -> impl Iterator<Item = Result<Self::Item>> + '_
    where
        Self: Sized,
    {
        (0..self.len()).map(|index| self.get(index))
    }
}

/// [`Source::get_batch`] of a source, as [`Source::batch`] calls it.
pub type CollateAt<S> = fn(&S, &[usize], u64) -> Result<<<S as Source>::Item as Sample>::Batch>;

/// The elements at some indices.
pub(crate) fn get_all<S: Source>(
    source: &S,
    indices: &[usize],
    epoch: u64,
) -> Result<Vec<S::Item>> {
    let progress = Progress::new();
    let mut items = Vec::with_capacity(indices.len());
    for (place, &index) in indices.iter().enumerate() {
        progress.at(place);
        items.push(source.get_in_epoch(index, epoch)?);
    }
    progress.done();
    Ok(items)
}

/// Fails unless there is such an element.
pub(crate) fn check(index: usize, len: usize) -> Result<()> {
    match index < len {
        true => Ok(()),
        false => Err(Error::OutOfRange { index, len }),
    }
}

/// Sources behind pointers, so that they can be shared and told apart at run
/// time: `Arc<S>`, `Box<dyn Source<Item = T>>`.
macro_rules! pointers {
    ($($p:ident),*) => { $(
        impl<S: Source + ?Sized> Source for $p<S> {
            type Item = S::Item;
            fn len(&self) -> usize {
                (**self).len()
            }
            fn get(&self, index: usize) -> Result<S::Item> {
                (**self).get(index)
            }
            fn get_in_epoch(&self, index: usize, epoch: u64) -> Result<S::Item> {
                (**self).get_in_epoch(index, epoch)
            }
            fn gather(
                &self,
                indices: &[usize],
                epoch: u64,
            ) -> Option<Result<Box<dyn Any + Send>>> {
                (**self).gather(indices, epoch)
            }
        }
    )* };
}
pointers!(Arc, Box);

/// What a source can be made of: a source, an array of the `ndarray` crate, a
/// vector, a range, and tuples and maps of these.
///
/// ```
/// use ndarray::Array;
/// use ramie_data::{IntoSource, Source};
/// let images = Array::<f32, _>::zeros((100, 8, 8));
/// let labels = vec![0i32; 100];
/// let source = (images, labels).into_source();
/// let (image, label) = source.get(3)?;
/// assert_eq!((image.shape(), label), (&[8, 8][..], 0));
/// # Ok::<(), ramie_data::Error>(())
/// ```
pub trait IntoSource {
    /// The source.
    type Source: Source;

    /// The source.
    ///
    /// # Panics
    /// If the parts have different lengths.
    fn into_source(self) -> Self::Source;
}

impl<S: Source> IntoSource for S {
    type Source = S;
    fn into_source(self) -> S {
        self
    }
}
