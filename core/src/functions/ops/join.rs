//! Functions that join, extend and shrink arrays.

use super::{at_least, joined};
use crate::prim::operands::promote_all;
use crate::typing::Dims;
use crate::{Array, DType, IntoArray, concatenate, where_};
use std::borrow::Borrow;

/// Stacks arrays as columns: 1-d arrays become columns of a matrix, others are joined along their
/// second axis.
///
/// # Panics
/// Panics if there are no arrays, or dimensions other than the second differ.
#[track_caller]
pub fn column_stack<A: Borrow<Array>>(arrays: &[A]) -> Array {
    let columns: Vec<Array> = arrays
        .iter()
        .map(Borrow::borrow)
        .map(|x| match x.ndim() {
            0 | 1 => x.reshape(&[x.size(), 1]),
            _ => x.clone(),
        })
        .collect();
    concatenate(&columns, 1)
}

/// Joins arrays along their third axis. Arrays with fewer axes are extended by
/// `Array::at_least_3d`.
///
/// # Panics
/// Panics if there are no arrays, or dimensions other than the third differ.
#[track_caller]
pub fn dstack<A: Borrow<Array>>(arrays: &[A]) -> Array {
    let deep: Vec<Array> = arrays.iter().map(|x| x.borrow().at_least_3d()).collect();
    concatenate(&deep, 2)
}

/// Assembles an array from nested blocks. The blocks of a row are joined along the last axis, the
/// rows along the second to last axis (`jnp.block`).
///
/// ```no_run
/// use ramie_core::numpy::block;
/// use ramie_core::{Array, DType};
/// let (one, zero) = (Array::eye(2, DType::I32), Array::zeros(&[2, 1], DType::I32));
/// assert_eq!(block(&[vec![one, zero]]).shape(), [2, 3]);
/// ```
///
/// # Panics
/// Panics if there are no blocks, or if their sizes do not fit together.
#[track_caller]
pub fn block(rows: &[Vec<Array>]) -> Array {
    let rank = rows
        .iter()
        .flatten()
        .map(Array::ndim)
        .max()
        .unwrap_or(0)
        .max(2);
    let rows: Vec<Array> = rows
        .iter()
        .map(|row| {
            let blocks: Vec<Array> = row.iter().map(|x| at_least(x, rank)).collect();
            concatenate(&blocks, -1)
        })
        .collect();
    concatenate(&rows, -2)
}

impl Array {
    /// Appends `values` to the elements of this array, both flattened in row-major order. To join
    /// along an axis, use [`concatenate`].
    #[track_caller]
    pub fn append(&self, values: impl IntoArray) -> Array {
        joined("append", &[self, &values.into_array()])
    }

    /// Removes the elements at the given indices along an axis. Negative indices count from the
    /// end.
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// assert_eq!(Array::arange(4).delete(&[1, -1], 0).to_vec::<i32>(), [0, 2]);
    /// ```
    ///
    /// # Panics
    /// Panics if the axis or an index is out of range.
    #[track_caller]
    pub fn delete(&self, indices: &[isize], axis: isize) -> Array {
        let at = self.axis("delete", axis);
        let n = self.shape()[at];
        let mut gone = Vec::with_capacity(indices.len());
        for &index in indices {
            let normal = if index < 0 { index + n as isize } else { index };
            assert!(
                (0..n as isize).contains(&normal),
                "delete: index {index} is out of range for axis {axis} of {}\n  help: pass an \
                 index from {} to {}",
                self.aval(),
                -(n as isize),
                n as isize - 1
            );
            gone.push(normal as usize);
        }
        gone.sort_unstable();
        // Ranges of adjacent kept elements, each up to a deleted index or the end.
        let mut parts = Vec::new();
        let mut start = 0;
        for end in gone.into_iter().chain([n]) {
            if start < end {
                parts.push(self.slice_axis(at, start, end));
            }
            start = end + 1;
        }
        if parts.is_empty() {
            return self.slice_axis(at, 0, 0);
        }
        concatenate(&parts, at as isize)
    }

