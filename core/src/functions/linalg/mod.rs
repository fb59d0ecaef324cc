//! Linear algebra: `jax.numpy.linalg`, `jax.lax.linalg` and `jax.scipy.linalg`.
//!
//! Matrices are the last two axes; the leading axes are batch axes. Decompositions support `f32`,
//! `f64`, `c64` and `c128`; integers and booleans are converted to floats first.
//!
//! ```no_run
//! use ramie_core::{Array, linalg};
//! let a = Array::from([[4.0f32, 2.0], [2.0, 3.0]]);
//! let l = linalg::cholesky(&a);
//! assert_eq!(l.to_vec::<f32>()[..3], [2.0, 0.0, 1.0]);
//! ```

/// Implements `Tree` for a struct of arrays.
macro_rules! tree_of_arrays {
    ($t:ident { $($field:ident),+ }) => {
        impl crate::Tree for $t {
            fn walk(&self, visitor: &mut dyn crate::program::tree::Visitor) {
                $( crate::program::tree::child(visitor, crate::program::tree::Key::Field(stringify!($field)), &self.$field); )+
            }
            fn walk_mut(&mut self, visit: &mut dyn FnMut(&mut crate::Array)) {
                $( visit(&mut self.$field); )+
            }
            fn rebuild(&self, leaf: &mut dyn FnMut(&crate::Array) -> crate::Array) -> Self {
                $t { $( $field: leaf(&self.$field) ),+ }
            }
        }
    };
}
pub(crate) use tree_of_arrays;

mod decompositions;
mod determinant;
mod functions;
mod gmres;
mod hermitian;
mod inverse;
mod iterative;
pub(crate) mod matrix;
mod norms;
mod options;
pub mod primitives;
mod solve;
mod tridiagonal;

pub use decompositions::{
    SvdFactors, cholesky, cholesky_with, eigh, eigh_with, eigvalsh, geqrf, householder_product, qr,
    qr_with, svd, svd_with, svdvals, svdvals_with, triangular_solve,
};
pub use determinant::{det, slogdet};
pub use functions::{block_diag, diagonal, expm, multi_dot, toeplitz, trace};
pub use gmres::{gmres, gmres_with};
pub use inverse::{
    LeastSquares, lstsq, lstsq_with, matrix_power, matrix_rank, matrix_rank_with, pinv, pinv_with,
    tensorinv, tensorsolve,
};
pub use iterative::{Iteration, bicgstab, bicgstab_with, cg, cg_with};
pub use norms::{NormOrder, cond, matrix_norm, matrix_norm_with, norm, norm_over, vector_norm};
pub use options::{CholeskyFactor, Cutoff, QrMode, SvdMode, Transposed, Triangle};
pub use primitives::TriangularSolve;
pub(crate) use solve::solve_by_factors;
pub use solve::{
    LuFactors, cho_factor, cho_factor_with, cho_solve, cho_solve_with, inv, lu,
    lu_pivots_to_permutation, lu_solve, lu_solve_with, solve, solve_triangular,
    solve_triangular_with,
};
pub use tridiagonal::tridiagonal_solve;

use crate::Array;

/// Converts integers and booleans to floats, which decompositions require.
#[track_caller]
fn inexact(a: &Array) -> Array {
    a.to_inexact()
}

/// Returns the operand if its last two axes have the same size, and panics otherwise.
#[track_caller]
fn expect_square(operation: &str, a: &Array) -> Array {
    match a.shape() {
        [.., rows, columns] if rows == columns => a.clone(),
        shape => panic!(
            "{operation}: expects square matrices along the last two axes, got shape {shape:?}\n  \
             help: use qr, svd, pinv or lstsq, which accept matrices of any shape"
        ),
    }
}
