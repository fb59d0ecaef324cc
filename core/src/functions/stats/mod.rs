//! Probability distributions (`jax.scipy.stats`): densities, distribution functions and their
//! inverses, as functions of arrays.
//!
//! Each distribution is a module. The first argument is followed by location and scale; all
//! arguments broadcast together.
//!
//! ```no_run
//! use ramie_core::{Array, stats};
//! let x = Array::from([0.0f32, 1.0]);
//! let likelihood = stats::norm::logpdf(&x, 0.5, 2.0).sum();
//! # let _ = likelihood;
//! ```

pub mod cauchy;
pub mod expon;
pub mod laplace;
pub mod logistic;
pub mod norm;
pub mod uniform;

use crate::prim::elementwise::parts;
use crate::prim::operands::promote_all;
use crate::{Array, IntoArray};

/// Converts the number, the location and the scale to floats of a common dtype.
#[track_caller]
fn floats(x: &Array, loc: impl IntoArray, scale: impl IntoArray) -> [Array; 3] {
    let all = promote_all("stats", &[x.clone(), loc.into_array(), scale.into_array()]);
    parts::require_real("stats", &[&all[0]]);
    [0, 1, 2].map(|i| all[i].to_inexact())
}

/// Computes the distance of the number from the location in units of the scale.
#[track_caller]
fn standard(x: &Array, loc: Array, scale: Array) -> Array {
    (x - loc) / scale
}

/// Defines functions of a number, a location and a scale.
macro_rules! functions {
    ($($(#[$doc:meta])* $f:ident |$x:ident, $loc:ident, $scale:ident| $value:expr;)*) => { $(
        $(#[$doc])*
        ///
        /// # Panics
        /// Panics if the shapes do not broadcast.
        #[track_caller]
        pub fn $f(
            $x: &crate::Array,
            $loc: impl crate::IntoArray,
            $scale: impl crate::IntoArray,
        ) -> crate::Array {
            let [$x, $loc, $scale] = super::floats($x, $loc, $scale);
            let _ = (&$loc, &$scale);
            $value
        }
    )* };
}
pub(crate) use functions;
