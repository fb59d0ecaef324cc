//! Datasets with random access.

mod access;
mod arrays;
mod batch;
mod cache;
mod into;
mod join;
mod map;
mod mix;
mod order;
mod places;
mod select;
mod window;

pub(crate) use access::{by_epoch, check, derived, finite, fixed_order, get_all};
pub use arrays::{ArraySource, Items, MapSource, RangeSource};
pub use batch::Batched;
pub use cache::Cached;
pub use into::IntoSource;
pub use join::{Concat, Zip};
pub use map::{Map, MapRandom, MapWithIndex};
pub use mix::{Mix, mix};
pub use order::{Repeat, Shuffle};
pub use places::{Places, concat_all, select_from};
pub use select::Subset;
pub(crate) use select::{check_fractions, lengths_of};
pub use window::Windows;

use crate::progress::Progress;
use crate::{DefaultSeed, Result, Sample};
use std::any::Any;

/// A dataset with random access: it has a length, and returns the element at any index, on any
/// thread.
///
/// Only two methods are required. The others are overridden for speed.
/// [`SourceExt`](crate::SourceExt) has the methods that combine sources. Randomness in a source is
/// a pure function of a seed, the epoch and the index, so an element is always the same, whatever
/// the order of access.
///
/// ```
/// use ramie_data::{IntoSource, Result, Source, SourceExt};
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
#[doc(alias = "MapDataset")]
pub trait Source: Send + Sync {
    /// The type of an element.
    type Item: Send;

    /// Returns the number of elements, or `usize::MAX` if the source is endless.
    fn len(&self) -> usize;

    /// Returns an element as of epoch 0.
    ///
    /// # Errors Returns [`Error::OutOfRange`](crate::Error::OutOfRange) if the index is out of
    /// range, or another error if the element cannot be read.
    fn get(&self, index: usize) -> Result<Self::Item>;

    /// Returns an element as of a given epoch. Sources that shuffle or augment override this
    /// method, and sources that wrap other sources forward it.
    ///
    /// # Errors
    /// Returns the errors of [`get`](Source::get).
    fn get_in_epoch(&self, index: usize, epoch: usize) -> Result<Self::Item> {
        let _ = epoch;
        self.get(index)
    }

    /// Returns the elements at some indices as a batch, in the order of the indices.
    ///
    /// # Errors
    /// Returns the errors of [`get`](Source::get) and of [`Sample::collate`].
    fn get_batch(&self, indices: &[usize], epoch: usize) -> Result<<Self::Item as Sample>::Batch>
    where
        Self: Sized,
        Self::Item: Sample,
    {
        match self.gather(indices, epoch) {
            Some(batch) => Ok(*batch?.downcast().unwrap_or_else(|_| {
                panic!(
                    "Source::gather: the batch is not a {}\n  help: return the type that \
                     `Sample::collate` of the elements returns",
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

    /// Returns a batch that the source writes directly, without creating each element. Its type
    /// must be [`Sample::Batch`] of the elements. Defaults to `None`: the elements are read one
    /// by one and collated.
    fn gather(&self, indices: &[usize], epoch: usize) -> Option<Result<Box<dyn Any + Send>>> {
        let _ = (indices, epoch);
        None
    }

    /// Returns `true` if there are no elements.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns `true` if the elements never end: the length is `usize::MAX`, as after
    /// [`repeat(None)`](crate::SourceExt::repeat). Stages that need a length panic for an endless
    /// source.
    fn is_endless(&self) -> bool {
        self.len() == usize::MAX
    }

    /// Returns the default seed of the stages that follow. Sources that wrap other sources pass on
    /// theirs with [`DefaultSeed::after`].
    fn default_seed(&self) -> DefaultSeed {
        DefaultSeed::default()
    }

    /// Returns whether an index refers to another element in each epoch, as after
    /// [`shuffle`](crate::SourceExt::shuffle). Operations that select elements by their index, such
    /// as [`random_split`](crate::SourceExt::random_split), panic then. Sources that wrap other
    /// sources and forward the epoch return the answer of theirs.
    ///
    /// ```
    /// use ramie_data::{IntoSource, Source, SourceExt};
    /// let source = (0..5).into_source();
    /// assert!(!source.order_changes());
    /// assert!(source.shuffle(0).map(|x| x + 1).order_changes());
    /// ```
    fn order_changes(&self) -> bool {
        false
    }

    /// Returns an iterator over the elements that borrows the source. It never ends if the source
    /// is endless.
    fn iter(&self) -> impl Iterator<Item = Result<Self::Item>> + '_
    where
        Self: Sized,
    {
        (0..self.len()).map(|index| self.get(index))
    }
}

/// The type of [`Source::get_batch`], as used by [`SourceExt::batch`](crate::SourceExt::batch).
pub type CollateAt<S> = fn(&S, &[usize], usize) -> Result<<<S as Source>::Item as Sample>::Batch>;
