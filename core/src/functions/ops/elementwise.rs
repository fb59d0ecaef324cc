//! NumPy's elementwise functions that are not primitives: rounding, remainders, signs and
//! floating-point decomposition.

use crate::dtypes::{finfo, promote_types};
use crate::prim::elementwise::parts::{by_parts, require_real};
use crate::prim::elementwise::{Round, RoundingMethod};
use crate::prim::operands::promote;
use crate::program::trace::bind1;
use crate::{Array, DType, IntoArray, where_};
use std::f64::consts::PI;

/// The option of [`Array::round_with`]. A number of decimals or a [`RoundingMethod`] converts into
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// Rounds to digits after the decimal point; a negative number rounds digits before it. Halves
    /// round to even, and integers are returned unchanged (`jnp.round` with `decimals`).
    Decimals(i32),
    /// Rounds to integers, with this rule for halves (`jax.lax.round`).
    Method(RoundingMethod),
}

impl From<i32> for Rounding {
    fn from(decimals: i32) -> Rounding {
        Rounding::Decimals(decimals)
    }
}

impl From<RoundingMethod> for Rounding {
    fn from(method: RoundingMethod) -> Rounding {
        Rounding::Method(method)
    }
}

/// Replaces integer divisors of 0 by 1; NumPy's remainder by 0 is 0.
#[track_caller]
pub(crate) fn nonzero_divisor(divisor: &Array) -> Array {
    if divisor.dtype().is_float() {
        return divisor.clone();
    }
    where_(divisor.eq(0), divisor.ones_like(), divisor)
}

/// Computes the quotient, rounded down, and the remainder of floats of the same dtype.
#[track_caller]
pub(crate) fn float_divmod(a: &Array, b: &Array) -> (Array, Array) {
    let remainder = a.lax_rem(b);
    let whole = where_(b.eq(0), a, a - &remainder);
    let quotient = whole.lax_div(b);
    let opposite = remainder.ne(0).bitwise_and(b.sign().ne(remainder.sign()));
    let quotient = where_(&opposite, &quotient - 1.0, &quotient);
    let remainder = where_(&opposite, &remainder + b, &remainder);
    (quotient.round(), remainder)
}

/// Returns the signed integer dtype with as many bits as `dtype`.
fn integer_of(dtype: DType) -> DType {
    match dtype.bits() {
        16 => DType::I16,
        64 => DType::I64,
        _ => DType::I32,
    }
}

impl Array {
    /// Computes the magnitude of each real number as a float. [`abs`](Array::abs) also accepts
    /// complex numbers.
    ///
    /// # Panics
    /// Panics if the array is complex.
    #[track_caller]
    pub fn fabs(&self) -> Array {
        require_real("fabs", &[self]);
        self.to_inexact().abs()
    }

    /// Returns the array itself, `+x`.
    #[track_caller]
    pub fn positive(&self) -> Array {
        self.clone()
    }

    /// Rounds each element to the nearest integer, as a float. Halves round to even.
    #[track_caller]
    pub fn rint(&self) -> Array {
        self.to_inexact().round()
    }

    /// Same as [`round`](Array::round), to a number of decimals, or by another [`RoundingMethod`].
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// let x = Array::from([1.2345f32, 67.89]);
    /// assert_eq!(x.round_with(1).to_vec::<f32>(), [1.2, 67.9]);
    /// ```
    ///
    /// # Panics
    /// Panics if integers are rounded to a negative number of decimals, or if a method is given and
    /// the dtype is not a floating-point dtype.
    #[track_caller]
    pub fn round_with(&self, how: impl Into<Rounding>) -> Array {
        match how.into() {
            Rounding::Decimals(decimals) => self.to_decimals(decimals),
            Rounding::Method(method) => bind1(Round(method), &[self]),
        }
    }

