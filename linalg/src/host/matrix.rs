//! Matrices in the memory of the host.

use super::scalar::Scalar;
use num_complex::Complex64;
use std::ops::{Index, IndexMut, Range};

/// A matrix of `rows` × `columns` elements, row by row.
#[derive(Clone, Debug)]
pub(crate) struct Matrix<T> {
    /// Number of rows.
    pub(crate) rows: usize,
    /// Number of columns.
    pub(crate) columns: usize,
    /// Elements.
    pub(crate) elements: Vec<T>,
}

impl<T> Index<(usize, usize)> for Matrix<T> {
    type Output = T;
    fn index(&self, (i, j): (usize, usize)) -> &T {
        &self.elements[i * self.columns + j]
    }
}
impl<T> IndexMut<(usize, usize)> for Matrix<T> {
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut T {
        &mut self.elements[i * self.columns + j]
    }
}

impl<T: Scalar> Matrix<T> {
    /// Creates a matrix of zeros.
    pub(crate) fn zeros(rows: usize, columns: usize) -> Matrix<T> {
        Matrix {
            rows,
            columns,
            elements: vec![T::ZERO; rows * columns],
        }
    }

    /// Creates the identity matrix.
    pub(crate) fn identity(n: usize) -> Matrix<T> {
        let mut identity = Matrix::zeros(n, n);
        for i in 0..n {
            identity[(i, i)] = T::ONE;
        }
        identity
    }

    /// Returns a row.
    pub(crate) fn row(&self, i: usize) -> &[T] {
        &self.elements[i * self.columns..][..self.columns]
    }

    /// Returns a row for writing.
    pub(crate) fn row_mut(&mut self, i: usize) -> &mut [T] {
        &mut self.elements[i * self.columns..][..self.columns]
    }

    /// Returns the given columns of `N` adjacent rows for writing.
    pub(crate) fn adjacent<const N: usize>(
        &mut self,
        first: usize,
        columns: Range<usize>,
    ) -> [&mut [T]; N] {
        let width = self.columns;
        let mut rows = self.elements[first * width..].chunks_exact_mut(width.max(1));
        std::array::from_fn(|_| match rows.next() {
            Some(row) => &mut row[columns.clone()],
            None => &mut [],
        })
    }

    /// Returns the transpose.
    pub(crate) fn transposed(&self) -> Matrix<T> {
        let mut transposed = Matrix::zeros(self.columns, self.rows);
        for i in 0..self.rows {
            for (j, value) in self.row(i).iter().enumerate() {
                transposed[(j, i)] = *value;
            }
        }
        transposed
    }

    /// Returns the conjugate transpose.
    pub(crate) fn adjoint(&self) -> Matrix<T> {
        let mut adjoint = self.transposed();
        for value in &mut adjoint.elements {
            *value = value.conj();
        }
        adjoint
    }

    /// Multiplies two matrices.
    pub(crate) fn times(&self, other: &Matrix<T>) -> Matrix<T> {
        let mut product = Matrix::zeros(self.rows, other.columns);
        for i in 0..self.rows {
            for (k, factor) in self.row(i).iter().enumerate() {
                if *factor != T::ZERO {
                    add_multiple(product.row_mut(i), *factor, other.row(k));
                }
            }
        }
        product
    }

    /// Multiplies every element by a real number.
    pub(crate) fn scale(&mut self, factor: f64) {
        for value in &mut self.elements {
            *value *= T::of(factor);
        }
    }

    /// Converts the elements to complex numbers.
    pub(crate) fn to_complex(&self) -> Matrix<Complex64> {
        Matrix {
            rows: self.rows,
            columns: self.columns,
            elements: self.elements.iter().map(|value| value.parts()).collect(),
        }
    }

    /// Divides the matrix by a power of two if its largest elements are so large or so small that
    /// their products overflow or underflow. Returns the power.
    pub(crate) fn moderate(&mut self) -> f64 {
        let largest = self.elements.iter().map(|v| v.magnitude());
        let largest = largest.fold(0.0, f64::max);
        if largest == 0.0 || (1e-100..1e100).contains(&largest) {
            return 1.0;
        }
        // In two factors, each of which is representable.
        let half = 2f64.powi((largest.log2() / 2.0) as i32);
        self.scale(1.0 / half);
        self.scale(1.0 / half);
        half
    }
}

/// Adds a multiple of `x` to `y`.
pub(crate) fn add_multiple<T: Scalar>(y: &mut [T], factor: T, x: &[T]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += factor * *x;
    }
}

/// Returns the sum of products of elements, in lanes that the processor adds at once.
pub(crate) fn dot<T: Scalar>(x: &[T], y: &[T]) -> T {
    const LANES: usize = 8;
    let mut sums = [T::ZERO; LANES];
    let (xs, ys) = (x.chunks_exact(LANES), y.chunks_exact(LANES));
    let rest = xs.remainder().iter().zip(ys.remainder());
    for (i, (x, y)) in rest.enumerate() {
        sums[i] += *x * *y;
    }
    for (x, y) in xs.zip(ys) {
        for i in 0..LANES {
            sums[i] += x[i] * y[i];
        }
    }
    sums.into_iter().fold(T::ZERO, |sum, lane| sum + lane)
}

/// Returns the Euclidean norm of elements whose squares are representable.
pub(crate) fn norm<T: Scalar>(values: impl Iterator<Item = T>) -> f64 {
    let squares = values.map(|v| {
        let parts = v.parts();
        parts.re * parts.re + parts.im * parts.im
    });
    squares.sum::<f64>().sqrt()
}
