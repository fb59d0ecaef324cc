//! The Schur decomposition of real matrices: QR iteration with two shifts at a time.
//!
//! The steps are those of `dlahqr` in LAPACK.

use super::iteration::Iteration;
use super::matrix::Matrix;
use super::reflector::reflector;
use super::standard::standardized;
use num_complex::Complex64;
use std::ops::Range;

/// Returns quasi-triangular `T`, with 2×2 blocks in standard form on its diagonal, and orthogonal
/// `Q` with `A = Q T Qᵀ`. Returns `None` if the iteration does not converge.
/// If `whole` is false, only the diagonal blocks of `T` are computed, and `Q` has no rows.
pub(crate) fn real_schur(a: Matrix<f64>, whole: bool) -> Option<(Matrix<f64>, Matrix<f64>)> {
    Iteration::run(a, whole, Iteration::deflate)
}

/// Returns the eigenvalues of quasi-triangular matrices in standard form.
pub(crate) fn eigenvalues(t: &Matrix<f64>) -> Vec<Complex64> {
    let n = t.rows;
    let pair = |i: usize| i + 1 < n && t[(i + 1, i)] != 0.0;
    let value = |i: usize| {
        let imaginary = |i: usize| t[(i, i + 1)].abs().sqrt() * t[(i + 1, i)].abs().sqrt();
        match () {
            () if pair(i) => Complex64::new(t[(i, i)], imaginary(i)),
            () if i > 0 && pair(i - 1) => Complex64::new(t[(i, i)], -imaginary(i - 1)),
            () => Complex64::new(t[(i, i)], 0.0),
        }
    };
    (0..n).map(value).collect()
}

/// The sums and products of two shifts, which are real or conjugate.
#[derive(Clone, Copy)]
struct Shifts {
    first: Complex64,
    second: Complex64,
}

impl Iteration<f64> {
    /// Iterates on the rows `..end` until the last one or two of them decouple, and returns the
    /// number of rows that remain.
    fn deflate(&mut self, end: usize) -> Option<usize> {
        let limit = 30 * end.max(10);
        for round in 1..=limit {
            let start = self.start_of_block(end);
            if start + 1 == end {
                return Some(start);
            }
            if start + 2 == end {
                self.standardize(start);
                return Some(start);
            }
            let shifts = self.shifts(start..end, round);
            let (first, bulge) = self.first_column(start..end, shifts);
            self.step(start..end, first, bulge);
        }
        None
    }

    /// Brings the 2×2 block at the given row into standard form.
    fn standardize(&mut self, i: usize) {
        let window = self.window(&(i..i + 2));
        let t = &mut self.t;
        let block = [t[(i, i)], t[(i, i + 1)], t[(i + 1, i)], t[(i + 1, i + 1)]];
        let standard = standardized(block);
        let [a, b, c, d] = standard.elements;
        (t[(i, i)], t[(i, i + 1)]) = (a, b);
        (t[(i + 1, i)], t[(i + 1, i + 1)]) = (c, d);
        let (cos, sin) = standard.rotation;
        let rotate = |x: &mut f64, y: &mut f64| {
            (*x, *y) = (cos * *x + sin * *y, cos * *y - sin * *x);
        };
        let [upper, lower] = t.adjacent::<2>(i, i + 2..window.end);
        upper.iter_mut().zip(lower).for_each(|(x, y)| rotate(x, y));
        for j in window.start..i {
            let (left, right) = t.row_mut(j)[i..].split_at_mut(1);
            rotate(&mut left[0], &mut right[0]);
        }
        let columns = 0..self.q.columns;
        let [upper, lower] = self.q.adjacent::<2>(i, columns);
        upper.iter_mut().zip(lower).for_each(|(x, y)| rotate(x, y));
    }

    /// Returns the shifts: the eigenvalues of the last 2×2 block, or other numbers in rounds in
    /// which these have not led to convergence.
    fn shifts(&self, block: Range<usize>, round: usize) -> Shifts {
        let (t, last, first) = (&self.t, block.end - 1, block.start);
        let exceptional = |at: usize, sum: f64| {
            let corner = 0.75 * sum + t[(at, at)];
            [corner, -0.4375 * sum, sum, corner]
        };
        let elements = match round {
            _ if round.is_multiple_of(20) => {
                let sum = t[(last, last - 1)].abs() + t[(last - 1, last - 2)].abs();
                exceptional(last, sum)
            }
            _ if round.is_multiple_of(10) => {
                let sum = t[(first + 1, first)].abs() + t[(first + 2, first + 1)].abs();
                exceptional(first, sum)
            }
            _ => [
                t[(last - 1, last - 1)],
                t[(last - 1, last)],
                t[(last, last - 1)],
                t[(last, last)],
            ],
        };
        shifts_of(elements)
    }

