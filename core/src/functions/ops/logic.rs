//! Logical operators, tests of numbers, and comparisons of whole arrays.

use crate::prim::elementwise::parts;
use crate::prim::operands;
use crate::{Array, DType, IntoArray};

/// The tolerance of comparisons, the option of [`Array::isclose_with`]: by `rtol` times the second
/// number, plus `atol`. A pair `(rtol, atol)` converts into it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// The relative tolerance. Defaults to 1e-5.
    pub rtol: f64,
    /// The absolute tolerance. Defaults to 1e-8.
    pub atol: f64,
    /// Whether NaN is close to NaN. Defaults to false.
    pub equal_nan: bool,
}

/// The option of [`Array::array_equal_with`]: NaN equals NaN (`equal_nan=True` in JAX).
#[derive(Clone, Copy, Debug, Default)]
pub struct EqualNan;

impl Default for Tolerance {
    fn default() -> Tolerance {
        (1e-5, 1e-8).into()
    }
}

impl From<(f64, f64)> for Tolerance {
    fn from((rtol, atol): (f64, f64)) -> Tolerance {
        Tolerance {
            rtol,
            atol,
            equal_nan: false,
        }
    }
}

macro_rules! logical {
    ($($(#[$doc:meta])* $f:ident $name:literal $bitwise:ident;)*) => {
        impl Array { $(
            $(#[$doc])*
            /// Nonzero numbers count as true.
            ///
            /// # Panics
            /// Panics if the shapes do not broadcast.
            #[track_caller]
            pub fn $f(&self, other: impl IntoArray) -> Array {
                let (a, b) = operands::promote($name, self, &other.into_array());
                a.astype(DType::Bool).$bitwise(b.astype(DType::Bool))
            }
        )* }
    };
}

logical! {
    /// Computes the elementwise logical AND.
    logical_and "logical_and" bitwise_and;
    /// Computes the elementwise logical OR.
    logical_or "logical_or" bitwise_or;
    /// Computes the elementwise logical XOR.
    logical_xor "logical_xor" bitwise_xor;
}

impl Array {
    /// Computes the elementwise logical NOT: `true` for zeros and `false`.
    #[track_caller]
    pub fn logical_not(&self) -> Array {
        self.astype(DType::Bool).bitwise_not()
    }

    /// Computes whether each element is infinite; a complex number is infinite if either part is.
    #[track_caller]
    pub fn is_inf(&self) -> Array {
        if self.dtype().is_complex() {
            return self.real().is_inf().bitwise_or(self.imag().is_inf());
        }
        self.to_inexact().abs().eq(f64::INFINITY)
    }

    /// Computes whether each element is positive infinity.
    ///
    /// # Panics
    /// Panics if the array is complex.
    #[track_caller]
    pub fn is_pos_inf(&self) -> Array {
        parts::require_real("is_pos_inf", &[self]);
        self.to_inexact().eq(f64::INFINITY)
    }

    /// Computes whether each element is negative infinity.
    ///
    /// # Panics
    /// Panics if the array is complex.
    #[track_caller]
    pub fn is_neg_inf(&self) -> Array {
        parts::require_real("is_neg_inf", &[self]);
        self.to_inexact().eq(f64::NEG_INFINITY)
    }

    /// Computes whether the elements are equal or differ by at most `1e-8 + 1e-5 · |other|`, as in
    /// NumPy. NaN is close to no number.
    ///
    /// # Panics
    /// Panics if the shapes do not broadcast.
    #[track_caller]
    pub fn isclose(&self, other: impl IntoArray) -> Array {
        self.isclose_with(other, Tolerance::default())
    }

    /// Same as [`isclose`](Array::isclose), with a [`Tolerance`] or a pair of the relative and the
    /// absolute tolerance.
    ///
    /// # Panics
    /// Panics if the shapes do not broadcast.
    #[track_caller]
    pub fn isclose_with(&self, other: impl IntoArray, within: impl Into<Tolerance>) -> Array {
        let within = within.into();
        let (a, b) = operands::promote("isclose", self, &other.into_array());
        let (a, b) = (a.to_inexact(), b.to_inexact());
        let near = (&a - &b).abs().le(b.abs() * within.rtol + within.atol);
        let close = a.eq(&b).bitwise_or(b.is_finite().bitwise_and(near));
        if within.equal_nan {
            close.bitwise_or(a.is_nan().bitwise_and(b.is_nan()))
        } else {
            close
        }
    }

    /// Computes whether all elements are [close](Array::isclose), as a 0-d array.
    ///
    /// # Panics
    /// Panics if the shapes do not broadcast.
    #[track_caller]
    pub fn allclose(&self, other: impl IntoArray) -> Array {
        self.isclose(other).all()
    }

    /// Computes whether all elements are [close](Array::isclose_with), as a 0-d array.
    ///
    /// # Panics
    /// Panics if the shapes do not broadcast.
    #[track_caller]
    pub fn allclose_with(&self, other: impl IntoArray, within: impl Into<Tolerance>) -> Array {
        self.isclose_with(other, within).all()
    }

    /// Computes whether both arrays have the same shape and equal elements, as a 0-d array.
    #[track_caller]
    pub fn array_equal(&self, other: impl IntoArray) -> Array {
        let other = other.into_array();
        if self.shape() != other.shape() {
            return Array::scalar(false, DType::Bool);
        }
        self.eq(&other).all()
    }

    /// Same as [`array_equal`](Array::array_equal), but NaN equals NaN.
    #[track_caller]
    pub fn array_equal_with(&self, other: impl IntoArray, _: EqualNan) -> Array {
        let other = other.into_array();
        if self.shape() != other.shape() {
            return Array::scalar(false, DType::Bool);
        }
        let both = self.is_nan().logical_and(other.is_nan());
        self.eq(&other).bitwise_or(both).all()
    }

    /// Computes whether the arrays have equal elements after broadcasting, as a 0-d array.
    /// Returns `false` if the shapes do not broadcast.
    #[track_caller]
    pub fn array_equiv(&self, other: impl IntoArray) -> Array {
        let other = other.into_array();
        if crate::numpy::broadcast_shapes(&[self.shape(), other.shape()]).is_none() {
            return Array::scalar(false, DType::Bool);
        }
        self.eq(&other).all()
    }
}
