//! Mathematical functions of NumPy that are made of several primitives.

use crate::{Array, IntoArray, finfo, where_};

impl Array {
    /// The logarithm to base 2.
    #[track_caller]
    pub fn log2(&self) -> Array {
        self.log() / std::f64::consts::LN_2
    }

    /// The logarithm to base 10.
    #[track_caller]
    pub fn log10(&self) -> Array {
        self.log() * std::f64::consts::LOG10_E
    }

    /// Degrees in radians.
    #[track_caller]
    pub fn deg2rad(&self) -> Array {
        self.to_inexact() * (std::f64::consts::PI / 180.0)
    }

    /// Radians in degrees.
    #[track_caller]
    pub fn rad2deg(&self) -> Array {
        self.to_inexact() * (180.0 / std::f64::consts::PI)
    }

    /// The length of the hypotenuse, `√(a² + b²)`, without overflow.
    ///
    /// # Panics
    /// If the shapes do not broadcast.
    #[track_caller]
    pub fn hypot(&self, other: impl IntoArray) -> Array {
        let (a, b) = crate::ops::promote("hypot", self, &other.into_array());
        let (a, b) = (a.to_inexact().abs(), b.to_inexact().abs());
        let infinite = a.eq(f64::INFINITY).bitwise_or(b.eq(f64::INFINITY));
        let (large, small) = (a.maximum(&b), a.minimum(&b));
        let zero = large.eq(0);
        let ratio = &small / where_(&zero, 1, &large);
        let length = &large * (ratio.square() + 1.0).sqrt();
        where_(&infinite, f64::INFINITY, where_(&zero, &large, length))
    }

    /// The number without its fraction.
    #[track_caller]
    pub fn trunc(&self) -> Array {
        if !self.dtype().is_float() {
            return self.clone();
        }
        where_(&self.lt(0), self.ceil(), self.floor())
    }

    /// `1 / x`.
    #[track_caller]
    pub fn reciprocal(&self) -> Array {
        1.0 / self
    }

    /// Zeros for NaN, and the largest finite numbers of the type for
    /// infinities.
    #[track_caller]
    pub fn nan_to_num(&self) -> Array {
        if !self.dtype().is_float() {
            return self.clone();
        }
        let info = finfo(self.dtype());
        self.nan_to_num_with(0.0, info.max, info.min)
    }

    /// Other numbers for NaN, infinity and negative infinity.
    #[track_caller]
    pub fn nan_to_num_with(&self, nan: f64, posinf: f64, neginf: f64) -> Array {
        if !self.dtype().is_float() {
            return self.clone();
        }
        let x = where_(&self.is_nan(), nan, self);
        let x = where_(&x.eq(f64::INFINITY), posinf, &x);
        where_(&x.eq(f64::NEG_INFINITY), neginf, &x)
    }
}