    /// Inserts `values` before the given indices along an axis. A 0-d index inserts all slices of
    /// `values`, a 1-d array of indices one slice for each index. Negative indices count from the
    /// end (`jnp.insert`).
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// let x = Array::from([1, 2, 3]).insert(1, 9, 0);
    /// assert_eq!(x.to_vec::<i32>(), [1, 9, 2, 3]);
    /// ```
    ///
    /// # Panics
    /// Panics if the axis is out of range, if the indices are not integers with at most one axis,
    /// or if the values do not broadcast to the inserted slices.
    #[track_caller]
    pub fn insert(&self, indices: impl IntoArray, values: impl IntoArray, axis: isize) -> Array {
        let at = self.axis("insert", axis);
        self.expect_i32_positions("insert", at);
        let (indices, values) = (indices.into_array(), values.into_array());
        assert!(
            indices.ndim() <= 1 && indices.dtype().is_integer(),
            "insert: the indices {} must be integers with at most one axis\n  help: pass an \
             integer, or a 1-d array of integers",
            indices.aval()
        );
        let mut values = at_least(&values.astype(self.dtype()), self.ndim());
        let indices = if indices.size() == 1 {
            if indices.ndim() == 0 {
                values = values.move_axis(0, at as isize);
            }
            indices.reshape(&[1]).broadcast_to(&[values.shape()[at]])
        } else {
            indices
        };
        let n = self.shape()[at];
        let added = indices.size().max(values.shape()[at]);
        let mut whole: Dims = self.shape().into();
        whole[at] += added;
        let mut room: Dims = self.shape().into();
        room[at] = added;
        let values = values.broadcast_to(&room);
        let indices = indices.broadcast_to(&[added]);
        let indices = indices.counting_to(n);
        let indices = where_(indices.lt(0), &indices + n as i64, &indices).clip(0, n as i64);
        let indices = indices.astype(DType::I32);
        // Each index is shifted by the number of values inserted before it.
        let order = indices.argsort(0);
        let indices = indices.at(&order).add(Array::arange(added));
        let old = Array::ones(&[n + added], DType::Bool)
            .at(&indices)
            .set(false);
        let old = old.flatnonzero_sized(n, 0);
        let front = Array::zeros(&whole, self.dtype()).move_axis(at as isize, 0);
        let front = front.at(&indices).set(values.move_axis(at as isize, 0));
        let front = front.at(&old).set(self.move_axis(at as isize, 0));
        front.move_axis(0, at as isize)
    }

    /// Reshapes the elements, in row-major order, to a shape of any size. The elements repeat
    /// from the start if there are too few (`jnp.resize`).
    #[track_caller]
    pub fn resize(&self, shape: &[usize]) -> Array {
        let size = crate::types::aval::element_count(shape);
        if self.size() == 0 || size == 0 {
            return Array::zeros(shape, self.dtype());
        }
        self.ravel().cycled(size).reshape(shape)
    }

    /// Returns the first `size` elements of the endless repetition of a 1-d array.
    #[track_caller]
    pub(crate) fn cycled(&self, size: usize) -> Array {
        let times = size.div_ceil(self.size());
        let long = if times > 1 {
            self.tile(&[times])
        } else {
            self.clone()
        };
        long.slice_axis(0, 0, size)
    }

    /// Returns the array with at least one axis.
    #[track_caller]
    pub fn at_least_1d(&self) -> Array {
        at_least(self, 1)
    }

    /// Returns the array with at least two axes. A 1-d array becomes a row.
    #[track_caller]
    pub fn at_least_2d(&self) -> Array {
        at_least(self, 2)
    }

    /// Returns the array with at least three axes. A 1-d array of `n` elements gets the shape
    /// `[1, n, 1]`, an `n × m` matrix the shape `[n, m, 1]`.
    #[track_caller]
    pub fn at_least_3d(&self) -> Array {
        match *self.shape() {
            [] => self.reshape(&[1, 1, 1]),
            [n] => self.reshape(&[1, n, 1]),
            [n, m] => self.reshape(&[n, m, 1]),
            _ => self.clone(),
        }
    }
}

/// Selects, for each element, the first choice whose condition is true, or `default`
/// (`jnp.select`).
///
/// ```no_run
/// use ramie_core::numpy::select;
/// use ramie_core::Array;
/// let x = Array::arange(5);
/// let y = select(&[x.lt(2), x.gt(3)], &[&x - 10, &x + 10], &x);
/// assert_eq!(y.to_vec::<i32>(), [-10, -9, 2, 3, 14]);
/// ```
///
/// # Panics
/// Panics if the numbers of conditions and choices differ, or if the shapes do not broadcast.
#[track_caller]
pub fn select(conditions: &[Array], choices: &[Array], default: impl IntoArray) -> Array {
    assert!(
        conditions.len() == choices.len(),
        "select: got {} conditions for {} choices\n  help: pass one condition for each choice",
        conditions.len(),
        choices.len()
    );
    let mut all = vec![default.into_array()];
    all.extend_from_slice(choices);
    let mut all = promote_all("select", &all).into_iter();
    let default = all.next().expect("the default is first");
    let pairs: Vec<(&Array, Array)> = conditions.iter().zip(all).collect();
    pairs
        .into_iter()
        .rev()
        .fold(default, |rest, (condition, choice)| {
            where_(condition, choice, rest)
        })
}
