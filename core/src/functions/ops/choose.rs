//! Functions that choose among arrays by index or condition, and that write at flat indices.

use crate::numpy::IndexItem;
use crate::prim::elementwise::parts::require_real;
use crate::prim::index::positions::flat_positions;
use crate::prim::operands::{common_shape, common_type, promote_all};
use crate::{Array, DType, IntoArray, stack, where_};
use std::borrow::Borrow;

/// The treatment of out-of-bounds indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BoundsMode {
    /// Clamps to the nearest index.
    Clip,
    /// Wraps around.
    Wrap,
}

impl BoundsMode {
    /// Maps indices into an axis of size `n`.
    #[track_caller]
    fn bound(self, indices: &Array, n: usize) -> Array {
        let indices = indices.counting_to(n);
        match self {
            BoundsMode::Clip => indices.clip(0, n as i64 - 1),
            BoundsMode::Wrap => indices.remainder(n as i64),
        }
    }
}

/// Converts the indices along each axis of an array of `shape` to flat row-major indices
/// (`jnp.ravel_multi_index`).
///
/// ```no_run
/// use ramie_core::numpy::{ravel_multi_index, BoundsMode};
/// use ramie_core::Array;
/// let (i, j) = (Array::from([1, 0]), Array::from([2, 9]));
/// let flat = ravel_multi_index(&[i, j], &[2, 3], BoundsMode::Clip);
/// assert_eq!(flat.to_vec::<i32>(), [5, 2]);
/// ```
///
/// The result has the dtype that the indices promote to, or a wider one if that dtype does not
/// represent the number of elements.
///
/// # Panics
/// Panics unless there is one array of integers for each axis and the arrays broadcast together, or
/// if the arrays promote to floats, as `u64` and signed integers do.
#[track_caller]
pub fn ravel_multi_index(indices: &[Array], shape: &[usize], mode: BoundsMode) -> Array {
    assert!(
        indices.len() == shape.len(),
        "ravel_multi_index: got {} arrays of indices for the shape {shape:?}\n  help: pass one \
         array per axis",
        indices.len()
    );
    for x in indices {
        require_real("ravel_multi_index", &[x]);
        assert!(
            x.dtype().is_integer(),
            "ravel_multi_index: indices {} are not integers\n  help: convert them with \
             astype(DType::I32)",
            x.aval()
        );
    }
    let dtype = match indices {
        [] => DType::I32,
        _ => common_type("ravel_multi_index", indices).0,
    };
    assert!(
        dtype.is_integer(),
        "ravel_multi_index: indices of the dtypes {:?} promote to {dtype}, expected integers\n  \
         help: convert them to one dtype, for example with astype(DType::I64)",
        indices.iter().map(Array::dtype).collect::<Vec<_>>()
    );
    let count = flat_positions("ravel_multi_index", shape);
    let mut flat = Array::scalar(0, dtype).counting_to(count);
    for (x, &n) in indices.iter().zip(shape) {
        flat = &flat * n as i64 + mode.bound(x, n).astype(flat.dtype());
    }
    flat
}

impl Array {
    /// Converts flat row-major indices into an array of `shape` to indices along each axis.
    /// Negative indices count from the end; out-of-bounds indices are clamped
    /// (`jnp.unravel_index`).
    ///
    /// # Panics
    /// Panics if the elements are not integers.
    #[track_caller]
    pub fn unravel_index(&self, shape: &[usize]) -> Vec<Array> {
        require_real("unravel_index", &[self]);
        assert!(
            self.dtype().is_integer(),
            "unravel_index: indices {} are not integers\n  help: convert them with \
             astype(DType::I32)",
            self.aval()
        );
        let mut rest = self.counting_to(flat_positions("unravel_index", shape));
        let mut indices: Vec<Array> = Vec::with_capacity(shape.len());
        for &n in shape.iter().rev() {
            let (quotient, index) = rest.divmod(n as i64);
            indices.push(index);
            rest = quotient;
        }
        indices.reverse();
        let (past, before) = (rest.gt(0), rest.lt(-1));
        indices
            .iter()
            .zip(shape)
            .map(|(index, &n)| {
                let within = if self.dtype().is_unsigned() {
                    index.clone()
                } else {
                    where_(&before, 0, index)
                };
                where_(&past, n as i64 - 1, within)
            })
            .collect()
    }

