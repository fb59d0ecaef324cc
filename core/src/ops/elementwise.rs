//! NumPy's elementwise functions that are no primitives: rounding, remainders,
//! signs, parts of numbers.

use super::{by_parts, promote, require_real};
use crate::{Array, DType, IntoArray, finfo, where_};

/// Divisors with 1 for the integer 0, by which NumPy leaves no remainder.
#[track_caller]
pub(crate) fn nonzero_divisor(divisor: &Array) -> Array {
    if divisor.dtype().is_float() {
        return divisor.clone();
    }
    where_(&divisor.eq(0), divisor.ones_like(), divisor)
}

/// Quotient rounded down, and remainder, of floats of one type.
#[track_caller]
pub(crate) fn float_divmod(a: &Array, b: &Array) -> (Array, Array) {
    let remainder = a.lax_rem(b);
    let whole = where_(&b.eq(0), a, a - &remainder);
    let quotient = whole.lax_div(b);
    let opposite = remainder.ne(0).bitwise_and(b.sign().ne(remainder.sign()));
    let quotient = where_(&opposite, &quotient - 1.0, &quotient);
    let remainder = where_(&opposite, &remainder + b, &remainder);
    (quotient.round(), remainder)
}

/// The integer type of as many bits, and the limits of a float type.
fn integer_of(dtype: DType) -> DType {
    match dtype.bits() {
        16 => DType::I16,
        64 => DType::I64,
        _ => DType::I32,
    }
}

impl Array {
    /// The magnitude of real numbers, in floats; [`abs`](Array::abs) also takes
    /// complex numbers.
    ///
    /// # Panics
    /// If the array is complex.
    #[track_caller]
    pub fn fabs(&self) -> Array {
        require_real("fabs", &[self]);
        self.to_inexact().abs()
    }

    /// The number itself, `+x`.
    #[track_caller]
    pub fn positive(&self) -> Array {
        self.clone()
    }

    /// The nearest integer, in floats; halves go to the even neighbour.
    #[track_caller]
    pub fn rint(&self) -> Array {
        self.to_inexact().round()
    }

