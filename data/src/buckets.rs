//! Lengths that elements are padded to.

use crate::{Error, Result};

/// The lengths to which elements are padded, and the batch size of each.
///
/// A compiled step compiles once for each shape. Padding to one of a few lengths limits the
/// number of compilations and wastes little computation.
///
/// ```
/// use ramie_data::{Buckets, Stream, StreamExt, collate, stream};
/// let texts = || ["a", "abc", "b", "abcdefg", "c"].map(|t| Ok(t.as_bytes().to_vec()));
/// let buckets = Buckets::new([2, 8], 2);
/// let mut batches = stream::from_fn(texts)
///     .bucket(buckets.clone(), |t| t.len())
///     .try_map(collate::padded(buckets.lengths(), 0u8));
/// let shapes: Vec<_> = batches.iter().map(|b| b.map(|b| b.values.dim())).collect::<Result<_, _>>()?;
/// assert_eq!(shapes, [(2, 2), (2, 8), (1, 2)]);
/// # Ok::<(), ramie_data::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buckets {
    lengths: Vec<usize>,
    sizes: Vec<usize>,
}

impl Buckets {
    /// Creates buckets of these lengths with the same batch size.
    ///
    /// # Panics
    /// Panics if there is no length, if the lengths are not increasing, or if the size is 0.
    #[track_caller]
    pub fn new(lengths: impl Into<Vec<usize>>, size: usize) -> Buckets {
        let lengths = lengths.into();
        let sizes = vec![size; lengths.len()];
        Buckets::with_sizes(lengths, sizes)
    }

    /// Creates buckets of these lengths with individual batch sizes, for example smaller batches
    /// of longer elements, which take the same memory.
    ///
    /// # Panics
    /// Panics if there is no length, if the lengths are not increasing, if the numbers of lengths
    /// and sizes differ, or if a size is 0.
    #[track_caller]
    pub fn with_sizes(lengths: impl Into<Vec<usize>>, sizes: impl Into<Vec<usize>>) -> Buckets {
        let (lengths, sizes) = (lengths.into(), sizes.into());
        assert!(
            !lengths.is_empty() && lengths.windows(2).all(|w| w[0] < w[1]),
            "Buckets: the lengths are {lengths:?}\n  help: pass at least one length, in increasing \
             order"
        );
        assert!(
            sizes.len() == lengths.len() && !sizes.contains(&0),
            "Buckets: the sizes are {sizes:?} for {} lengths\n  help: pass one size for each length, \
             at least 1",
            lengths.len()
        );
        Buckets { lengths, sizes }
    }

    /// Returns the lengths, in increasing order.
    pub fn lengths(&self) -> &[usize] {
        &self.lengths
    }

    /// Returns the batch size of each bucket.
    pub fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// Returns the index of the bucket for an element of this length.
    ///
    /// # Errors
    /// Returns [`Error::Collate`] if the element is longer than the longest bucket.
    pub fn of(&self, length: usize) -> Result<usize> {
        match self.lengths.partition_point(|l| *l < length) {
            b if b < self.lengths.len() => Ok(b),
            _ => Err(Error::Collate(format!(
                "an element of length {length} is longer than the longest bucket, {}; truncate it, \
                 skip it, or add a bucket",
                self.lengths[self.lengths.len() - 1]
            ))),
        }
    }
}
