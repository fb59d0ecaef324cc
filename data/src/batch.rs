//! Batches that can be split and concatenated by rows.

use crate::{Error, Result};
use ndarray::{Array, Axis, RemoveAxis};
use std::collections::BTreeMap;
use std::ops::Range;

/// A batch that can be sliced by rows and concatenated with others: vectors, arrays of the
/// `ndarray` crate, and tuples and maps of them.
///
/// ```
/// use ndarray::array;
/// use ramie_data::Batch;
/// let batch = (array![[1, 2], [3, 4], [5, 6]], vec!['a', 'b', 'c']);
/// assert_eq!(batch.rows(), 3);
/// let (first, rest) = (batch.slice(0..1), batch.slice(1..3));
/// assert_eq!(first, (array![[1, 2]], vec!['a']));
/// assert_eq!(Batch::join(vec![rest, first])?.1, ['b', 'c', 'a']);
/// # Ok::<(), ramie_data::Error>(())
/// ```
pub trait Batch: Sized + Send {
    /// Returns the number of rows.
    fn rows(&self) -> usize;

    /// Returns the rows in a range.
    ///
    /// # Panics
    /// Panics if the range ends after the last row.
    fn slice(&self, rows: Range<usize>) -> Self;

    /// Concatenates the rows of several batches, at least one.
    ///
    /// # Errors
    /// Returns [`Error::Collate`] if the rows differ in shape.
    fn join(batches: Vec<Self>) -> Result<Self>;
}

impl<T: Clone + Send> Batch for Vec<T> {
    fn rows(&self) -> usize {
        self.len()
    }
    fn slice(&self, rows: Range<usize>) -> Self {
        self[rows].to_vec()
    }
    fn join(batches: Vec<Self>) -> Result<Self> {
        Ok(batches.into_iter().flatten().collect())
    }
}

impl<T: Clone + Send, D: RemoveAxis> Batch for Array<T, D> {
    fn rows(&self) -> usize {
        self.len_of(Axis(0))
    }
    fn slice(&self, rows: Range<usize>) -> Self {
        self.slice_axis(Axis(0), rows.into()).to_owned()
    }
    fn join(batches: Vec<Self>) -> Result<Self> {
        let views: Vec<_> = batches.iter().map(|batch| batch.view()).collect();
        ndarray::concatenate(Axis(0), &views).map_err(|_| {
            let shapes: Vec<&[usize]> = batches.iter().map(|b| &b.shape()[1..]).collect();
            Error::Collate(format!(
                "cannot join batches whose rows have the shapes {shapes:?}; pad the rows to the same \
                 shape"
            ))
        })
    }
}

macro_rules! tuples {
    ($($($t:ident $s:tt),+;)*) => { $(
        impl<$($t: Batch),+> Batch for ($($t,)+) {
            fn rows(&self) -> usize {
                self.0.rows()
            }
            fn slice(&self, rows: Range<usize>) -> Self {
                ($(self.$s.slice(rows.clone()),)+)
            }
            #[allow(non_snake_case)]
            fn join(batches: Vec<Self>) -> Result<Self> {
                $(let mut $t = Vec::with_capacity(batches.len());)+
                for batch in batches {
                    $($t.push(batch.$s);)+
                }
                Ok(($(Batch::join($t)?,)+))
            }
        }
    )* };
}
tuples! {
    A 0;
    A 0, B 1;
    A 0, B 1, C 2;
    A 0, B 1, C 2, D 3;
    A 0, B 1, C 2, D 3, E 4;
    A 0, B 1, C 2, D 3, E 4, F 5;
}

impl<B: Batch> Batch for BTreeMap<String, B> {
    fn rows(&self) -> usize {
        self.values().next().map_or(0, Batch::rows)
    }
    fn slice(&self, rows: Range<usize>) -> Self {
        let part = |(name, batch): (&String, &B)| (name.clone(), batch.slice(rows.clone()));
        self.iter().map(part).collect()
    }
    fn join(batches: Vec<Self>) -> Result<Self> {
        let count = batches.len();
        let mut columns: BTreeMap<String, Vec<B>> = BTreeMap::new();
        for (name, batch) in batches.into_iter().flatten() {
            columns.entry(name).or_default().push(batch);
        }
        let whole = |(name, parts): (String, Vec<B>)| {
            if parts.len() == count {
                Ok((name, B::join(parts)?))
            } else {
                Err(Error::Collate(format!(
                    "cannot join batches: `{name}` is missing in some of them; use the same names in all \
             batches"
                )))
            }
        };
        columns.into_iter().map(whole).collect()
    }
}
