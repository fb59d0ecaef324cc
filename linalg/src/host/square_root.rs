//! Square roots of matrices and their derivatives, by the complex Schur form.

use super::complex_schur::complex_schur;
use super::matrix::{Matrix, add_multiple, dot};
use super::real_schur::{eigenvalues, real_schur};
use super::scalar::{Scalar, square_root};
use super::triangular::triangular_form;
use num_complex::Complex64;

/// Returns the principal square root of a real matrix. Its imaginary part is zero if no eigenvalue
/// is negative.
pub(crate) fn of_real(mut a: Matrix<f64>) -> Option<Matrix<Complex64>> {
    let scale = a.moderate();
    let (t, q) = real_schur(a, true)?;
    let negative = |v: &Complex64| v.im == 0.0 && v.re < 0.0;
    let real = !eigenvalues(&t).iter().any(negative);
    let (t, q) = triangular_form(t.to_complex(), q.to_complex());
    let mut root = q.times(&of_triangular(&t)).times(&q.adjoint());
    // The square root of the scale, which is a square.
    root.scale(scale);
    if real {
        root.elements.iter_mut().for_each(|v| v.im = 0.0);
    }
    Some(root)
}

/// Returns the principal square root of a complex matrix.
pub(crate) fn of_complex(mut a: Matrix<Complex64>) -> Option<Matrix<Complex64>> {
    let scale = a.moderate();
    let (t, q) = complex_schur(a, true)?;
    let mut root = q.times(&of_triangular(&t)).times(&q.adjoint());
    root.scale(scale);
    Some(root)
}

/// Computes the square root of an upper triangular matrix by the recurrence of Björck and
/// Hammarling (1983).
fn of_triangular(t: &Matrix<Complex64>) -> Matrix<Complex64> {
    let n = t.rows;
    let mut root = Matrix::zeros(n, n);
    for j in 0..n {
        let diagonal = square_root(t[(j, j)]);
        root[(j, j)] = diagonal;
        let mut column = vec![Complex64::ZERO; n];
        for i in (0..j).rev() {
            let rest = t[(i, j)] - dot(&root.row(i)[i + 1..j], &column[i + 1..j]);
            if rest != Complex64::ZERO {
                column[i] = rest.over(root[(i, i)] + diagonal);
            }
        }
        for (i, value) in column[..j].iter().enumerate() {
            root[(i, j)] = *value;
        }
    }
    root
}

/// Solves `S X + X S = B`.
pub(crate) fn sylvester(s: Matrix<Complex64>, b: &Matrix<Complex64>) -> Option<Matrix<Complex64>> {
    let (t, q) = complex_schur(s, true)?;
    let adjoint = q.adjoint();
    let mut rest = adjoint.times(b).times(&q);
    let n = t.rows;
    // Rows of T X + X T = B from the last, columns from the first.
    for i in (0..n).rev() {
        for j in 0..n {
            let value = rest[(i, j)].over(t[(i, i)] + t[(j, j)]);
            rest[(i, j)] = value;
            add_multiple(&mut rest.row_mut(i)[j + 1..], -value, &t.row(j)[j + 1..]);
        }
        let solved = rest.row(i).to_vec();
        for k in 0..i {
            add_multiple(rest.row_mut(k), -t[(k, i)], &solved);
        }
    }
    Some(q.times(&rest).times(&adjoint))
}
