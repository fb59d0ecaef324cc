//! Modified Bessel functions of the first kind, and names of special functions
//! that `jax.scipy` has beside those of primitives.

use crate::ops::require_real;
use crate::{Array, IntoArray, custom_jvp};

impl Array {
    /// The modified Bessel function of order 0, times `e^-|x|`.
    ///
    /// # Panics
    /// If the array is complex.
    #[track_caller]
    pub fn i0e(&self) -> Array {
        require_real("i0e", &[self]);
        self.bessel_i0e()
    }

    /// The modified Bessel function of order 1, times `e^-|x|`.
    ///
    /// # Panics
    /// If the array is complex.
    #[track_caller]
    pub fn i1e(&self) -> Array {
        require_real("i1e", &[self]);
        self.bessel_i1e()
    }

    /// The modified Bessel function of order 0.
    ///
    /// # Panics
    /// If the array is complex.
    #[track_caller]
    pub fn i0(&self) -> Array {
        require_real("i0", &[self]);
        custom_jvp(
            |x: Array| x.abs().exp() * x.bessel_i0e(),
            |x: Array, dx: Array| (x.i0(), dx * x.i1()),
        )(self.to_inexact())
    }

    /// The modified Bessel function of order 1.
    ///
    /// # Panics
    /// If the array is complex.
    #[track_caller]
    pub fn i1(&self) -> Array {
        require_real("i1", &[self]);
        let x = self.to_inexact();
        x.abs().exp() * x.bessel_i1e()
    }

    /// Another name of [`igamma`](Array::igamma): the regularized lower
    /// incomplete gamma function.
    ///
    /// # Panics
    /// If the shapes do not broadcast, or an operand is complex.
    #[track_caller]
    pub fn gammainc(&self, x: impl IntoArray) -> Array {
        let x = x.into_array();
        require_real("gammainc", &[self, &x]);
        self.igamma(x)
    }

    /// Another name of [`igammac`](Array::igammac): the regularized upper
    /// incomplete gamma function.
    ///
    /// # Panics
    /// If the shapes do not broadcast, or an operand is complex.
    #[track_caller]
    pub fn gammaincc(&self, x: impl IntoArray) -> Array {
        let x = x.into_array();
        require_real("gammaincc", &[self, &x]);
        self.igammac(x)
    }
}