    /// The nearest number with `decimals` digits after the point; a negative
    /// count rounds digits before it. Halves go to the even neighbour, integers
    /// stay as they are (`jnp.round`).
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// let x = Array::from([1.2345f32, 67.89]);
    /// assert_eq!(x.round_decimals(1).to_vec::<f32>(), [1.2, 67.9]);
    /// ```
    ///
    /// # Panics
    /// If integers are to be rounded before the point.
    #[track_caller]
    pub fn round_decimals(&self, decimals: i32) -> Array {
        let dtype = self.dtype();
        if dtype.is_complex() {
            return by_parts(self, |x| x.round_decimals(decimals));
        }
        if !dtype.is_float() {
            assert!(
                decimals >= 0,
                "round_decimals: integers ({}) are not rounded to {decimals} decimals\n  help: \
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

    /// The larger number, or the one that is a number where the other is NaN.
    ///
    /// # Panics
    /// If the shapes do not broadcast.
    #[track_caller]
    pub fn fmax(&self, other: impl IntoArray) -> Array {
        let (a, b) = promote("fmax", self, &other.into_array());
        where_(&a.gt(&b).bitwise_or(b.is_nan()), &a, &b)
    }

    /// The smaller number, or the one that is a number where the other is NaN.
    ///
    /// # Panics
    /// If the shapes do not broadcast.
    #[track_caller]
    pub fn fmin(&self, other: impl IntoArray) -> Array {
        let (a, b) = promote("fmin", self, &other.into_array());
        where_(&a.lt(&b).bitwise_or(b.is_nan()), &a, &b)
    }

    /// The remainder with the sign of the dividend, C's `fmod`. An integer by
    /// zero leaves 0.
    ///
    /// # Panics
    /// If the shapes do not broadcast, or an operand is complex.
    #[track_caller]
    pub fn fmod(&self, other: impl IntoArray) -> Array {
        let (a, b) = promote("fmod", self, &other.into_array());
        require_real("fmod", &[&a, &b]);
        a.lax_rem(nonzero_divisor(&b))
    }

    /// [`floor_divide`](Array::floor_divide) and
    /// [`remainder`](Array::remainder) at once.
    ///
    /// # Panics
    /// If the shapes do not broadcast, or an operand is complex.
    #[track_caller]
    pub fn divmod(&self, other: impl IntoArray) -> (Array, Array) {
        let (a, b) = promote("divmod", self, &other.into_array());
        require_real("divmod", &[&a, &b]);
        if a.dtype().is_float() {
            return float_divmod(&a, &b);
        }
        (a.floor_divide(&b), a.remainder(&b))
    }

    /// Each element to the power `exponent`, in floats.
    ///
    /// # Panics
    /// If the shapes do not broadcast.
    #[track_caller]
    pub fn float_power(&self, exponent: impl IntoArray) -> Array {
        let (a, b) = promote("float_power", self, &exponent.into_array());
        a.to_inexact().lax_pow(b.to_inexact())
    }

    /// `log2(2ᵃ + 2ᵇ)`, without overflow.
    ///
    /// # Panics
    /// If the shapes do not broadcast.
    #[track_caller]
    pub fn logaddexp2(&self, other: impl IntoArray) -> Array {
        let (a, b) = promote("logaddexp2", self, &other.into_array());
        let ln2 = std::f64::consts::LN_2;
        (a.to_inexact() * ln2).logaddexp(b.to_inexact() * ln2) / ln2
    }

    /// 0 for negative numbers, 1 for positive ones, `at_zero` for zero.
    ///
    /// # Panics
    /// If the shapes do not broadcast, or an operand is complex.
    #[track_caller]
    pub fn heaviside(&self, at_zero: impl IntoArray) -> Array {
        let (x, y) = promote("heaviside", self, &at_zero.into_array());
        require_real("heaviside", &[&x, &y]);
        let (x, y) = (x.to_inexact(), y.to_inexact());
        let rest = where_(&x.is_nan(), &x, &y);
        where_(&x.lt(0), 0, where_(&x.gt(0), 1, rest))
    }

    /// `sin(πx) / (πx)`, which is 1 at 0.
    #[track_caller]
    pub fn sinc(&self) -> Array {
        let x = self.to_inexact() * std::f64::consts::PI;
        let zero = x.eq(0);
        let safe = where_(&zero, 1, &x);
        // Taylor's polynomial gives the derivatives at zero.
        let square = where_(&zero, &x, 0).square();
        let series = ((&square / 120.0 - 1.0 / 6.0) * &square) + 1.0;
        where_(&zero, series, safe.sin() / &safe)
    }

    /// `true` where the sign bit is set: for negative numbers and `-0.0`.
    ///
    /// # Panics
    /// If the array is complex.
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

    /// The magnitude of `self` with the sign of `sign`.
    ///
    /// # Panics
    /// If the shapes do not broadcast, or an operand is complex.
    #[track_caller]
    pub fn copysign(&self, sign: impl IntoArray) -> Array {
        let (a, b) = promote("copysign", self, &sign.into_array());
        require_real("copysign", &[&a, &b]);
        let (magnitude, b) = (a.to_inexact().abs(), b.to_inexact());
        where_(&b.signbit(), -&magnitude, &magnitude)
    }

    /// Fraction and whole part, both with the sign of the number.
    ///
    /// # Panics
    /// If the array is complex.
    #[track_caller]
    pub fn modf(&self) -> (Array, Array) {
        require_real("modf", &[self]);
        let x = self.to_inexact();
        let whole = where_(&x.ge(0), x.floor(), x.ceil());
        (&x - &whole, whole)
    }

    /// Mantissa, of magnitude between 0.5 and 1, and power of two (`i32`) whose
    /// product is the number. Zeros, infinities and NaN have the power 0.
    ///
    /// # Panics
    /// If the array is complex.
    #[track_caller]
    pub fn frexp(&self) -> (Array, Array) {
        require_real("frexp", &[self]);
        let x = self.to_inexact();
        let info = finfo(x.dtype());
        let integer = integer_of(x.dtype());
        let odd = x.is_finite().logical_not().bitwise_or(x.eq(0));
        // Subnormal numbers are made normal first.
        let small = x.abs().lt(info.smallest_normal);
        let shift = i64::from(info.fraction_bits);
        let normal = where_(&small, &x * 2f64.powi(info.fraction_bits as i32), &x);
        let bits = normal.stop_gradient().bitcast_convert_type(integer);
        let mask = (1i64 << info.exponent_bits) - 1;
        let stored = bits.right_shift_logical(shift).bitwise_and(mask);
        let exponent = stored - i64::from(info.max_exponent - 2);
        let exponent = where_(&odd, 0, where_(&small, &exponent - shift, &exponent));
        let exponent = exponent.astype(DType::I32);
        // Two steps, for the inverse power may itself be out of range.
        let half = exponent.right_shift(1);
        let rest = &exponent - &half;
        let mantissa = x.times_power_of_two(&-half).times_power_of_two(&-rest);
        (where_(&odd, &x, mantissa), exponent)
    }

    /// The number times `2ⁿ` for `n` (`i32`) that is an exponent of the type.
    #[track_caller]
    fn times_power_of_two(&self, n: &Array) -> Array {
        let info = finfo(self.dtype());
        let integer = integer_of(self.dtype());
        let stored = n.astype(integer) + i64::from(info.max_exponent - 1);
        let bits = stored.left_shift(i64::from(info.fraction_bits));
        self * bits.bitcast_convert_type(self.dtype())
    }

    /// The number times two to the power `exponent`, which are integers.
    ///
    /// # Panics
    /// If the shapes do not broadcast, or the exponents are no integers.
    #[track_caller]
    pub fn ldexp(&self, exponent: impl IntoArray) -> Array {
        let exponent = exponent.into_array();
        require_real("ldexp", &[self, &exponent]);
        assert!(
            exponent.dtype().is_integer(),
            "ldexp: the powers are {}, expected integers\n  help: multiply by x.exp2() for other \
             powers",
            exponent.aval()
        );
        let x = self.to_inexact();
        let (mantissa, own) = x.frexp();
        let power = own.astype(x.dtype()) + exponent.astype(x.dtype());
        // The largest power of two is one less than the largest exponent.
        let large = power.gt(0);
        let mantissa = where_(&large, &mantissa * 2.0, &mantissa);
        let power = where_(&large, &power - 1.0, &power);
        let scaled = &mantissa * power.full_like(2).lax_pow(&power);
        where_(&x.is_inf().bitwise_or(x.eq(0)), &x, scaled)
    }

    /// The distance to the next number away from zero, with the number's sign.
    ///
    /// # Panics
    /// If the array is complex.
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
        where_(&step.eq(0), least.copysign(&x), step)
    }

    /// How many bits of the magnitude are one, in `u8`.
    ///
    /// # Panics
    /// If the array holds no integers.
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