    /// Returns the row where the step begins, and the first column that it reduces.
    fn first_column(&self, block: Range<usize>, shifts: Shifts) -> (usize, [f64; 3]) {
        let (t, Shifts { first, second }) = (&self.t, shifts);
        let column = |m: usize| {
            let lower = t[(m + 1, m)];
            let scale = (t[(m, m)] - second.re).abs() + second.im.abs() + lower.abs();
            let lower = lower / scale;
            let difference = (t[(m, m)] - second.re) / scale;
            let sum = t[(m, m)] + t[(m + 1, m + 1)] - first.re - second.re;
            let column = [
                lower * t[(m, m + 1)] + (t[(m, m)] - first.re) * difference
                    - first.im * (second.im / scale),
                lower * sum,
                lower * t[(m + 2, m + 1)],
            ];
            let size: f64 = column.iter().map(|v| v.abs()).sum();
            column.map(|v| v / size)
        };
        for m in (block.start + 1..block.end - 2).rev() {
            let [x, y, z] = column(m);
            let diagonal = [m - 1, m, m + 1].map(|i| t[(i, i)].abs());
            let diagonal: f64 = diagonal.iter().sum();
            let left = t[(m, m - 1)].abs() * (y.abs() + z.abs());
            if left <= f64::EPSILON / 2.0 * x.abs() * diagonal {
                return (m, [x, y, z]);
            }
        }
        (block.start, column(block.start))
    }

    /// Chases the bulge from the given row down the block.
    fn step(&mut self, block: Range<usize>, start: usize, column: [f64; 3]) {
        let end = block.end;
        for k in start..end - 1 {
            let size = 3.min(end - k);
            let mut v = column;
            if k > start {
                for (i, v) in v[..size].iter_mut().enumerate() {
                    *v = self.t[(k + i, k - 1)];
                }
            }
            let (tau, beta) = reflector(&mut v[..size]);
            if k > start {
                self.t[(k, k - 1)] = beta;
                for i in 1..size {
                    self.t[(k + i, k - 1)] = 0.0;
                }
            } else if start > block.start {
                self.t[(k, k - 1)] *= 1.0 - tau;
            }
            match size {
                3 => self.reflect::<3>(k, &block, tau, [v[0], v[1], v[2]]),
                _ => self.reflect::<2>(k, &block, tau, [v[0], v[1]]),
            }
        }
    }

    /// Applies a reflector to `N` rows and columns from `k`.
    fn reflect<const N: usize>(&mut self, k: usize, block: &Range<usize>, tau: f64, v: [f64; N]) {
        let window = self.window(block);
        reflect_rows(self.t.adjacent::<N>(k, k..window.end), tau, v);
        for j in window.start..block.end.min(k + 4) {
            let row = &mut self.t.row_mut(j)[k..k + N];
            let mut sum = 0.0;
            for i in 0..N {
                sum += v[i] * row[i];
            }
            for i in 0..N {
                row[i] -= sum * (tau * v[i]);
            }
        }
        let columns = 0..self.q.columns;
        reflect_rows(self.q.adjacent::<N>(k, columns), tau, v);
    }
}

fn reflect_rows<const N: usize>(rows: [&mut [f64]; N], tau: f64, v: [f64; N]) {
    let factors = v.map(|v| tau * v);
    for j in 0..rows[0].len() {
        let mut sum = 0.0;
        for i in 0..N {
            sum += v[i] * rows[i][j];
        }
        for i in 0..N {
            rows[i][j] -= sum * factors[i];
        }
    }
}

fn shifts_of(elements: [f64; 4]) -> Shifts {
    let scale: f64 = elements.iter().map(|v| v.abs()).sum();
    let both = |first, second| Shifts { first, second };
    if scale == 0.0 {
        return both(Complex64::ZERO, Complex64::ZERO);
    }
    let [a, b, c, d] = elements.map(|v| v / scale);
    let middle = (a + d) / 2.0;
    let determinant = (a - middle) * (d - middle) - b * c;
    let root = determinant.abs().sqrt();
    if determinant >= 0.0 {
        let shift = Complex64::new(middle, root) * scale;
        return both(shift, shift.conj());
    }
    // The one that is closer to the last element, twice.
    let (larger, smaller) = (middle + root, middle - root);
    let shift = if (larger - d).abs() <= (smaller - d).abs() {
        larger
    } else {
        smaller
    };
    both((shift * scale).into(), (shift * scale).into())
}
