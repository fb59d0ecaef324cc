//! The Schur decomposition of complex matrices: QR iteration with one shift at a time.
//!
//! The steps are those of `zlahqr` in LAPACK, without keeping the subdiagonal real.

use super::iteration::Iteration;
use super::matrix::Matrix;
use super::reflector::reflector;
use super::scalar::{Scalar, rough, square_root};
use num_complex::Complex64;
use std::ops::Range;

/// Returns upper triangular `T` and unitary `Q` with `A = Q T Qᴴ`, or `None` if the iteration does
/// not converge. If `whole` is false, only the diagonal of `T` is computed, and `Q` has no rows.
pub(crate) fn complex_schur(
    a: Matrix<Complex64>,
    whole: bool,
) -> Option<(Matrix<Complex64>, Matrix<Complex64>)> {
    Iteration::run(a, whole, Iteration::deflate)
}

impl Iteration<Complex64> {
    /// Iterates on the rows `..end` until the last of them decouples, and returns the number of rows
    /// that remain.
    fn deflate(&mut self, end: usize) -> Option<usize> {
        let limit = 30 * end.max(10);
        for round in 1..=limit {
            let start = self.start_of_block(end);
            if start + 1 == end {
                return Some(start);
            }
            let shift = self.shift(start..end, round);
            let (first, column) = self.first_column(start..end, shift);
            self.step(start..end, first, column);
        }
        None
    }

    /// Returns Wilkinson's shift, or another number in rounds in which it has not led to
    /// convergence.
    fn shift(&self, block: Range<usize>, round: usize) -> Complex64 {
        let (t, last, first) = (&self.t, block.end - 1, block.start);
        if round.is_multiple_of(20) {
            return t[(last, last)] + 0.75 * rough(t[(last, last - 1)]);
        }
        if round.is_multiple_of(10) {
            return t[(first, first)] + 0.75 * rough(t[(first + 1, first)]);
        }
        let shift = t[(last, last)];
        let product = square_root(t[(last - 1, last)]) * square_root(t[(last, last - 1)]);
        if product == Complex64::ZERO {
            return shift;
        }
        let half = (t[(last - 1, last - 1)] - shift) * 0.5;
        let scale = rough(product).max(rough(half));
        let squares = [half, product].map(|v| {
            let v = v / scale;
            v * v
        });
        let root = square_root(squares[0] + squares[1]) * scale;
        let same_side = half.re * root.re + half.im * root.im >= 0.0;
        let root = if same_side { root } else { -root };
        shift - product * product.over(half + root)
    }

    /// Returns the row where the step begins, and the first column that it reduces.
    fn first_column(&self, block: Range<usize>, shift: Complex64) -> (usize, [Complex64; 2]) {
        let t = &self.t;
        let column = |m: usize| {
            let (difference, lower) = (t[(m, m)] - shift, t[(m + 1, m)]);
            let scale = rough(difference) + rough(lower);
            [difference / scale, lower / scale]
        };
        for m in (block.start + 1..block.end - 1).rev() {
            let [x, y] = column(m);
            let diagonal = rough(t[(m, m)]) + rough(t[(m + 1, m + 1)]);
            let left = rough(t[(m, m - 1)]) * rough(y);
            if left <= f64::EPSILON / 2.0 * rough(x) * diagonal {
                return (m, [x, y]);
            }
        }
        (block.start, column(block.start))
    }

    /// Chases the bulge from the given row down the block.
    fn step(&mut self, block: Range<usize>, start: usize, column: [Complex64; 2]) {
        let (window, end) = (self.window(&block), block.end);
        for k in start..end - 1 {
            let mut v = column;
            if k > start {
                v = [self.t[(k, k - 1)], self.t[(k + 1, k - 1)]];
            }
            let (tau, beta) = reflector(&mut v);
            if k > start {
                self.t[(k, k - 1)] = beta;
                self.t[(k + 1, k - 1)] = Complex64::ZERO;
            } else if start > block.start {
                self.t[(k, k - 1)] *= Complex64::ONE - tau.conj();
            }
            let v = v[1];
            let rows = self.t.adjacent::<2>(k, k..window.end);
            reflect_rows(rows, [tau.conj(), tau.conj() * v.conj()], v);
            for j in window.start..end.min(k + 3) {
                let row = &mut self.t.row_mut(j)[k..k + 2];
                let sum = tau * row[0] + tau * v * row[1];
                row[0] -= sum;
                row[1] -= sum * v.conj();
            }
            let columns = 0..self.q.columns;
            let rows = self.q.adjacent::<2>(k, columns);
            reflect_rows(rows, [tau, tau * v], v.conj());
        }
    }
}

/// Subtracts the product of `(1, v)` and the sums of the rows with the given weights.
fn reflect_rows([upper, lower]: [&mut [Complex64]; 2], weights: [Complex64; 2], v: Complex64) {
    for (x, y) in upper.iter_mut().zip(lower) {
        let sum = weights[0] * *x + weights[1] * *y;
        *x -= sum;
        *y -= sum * v;
    }
}
