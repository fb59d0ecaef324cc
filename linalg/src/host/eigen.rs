//! Eigenvalues and eigenvectors of general matrices.

use super::balance::balance;
use super::complex_schur::complex_schur;
use super::matrix::{Matrix, dot, norm};
use super::real_schur::{self, real_schur};
use super::scalar::{Scalar, rough};
use super::triangular::{eigenvectors, triangular_form};
use num_complex::Complex64;

/// Eigenvalues, and eigenvectors as rows.
pub(crate) type Eigen = (Vec<Complex64>, Matrix<Complex64>);

/// Returns the eigenvalues of a real matrix, and if `vectors` is true its eigenvectors. Complex
/// eigenvalues are in conjugate pairs, the one with positive imaginary part first.
pub(crate) fn of_real(a: Matrix<f64>, vectors: bool) -> Option<Eigen> {
    of_moderate(a, |a, factors| {
        let (t, q) = real_schur(a, vectors)?;
        let values = real_schur::eigenvalues(&t);
        if !vectors {
            return Some((values, Matrix::zeros(0, 0)));
        }
        let (t, q) = triangular_form(t.to_complex(), q.to_complex());
        let rest = eigenvectors(&t, |k| values[k].im >= 0.0);
        let mut rows = rest.times(&q.transposed());
        for (k, value) in values.iter().enumerate() {
            match value.im {
                im if im < 0.0 => {
                    let conjugates = rows.row(k - 1).iter().map(|v| v.conj());
                    let conjugates: Vec<Complex64> = conjugates.collect();
                    rows.row_mut(k).copy_from_slice(&conjugates);
                }
                im => normalize(rows.row_mut(k), factors, im == 0.0),
            }
        }
        Some((values, rows))
    })
}

/// Same as [`of_real`], for a complex matrix.
pub(crate) fn of_complex(a: Matrix<Complex64>, vectors: bool) -> Option<Eigen> {
    of_moderate(a, |a, factors| {
        let (t, q) = complex_schur(a, vectors)?;
        let values = (0..t.rows).map(|i| t[(i, i)]).collect();
        if !vectors {
            return Some((values, Matrix::zeros(0, 0)));
        }
        let mut rows = eigenvectors(&t, |_| true).times(&q.transposed());
        (0..rows.rows).for_each(|k| normalize(rows.row_mut(k), factors, false));
        Some((values, rows))
    })
}

/// Solves for a matrix of moderate and balanced elements. Takes the matrix and the factors of
/// balancing.
fn of_moderate<T: Scalar>(
    mut a: Matrix<T>,
    solve: impl Fn(Matrix<T>, &[f64]) -> Option<Eigen>,
) -> Option<Eigen> {
    let scale = a.moderate();
    let mut balanced = a.clone();
    let factors = balance(&mut balanced);
    let plain = factors.iter().all(|f| *f == 1.0);
    let solution = solve(balanced, &factors);
    // Balancing spoils eigenvectors if it makes small elements as large as others.
    let (mut values, rows) = match solution.filter(|s| plain || is_accurate(&a, s)) {
        Some(solution) => solution,
        None => solve(a, &vec![1.0; factors.len()])?,
    };
    values.iter_mut().for_each(|v| *v = *v * scale * scale);
    Some((values, rows))
}

/// Returns whether the vectors satisfy the equation of eigenvectors.
fn is_accurate<T: Scalar>(a: &Matrix<T>, (values, rows): &Eigen) -> bool {
    let largest = a.elements.iter().map(|v| rough(*v)).fold(0.0, f64::max);
    let limit = 1e-12 * largest * a.rows as f64;
    let complex = a.to_complex();
    let satisfies = |k: usize| {
        let v = rows.row(k);
        // NaN is not accurate.
        (0..a.rows).all(|i| rough(dot(complex.row(i), v) - values[k] * v[i]) <= limit)
    };
    values.iter().all(|v| v.is_finite()) && (0..rows.rows).all(satisfies)
}

/// Multiplies the elements of a vector by factors, and scales it to norm 1 so that the element of
/// largest magnitude is real and positive. If `real` is true, all elements become real.
fn normalize(v: &mut [Complex64], factors: &[f64], real: bool) {
    v.iter_mut().zip(factors).for_each(|(v, f)| *v *= *f);
    let Some(largest) = (0..v.len()).reduce(|best, i| {
        if rough(v[i]) > rough(v[best]) {
            i
        } else {
            best
        }
    }) else {
        return;
    };
    let size = rough(v[largest]);
    v.iter_mut().for_each(|v| *v /= size);
    let magnitudes = v.iter().map(|v| v.magnitude());
    let largest = magnitudes.enumerate().fold(
        (0, 0.0),
        |best, (i, m)| {
            if m > best.1 { (i, m) } else { best }
        },
    );
    let phase = v[largest.0].conj() / largest.1;
    for v in v.iter_mut() {
        *v *= phase;
        if real {
            v.im = 0.0;
        }
    }
    v[largest.0].im = 0.0;
    // Last, since the vectors of equal real eigenvalues may have had imaginary parts.
    let length = norm(v.iter().copied());
    v.iter_mut().for_each(|v| *v /= length);
}
