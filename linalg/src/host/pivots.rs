//! Pivots of the QR decomposition.

use super::matrix::{Matrix, add_multiple, dot, norm};
use super::reflector::reflector;
use super::scalar::Scalar;

/// Returns an order of the columns: each has the largest distance to the span of the columns before
/// it (`geqp3` in LAPACK).
pub(crate) fn pivots<T: Scalar>(mut a: Matrix<T>) -> Vec<i32> {
    a.moderate();
    // Columns are the rows of the transpose.
    let mut columns = a.transposed();
    let (m, n) = (a.rows, a.columns);
    let mut order: Vec<i32> = (0..n as i32).collect();
    let norm_of =
        |columns: &Matrix<T>, j: usize, from: usize| norm(columns.row(j)[from..].iter().copied());
    let mut norms: Vec<f64> = (0..n).map(|j| norm_of(&columns, j, 0)).collect();
    // The norms when they were last computed from the elements.
    let mut exact = norms.clone();
    for i in 0..m.min(n) {
        let pivot = (i..n).fold(i, |best, j| if norms[j] > norms[best] { j } else { best });
        if pivot != i {
            for k in 0..m {
                columns.elements.swap(i * m + k, pivot * m + k);
            }
            order.swap(i, pivot);
            (norms[pivot], exact[pivot]) = (norms[i], exact[i]);
        }
        let mut v = columns.row(i)[i..].to_vec();
        let (tau, _) = reflector(&mut v);
        let conjugate: Vec<T> = v.iter().map(|v| v.conj()).collect();
        for j in i + 1..n {
            let column = &mut columns.row_mut(j)[i..];
            let factor = -(tau.conj() * dot(&conjugate, column));
            add_multiple(column, factor, &v);
            let head = column[0].magnitude();
            if norms[j] == 0.0 {
                continue;
            }
            // Subtracting the square of the head loses digits if little remains.
            let remains = (1.0 - (head / norms[j]).powi(2)).max(0.0);
            if remains * (norms[j] / exact[j]).powi(2) <= f64::EPSILON.sqrt() {
                norms[j] = norm_of(&columns, j, i + 1);
                exact[j] = norms[j];
            } else {
                norms[j] *= remains.sqrt();
            }
        }
    }
    order
}
