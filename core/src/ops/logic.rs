//! Truth values: logical operators, tests of numbers, comparisons of whole
//! arrays.

use crate::{Array, DType, IntoArray};

/// The distances at which [`Array::isclose`] takes numbers as equal, relative
/// and absolute: NumPy's.
const CLOSE: (f64, f64) = (1e-5, 1e-8);

macro_rules! logical {
    ($($(#[$doc:meta])* $f:ident $name:literal $bitwise:ident;)*) => {
        impl Array { $(
            $(#[$doc])*
            /// Numbers count as true unless they are zero.
            ///
            /// # Panics
            /// If the shapes do not broadcast.
            #[track_caller]
            pub fn $f(&self, other: impl IntoArray) -> Array {
                let (a, b) = super::promote($name, self, &other.into_array());
                a.astype(DType::Bool).$bitwise(b.astype(DType::Bool))
            }
        )* }
    };
}

logical! {
    /// Whether both hold.
    logical_and "logical_and" bitwise_and;
    /// Whether at least one holds.
    logical_or "logical_or" bitwise_or;
    /// Whether exactly one holds.
    logical_xor "logical_xor" bitwise_xor;
}

impl Array {
    /// Whether it does not hold: `true` for zeros and `false`.
    #[track_caller]
    pub fn logical_not(&self) -> Array {
        self.astype(DType::Bool).bitwise_not()
    }

    /// `true` where the element is infinite, in either part of a complex number.
    #[track_caller]
    pub fn is_inf(&self) -> Array {
        if self.dtype().is_complex() {
            return self.real().is_inf().bitwise_or(self.imag().is_inf());
        }
        self.to_inexact().abs().eq(f64::INFINITY)
    }

    /// `true` where the element is positive infinity.
    ///
    /// # Panics
    /// If the array is complex.
    #[track_caller]
    pub fn is_pos_inf(&self) -> Array {
        super::require_real("is_pos_inf", &[self]);
        self.to_inexact().eq(f64::INFINITY)
    }

    /// `true` where the element is negative infinity.
    ///
    /// # Panics
    /// If the array is complex.
    #[track_caller]
    pub fn is_neg_inf(&self) -> Array {
        super::require_real("is_neg_inf", &[self]);
        self.to_inexact().eq(f64::NEG_INFINITY)
    }

    /// Where the elements are equal or differ by at most
    /// `atol + rtol · |other|`. NaN is close to nothing.
    ///
    /// # Panics
    /// If the shapes do not broadcast.
    #[track_caller]
    pub fn isclose_within(&self, other: impl IntoArray, rtol: f64, atol: f64) -> Array {
        let (a, b) = super::promote("isclose", self, &other.into_array());
        let (a, b) = (a.to_inexact(), b.to_inexact());
        let near = (&a - &b).abs().le(b.abs() * rtol + atol);
        a.eq(&b).bitwise_or(b.is_finite().bitwise_and(near))
    }

    /// [`isclose_within`](Array::isclose_within) a relative distance of 1e-5 and
    /// an absolute one of 1e-8, NumPy's.
    ///
    /// # Panics
    /// If the shapes do not broadcast.
    #[track_caller]
    pub fn isclose(&self, other: impl IntoArray) -> Array {
        self.isclose_within(other, CLOSE.0, CLOSE.1)
    }

    /// [`isclose_within`](Array::isclose_within), or NaN in both places
    /// (`equal_nan` of NumPy).
    ///
    /// # Panics
    /// If the shapes do not broadcast.
    #[track_caller]
    pub fn isclose_or_nan(&self, other: impl IntoArray, rtol: f64, atol: f64) -> Array {
        let other = other.into_array();
        let both = self.is_nan().logical_and(other.is_nan());
        self.isclose_within(other, rtol, atol).bitwise_or(both)
    }

    /// Whether all elements are [close](Array::isclose_within), as a 0-d array.
    ///
    /// # Panics
    /// If the shapes do not broadcast.
    #[track_caller]
    pub fn allclose_within(&self, other: impl IntoArray, rtol: f64, atol: f64) -> Array {
        self.isclose_within(other, rtol, atol).all()
    }

    /// Whether all elements are [close](Array::isclose), as a 0-d array.
    ///
    /// # Panics
    /// If the shapes do not broadcast.
    #[track_caller]
    pub fn allclose(&self, other: impl IntoArray) -> Array {
        self.isclose(other).all()
    }

    /// Whether both arrays have one shape and equal elements, as a 0-d array.
    #[track_caller]
    pub fn array_equal(&self, other: impl IntoArray) -> Array {
        let other = other.into_array();
        if self.shape() != other.shape() {
            return Array::scalar(false, DType::Bool);
        }
        self.eq(&other).all()
    }

    /// [`array_equal`](Array::array_equal), with NaN equal to NaN.
    #[track_caller]
    pub fn array_equal_or_nan(&self, other: impl IntoArray) -> Array {
        let other = other.into_array();
        if self.shape() != other.shape() {
            return Array::scalar(false, DType::Bool);
        }
        let both = self.is_nan().logical_and(other.is_nan());
        self.eq(&other).bitwise_or(both).all()
    }

    /// Whether the arrays have equal elements once they are broadcast together,
    /// as a 0-d array; `false` where they do not broadcast.
    #[track_caller]
    pub fn array_equiv(&self, other: impl IntoArray) -> Array {
        let other = other.into_array();
        if crate::broadcast_shapes(&[self.shape(), other.shape()]).is_none() {
            return Array::scalar(false, DType::Bool);
        }
        self.eq(&other).all()
    }
}
