//! Conversion to sources, and sources behind pointers.

use super::Source;
use crate::{DefaultSeed, Result};
use std::any::Any;
use std::sync::Arc;

/// Implements `Source` for pointers, for sharing (`Arc<S>`) and for dynamic dispatch (`Box<dyn
/// Source<Item = T>>`).
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
            fn get_in_epoch(&self, index: usize, epoch: usize) -> Result<S::Item> {
                (**self).get_in_epoch(index, epoch)
            }
            fn gather(
                &self,
                indices: &[usize],
                epoch: usize,
            ) -> Option<Result<Box<dyn Any + Send>>> {
                (**self).gather(indices, epoch)
            }
            fn default_seed(&self) -> DefaultSeed {
                (**self).default_seed()
            }
            fn order_changes(&self) -> bool {
                (**self).order_changes()
            }
        }
    )* };
}
pointers!(Arc, Box);

/// A type that can be converted to a source: a source, an array of the `ndarray` crate, a vector,
/// a range, and tuples and maps of these.
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
    /// The type of the source.
    type Source: Source;

    /// Converts to a source.
    ///
    /// # Panics
    /// Panics if the parts have different lengths.
    fn into_source(self) -> Self::Source;
}

impl<S: Source> IntoSource for S {
    type Source = S;
    fn into_source(self) -> S {
        self
    }
}
