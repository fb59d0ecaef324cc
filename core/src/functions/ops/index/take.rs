//! Indexing along one axis: `take`, `repeat_sized`, `take_along_axis`, `put_along_axis`.

use super::plan::{Negative, Plan};
use super::resolve::{Entry, Pick};
use crate::dtypes::{Literal, Scalar};
use crate::lax::Precision;
use crate::numpy::BoundsMode;
use crate::numpy::einsum_with;
use crate::prim::index::positions::index_dtype;
use crate::prim::index::{
    Gather, GatherDimensionNumbers, GatherScatterMode, Scatter, ScatterMethod, signed_indices,
    wrap_negative,
};
use crate::typing::Dims;
use crate::{Array, DType, IntoArray};

/// The treatment of out-of-bounds indices by [`Array::take_with`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum TakeMode {
    /// Reads NaN, the smallest signed or largest unsigned integer, or true (`mode="fill"`).
    #[default]
    Fill,
    /// Reads the given value (`mode="fill"` with `fill_value`).
    FillValue(Scalar),
    /// Clamps to the nearest index.
    Clip,
    /// Wraps around.
    Wrap,
    /// Assumes that all indices are within bounds; the result is unspecified for others.
    PromiseInBounds,
    /// Multiplies by one-hot vectors, which some accelerators do faster than they gather. Reads 0
    /// out of bounds, and NaN or infinite elements spread (`mode="one_hot"` of
    /// [`Array::take_along_axis_with`], which alone supports it, as in JAX).
    OneHot,
}

impl From<GatherScatterMode> for TakeMode {
    fn from(mode: GatherScatterMode) -> TakeMode {
        match mode {
            GatherScatterMode::FillOrDrop => TakeMode::Fill,
            GatherScatterMode::Clip => TakeMode::Clip,
            GatherScatterMode::PromiseInBounds => TakeMode::PromiseInBounds,
        }
    }
}

impl From<BoundsMode> for TakeMode {
    fn from(mode: BoundsMode) -> TakeMode {
        match mode {
            BoundsMode::Clip => TakeMode::Clip,
            BoundsMode::Wrap => TakeMode::Wrap,
        }
    }
}

impl TakeMode {
    /// Sets the mode of a gather from `array`.
    #[track_caller]
    fn of(self, gather: Gather, array: &Array) -> Gather {
        match self {
            TakeMode::Fill => gather.mode(GatherScatterMode::FillOrDrop),
            TakeMode::FillValue(value) => gather.fill_value(Literal::new(value, array.dtype())),
            TakeMode::Clip => gather.mode(GatherScatterMode::Clip),
            TakeMode::Wrap | TakeMode::PromiseInBounds => {
                gather.mode(GatherScatterMode::PromiseInBounds)
            }
            TakeMode::OneHot => panic!(
                "take: TakeMode::OneHot is a mode of take_along_axis only\n  help: multiply by \
                 one-hot vectors: i.one_hot(n, dtype).tensordot(x, 1)"
            ),
        }
    }
}

impl Array {
    /// Selects the elements at `indices` along an axis. The axes of `indices` replace that axis
    /// (`jnp.take`). With `None` instead of an axis, the array is flattened first. Negative indices
    /// count from the end. Out-of-bounds indices read NaN, the smallest signed or largest unsigned
    /// integer, or true.
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// let x = Array::from([10, 20, 30]);
    /// assert_eq!(x.take(&Array::from([2, 0]), 0).to_vec::<i32>(), [30, 10]);
    /// ```
    ///
    /// # Panics
    /// Panics if the axis is out of range or empty, or `indices` are not integers.
    #[track_caller]
    pub fn take(&self, indices: &Array, axis: impl Into<Option<isize>>) -> Array {
        self.take_with(indices, axis, TakeMode::Fill)
    }

    /// Same as [`take`](Array::take), but with the given treatment of out-of-bounds indices
    /// (`jnp.take(…, mode=…, fill_value=…)`). `Clip` replaces negative indices by 0, as in JAX; in
    /// the other modes they count from the end.
    ///
    /// ```no_run
    /// use ramie_core::numpy::TakeMode;
    /// use ramie_core::Array;
    /// let (x, i) = (Array::from([10, 20, 30]), Array::from([-1, 4]));
    /// assert_eq!(x.take_with(&i, 0, TakeMode::Clip).to_vec::<i32>(), [10, 30]);
    /// assert_eq!(x.take_with(&i, 0, TakeMode::Wrap).to_vec::<i32>(), [30, 20]);
    /// let filled = x.take_with(&i, 0, TakeMode::FillValue(7.into()));
    /// assert_eq!(filled.to_vec::<i32>(), [30, 7]);
    /// ```
    ///
    /// # Panics
    /// Panics in the same cases as [`take`](Array::take), or if the axis is empty and `indices`
    /// is not.
    #[track_caller]
    pub fn take_with(
        &self,
        indices: &Array,
        axis: impl Into<Option<isize>>,
        mode: impl Into<TakeMode>,
    ) -> Array {
        let (x, axis) = self.flattened_without(axis.into());
        let axis = x.axis("take", axis);
        x.take_along(indices, axis, mode.into())
    }

