//! NumPy's mathematical functions that combine several primitives.

use crate::dtypes::finfo;
use crate::prim::elementwise::parts::{by_parts, require_real};
use crate::prim::operands::{self, common_shape};
use crate::{Array, IntoArray, custom_jvp, where_};

impl Array {
    /// Computes the base-10 logarithm of each element.
    #[track_caller]
    pub fn log10(&self) -> Array {
        self.log() * std::f64::consts::LOG10_E
    }

    /// Converts each element from degrees to radians.
    #[track_caller]
    pub fn deg2rad(&self) -> Array {
        self.to_inexact() * (std::f64::consts::PI / 180.0)
    }

    /// Converts each element from radians to degrees.
    #[track_caller]
    pub fn rad2deg(&self) -> Array {
        self.to_inexact() * (180.0 / std::f64::consts::PI)
    }

    /// Computes the hypotenuse `√(a² + b²)` of each pair of elements without overflow.
    ///
    /// # Panics
    /// Panics if the shapes do not broadcast, or an operand is complex.
    #[track_caller]
    pub fn hypot(&self, other: impl IntoArray) -> Array {
        let (a, b) = operands::promote("hypot", self, &other.into_array());
        require_real("hypot", &[&a, &b]);
        let (a, b) = (a.to_inexact(), b.to_inexact());
        let shape = common_shape("hypot", &[&a, &b]);
        hypotenuse(a.broadcast_to(&shape), b.broadcast_to(&shape))
    }

    /// Rounds each element toward zero.
    ///
    /// # Panics
    /// Panics if the array is complex.
    #[track_caller]
    pub fn trunc(&self) -> Array {
        require_real("trunc", &[self]);
        if !self.dtype().is_float() {
            return self.clone();
        }
        where_(self.lt(0), self.ceil(), self.floor())
    }

    /// Computes the reciprocal `1 / x` of each element.
    #[track_caller]
    pub fn reciprocal(&self) -> Array {
        1.0 / self
    }

    /// Replaces NaN by zero and infinities by the largest finite numbers of the dtype, in both
    /// parts of complex numbers.
    #[track_caller]
    pub fn nan_to_num(&self) -> Array {
        self.nan_to_num_with(None, None, None)
    }

    /// Replaces NaN, infinity and negative infinity by the given numbers, or by those of
    /// [`nan_to_num`](Array::nan_to_num) where they are `None`.
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// let x = Array::from([f32::NAN, f32::INFINITY]);
    /// let y = x.nan_to_num_with(-1.0, None, None);
    /// assert_eq!(y.to_vec::<f32>(), [-1.0, f32::MAX]);
    /// ```
    #[track_caller]
    pub fn nan_to_num_with(
        &self,
        nan: impl Into<Option<f64>>,
        posinf: impl Into<Option<f64>>,
        neginf: impl Into<Option<f64>>,
    ) -> Array {
        if !self.dtype().is_inexact() {
            return self.clone();
        }
        let info = finfo(self.dtype().real());
        let nan = nan.into().unwrap_or(0.0);
        let posinf = posinf.into().unwrap_or(info.max);
        let neginf = neginf.into().unwrap_or(info.min);
        by_parts(self, |x| {
            let y = where_(x.is_nan(), nan, x);
            let y = where_(y.eq(f64::INFINITY), posinf, &y);
            where_(y.eq(f64::NEG_INFINITY), neginf, &y)
        })
    }
}

#[track_caller]
fn hypotenuse(a: Array, b: Array) -> Array {
    custom_jvp(
        |a: Array, b: Array| {
            let (a, b) = (a.abs(), b.abs());
            let infinite = a.eq(f64::INFINITY).bitwise_or(b.eq(f64::INFINITY));
            let (large, small) = (a.maximum(&b), a.minimum(&b));
            let zero = large.eq(0);
            let ratio = &small / where_(&zero, 1, &large);
            let length = &large * (ratio.square() + 1.0).sqrt();
            where_(&infinite, f64::INFINITY, where_(&zero, &large, length))
        },
        |(a, b): (Array, Array), (da, db): (Array, Array)| {
            let length = hypotenuse(a.clone(), b.clone());
            // The derivative at the origin is 0.
            let divisor = where_(length.eq(0), 1, &length);
            let tangent = da * (a / &divisor) + db * (b / divisor);
            (length, tangent)
        },
    )(a, b)
}
