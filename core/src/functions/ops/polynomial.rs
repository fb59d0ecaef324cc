//! Polynomials as 1-d arrays of coefficients, highest power first.

use crate::numpy::ConvolveMode;
use crate::prim::operands::promote;
use crate::{Array, IntoArray, concatenate, stack};

impl Array {
    /// Evaluates the polynomial with these coefficients at each element of `x`. Additional axes
    /// of the coefficients broadcast with `x` (`jnp.polyval`).
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// let p = Array::from([2, 0, 1]);
    /// assert_eq!(p.polyval(3).item::<i32>(), 19);
    /// ```
    ///
    /// # Panics
    /// Panics if the array is 0-d, or the shapes do not broadcast.
    #[track_caller]
    pub fn polyval(&self, x: impl IntoArray) -> Array {
        assert!(
            self.ndim() > 0,
            "polyval: the coefficients {} have no axes\n  help: pass at least a 1-d array",
            self.aval()
        );
        let (x, first) = (x.into_array(), self.slice_axis(0, 0, 0));
        let dtype = crate::dtypes::result_type(&[first, x.clone()]);
        let (p, x) = (self.astype(dtype), x.astype(dtype));
        let shape = crate::numpy::broadcast_shapes(&[&p.shape()[1..], x.shape()]);
        let shape = shape.unwrap_or_else(|| {
            panic!(
                "polyval: coefficients {} and numbers {} do not broadcast\n  help: axes of the \
                 coefficients after the first must broadcast with the numbers",
                p.aval(),
                x.aval()
            )
        });
        let mut coefficients = p.unstack(0).into_iter();
        let Some(first) = coefficients.next() else {
            return Array::zeros(&shape, dtype);
        };
        coefficients.fold(first.broadcast_to(&shape), |value, c| value * &x + c)
    }

    /// Computes the derivative of order `m` of the polynomial.
    ///
    /// # Panics
    /// Panics if the array is not 1-d.
    #[track_caller]
    pub fn polyder(&self, m: usize) -> Array {
        self.require_vector("polyder");
        let p = self.to_inexact();
        let n = p.size();
        let factor = |power: usize| (0..m).map(|i| (power - i) as f64).product::<f64>();
        let kept = n.saturating_sub(m);
        let factors = super::listed("polyder", kept, (m..n).rev().map(factor));
        p.slice_axis(0, 0, kept) * Array::from_slice(&factors, &[kept]).astype(p.dtype())
    }

    /// Computes the integral of order `m` of the polynomial. The integration constants are 0.
    ///
    /// # Panics
    /// Panics if the array is not 1-d.
    #[track_caller]
    pub fn polyint(&self, m: usize) -> Array {
        self.require_vector("polyint");
        let p = self.to_inexact();
        let n = p.size().saturating_add(m);
        let divisor = |power: usize| {
            (0..m)
                .map(|i| power.saturating_sub(i).max(1) as f64)
                .product::<f64>()
        };
        let divisors = super::listed("polyint", n, (0..n).rev().map(divisor));
        let longer = concatenate(&[p.clone(), Array::zeros(&[m], p.dtype())], 0);
        longer / Array::from_slice(&divisors, &[n]).astype(p.dtype())
    }

    /// Computes the sum of two polynomials.
    ///
    /// # Panics
    /// Panics if an array is not 1-d.
    #[track_caller]
    pub fn polyadd(&self, other: impl IntoArray) -> Array {
        let (a, b) = aligned("polyadd", self, &other.into_array());
        a + b
    }

    /// Computes the difference of two polynomials.
    ///
    /// # Panics
    /// Panics if an array is not 1-d.
    #[track_caller]
    pub fn polysub(&self, other: impl IntoArray) -> Array {
        let (a, b) = aligned("polysub", self, &other.into_array());
        a - b
    }

    /// Computes the product of two polynomials. A polynomial without coefficients is 0.
    ///
    /// # Panics
    /// Panics if an array is not 1-d.
    #[track_caller]
    pub fn polymul(&self, other: impl IntoArray) -> Array {
        let some = |p: Array| match p.shape() {
            [0] => Array::zeros(&[1], p.dtype()),
            _ => p,
        };
        let other = some(other.into_array().to_inexact());
        some(self.to_inexact()).convolve(other, ConvolveMode::Full)
    }