    #[track_caller]
    fn to_decimals(&self, decimals: i32) -> Array {
        let dtype = self.dtype();
        if dtype.is_complex() {
            return by_parts(self, |x| x.to_decimals(decimals));
        }
        if !dtype.is_float() {
            assert!(
                decimals >= 0,
                "round: integers ({}) cannot be rounded to {decimals} decimals\n  help: \
                 convert to floats first, or divide, round and multiply",
                self.aval()
            );
            return self.clone();
        }
        if decimals == 0 {
            return self.round();
        }
        if f64::from(decimals) > finfo(dtype).max.log10() {
            return self.clone();
        }
        let wide = dtype == DType::F16;
        let x = if wide {
            self.astype(DType::F32)
        } else {
            self.clone()
        };
        let factor = 10f64.powi(decimals);
        ((x * factor).round() / factor).astype(dtype)
    }

    /// Computes the elementwise maximum. If one operand is NaN, the other is returned.
    ///
    /// # Panics
    /// Panics if the shapes do not broadcast.
    #[track_caller]
    pub fn fmax(&self, other: impl IntoArray) -> Array {
        let (a, b) = promote("fmax", self, &other.into_array());
        where_(a.gt(&b).bitwise_or(b.is_nan()), &a, &b)
    }

    /// Computes the elementwise minimum. If one operand is NaN, the other is returned.
    ///
    /// # Panics
    /// Panics if the shapes do not broadcast.
    #[track_caller]
    pub fn fmin(&self, other: impl IntoArray) -> Array {
        let (a, b) = promote("fmin", self, &other.into_array());
        where_(a.lt(&b).bitwise_or(b.is_nan()), &a, &b)
    }

    /// Computes the remainder with the sign of the dividend, like C's `fmod`. For integers, the
    /// remainder of a division by zero is 0.
    ///
    /// # Panics
    /// Panics if the shapes do not broadcast, or an operand is complex.
    #[track_caller]
    pub fn fmod(&self, other: impl IntoArray) -> Array {
        let (a, b) = promote("fmod", self, &other.into_array());
        require_real("fmod", &[&a, &b]);
        a.lax_rem(nonzero_divisor(&b))
    }

    /// Computes [`floor_divide`](Array::floor_divide) and [`remainder`](Array::remainder)
    /// together.
    ///
    /// # Panics
    /// Panics if the shapes do not broadcast, or an operand is complex.
    #[track_caller]
    pub fn divmod(&self, other: impl IntoArray) -> (Array, Array) {
        let (a, b) = promote("divmod", self, &other.into_array());
        require_real("divmod", &[&a, &b]);
        if a.dtype().is_float() {
            return float_divmod(&a, &b);
        }
        (a.floor_divide(&b), a.remainder(&b))
    }

    /// Raises each element to the power `exponent`, as a float.
    ///
    /// # Panics
    /// Panics if the shapes do not broadcast.
    #[track_caller]
    pub fn float_power(&self, exponent: impl IntoArray) -> Array {
        let (a, b) = promote("float_power", self, &exponent.into_array());
        a.to_inexact().lax_pow(b.to_inexact())
    }

    /// Computes `log2(2ᵃ + 2ᵇ)` of each pair of elements without overflow.
    ///
    /// # Panics
    /// Panics if the shapes do not broadcast.
    #[track_caller]
    pub fn logaddexp2(&self, other: impl IntoArray) -> Array {
        let (a, b) = promote("logaddexp2", self, &other.into_array());
        let ln2 = std::f64::consts::LN_2;
        (a.to_inexact() * ln2).logaddexp(b.to_inexact() * ln2) / ln2
    }

    /// Computes the Heaviside step function: 0 for negative numbers, 1 for positive numbers and
    /// `at_zero` for zero.
    ///
    /// # Panics
    /// Panics if the shapes do not broadcast, or an operand is complex.
    #[track_caller]
    pub fn heaviside(&self, at_zero: impl IntoArray) -> Array {
        let (x, y) = promote("heaviside", self, &at_zero.into_array());
        require_real("heaviside", &[&x, &y]);
        let (x, y) = (x.to_inexact(), y.to_inexact());
        let rest = where_(x.is_nan(), &x, &y);
        where_(x.lt(0), 0, where_(x.gt(0), 1, rest))
    }

