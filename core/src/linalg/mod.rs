//! Linear algebra: `jax.numpy.linalg`, `jax.lax.linalg` and `jax.scipy.linalg`.
//!
//! Matrices lie along the last two axes; the axes before are a batch. Elements
//! are `f32` or `f64`; other types convert first.
//!
//! ```no_run
//! use ramie_core::{Array, linalg};
//! let a = Array::from([[4.0f32, 2.0], [2.0, 3.0]]);
//! let l = linalg::cholesky(&a);
//! assert_eq!(l.to_vec::<f32>()[..3], [2.0, 0.0, 1.0]);
//! ```

mod decompositions;
pub(crate) mod matrix;

pub use crate::prim::linalg::TriangularSolve;
pub use decompositions::{
    QrMode, cholesky, cholesky_with, geqrf, householder_product, qr, triangular_solve,
};

use crate::Array;

/// Integers and truth values as floats, which decompositions take.
#[track_caller]
fn inexact(a: &Array) -> Array {
    a.to_inexact()
}

/// The operand, if its last two axes are of one size.
#[track_caller]
fn expect_square(operation: &str, a: &Array) -> Array {
    match a.shape() {
        [.., rows, columns] if rows == columns => a.clone(),
        shape => panic!(
            "{operation}: expects square matrices along the last two axes, got shape {shape:?}\n  \
             help: qr, svd, pinv and lstsq take matrices of any shape"
        ),
    }
}
