//! Collate functions for items of different lengths.

use crate::{Buckets, Error, Result, Sample};
use ndarray::{Array1, Array2, Array3};
use ramie_core::Element;

/// Items of different lengths, padded to the same length.
#[derive(Clone, Debug, PartialEq)]
pub struct Padded<T> {
    /// The items, each followed by padding: `[n, length]`.
    pub values: Array2<T>,
    /// The length of each item, without padding: `[n]`.
    pub lengths: Array1<i32>,
}

impl<T> Padded<T> {
    /// Returns a mask that is `true` for elements and `false` for padding: `[n, length]`.
    pub fn mask(&self) -> Array2<bool> {
        Array2::from_shape_fn(self.values.raw_dim(), |(i, j)| {
            (j as i64) < i64::from(self.lengths[i])
        })
    }
}

/// Collates to the batched values and the batched lengths.
impl<T: Element> Sample for Padded<T> {
    type Batch = (Array3<T>, Array2<i32>);
    fn is_like(&self, other: &Self) -> bool {
        self.values.is_like(&other.values)
    }
    fn collate(items: Vec<Self>) -> Result<Self::Batch> {
        Sample::collate(items.into_iter().map(|p| (p.values, p.lengths)).collect())
    }
}

/// Items of different lengths, concatenated.
#[derive(Clone, Debug, PartialEq)]
pub struct Ragged<T> {
    /// The elements of all items: `[total]`.
    pub values: Array1<T>,
    /// The offset of each item, followed by the total number of elements: `[n + 1]`.
    pub row_splits: Array1<i32>,
}

/// Returns a collate function that pads items with `value` to a common length: the first of
/// `lengths` that is not shorter than the longest item. With few lengths there are few shapes,
/// and a compiled step compiles once for each shape.
///
/// ```
/// use ramie_data::collate;
/// let batch = collate::padded(&[4, 16], 0)(vec![vec![1, 2], vec![3, 4, 5]])?;
/// assert_eq!(batch.values, ndarray::array![[1, 2, 0, 0], [3, 4, 5, 0]]);
/// assert_eq!(batch.lengths.to_vec(), [2, 3]);
/// # Ok::<(), ramie_data::Error>(())
/// ```
///
/// The function returns [`Error::Collate`], which names the item, if an item is longer than the
/// greatest length.
///
/// # Panics
/// Panics if `lengths` is empty or not increasing.
#[track_caller]
pub fn padded<T: Element>(
    lengths: &[usize],
    value: T,
) -> impl Fn(Vec<Vec<T>>) -> Result<Padded<T>> + Send + Sync + Clone + use<T> {
    let buckets = Buckets::new(lengths, 1);
    move |items| {
        let mut bucket = 0;
        for (i, item) in items.iter().enumerate() {
            let own = buckets.of(item.len());
            bucket =
                bucket.max(own.map_err(|e| Error::Collate(format!("item {i} of the batch: {e}")))?);
        }
        let length = buckets.lengths()[bucket];
        let mut values = Vec::with_capacity(items.len() * length);
        for item in &items {
            values.extend_from_slice(item);
            values.resize(values.len() + length - item.len(), value);
        }
        let values = Array2::from_shape_vec((items.len(), length), values);
        Ok(Padded {
            values: values.expect("`length` elements for each item"),
            lengths: items.iter().map(|item| item.len() as i32).collect(),
        })
    }
}

/// Concatenates items of different lengths.
///
/// ```
/// use ramie_data::collate;
/// let batch = collate::ragged(vec![vec![1.0f32, 2.0], vec![], vec![3.0]])?;
/// assert_eq!(batch.values.to_vec(), [1.0, 2.0, 3.0]);
/// assert_eq!(batch.row_splits.to_vec(), [0, 2, 2, 3]);
/// # Ok::<(), ramie_data::Error>(())
/// ```
///
/// # Errors
/// Returns [`Error::Collate`] if the total number of elements exceeds `i32::MAX`.
pub fn ragged<T: Element>(items: Vec<Vec<T>>) -> Result<Ragged<T>> {
    let mut row_splits = Vec::with_capacity(items.len() + 1);
    row_splits.push(0);
    let mut total = 0;
    for item in &items {
        total += item.len();
        row_splits.push(i32::try_from(total).map_err(|_| {
            Error::Collate(format!(
                "{total} elements exceed the range of i32 offsets; use smaller batches"
            ))
        })?);
    }
    Ok(Ragged {
        values: items.concat().into(),
        row_splits: row_splits.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_padded_to_a_length_that_suffices() {
        let pad = padded(&[2, 4], -1);
        assert_eq!(pad(vec![vec![1], vec![]]).unwrap().values.dim(), (2, 2));
        let batch = pad(vec![vec![1, 2, 3], vec![4]]).unwrap();
        assert_eq!(
            batch.values,
            ndarray::array![[1, 2, 3, -1], [4, -1, -1, -1]]
        );
        assert_eq!(batch.mask().map(|m| *m as i32).sum(), 4);
        let e = pad(vec![vec![1], vec![0; 5]]).unwrap_err().to_string();
        assert!(
            e.starts_with("item 1 of the batch: an element of length 5 is longer"),
            "{e}"
        );
    }
}
