//! Triangles and diagonals of matrices.

use crate::{Array, DType, where_};

/// For a matrix shape, where the column is at most `k` to the right of the
/// diagonal.
fn lower_triangle(rows: usize, columns: usize, k: isize) -> Array {
    let shape = [rows, columns];
    let row = &Array::iota(&shape, 0, DType::I32) + k as i64;
    row.ge(Array::iota(&shape, 1, DType::I32))
}

impl Array {
    /// A matrix with ones on and below the `k`-th diagonal, zeros above;
    /// positive `k` lie above the main diagonal.
    #[track_caller]
    pub fn tri(rows: usize, columns: usize, k: isize, dtype: DType) -> Array {
        lower_triangle(rows, columns, k).astype(dtype)
    }

    /// The matrices along the last two axes with zeros above the `k`-th
    /// diagonal.
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// let x = Array::from([[1, 2], [3, 4]]);
    /// assert_eq!(x.tril(0).to_vec::<i32>(), [1, 0, 3, 4]);
    /// ```
    ///
    /// # Panics
    /// If the array has fewer than two axes.
    #[track_caller]
    pub fn tril(&self, k: isize) -> Array {
        let (rows, columns) = self.matrix("tril");
        where_(&lower_triangle(rows, columns, k), self, self.zeros_like())
    }

    /// The matrices along the last two axes with zeros below the `k`-th
    /// diagonal.
    ///
    /// # Panics
    /// If the array has fewer than two axes.
    #[track_caller]
    pub fn triu(&self, k: isize) -> Array {
        let (rows, columns) = self.matrix("triu");
        let below = lower_triangle(rows, columns, k - 1);
        where_(&below, self.zeros_like(), self)
    }

    /// The sizes of the last two axes.
    #[track_caller]
    fn matrix(&self, operation: &str) -> (usize, usize) {
        match self.shape() {
            [.., rows, columns] => (*rows, *columns),
            _ => panic!(
                "{operation}: {} is no matrix\n  help: give an array of at least two axes",
                self.aval()
            ),
        }
    }

    /// The `k`-th diagonal over the first two axes, as a new last axis.
    ///
    /// # Panics
    /// If the array has fewer than two axes.
    #[track_caller]
    pub fn diagonal(&self, k: isize) -> Array {
        let [rows, columns, ..] = self.shape() else {
            panic!(
                "diagonal: {} is no matrix\n  help: give an array of at least two axes",
                self.aval()
            );
        };
        let (down, right) = ((-k).max(0) as usize, k.max(0) as usize);
        let length = rows.saturating_sub(down).min(columns.saturating_sub(right));
        let places = Array::arange(length);
        let picked = self.index((&places + down, &places + right));
        picked.move_axis(0, -1)
    }

    /// The sum of the `k`-th diagonal over the first two axes.
    ///
    /// # Panics
    /// If the array has fewer than two axes, or holds truth values that do not
    /// add up.
    #[track_caller]
    pub fn trace(&self, k: isize) -> Array {
        self.diagonal(k).sum_axes(&[-1])
    }

    /// For a 1-d array, the matrix with it on the `k`-th diagonal and zeros
    /// elsewhere; for a matrix, its `k`-th diagonal (`jnp.diag`).
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// assert_eq!(Array::from([1, 2]).diag(0).to_vec::<i32>(), [1, 0, 0, 2]);
    /// ```
    ///
    /// # Panics
    /// If the array has neither one nor two axes.
    #[track_caller]
    pub fn diag(&self, k: isize) -> Array {
        match self.shape() {
            [n] => {
                let size = n + k.unsigned_abs();
                let along = usize::from(k < 0);
                let spread = self.pad(&[(0, k.unsigned_abs())], false);
                let spread = spread.broadcast_in_dim(&[size, size], &[along]);
                let row = &Array::iota(&[size, size], 0, DType::I32) + k as i64;
                let here = row.eq(Array::iota(&[size, size], 1, DType::I32));
                where_(&here, &spread, spread.zeros_like())
            }
            [_, _] => self.diagonal(k),
            _ => panic!(
                "diag: {} has neither one nor two axes\n  help: `diagonal` picks from arrays of more \
                 axes",
                self.aval()
            ),
        }
    }
}
