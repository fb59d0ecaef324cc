//! Functions that are defined implicitly, by an equation that a result solves, with derivatives
//! of the solution.

mod linear_solve;
mod root;

pub use linear_solve::{LinearFn, TransposeSolve, custom_linear_solve};
pub use root::{RootFn, custom_root, custom_root_with};
