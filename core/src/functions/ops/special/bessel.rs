//! Modified Bessel functions of the first kind, and aliases in `jax.scipy` of primitive
//! functions.

use crate::prim::elementwise::parts::require_real;
use crate::{Array, IntoArray, custom_jvp};

impl Array {
    /// Computes the exponentially scaled modified Bessel function of order 0, `e^-|x| I₀(x)`.
    ///
    /// # Panics
    /// Panics if the array is complex.
    #[track_caller]
    pub fn i0e(&self) -> Array {
        require_real("i0e", &[self]);
        self.bessel_i0e()
    }

    /// Computes the exponentially scaled modified Bessel function of order 1, `e^-|x| I₁(x)`.
    ///
    /// # Panics
    /// Panics if the array is complex.
    #[track_caller]
    pub fn i1e(&self) -> Array {
        require_real("i1e", &[self]);
        self.bessel_i1e()
    }

    /// Computes the modified Bessel function of order 0.
    ///
    /// # Panics
    /// Panics if the array is complex.
    #[track_caller]
    pub fn i0(&self) -> Array {
        require_real("i0", &[self]);
        custom_jvp(
            |x: Array| x.abs().exp() * x.bessel_i0e(),
            |x: Array, dx: Array| (x.i0(), dx * x.i1()),
        )(self.to_inexact())
    }

    /// Computes the modified Bessel function of order 1.
    ///
    /// # Panics
    /// Panics if the array is complex.
    #[track_caller]
    pub fn i1(&self) -> Array {
        require_real("i1", &[self]);
        let x = self.to_inexact();
        x.abs().exp() * x.bessel_i1e()
    }

    /// Computes the regularized lower incomplete gamma function. Alias of
    /// [`igamma`](Array::igamma).
    ///
    /// # Panics
    /// Panics if the shapes do not broadcast, or an operand is complex.
    #[track_caller]
    pub fn gammainc(&self, x: impl IntoArray) -> Array {
        let x = x.into_array();
        require_real("gammainc", &[self, &x]);
        self.igamma(x)
    }

    /// Computes the regularized upper incomplete gamma function. Alias of
    /// [`igammac`](Array::igammac).
    ///
    /// # Panics
    /// Panics if the shapes do not broadcast, or an operand is complex.
    #[track_caller]
    pub fn gammaincc(&self, x: impl IntoArray) -> Array {
        let x = x.into_array();
        require_real("gammaincc", &[self, &x]);
        self.igammac(x)
    }
}