    /// Computes `sin(πx) / (πx)` of each element, which is 1 at 0 and 0 at the other integers.
    #[track_caller]
    pub fn sinc(&self) -> Array {
        let x = self.to_inexact();
        if x.dtype().is_complex() {
            return complex_sinc(&x);
        }
        let wide = x.astype(promote_types(x.dtype(), DType::F32));
        real_sinc(&wide).astype(x.dtype())
    }

    /// Computes whether the sign bit is set: `true` for negative numbers and `-0.0`.
    ///
    /// # Panics
    /// Panics if the array is complex.
    #[track_caller]
    pub fn signbit(&self) -> Array {
        require_real("signbit", &[self]);
        let dtype = self.dtype();
        if dtype == DType::Bool {
            return self.zeros_like();
        }
        if !dtype.is_float() {
            return self.lt(0);
        }
        self.bitcast_convert_type(integer_of(dtype)).lt(0)
    }

    /// Copies the sign of `sign` to the magnitude of each element.
    ///
    /// # Panics
    /// Panics if the shapes do not broadcast, or an operand is complex.
    #[track_caller]
    pub fn copysign(&self, sign: impl IntoArray) -> Array {
        let (a, b) = promote("copysign", self, &sign.into_array());
        require_real("copysign", &[&a, &b]);
        let (magnitude, b) = (a.to_inexact().abs(), b.to_inexact());
        where_(b.signbit(), -&magnitude, &magnitude)
    }

    /// Splits each number into its fractional and integral parts, both with the sign of the
    /// number.
    ///
    /// # Panics
    /// Panics if the array is complex.
    #[track_caller]
    pub fn modf(&self) -> (Array, Array) {
        require_real("modf", &[self]);
        let x = self.to_inexact();
        let whole = where_(x.ge(0), x.floor(), x.ceil());
        (&x - &whole, whole)
    }

    /// Splits each number into a mantissa of magnitude between 0.5 and 1 and a power of two
    /// (`i32`), whose product is the number. The exponent of zeros, infinities and NaN is 0.
    ///
    /// # Panics
    /// Panics if the array is complex.
    #[track_caller]
    pub fn frexp(&self) -> (Array, Array) {
        require_real("frexp", &[self]);
        let x = self.to_inexact();
        let info = finfo(x.dtype());
        let integer = integer_of(x.dtype());
        let odd = x.is_finite().logical_not().bitwise_or(x.eq(0));
        // Subnormal numbers are scaled to normal numbers first.
        let small = x.abs().lt(info.smallest_normal);
        let shift = i64::from(info.fraction_bits);
        let normal = where_(&small, &x * 2f64.powi(info.fraction_bits as i32), &x);
        let bits = normal.stop_gradient().bitcast_convert_type(integer);
        let mask = (1i64 << info.exponent_bits) - 1;
        let stored = bits.right_shift_logical(shift).bitwise_and(mask);
        let exponent = stored - i64::from(info.max_exponent - 2);
        let exponent = where_(&odd, 0, where_(&small, &exponent - shift, &exponent));
        let exponent = exponent.astype(DType::I32);
        // Scales in two steps, since the inverse power may itself be out of range.
        let half = exponent.right_shift(1);
        let rest = &exponent - &half;
        let mantissa = x.times_power_of_two(&-half).times_power_of_two(&-rest);
        (where_(&odd, &x, mantissa), exponent)
    }

    /// Multiplies each number by `2ⁿ`, where `n` (`i32`) must be an exponent of the dtype.
    #[track_caller]
    fn times_power_of_two(&self, n: &Array) -> Array {
        let info = finfo(self.dtype());
        let integer = integer_of(self.dtype());
        let stored = n.astype(integer) + i64::from(info.max_exponent - 1);
        let bits = stored.left_shift(i64::from(info.fraction_bits));
        self * bits.bitcast_convert_type(self.dtype())
    }

