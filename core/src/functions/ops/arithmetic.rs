//! Operators on arrays, references to arrays and scalars.

use crate::prim::elementwise::parts;
use crate::prim::operands;
use crate::program::array::IntoArray;
use crate::{Array, DType};
use num_complex::Complex;
use std::ops;

macro_rules! operators {
    ($($trait:ident $f:ident $assign:ident $g:ident |$a:ident, $b:ident| $apply:expr;)*) => { $(
        impl<T: IntoArray> ops::$trait<T> for &Array {
            type Output = Array;
            #[track_caller]
            fn $f(self, other: T) -> Array {
                let ($a, $b) = (self, other.into_array());
                $apply
            }
        }
        impl<T: IntoArray> ops::$trait<T> for Array {
            type Output = Array;
            #[track_caller]
            fn $f(self, other: T) -> Array {
                let ($a, $b) = (&self, other.into_array());
                $apply
            }
        }
        impl<T: IntoArray> ops::$assign<T> for Array {
            #[track_caller]
            fn $g(&mut self, other: T) {
                let ($a, $b) = (&*self, other.into_array());
                *self = $apply;
            }
        }
        operators!(
            @left $trait $f |$a, $b| $apply;
            i64 f64 Complex<f32> Complex<f64>
        );
    )* };
    // With a second float or integer type, rustc could not infer the type of a literal: the method
    // call in `(1.0 - x).sqrt()` would be an error.
    (@left $trait:ident $f:ident |$a:ident, $b:ident| $apply:expr; $($t:ty)*) => { $(
        impl ops::$trait<Array> for $t {
            type Output = Array;
            #[track_caller]
            fn $f(self, other: Array) -> Array {
                let ($a, $b) = (&self.into_array(), other);
                $apply
            }
        }
        impl ops::$trait<&Array> for $t {
            type Output = Array;
            #[track_caller]
            fn $f(self, other: &Array) -> Array {
                let ($a, $b) = (&self.into_array(), other.clone());
                $apply
            }
        }
    )* };
}

operators!(@left BitAnd bitand |a, b| a.bitwise_and(&b); bool);
operators!(@left BitOr bitor |a, b| a.bitwise_or(&b); bool);
operators!(@left BitXor bitxor |a, b| a.bitwise_xor(&b); bool);

operators! {
    Add add AddAssign add_assign |a, b| Array::add(a, &b);
    Sub sub SubAssign sub_assign |a, b| Array::sub(a, &b);
    Mul mul MulAssign mul_assign |a, b| Array::mul(a, &b);
    Div div DivAssign div_assign |a, b| a.true_divide(&b);
    Rem rem RemAssign rem_assign |a, b| a.remainder(&b);
    BitAnd bitand BitAndAssign bitand_assign |a, b| a.bitwise_and(&b);
    BitOr bitor BitOrAssign bitor_assign |a, b| a.bitwise_or(&b);
    BitXor bitxor BitXorAssign bitxor_assign |a, b| a.bitwise_xor(&b);
    Shl shl ShlAssign shl_assign |a, b| a.left_shift(&b);
    Shr shr ShrAssign shr_assign |a, b| a.right_shift(&b);
}

impl ops::Neg for &Array {
    type Output = Array;
    #[track_caller]
    fn neg(self) -> Array {
        self.negative()
    }
}
impl ops::Neg for Array {
    type Output = Array;
    #[track_caller]
    fn neg(self) -> Array {
        self.negative()
    }
}
impl ops::Not for &Array {
    type Output = Array;
    #[track_caller]
    fn not(self) -> Array {
        self.bitwise_not()
    }
}
impl ops::Not for Array {
    type Output = Array;
    #[track_caller]
    fn not(self) -> Array {
        self.bitwise_not()
    }
}

impl Array {
    /// Computes the product of the elements in the dtype `out_dtype`, to which both operands are
    /// converted first (`jax.lax.mul` with `out_dtype=`). Operands are broadcast.
    ///
    /// ```no_run
    /// use ramie_core::{Array, DType};
    /// let x = Array::from([100i8, -7]);
    /// assert_eq!(x.mul_with(&x, DType::I32).to_vec::<i32>(), [10000, 49]);
    /// ```
    ///
    /// # Panics
    /// Panics if the shapes do not broadcast.
    #[track_caller]
    pub fn mul_with(&self, other: impl IntoArray, out_dtype: DType) -> Array {
        let other = other.into_array().astype(out_dtype);
        self.astype(out_dtype).mul(other)
    }

