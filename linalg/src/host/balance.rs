//! Balancing: a diagonal similarity that makes the norms of rows and columns similar.

use super::matrix::{Matrix, norm};
use super::scalar::Scalar;

/// Limits of the factors, far from overflow.
const LIMITS: std::ops::Range<f64> = 1e-140..1e140;

/// Replaces `A` by `D⁻¹ A D` and returns the diagonal of `D`, of powers of two (`gebal` in LAPACK).
pub(crate) fn balance<T: Scalar>(a: &mut Matrix<T>) -> Vec<f64> {
    let n = a.rows;
    let mut factors = vec![1.0; n];
    // Converges in a few sweeps.
    for _ in 0..100 {
        let mut changed = false;
        for i in 0..n {
            let column = norm((0..n).map(|k| a[(k, i)]));
            let row = norm(a.row(i).iter().copied());
            let factor = factor(column, row);
            if factor == 1.0 || !LIMITS.contains(&(factors[i] * factor)) {
                continue;
            }
            changed = true;
            factors[i] *= factor;
            for value in a.row_mut(i) {
                *value *= T::of(1.0 / factor);
            }
            for k in 0..n {
                a[(k, i)] *= T::of(factor);
            }
        }
        if !changed {
            break;
        }
    }
    factors
}

/// Returns the power of two by which a column is multiplied and its row divided, or 1 if that
/// reduces the sum of their norms by less than 5 %.
fn factor(column: f64, row: f64) -> f64 {
    if column == 0.0 || row == 0.0 {
        return 1.0;
    }
    let factor = 2f64.powi(((row / column).log2() / 2.0).round() as i32);
    if column * factor + row / factor < 0.95 * (column + row) {
        factor
    } else {
        1.0
    }
}
