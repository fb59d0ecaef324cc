//! Triangles and diagonals of matrices.

use super::{IndexItem, listed};
use crate::base::location;
use crate::options::Reduction;
use crate::prim::index::positions::check_count;
use crate::{Array, DType, IntoArray, where_};

/// Returns for a matrix shape where the column is at most `k` to the right of the diagonal.
fn lower_triangle(rows: usize, columns: usize, k: isize) -> Array {
    let shape = [rows, columns];
    let row = &Array::iota(&shape, 0, DType::I32) + near(k, rows, columns) as i64;
    row.ge(Array::iota(&shape, 1, DType::I32))
}

/// Clamps `k` to the nearest empty diagonal if it is outside the matrix.
fn near(k: isize, rows: usize, columns: usize) -> isize {
    let signed = |n: usize| isize::try_from(n).unwrap_or(isize::MAX);
    k.clamp(-signed(rows), signed(columns))
}

/// Options of [`Array::trace_with`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Trace {
    axes: Option<(isize, isize)>,
    dtype: Option<DType>,
}

impl Trace {
    /// Creates the default options: the first two axes, and the dtype of a sum.
    pub fn new() -> Trace {
        Trace::default()
    }

    /// Sets the axes of the matrices (`axis1` and `axis2` in JAX).
    #[must_use]
    pub fn axes(self, axis1: isize, axis2: isize) -> Trace {
        Trace {
            axes: Some((axis1, axis2)),
            ..self
        }
    }

    /// Sets the dtype of the sum and of the result.
    #[must_use]
    pub fn dtype(self, dtype: DType) -> Trace {
        Trace {
            dtype: Some(dtype),
            ..self
        }
    }
}

impl Array {
    /// Creates a matrix with ones on and below the `k`-th diagonal and zeros above it. Positive
    /// `k` are above the main diagonal.
    #[track_caller]
    pub fn tri(rows: usize, columns: usize, k: isize, dtype: DType) -> Array {
        lower_triangle(rows, columns, k).astype(dtype)
    }

    /// Returns the lower triangle of each matrix along the last two axes: elements above the
    /// `k`-th diagonal become zero.
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// let x = Array::from([[1, 2], [3, 4]]);
    /// assert_eq!(x.tril(0).to_vec::<i32>(), [1, 0, 3, 4]);
    /// ```
    ///
    /// # Panics
    /// Panics if the array has fewer than two axes.
    #[track_caller]
    pub fn tril(&self, k: isize) -> Array {
        let (rows, columns) = self.matrix("tril");
        where_(lower_triangle(rows, columns, k), self, self.zeros_like())
    }

    /// Returns the upper triangle of each matrix along the last two axes: elements below the
    /// `k`-th diagonal become zero.
    ///
    /// # Panics
    /// Panics if the array has fewer than two axes.
    #[track_caller]
    pub fn triu(&self, k: isize) -> Array {
        let (rows, columns) = self.matrix("triu");
        let below = lower_triangle(rows, columns, k.saturating_sub(1));
        where_(&below, self.zeros_like(), self)
    }

    /// Returns the sizes of the last two axes.
    #[track_caller]
    pub(super) fn matrix(&self, operation: &str) -> (usize, usize) {
        match self.shape() {
            [.., rows, columns] => (*rows, *columns),
            _ => panic!(
                "{operation}: {} is not a matrix\n  help: pass an array with at least two axes",
                self.aval()
            ),
        }
    }

    /// Returns the `k`-th diagonal over the first two axes, as a new last axis.
    ///
    /// # Panics
    /// Panics if the array has fewer than two axes.
    #[track_caller]
    pub fn diagonal(&self, k: isize) -> Array {
        let [rows, columns, ..] = self.shape() else {
            panic!(
                "diagonal: {} is not a matrix\n  help: pass an array with at least two axes",
                self.aval()
            );
        };
        let k = near(k, *rows, *columns);
        let (down, right) = ((-k).max(0) as usize, k.max(0) as usize);
        let length = (rows - down).min(columns - right);
        let indices = Array::arange(length);
        let picked = self.index((&indices + down, &indices + right));
        picked.move_axis(0, -1)
    }