    /// Divides two polynomials. Returns the quotient and the remainder, which has as many
    /// coefficients as this polynomial, padded with leading zeros.
    ///
    /// # Panics
    /// Panics if an array is not 1-d, or the divisor is empty.
    #[track_caller]
    pub fn polydiv(&self, divisor: impl IntoArray) -> (Array, Array) {
        let divisor = divisor.into_array();
        self.require_vector("polydiv");
        divisor.require_vector("polydiv");
        let dtype = crate::dtypes::result_type(&[self.to_inexact(), divisor.to_inexact()]);
        let (mut rest, v) = (self.astype(dtype), divisor.astype(dtype));
        let (m, n) = (rest.size(), v.size());
        if m < n {
            return (Array::zeros(&[1], dtype), rest);
        }
        let scale = 1.0 / v.index(0);
        let mut quotient = Vec::new();
        for k in 0..=m - n {
            let d = &scale * rest.index(k as i64);
            rest = rest.at(k as i64..(k + n) as i64).add(-&d * &v);
            quotient.push(d);
        }
        (stack(&quotient, 0), rest)
    }

    /// Computes the polynomial with these roots and a leading coefficient of 1. A 0-d array is
    /// one root; without roots, the result is the 0-d number 1.
    ///
    /// # Panics
    /// Panics if the array has more than one axis.
    #[track_caller]
    pub fn poly(&self) -> Array {
        let zeros = super::at_least(&self.to_inexact(), 1);
        zeros.require_vector("poly");
        if zeros.size() == 0 {
            return Array::ones(&[], zeros.dtype());
        }
        let one = Array::ones(&[1], zeros.dtype());
        zeros.unstack(0).iter().fold(one.clone(), |p, zero| {
            let factor = concatenate(&[one.clone(), -zero.reshape(&[1])], 0);
            p.convolve(factor, ConvolveMode::Full)
        })
    }

    /// Creates the Vandermonde matrix, with one row of powers for each element, from `n - 1` down
    /// to 0 (`jnp.vander`). For increasing powers, flip the columns: `x.vander(n).fliplr()`.
    ///
    /// # Panics
    /// Panics if the array is not 1-d.
    #[track_caller]
    pub fn vander(&self, n: usize) -> Array {
        self.require_vector("vander");
        let powers = Array::iota(&[n], 0, self.dtype()).flip(&[0]);
        self.expand_dims(&[1]).power(powers.expand_dims(&[0]))
    }

    /// Fits a polynomial of the given degree by least squares to the values `y`, `[n]` or
    /// `[n, k]`, at these points. Returns coefficients of shape `[degree + 1]` or
    /// `[degree + 1, k]`, highest power first (`jnp.polyfit`).
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// let x = Array::from([0.0f32, 1.0, 2.0, 3.0]);
    /// let line = x.polyfit(&(&x * 2.0 + 1.0), 1);
    /// assert!(line.allclose_with(&Array::from([2.0f32, 1.0]), (1e-4, 1e-4)).item::<bool>());
    /// ```
    ///
    /// # Panics
    /// Panics if the array is not 1-d or has no points, or if `y` has a different number of rows.
    #[track_caller]
    pub fn polyfit(&self, y: &Array, degree: usize) -> Array {
        self.require_vector("polyfit");
        assert!(
            self.size() > 0,
            "polyfit: {} has no points\n  help: pass at least one point",
            self.aval()
        );
        assert!(
            matches!(y.ndim(), 1 | 2) && y.shape()[0] == self.size(),
            "polyfit: the values {} do not fit the points {}\n  help: pass one value, or one row \
             of values, for each point",
            y.aval(),
            self.aval()
        );
        let powers = self.to_inexact().vander(degree + 1);
        // Normalizes the columns, since the powers differ by orders of magnitude.
        let lengths = powers.squared_magnitude().sum_over(0).sqrt();
        let rcond = self.size() as f64 * crate::dtypes::finfo(powers.dtype()).eps;
        let found = crate::functions::linalg::lstsq_with(&(powers / &lengths), y, rcond).x;
        match y.ndim() {
            1 => found / lengths,
            _ => found / lengths.expand_dims(&[1]),
        }
    }
}

/// Promotes two polynomials to a common dtype and prepends zeros to the shorter one.
#[track_caller]
fn aligned(operation: &str, a: &Array, b: &Array) -> (Array, Array) {
    a.require_vector(operation);
    b.require_vector(operation);
    let n = a.size().max(b.size());
    let long = |x: &Array| x.pad(&[(n - x.size(), 0)], 0);
    promote(operation, &long(a), &long(b))
}
