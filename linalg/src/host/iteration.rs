//! What QR iterations on real and on complex matrices share.

use super::hessenberg::hessenberg;
use super::matrix::Matrix;
use super::scalar::{Scalar, rough};
use std::ops::Range;

/// A Schur decomposition in progress: `A = Q T Qᴴ`, where `T` is a Hessenberg matrix.
pub(super) struct Iteration<T> {
    pub t: Matrix<T>,
    /// `Qᵀ`, so that its updates run along rows; without columns if only the eigenvalues are wanted.
    pub q: Matrix<T>,
    /// Whether all of `T` is wanted, not only its diagonal blocks.
    whole: bool,
}

impl<T: Scalar> Iteration<T> {
    /// Returns `T` and `Q`, or `None` if the iteration does not converge. `deflate` iterates on the rows
    /// before the given one until the last of them decouple, and returns the number of rows that remain.
    pub fn run(
        a: Matrix<T>,
        whole: bool,
        deflate: impl Fn(&mut Iteration<T>, usize) -> Option<usize>,
    ) -> Option<(Matrix<T>, Matrix<T>)> {
        let mut end = a.rows;
        let (t, q) = hessenberg(a, whole);
        let q = q.transposed();
        let mut iteration = Iteration { t, q, whole };
        while end > 0 {
            end = deflate(&mut iteration, end)?;
        }
        Some((iteration.t, iteration.q.transposed()))
    }

    /// Returns the rows and columns of `T` that a step in the given ones changes.
    pub fn window(&self, block: &Range<usize>) -> Range<usize> {
        if self.whole {
            0..self.t.rows
        } else {
            block.clone()
        }
    }

    /// Returns the row where the last block that does not decouple begins, and separates it from the rows
    /// above.
    pub fn start_of_block(&mut self, end: usize) -> usize {
        let negligible = |k: &usize| negligible(&self.t, *k, end);
        let start = (1..end).rev().find(negligible).unwrap_or(0);
        if start > 0 {
            self.t[(start, start - 1)] = T::ZERO;
        }
        start
    }
}

/// Returns whether an element of the first subdiagonal is negligible, by the criterion of Ahues and
/// Tisseur (LAPACK Working Note 122).
fn negligible<T: Scalar>(t: &Matrix<T>, k: usize, end: usize) -> bool {
    let at = |i: usize, j: usize| rough(t[(i, j)]);
    let lower = at(k, k - 1);
    let tiny = f64::MIN_POSITIVE * (t.rows as f64 / f64::EPSILON);
    if lower <= tiny {
        return true;
    }
    let mut size = at(k - 1, k - 1) + at(k, k);
    if size == 0.0 {
        size += if k >= 2 { at(k - 1, k - 2) } else { 0.0 };
        size += if k + 1 < end { at(k + 1, k) } else { 0.0 };
    }
    if lower > f64::EPSILON * size {
        return false;
    }
    let upper = at(k - 1, k);
    let (larger, smaller) = (lower.max(upper), lower.min(upper));
    let difference = rough(t[(k - 1, k - 1)] - t[(k, k)]);
    let (a, b) = (at(k, k).max(difference), at(k, k).min(difference));
    let sum = a + larger;
    smaller * (larger / sum) <= tiny.max(f64::EPSILON * (b * (a / sum)))
}