    /// Computes the sum of the `k`-th diagonal over the first two axes.
    ///
    /// # Panics
    /// Panics if the array has fewer than two axes.
    #[track_caller]
    pub fn trace(&self, k: isize) -> Array {
        self.trace_with(k, Trace::new())
    }

    /// Same as [`trace`](Array::trace), over other axes or in another dtype (`jnp.trace` with
    /// `axis1=`, `axis2=` and `dtype=`).
    ///
    /// ```no_run
    /// use ramie_core::options::Trace;
    /// use ramie_core::{Array, DType};
    /// let x = Array::arange(8).reshape(&[2, 2, 2]);
    /// let sums = x.trace_with(0, Trace::new().axes(1, 2).dtype(DType::F32));
    /// assert_eq!(sums.to_vec::<f32>(), [3.0, 11.0]);
    /// ```
    ///
    /// # Panics
    /// Panics if the array has fewer than two axes, if an axis is out of range, or if both axes are
    /// the same.
    #[track_caller]
    pub fn trace_with(&self, k: isize, how: Trace) -> Array {
        let diagonal = match how.axes {
            None => self.diagonal(k),
            Some((axis1, axis2)) => self.diagonal_with(k, axis1, axis2),
        };
        let over = Reduction::over(-1);
        diagonal.sum_over(match how.dtype {
            None => over,
            Some(dtype) => over.dtype(dtype),
        })
    }

    /// Returns for a 1-d array the matrix that has it on the `k`-th diagonal and zeros elsewhere,
    /// and for a matrix its `k`-th diagonal (`jnp.diag`).
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// assert_eq!(Array::from([1, 2]).diag(0).to_vec::<i32>(), [1, 0, 0, 2]);
    /// ```
    ///
    /// # Panics
    /// Panics if the array has neither one nor two axes.
    #[track_caller]
    pub fn diag(&self, k: isize) -> Array {
        match self.shape() {
            [n] => {
                let size = n.saturating_add(k.unsigned_abs());
                let along = usize::from(k < 0);
                let copies = self.pad(&[(0, k.unsigned_abs())], false);
                let copies = copies.broadcast_in_dim(&[size, size], &[along]);
                let row = &Array::iota(&[size, size], 0, DType::I32) + k as i64;
                let here = row.eq(Array::iota(&[size, size], 1, DType::I32));
                where_(&here, &copies, copies.zeros_like())
            }
            [_, _] => self.diagonal(k),
            _ => panic!(
                "diag: expects one or two axes, got {}\n  help: use `diagonal` for arrays with \
                 more axes",
                self.aval()
            ),
        }
    }

    /// Returns a matrix with the elements, in row-major order, on its `k`-th diagonal and zeros
    /// elsewhere (`jnp.diagflat`).
    #[track_caller]
    pub fn diagflat(&self, k: isize) -> Array {
        self.ravel().diag(k)
    }

    /// Same as [`diagonal`](Array::diagonal), over two given axes.
    ///
    /// # Panics
    /// Panics if an axis is out of range, or both are the same.
    #[track_caller]
    pub fn diagonal_with(&self, k: isize, axis1: isize, axis2: isize) -> Array {
        let (a, b) = (self.axis("diagonal", axis1), self.axis("diagonal", axis2));
        assert!(
            a != b,
            "diagonal: both axes are axis {a} of {}\n  help: pass two different axes",
            self.aval()
        );
        let others = (0..self.ndim()).filter(|&d| d != a && d != b);
        let order: Vec<isize> = [a, b]
            .into_iter()
            .chain(others)
            .map(|d| d as isize)
            .collect();
        self.transpose(&order).diagonal(k)
    }

