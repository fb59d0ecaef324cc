//! Modified Bessel functions of the first kind, and aliases in `jax.scipy` of primitive
//! functions.

use crate::prim::elementwise::parts::require_real;
use crate::{Array, IntoArray, custom_jvp, where_};

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
        of_order(0, &self.to_inexact())
    }

    /// Computes the modified Bessel function of order 1.
    ///
    /// # Panics
    /// Panics if the array is complex.
    #[track_caller]
    pub fn i1(&self) -> Array {
        require_real("i1", &[self]);
        of_order(1, &self.to_inexact())
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

/// Computes `Iₙ(x)`, with derivatives of every order at 0.
#[track_caller]
fn of_order(n: usize, x: &Array) -> Array {
    custom_jvp(
        move |x: Array| match n {
            0 => x.abs().exp() * x.bessel_i0e(),
            1 => x.abs().exp() * x.bessel_i1e(),
            n => higher(n, &x),
        },
        move |x: Array, dx: Array| {
            let above = of_order(n + 1, &x);
            let slope = match n {
                0 => above,
                n => (of_order(n - 1, &x) + above) * 0.5,
            };
            (of_order(n, &x), dx * slope)
        },
    )(x.clone())
}

/// Computes `Iₙ(x)` for `n` from 2: by its power series near 0, where the recurrence over `n` would
/// cancel.
#[track_caller]
fn higher(n: usize, x: &Array) -> Array {
    let near = x.abs().lt(4);
    let (small, large) = (where_(&near, x, 0), where_(&near, 4, x));
    let quarter = small.square() * 0.25;
    let series = (1..=24).rev().fold(x.ones_like(), |rest, k| {
        rest * &quarter / (k * (k + n)) as f64 + 1.0
    });
    let first = (1..=n).fold(x.ones_like(), |power, k| power * &small / (2 * k) as f64);
    let down = of_order(n - 2, &large) - of_order(n - 1, &large) * (2 * n - 2) as f64 / &large;
    where_(near, first * series, down)
}
