//! Functions of `jax.lax` that are expressed by other functions.

use crate::lax::{DotDimensionNumbers, GatherScatterMode, sort};
use crate::options::{Contraction, NonNegative};
use crate::prim::index::positions::index_dtype;
use crate::prim::index::{Gather, GatherDimensionNumbers};
use crate::prim::operands;
use crate::typing::Dims;
use crate::{Array, IntoArray, PartitionSpec};

impl Array {
    /// Broadcasts the array by prepending axes of the given sizes (`jax.lax.broadcast`).
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// assert_eq!(Array::from([1, 2]).broadcast(&[3]).shape(), [3, 2]);
    /// ```
    #[track_caller]
    pub fn broadcast(&self, sizes: &[usize]) -> Array {
        let (shape, kept) = self.behind(sizes);
        self.broadcast_in_dim(&shape, &kept)
    }

    /// Same as [`broadcast`](Array::broadcast), with the sharding of the result over explicit mesh
    /// axes (`out_sharding`).
    ///
    /// # Panics
    /// Panics if `out_sharding` does not fit the mesh or the shape.
    #[track_caller]
    pub fn broadcast_with(&self, sizes: &[usize], out_sharding: impl Into<PartitionSpec>) -> Array {
        let (shape, kept) = self.behind(sizes);
        self.broadcast_in_dim_with(&shape, &kept, out_sharding)
    }

    /// Returns the shape with axes of the given sizes before those of the array, and the positions of
    /// the array's axes.
    fn behind(&self, sizes: &[usize]) -> (Dims, Dims) {
        let mut shape: Dims = sizes.into();
        shape.extend_from_slice(self.shape());
        let kept = (sizes.len()..shape.len()).collect();
        (shape, kept)
    }

    /// Broadcasts the array to the shape of another array (`jax.lax.broadcast_like`).
    ///
    /// # Panics
    /// Panics if the shape does not broadcast to that of `other`.
    #[track_caller]
    pub fn broadcast_like(&self, other: &Array) -> Array {
        self.broadcast_to(other.shape())
    }

    /// Prepends axes of size 1 until the array has `rank` axes (`jax.lax.broadcast_to_rank`).
    ///
    /// # Panics
    /// Panics if the array has more than `rank` axes.
    #[track_caller]
    pub fn broadcast_to_rank(&self, rank: usize) -> Array {
        assert!(
            rank >= self.ndim(),
            "broadcast_to_rank: {} has more than {rank} axes\n  help: squeeze or collapse axes to \
             get fewer",
            self.aval()
        );
        operands::lead(self, rank)
    }

    /// Merges the axes in `start..stop` into one axis (`jax.lax.collapse`). If the range is
    /// empty, inserts an axis of size 1 at `start`.
    ///
    /// ```no_run
    /// use ramie_core::{Array, DType};
    /// assert_eq!(Array::ones(&[2, 3, 4], DType::F32).collapse(1, 3).shape(), [2, 12]);
    /// ```
    ///
    /// # Panics
    /// Panics if the range is not within the axes of the array.
    #[track_caller]
    pub fn collapse(&self, start: isize, stop: isize) -> Array {
        let rank = self.ndim() as isize;
        let normal = |d: isize| if d < 0 { d + rank } else { d };
        let (from, to) = (normal(start), normal(stop));
        assert!(
            0 <= from && from <= to && to <= rank,
            "collapse: the range {start}..{stop} is not within the axes of {}\n  help: axes \
             range from 0 to {}",
            self.aval(),
            rank - 1
        );
        let (from, to) = (from as usize, to as usize);
        let mut shape: Dims = self.shape()[..from].into();
        shape.push(self.shape()[from..to].iter().product());
        shape.extend_from_slice(&self.shape()[to..]);
        self.reshape(&shape)
    }

