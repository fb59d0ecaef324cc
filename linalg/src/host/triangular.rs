//! Triangular matrices: eigenvectors, and the complex form of quasi-triangular matrices.

use super::matrix::{Matrix, dot};
use super::scalar::{Scalar, rough, square_root};
use num_complex::Complex64;

type Pair = (Matrix<Complex64>, Matrix<Complex64>);

/// Rotates the 2×2 blocks on the diagonal of `T` into triangles: `Q T Qᴴ` stays the same. The
/// eigenvalue with positive imaginary part comes first.
pub(crate) fn triangular_form(mut t: Matrix<Complex64>, mut q: Matrix<Complex64>) -> Pair {
    for m in (1..t.rows).rev() {
        if t[(m, m - 1)] != Complex64::ZERO {
            rotate(&mut t, &mut q, m);
        }
        t[(m, m - 1)] = Complex64::ZERO;
    }
    (t, q)
}

/// Rotates the block of the rows `m - 1` and `m`.
fn rotate(t: &mut Matrix<Complex64>, q: &mut Matrix<Complex64>, m: usize) {
    let n = t.rows;
    let (upper, lower) = (t[(m - 1, m)], t[(m, m - 1)]);
    let half = (t[(m - 1, m - 1)] - t[(m, m)]) * 0.5;
    // The product of both may underflow; that of their roots does not.
    let product = square_root(upper) * square_root(lower);
    let scale = rough(half).max(rough(product));
    let squares = [half / scale, product / scale].map(|v| v * v);
    let mu = match scale {
        0.0 => Complex64::ZERO,
        _ => half + square_root(squares[0] + squares[1]) * scale,
    };
    let length = mu.magnitude().hypot(lower.magnitude());
    let (cos, sin) = (mu / length, lower / length);
    let [above, below] = t.adjacent::<2>(m - 1, m - 1..n);
    for (x, y) in above.iter_mut().zip(below) {
        let pair = (*x, *y);
        *x = cos.conj() * pair.0 + sin.conj() * pair.1;
        *y = cos * pair.1 - sin * pair.0;
    }
    let turn = |row: &mut [Complex64]| {
        let pair = (row[m - 1], row[m]);
        row[m - 1] = cos * pair.0 + sin * pair.1;
        row[m] = cos.conj() * pair.1 - sin.conj() * pair.0;
    };
    (0..=m).for_each(|j| turn(t.row_mut(j)));
    (0..n).for_each(|j| turn(q.row_mut(j)));
}

/// Returns the eigenvectors of an upper triangular matrix as rows; they are not normalized. Those
/// for which `wanted` is false are zero.
pub(crate) fn eigenvectors(
    t: &Matrix<Complex64>,
    wanted: impl Fn(usize) -> bool,
) -> Matrix<Complex64> {
    let n = t.rows;
    let largest = t.elements.iter().map(|v| rough(*v)).fold(0.0, f64::max);
    let smallest = (f64::EPSILON * largest).max(f64::MIN_POSITIVE / f64::EPSILON);
    let mut vectors = Matrix::zeros(n, n);
    for k in (0..n).filter(|k| wanted(*k)) {
        let x = vectors.row_mut(k);
        x[k] = Complex64::ONE;
        for i in (0..k).rev() {
            let sum = dot(&t.row(i)[i + 1..=k], &x[i + 1..=k]);
            let mut difference = t[(k, k)] - t[(i, i)];
            // Equal eigenvalues are moved apart.
            if rough(difference) < smallest {
                difference = smallest.into();
            }
            x[i] = sum.over(difference);
            // The elements of a defective matrix's vectors grow without limit.
            let size = rough(x[i]);
            if size > 1e100 {
                x[i..=k].iter_mut().for_each(|v| *v /= size);
            }
        }
    }
    vectors
}