    #[track_caller]
    fn take_along(&self, indices: &Array, axis: usize, mode: TakeMode) -> Array {
        integers("take", indices);
        let size = self.shape()[axis];
        assert!(
            size > 0 || indices.size() == 0,
            "take: axis {axis} of {} is empty, but the indices {} are not\n  help: no index is \
             valid for an empty axis; check its size before the call",
            self.aval(),
            indices.aval()
        );
        let indices = match mode {
            TakeMode::Wrap if size > 0 => indices.counting_to(size).remainder(size as i64),
            _ => indices.clone(),
        };
        let entries: Vec<Entry> = self
            .shape()
            .iter()
            .enumerate()
            .map(|(d, &len)| {
                let whole = Pick::Range {
                    start: 0,
                    len,
                    step: 1,
                };
                let pick = if d == axis {
                    Pick::Indices(indices.clone())
                } else {
                    whole
                };
                Entry::Axis(d, pick)
            })
            .collect();
        let negative = match mode {
            TakeMode::Clip | TakeMode::Wrap => Negative::OutOfBounds,
            _ => Negative::FromEnd,
        };
        let plan = Plan::new(self, &entries, negative);
        let gather = Gather::new(plan.numbers, &plan.slice_sizes);
        self.gather(&plan.indices, mode.of(gather, self))
    }

    /// Repeats element `i` along an axis `counts[i]` times, up to `total` elements in all: surplus
    /// elements are dropped, and missing ones repeat the last (`jnp.repeat` with
    /// `total_repeat_length`). The counts may be traced. With `None` instead of an axis, the array
    /// is flattened first.
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// let (x, counts) = (Array::from([7, 8, 9]), Array::from([1, 0, 2]));
    /// assert_eq!(x.repeat_sized(&counts, 0, 3).to_vec::<i32>(), [7, 9, 9]);
    /// ```
    ///
    /// # Panics
    /// Panics if the axis is out of range, if the counts are not integers, or if they are neither
    /// one number nor one for each element along the axis.
    #[doc(alias = "total_repeat_length")]
    #[track_caller]
    pub fn repeat_sized(
        &self,
        counts: impl IntoArray,
        axis: impl Into<Option<isize>>,
        total: usize,
    ) -> Array {
        let (x, axis) = self.flattened_without(axis.into());
        let at = x.axis("repeat_sized", axis);
        let (size, counts) = (x.shape()[at], counts.into_array().ravel());
        integers("repeat_sized", &counts);
        assert!(
            counts.size() == 1 || counts.size() == size,
            "repeat_sized: got {} counts for axis {at} of {}\n  help: pass one count for each \
             element along the axis, or one for all",
            counts.size(),
            x.aval()
        );
        x.expect_i32_count("repeat_sized", total);
        if total == 0 {
            return x.slice_axis(at, 0, 0);
        }
        if size == 0 {
            return x;
        }
        let counts = counts.astype(DType::I32).broadcast_to(&[size]);
        // The copies of an element start where those of the elements before it end. Each start
        // adds 1 to the index of the element that is copied.
        let starts = counts.cumsum(0) - &counts;
        let marks = Array::zeros(&[total], DType::I32).at(starts).add(1);
        x.take(&(marks.cumsum(0) - 1), at as isize)
    }

    /// Selects elements along an axis by an index for each position: the result at each position
    /// of `indices` is the element at the same position, except that its index along `axis` is
    /// the value of `indices` (`jnp.take_along_axis`). The other axes are broadcast together.
    /// Negative indices count from the end. Out-of-bounds indices read the same values as in
    /// [`take`](Array::take).
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// let x = Array::from([[1, 2], [3, 4]]);
    /// let picked = x.take_along_axis(&Array::from([[1], [0]]), 1);
    /// assert_eq!(picked.to_vec::<i32>(), [2, 3]);
    /// ```
    ///
    /// # Panics
    /// Panics if the axis is out of range, if `indices` are not integers or have a different
    /// number of axes, or if the other axes do not broadcast together.
    #[track_caller]
    pub fn take_along_axis(&self, indices: &Array, axis: impl Into<Option<isize>>) -> Array {
        self.take_along_axis_with(indices, axis, TakeMode::Fill)
    }