    /// Multiplies each number by two to the power `exponent`, an array of integers.
    ///
    /// # Panics
    /// Panics if the shapes do not broadcast, or if the exponents are not integers.
    #[track_caller]
    pub fn ldexp(&self, exponent: impl IntoArray) -> Array {
        let exponent = exponent.into_array();
        require_real("ldexp", &[self, &exponent]);
        assert!(
            exponent.dtype().is_integer(),
            "ldexp: the exponents are {}, expected integers\n  help: multiply by x.exp2() for \
             other exponents",
            exponent.aval()
        );
        let x = self.to_inexact();
        let (mantissa, own) = x.frexp();
        let power = own.astype(x.dtype()) + exponent.astype(x.dtype());
        // The exponent of the largest power of two is one less than the largest exponent.
        let large = power.gt(0);
        let mantissa = where_(&large, &mantissa * 2.0, &mantissa);
        let power = where_(&large, &power - 1.0, &power);
        let scaled = &mantissa * power.full_like(2).lax_pow(&power);
        where_(x.is_inf().bitwise_or(x.eq(0)), &x, scaled)
    }

    /// Computes the distance to the next number away from zero, with the sign of the number.
    ///
    /// # Panics
    /// Panics if the array is complex.
    #[track_caller]
    pub fn spacing(&self) -> Array {
        require_real("spacing", &[self]);
        let x = self.to_inexact();
        let least = x.full_like(finfo(x.dtype()).smallest_subnormal);
        let infinity = x.full_like(f64::INFINITY);
        if x.dtype() == DType::F16 {
            return x.nextafter(&infinity) - &x;
        }
        let step = x.nextafter(infinity.copysign(&x)) - &x;
        where_(step.eq(0), least.copysign(&x), step)
    }

    /// Counts the one bits of each element's magnitude. The result is `u8`.
    ///
    /// # Panics
    /// Panics if the elements are not integers.
    #[track_caller]
    pub fn bitwise_count(&self) -> Array {
        require_real("bitwise_count", &[self]);
        let x = match self.dtype() {
            DType::Bool => self.astype(DType::I32),
            _ => self.abs(),
        };
        x.population_count().astype(DType::U8)
    }
}

/// Computes `sinc` with the exact distance `r` to the nearest integer `n`, as
/// `(-1)ⁿ · r · sinc(r) / x`.
#[track_caller]
fn real_sinc(x: &Array) -> Array {
    let n = x.round();
    let r = where_(x.is_inf(), 0, x - &n);
    let square = r.square();
    // As many terms of the Taylor series as first and second derivatives need.
    let terms = if x.dtype() == DType::F64 { 11 } else { 6 };
    let factors = (1..=terms).map(|k| f64::from(2 * k * (2 * k + 1)));
    let series = factors.rev().fold(x.zeros_like(), |sum, factor| {
        (sum + 1.0) * &square * (-PI * PI / factor)
    });
    let odd = (&n * 0.5).round().ne(&n * 0.5);
    let zero = n.eq(0);
    let signed = where_(&odd, -x, where_(&zero, 1, x));
    let rest = (&r + &r * &series) / signed;
    // The result at integers is not -0, but the derivative remains.
    let rest = where_(r.eq(0), &rest - rest.stop_gradient(), &rest);
    where_(&zero, &series + 1.0, rest)
}

#[track_caller]
fn complex_sinc(x: &Array) -> Array {
    let x = x * PI;
    let zero = x.eq(0);
    let safe = where_(&zero, 1, &x);
    // The Taylor polynomial provides the derivatives at zero.
    let square = where_(&zero, &x, 0).square();
    let series = ((&square / 120.0 - 1.0 / 6.0) * &square) + 1.0;
    where_(&zero, series, safe.sin() / &safe)
}