    /// Selects for each element `i` the element of `choices[i]` at the same position. The arrays
    /// broadcast together (`jnp.choose`).
    ///
    /// # Panics
    /// Panics if the elements are not integers, if there are no choices, or if the shapes do not
    /// broadcast.
    #[track_caller]
    pub fn choose<A: Borrow<Array>>(&self, choices: &[A], mode: BoundsMode) -> Array {
        require_real("choose", &[self]);
        assert!(
            self.dtype().is_integer(),
            "choose: expects integers, got {}\n  help: convert it with astype(DType::I32)",
            self.aval()
        );
        let choices = promote_all("choose", choices);
        let mut all: Vec<&Array> = choices.iter().collect();
        all.push(self);
        let shape = common_shape("choose", &all);
        let which = mode.bound(self, choices.len()).broadcast_to(&shape);
        let choices: Vec<Array> = choices.iter().map(|c| c.broadcast_to(&shape)).collect();
        stack(&choices, 0)
            .take_along_axis(&which.expand_dims(&[0]), 0)
            .squeeze(&[0])
    }

    /// Evaluates a piecewise function: the function of the last condition that is true, or
    /// `otherwise`. Results are converted to the dtype of the array (`jnp.piecewise`). All pieces
    /// are computed for all elements.
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// let x = Array::from([-1.0f32, 2.0]);
    /// let y = x.piecewise(&[(x.lt(0), &|x: &Array| -x)], |x| x * 10.0);
    /// assert_eq!(y.to_vec::<f32>(), [1.0, 20.0]);
    /// ```
    ///
    /// # Panics
    /// Panics if the shapes do not broadcast.
    #[track_caller]
    pub fn piecewise(
        &self,
        pieces: &[(Array, &dyn Fn(&Array) -> Array)],
        otherwise: impl FnOnce(&Array) -> Array,
    ) -> Array {
        let rest = otherwise(self).astype(self.dtype());
        let value = pieces.iter().fold(rest, |rest, (condition, f)| {
            where_(condition, f(self).astype(self.dtype()), rest)
        });
        value.broadcast_to(self.shape())
    }

    /// Writes `values` at flat row-major indices and returns the new array. The values repeat if
    /// there are too few. Negative indices count from the end; out-of-bounds indices are clamped
    /// (`jnp.put`).
    ///
    /// # Panics
    /// Panics if the indices are not integers, or if the dtype of the values does not promote to
    /// the array's dtype.
    #[track_caller]
    pub fn put(&self, indices: &Array, values: impl IntoArray) -> Array {
        let values = values.into_array().ravel();
        let indices = indices.ravel().counting_to(self.size());
        if self.size() == 0 || indices.size() == 0 || values.size() == 0 {
            return self.clone();
        }
        let n = self.size() as i64;
        let indices = where_(indices.lt(0), &indices + n, &indices).clip(0, n - 1);
        let values = values.cycled(indices.size());
        let flat = self.ravel();
        flat.at(indices).set(values).reshape(self.shape())
    }

    /// Writes `values` where `mask` is true, in row-major order, and returns the new array. The
    /// values repeat if there are too few (`jnp.place`).
    ///
    /// # Panics
    /// Panics if the mask has a different number of elements, if there are no values, or if their
    /// dtype does not promote to the array's dtype.
    #[track_caller]
    pub fn place(&self, mask: &Array, values: impl IntoArray) -> Array {
        let values = values.into_array().ravel();
        let n = self.size();
        assert!(
            mask.size() == n && values.size() > 0,
            "place: the mask {} and {} values do not fit {}\n  help: pass a mask with as many \
             elements as the array, and at least one value",
            mask.aval(),
            values.size(),
            self.aval()
        );
        if n == 0 {
            return self.clone();
        }
        let indices = mask.flatnonzero_sized(n, n as i64);
        let index = vec![IndexItem::Array(indices)];
        let flat = self.ravel();
        let placed = flat.at(index).set(values.cycled(n));
        placed.reshape(self.shape())
    }
}