    /// Fills the diagonal of a matrix, or of an array whose axes all have the same size, with
    /// `value`. A 1-d value is repeated along the diagonal (`jnp.fill_diagonal`).
    ///
    /// # Panics
    /// Panics if the array has fewer than two axes, if it has more than two axes of different
    /// sizes, or if the value is empty and the diagonal is not.
    #[track_caller]
    pub fn fill_diagonal(&self, value: impl IntoArray) -> Array {
        let value = value.into_array();
        let equal = self.shape().windows(2).all(|w| w[0] == w[1]);
        assert!(
            self.ndim() == 2 || self.ndim() > 2 && equal,
            "fill_diagonal: {} must have two axes, or more axes of the same size\n  help: pass a \
             matrix, or an array whose axes all have the same size",
            self.aval()
        );
        let n = self.shape().iter().copied().min().unwrap_or(0);
        let indices = Array::arange(n);
        let index = vec![IndexItem::Array(indices); self.ndim()];
        assert!(
            value.size() > 0 || n == 0,
            "fill_diagonal: the value {} has no elements for the diagonal of {}\n  help: pass a \
             number, or an array with elements",
            value.aval(),
            self.aval()
        );
        match value.ndim() {
            _ if n == 0 => self.clone(),
            0 => self.at(index).set(value),
            _ => self.at(index).set(value.ravel().cycled(n)),
        }
    }

    /// Returns the row and column indices of the elements on and below the `k`-th diagonal of a
    /// matrix of shape `[rows, columns]` (`jnp.tril_indices`).
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// let (i, j) = Array::tril_indices(2, 2, 0);
    /// assert_eq!(i.to_vec::<i32>(), [0, 1, 1]);
    /// assert_eq!(j.to_vec::<i32>(), [0, 0, 1]);
    /// ```
    #[track_caller]
    pub fn tril_indices(rows: usize, columns: usize, k: isize) -> (Array, Array) {
        triangle_indices("tril_indices", [rows, columns], |i, j| {
            j <= i.saturating_add(k)
        })
    }

    /// Returns the row and column indices of the elements on and above the `k`-th diagonal of a
    /// matrix of shape `[rows, columns]` (`jnp.triu_indices`).
    #[track_caller]
    pub fn triu_indices(rows: usize, columns: usize, k: isize) -> (Array, Array) {
        triangle_indices("triu_indices", [rows, columns], |i, j| {
            j >= i.saturating_add(k)
        })
    }

    /// Returns the indices of the diagonal of an array with `ndim` axes of size `n`, one array
    /// per axis.
    #[track_caller]
    pub fn diag_indices(n: usize, ndim: usize) -> Vec<Array> {
        vec![Array::arange(n); ndim]
    }

    /// Returns the row and column indices where `mask`, applied to an `n × n` matrix of ones, is
    /// nonzero. For example, `Array::triu` is a mask (`jnp.mask_indices`).
    ///
    /// # Panics
    /// Panics if the result of `mask` is not a matrix, or if it is traced.
    #[track_caller]
    pub fn mask_indices(n: usize, mask: impl FnOnce(&Array) -> Array) -> (Array, Array) {
        let indices = mask(&Array::ones(&[n, n], DType::F32)).nonzero();
        match <[Array; 2]>::try_from(indices) {
            Ok([rows, columns]) => (rows, columns),
            Err(_) => panic!(
                "mask_indices: the mask is not a matrix\n  help: return a matrix \
             from the mask function, such as x.triu(0)"
            ),
        }
    }
}

/// Returns the indices of selected elements of a matrix in row-major order.
#[track_caller]
fn triangle_indices(
    operation: &str,
    [rows, columns]: [usize; 2],
    within: impl Fn(isize, isize) -> bool,
) -> (Array, Array) {
    let size = rows.saturating_mul(columns);
    let largest = rows.max(columns).saturating_sub(1);
    if let Err(error) = check_count("the last index is", largest, DType::I32) {
        location::fail(&error.render(operation, &[]));
    }
    let rows = if size == 0 { 0 } else { rows };
    let indices = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
    let indices = indices.filter(|&(row, column)| within(row as isize, column as isize));
    let indices = indices.map(|(row, column)| (row as i32, column as i32));
    let (i, j): (Vec<i32>, Vec<i32>) = listed(operation, size, indices).into_iter().unzip();
    (Array::from(i), Array::from(j))
}
