//! Probability distributions (`jax.scipy.stats`): densities, distribution functions and their
//! inverses, as functions of arrays; kernel density estimates, ranks, modes and standard errors.
//!
//! Each distribution is a module. The first argument is followed by the parameters of the
//! distribution, and these by location and scale; all arguments broadcast together.
//!
//! ```no_run
//! use ramie_core::{Array, stats};
//! let x = Array::from([0.0f32, 1.0]);
//! let likelihood = stats::norm::logpdf(&x, 0.5, 2.0).sum();
//! # let _ = likelihood;
//! ```

pub mod bernoulli;
pub mod beta;
pub mod betabinom;
pub mod binom;
pub mod cauchy;
pub mod chi2;
pub mod dirichlet;
pub mod expon;
pub mod gamma;
pub mod gennorm;
pub mod geom;
pub mod gumbel_l;
pub mod gumbel_r;
mod kde;
pub mod laplace;
pub mod logistic;
pub mod multinomial;
pub mod multivariate_normal;
pub mod nbinom;
pub mod norm;
pub mod pareto;
pub mod poisson;
mod summary;
pub mod t;
pub mod truncnorm;
pub mod uniform;
pub mod vonmises;
pub mod wrapcauchy;

pub use kde::{Bandwidth, GaussianKde, GaussianKdeOptions, gaussian_kde, gaussian_kde_with};
pub use summary::{Rank, RankMethod, mode, rankdata, rankdata_with, sem};

use crate::Array;
use crate::prim::elementwise::parts;
use crate::prim::operands::promote_all;

/// Converts the operands to floats of a common dtype.
#[track_caller]
fn floats<const N: usize>(operands: [Array; N]) -> [Array; N] {
    let all = promote_all("stats", &operands);
    parts::require_real("stats", &[&all[0]]);
    std::array::from_fn(|i| all[i].to_inexact())
}

/// Computes the distance of the number from the location in units of the scale.
#[track_caller]
fn standard(x: &Array, loc: Array, scale: Array) -> Array {
    (x - loc) / scale
}

/// Computes whether each element is a probability.
#[track_caller]
fn probability(p: &Array) -> Array {
    p.ge(0).bitwise_and(p.le(1))
}

/// Defines functions of a number and the parameters of a distribution.
macro_rules! functions {
    ($($(#[$doc:meta])* $f:ident |$x:ident $(, $parameter:ident)*| $value:expr;)*) => { $(
        $(#[$doc])*
        ///
        /// # Panics
        /// Panics if the shapes do not broadcast.
        #[track_caller]
        pub fn $f($x: &crate::Array $(, $parameter: impl crate::IntoArray)*) -> crate::Array {
            let [$x $(, $parameter)*] = super::floats([$x.clone() $(, $parameter.into_array())*]);
            $( let _ = &$parameter; )*
            $value
        }
    )* };
}
pub(crate) use functions;