    /// Converts the array to an inexact dtype: floats and complex numbers stay, others become
    /// `f32`.
    #[track_caller]
    pub(crate) fn to_inexact(&self) -> Array {
        if self.dtype().is_inexact() {
            return self.clone();
        }
        match self.as_literal() {
            Some(l) if self.aval().weak_type() => {
                Array::literal(crate::dtypes::Literal::weak(l.value(), DType::F32))
            }
            _ => self.astype(DType::F32),
        }
    }

    /// Divides elementwise; integers are divided as floats. Same as the operator `/`.
    ///
    /// # Panics
    /// Panics if the shapes do not broadcast.
    #[track_caller]
    pub fn true_divide(&self, other: impl IntoArray) -> Array {
        let other = other.into_array();
        let (a, b) = operands::promote("div", self, &other);
        a.to_inexact().lax_div(b.to_inexact())
    }

    /// Computes the remainder with the sign of the divisor. Same as the operator `%`. For
    /// integers, the remainder of a division by zero is 0.
    ///
    /// # Panics
    /// Panics if the shapes do not broadcast, or an operand is complex.
    #[track_caller]
    pub fn remainder(&self, other: impl IntoArray) -> Array {
        let (a, b) = operands::promote("remainder", self, &other.into_array());
        parts::require_real("remainder", &[&a, &b]);
        let b = super::nonzero_divisor(&b);
        let r = a.lax_rem(&b);
        if a.dtype().is_unsigned() {
            return r;
        }
        let opposite = r.lt(0).ne(b.lt(0)).bitwise_and(r.ne(0));
        crate::where_(&opposite, &r + &b, &r)
    }

    /// Divides elementwise and rounds the quotient down.
    ///
    /// # Panics
    /// Panics if the shapes do not broadcast, or an operand is complex.
    #[track_caller]
    pub fn floor_divide(&self, other: impl IntoArray) -> Array {
        let (a, b) = operands::promote("floor_divide", self, &other.into_array());
        parts::require_real("floor_divide", &[&a, &b]);
        if a.dtype().is_float() {
            return super::float_divmod(&a, &b).0;
        }
        let q = a.lax_div(&b);
        if a.dtype().is_unsigned() {
            return q;
        }
        let r = a.lax_rem(&b);
        let inexact = r.ne(0).bitwise_and(a.sign().ne(b.sign()));
        crate::where_(&inexact, &q - 1, &q)
    }

    /// Shifts bits to the right. Signed integers are filled with the sign bit, others with zeros.
    /// Same as the operator `>>`.
    ///
    /// # Panics
    /// Panics if the operands are not integers, or the shapes do not broadcast.
    #[track_caller]
    pub fn right_shift(&self, other: impl IntoArray) -> Array {
        if self.dtype().is_unsigned() {
            self.right_shift_logical(other)
        } else {
            self.right_shift_arithmetic(other)
        }
    }

    /// Raises each element to the power `exponent`. A scalar integer exponent is applied by
    /// repeated multiplication. Integers raised to an array of integer powers stay integers, and
    /// overflow wraps.
    ///
    /// # Panics
    /// Panics if the shapes do not broadcast, or an integer is raised to a negative scalar power.
    #[doc(alias = "powf")]
    #[doc(alias = "pow")]
    #[track_caller]
    pub fn power(&self, exponent: impl IntoArray) -> Array {
        let exponent = exponent.into_array();
        if let Some(crate::dtypes::Scalar::Int(y)) = exponent.as_literal().map(|l| l.value())
            && let Ok(y) = i32::try_from(y)
        {
            return self.integer_pow(y);
        }
        if self.dtype().is_inexact() && exponent.dtype().is_integer() {
            let rank = self.ndim().max(exponent.ndim());
            let (a, b) = (operands::lead(self, rank), operands::lead(&exponent, rank));
            return crate::program::trace::bind1(crate::prim::elementwise::Pow, &[&a, &b]);
        }
        let (a, b) = operands::promote("pow", self, &exponent);
        if a.dtype().is_integer() {
            return integer_power(&a, &b);
        }
        a.to_inexact().lax_pow(b.to_inexact())
    }
}

/// Raises integers to integer powers by squaring. Negative powers are not integers; their results
/// are unspecified and follow from wrapping.
#[track_caller]
fn integer_power(base: &Array, exponent: &Array) -> Array {
    // From the seventh bit on, any base other than 0, 1 and -1 overflows.
    const BITS: usize = 6;
    let zero = base.eq(0).bitwise_and(exponent.ne(0));
    let (mut base, mut exponent) = (base.clone(), exponent.clone());
    let one = base.ones_like();
    let mut power = crate::where_(&zero, base.zeros_like(), &one);
    for _ in 0..BITS {
        let odd = exponent.bitwise_and(1).ne(0);
        power = crate::where_(&odd, power.mul(&base), &power);
        base = base.mul(&base);
        exponent = exponent.right_shift_logical(1);
    }
    power
}