    /// Selects one element of an axis, which is kept with size 1 (`jax.lax.index_in_dim`); use
    /// [`squeeze`](Array::squeeze) to remove it. Negative indices count from the end.
    ///
    /// # Panics
    /// Panics if the axis or the index is out of range.
    #[track_caller]
    pub fn index_in_dim(&self, index: isize, axis: isize) -> Array {
        let at = self.axis("index_in_dim", axis);
        let size = self.shape()[at] as isize;
        let normal = if index < 0 { index + size } else { index };
        assert!(
            (0..size).contains(&normal),
            "index_in_dim: index {index} is out of range for axis {axis} of {}\n  help: pass an \
             index from {} to {}",
            self.aval(),
            -size,
            size - 1
        );
        self.slice_axis(at, normal as usize, normal as usize + 1)
    }

    /// Selects one element of an axis, which is kept with size 1, at a computed index
    /// (`jax.lax.dynamic_index_in_dim`); use [`squeeze`](Array::squeeze) to remove it. Negative
    /// indices count from the end; out-of-bounds indices are clamped.
    ///
    /// # Panics
    /// Panics if the axis is out of range or empty, or if the index is not an integer scalar.
    #[track_caller]
    pub fn dynamic_index_in_dim(&self, index: impl IntoArray, axis: isize) -> Array {
        self.dynamic_slice_in_dim(index, 1, axis)
    }

    /// Same as [`dynamic_index_in_dim`](Array::dynamic_index_in_dim), for an index that is not
    /// negative (`allow_negative_indices=False`).
    ///
    /// # Panics
    /// Panics in the same cases as `dynamic_index_in_dim`.
    #[track_caller]
    pub fn dynamic_index_in_dim_with(
        &self,
        index: impl IntoArray,
        axis: isize,
        positive: NonNegative,
    ) -> Array {
        self.dynamic_slice_in_dim_with(index, 1, axis, positive)
    }

    /// Replaces one element of an axis by `update`, which must have that axis with size 1 or lack
    /// it (`jax.lax.dynamic_update_index_in_dim`).
    ///
    /// # Panics
    /// Panics if the axis is out of range or empty, if the index is not an integer scalar, or if
    /// the shape or dtype of the update differs.
    #[track_caller]
    pub fn dynamic_update_index_in_dim(
        &self,
        update: &Array,
        index: impl IntoArray,
        axis: isize,
    ) -> Array {
        let positive = NonNegative::along(&[]);
        self.dynamic_update_index_in_dim_with(update, index, axis, positive)
    }

    /// Same as [`dynamic_update_index_in_dim`](Array::dynamic_update_index_in_dim), for an index
    /// that is not negative (`allow_negative_indices=False`).
    ///
    /// # Panics
    /// Panics in the same cases as `dynamic_update_index_in_dim`.
    #[track_caller]
    pub fn dynamic_update_index_in_dim_with(
        &self,
        update: &Array,
        index: impl IntoArray,
        axis: isize,
        positive: NonNegative,
    ) -> Array {
        let at = self.axis("dynamic_update_index_in_dim", axis);
        let update = if update.ndim() == self.ndim() {
            update.clone()
        } else {
            update.expand_dims(&[at as isize])
        };
        self.dynamic_update_slice_in_dim_with(&update, index, axis, positive)
    }

    /// Selects the slices at indices along several axes, which are removed, and stacks them along
    /// a new first axis (`jax.lax.index_take`). `indices` has one 1-d array for each of `axes`,
    /// all of the same size. Indices are taken modulo the size of the axis.
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// let x = Array::arange(6).reshape(&[2, 3]);
    /// let picked = x.index_take(&[Array::from([0, 1]), Array::from([2, 0])], &[0, 1]);
    /// assert_eq!(picked.to_vec::<i32>(), [2, 3]);
    /// ```
    ///
    /// # Panics
    /// Panics if an axis is out of range, or if `indices` is not one list of integers for each
    /// axis.
    #[track_caller]
    pub fn index_take(&self, indices: &[Array], axes: &[isize]) -> Array {
        let axes = self.axes("index_take", axes);
        let lists = indices
            .iter()
            .all(|i| i.ndim() == 1 && i.dtype().is_integer() && i.shape() == indices[0].shape());
        assert!(
            lists && indices.len() == axes.len() && !axes.is_empty(),
            "index_take: got {} lists of indices for axes {axes:?}\n  help: pass one 1-d array \
             of integers per axis, all of the same size",
            indices.len()
        );
        let columns: Vec<Array> = indices
            .iter()
            .zip(&axes)
            .map(|(i, &d)| {
                let size = self.shape()[d];
                // Signed, since `u64` and signed integers promote to a float.
                let dtype = index_dtype(i.dtype(), std::iter::once(size));
                let within = i.counting_to(size).remainder(size as i64);
                within.astype(dtype).expand_dims(&[1])
            })
            .collect();
        let columns = crate::concatenate(&operands::promote_all("index_take", &columns), 1);
        let mut sizes: Dims = self.shape().into();
        for &d in &axes {
            sizes[d] = 1;
        }
        let mut collapsed = axes.clone();
        collapsed.sort_unstable();
        let rest = self.ndim() - axes.len();
        let offsets: Dims = (1..rest + 1).collect();
        let numbers = GatherDimensionNumbers::new(&offsets, &collapsed, &axes);
        let gather = Gather::new(numbers, &sizes).mode(GatherScatterMode::FillOrDrop);
        self.gather(&columns, gather)
    }