    /// Same as [`take_along_axis`](Array::take_along_axis), but with the given treatment of
    /// out-of-bounds indices (`jnp.take_along_axis(…, mode=…, fill_value=…)`). Negative indices
    /// count from the end first.
    ///
    /// # Panics
    /// Panics in the same cases as `take_along_axis`.
    #[track_caller]
    pub fn take_along_axis_with(
        &self,
        indices: &Array,
        axis: impl Into<Option<isize>>,
        mode: impl Into<TakeMode>,
    ) -> Array {
        let (x, axis) = self.flattened_without(axis.into());
        let mut pair = Paired::new("take_along_axis", &x, indices, axis);
        let (mode, size) = (mode.into(), pair.array.shape()[pair.axis]);
        if mode == TakeMode::OneHot {
            return pair.by_products(indices, x.dtype());
        }
        if mode == TakeMode::Wrap && size > 0 {
            pair.vectors = pair.vectors.remainder(size as i64);
        }
        let sizes = Dims::from_elem(1, x.ndim());
        let gather = Gather::new(pair.numbers(), &sizes);
        pair.array.gather(&pair.vectors, mode.of(gather, &x))
    }

    /// Writes `values` to the elements that [`take_along_axis`](Array::take_along_axis) would
    /// read, and returns the new array. Out-of-bounds indices are dropped.
    ///
    /// # Panics
    /// Panics in the same cases as `take_along_axis`, if other axes of the array would have to be
    /// broadcast, if `values` does not broadcast to the shape of `indices`, or if its dtype does
    /// not promote to the array's dtype.
    #[track_caller]
    pub fn put_along_axis(&self, indices: &Array, values: impl IntoArray, axis: isize) -> Array {
        let values = super::value_for("put_along_axis", self, values);
        let pair = Paired::new("put_along_axis", self, indices, axis);
        assert!(
            pair.array.shape() == self.shape(),
            "put_along_axis: indices {} do not broadcast to {}\n  help: only the indices may \
             have axes of size 1 that broadcast",
            indices.aval(),
            self.aval()
        );
        let scatter = Scatter::new(ScatterMethod::Set, pair.numbers().inverse());
        let shape = &pair.vectors.shape()[..self.ndim()];
        self.scatter(&pair.vectors, &values.broadcast_to(shape), scatter)
    }
}

#[track_caller]
fn integers(operation: &str, indices: &Array) {
    assert!(
        indices.dtype().is_integer(),
        "{operation}: indices are {}, expected integers\n  help: convert them: \
         i.astype(DType::I32)",
        indices.aval()
    );
}

/// An array and indices that agree in all axes except one.
struct Paired {
    array: Array,
    /// One index vector with one component for each position of the indices.
    vectors: Array,
    axis: usize,
}

impl Paired {
    #[track_caller]
    fn new(operation: &str, array: &Array, indices: &Array, axis: isize) -> Paired {
        let axis = array.axis(operation, axis);
        integers(operation, indices);
        let mut ours: Dims = array.shape().into();
        let mut theirs: Dims = indices.shape().into();
        let (size, count) = (ours[axis], theirs.get(axis).copied().unwrap_or(1));
        ours[axis] = 1;
        if let Some(n) = theirs.get_mut(axis) {
            *n = 1;
        }
        let shared = crate::numpy::broadcast_shapes(&[&ours, &theirs]);
        let Some(mut shape) = shared.filter(|_| indices.ndim() == array.ndim()) else {
            panic!(
                "{operation}: indices {} do not fit {} along axis {axis}\n  help: both must have \
                 the same number of axes, and all except axis {axis} must agree or be 1",
                indices.aval(),
                array.aval()
            );
        };
        shape[axis] = size;
        let array = array.broadcast_to(&shape);
        shape[axis] = count;
        let dtype = index_dtype(indices.dtype(), std::iter::once(size));
        let indices = signed_indices(indices, size, dtype);
        let vectors = wrap_negative(&indices, size).broadcast_to(&shape);
        Paired {
            array,
            vectors: vectors.expand_dims(&[-1]),
            axis,
        }
    }

    /// Selects by products with one-hot vectors. Axes of `indices` after the indexed one that have
    /// size 1 are free axes of the product.
    #[track_caller]
    fn by_products(&self, indices: &Array, dtype: DType) -> Array {
        let (axis, size) = (self.axis, self.array.shape()[self.axis]);
        let number = if dtype == DType::Bool {
            DType::I32
        } else {
            dtype
        };
        let mut shape: Dims = self.vectors.shape()[..=axis].into();
        shape.extend_from_slice(&indices.shape()[axis + 1..]);
        let signed = signed_indices(indices, size, self.vectors.dtype());
        let hot = wrap_negative(&signed, size).broadcast_to(&shape);
        let lead: String = ('a'..='y').take(axis).collect();
        let equation = format!("{lead}y...z,{lead}z...->{lead}y...");
        let hot = hot.one_hot(size, number);
        let operands = [hot, self.array.astype(number)];
        einsum_with(&equation, &operands, Precision::HIGHEST).astype(dtype)
    }

    fn numbers(&self) -> GatherDimensionNumbers {
        let others: Dims = (0..self.array.ndim()).filter(|&d| d != self.axis).collect();
        GatherDimensionNumbers::new(&[], &[self.axis], &[self.axis]).batching_dims(&others, &others)
    }
}