    /// Multiplies the matrices along the last two axes, for each element of the leading axes,
    /// which must be the same in both operands (`jax.lax.batch_matmul`).
    ///
    /// # Panics
    /// Panics if the dtypes, ranks or sizes do not fit.
    #[track_caller]
    pub fn batch_matmul(&self, rhs: &Array) -> Array {
        self.batch_matmul_with(rhs, Contraction::new())
    }

    /// Same as [`batch_matmul`](Array::batch_matmul), with options, such as a
    /// [`Precision`](crate::lax::Precision).
    ///
    /// # Panics
    /// Panics in the same cases as `batch_matmul`.
    #[track_caller]
    pub fn batch_matmul_with(&self, rhs: &Array, how: impl Into<Contraction>) -> Array {
        let rank = self.ndim();
        assert!(
            rank >= 2 && rhs.ndim() == rank,
            "batch_matmul: operands {} and {} must have the same number of axes, at least 2\n  \
             help: use matmul, which broadcasts batch axes",
            self.aval(),
            rhs.aval()
        );
        let numbers = DotDimensionNumbers::matrices(rank);
        self.dot_general_with(rhs, numbers, how)
    }

    /// Sorts this array along an axis and reorders `values` in the same way
    /// (`jax.lax.sort_key_val`). The sort is stable.
    ///
    /// # Panics
    /// Panics if the shapes differ, or the axis is out of range.
    #[track_caller]
    pub fn sort_key_val(&self, values: &Array, axis: isize) -> (Array, Array) {
        let mut sorted = sort(&[self.clone(), values.clone()], axis, 1);
        let values = sorted.swap_remove(1);
        (sorted.swap_remove(0), values)
    }

    /// Returns the `k` largest elements along an axis and their indices (`jax.lax.approx_max_k`).
    /// The result is exact: JAX's `recall_target`, `reduction_input_size_override` and
    /// `aggregate_to_topk` select approximations.
    ///
    /// # Panics
    /// Panics if the elements are not floats, or if the axis is out of range or shorter than `k`.
    #[track_caller]
    pub fn approx_max_k(&self, k: usize, axis: isize) -> (Array, Array) {
        let at = float_axis("approx_max_k", self, axis);
        self.top_k_with(k, at)
    }

    /// Returns the `k` smallest elements along an axis and their indices
    /// (`jax.lax.approx_min_k`). The result is exact, as that of
    /// [`approx_max_k`](Array::approx_max_k).
    ///
    /// # Panics
    /// Panics if the elements are not floats, or if the axis is out of range or shorter than `k`.
    #[track_caller]
    pub fn approx_min_k(&self, k: usize, axis: isize) -> (Array, Array) {
        let at = float_axis("approx_min_k", self, axis);
        let (values, indices) = self.negative().approx_max_k(k, at);
        (values.negative(), indices)
    }
}

/// Returns a non-negative axis of an array of floats. Negation is not exact for all integers.
#[track_caller]
fn float_axis(operation: &str, x: &Array, axis: isize) -> isize {
    assert!(
        x.dtype().is_float(),
        "{operation}: expects floats, got {}\n  help: for integers, use x.top_k(k) or \
         x.argsort(axis)",
        x.aval()
    );
    x.axis(operation, axis) as isize
}
