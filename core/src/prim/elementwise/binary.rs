//! Binary elementwise operators.

use super::{ElementwiseRow, fit};
use crate::passes::add_tangents;
use crate::prim::operands;
use crate::prim::{Avals, Differentiation, Operand, Primitive, sum_to_shape};
use crate::program::checks::Errors;
use crate::program::class::{Class, infer_same};
use crate::program::lower::{Lowering, Value};
use crate::program::trace::bind1;
use crate::{Array, Aval, DType, IntoArray, ShapeError};

/// Returns the cotangent of a linear operand, summed over axes along which the operand was
/// broadcast.
fn unbroadcast(ct: &Array, operand: &Operand) -> Option<Array> {
    operand
        .is_linear()
        .then(|| sum_to_shape(ct, operand.aval().shape()))
}

macro_rules! differentiation {
    (zero) => {
        Differentiation::Zero
    };
    // The tangent of the first operand alone.
    (first $rule:expr) => {
        Differentiation::jvp(|p, t, outs| {
            let rule: fn(&Array, &Array, &Array, &Array) -> Array = $rule;
            vec![t[0].as_ref().map(|g| rule(g, &p[0], &p[1], &outs[0]))]
        })
    };
    // Sum: the operator applied to two tangents. A single tangent of the first operand is passed
    // on, and one of the second goes through the given function.
    (sum $ty:ident $second:expr) => {
        Differentiation::bilinear(
            |_, t, outs| {
                vec![match (&t[0], &t[1]) {
                    (Some(a), Some(b)) => Some(fit(&bind1($ty, &[a, b]), &outs[0])),
                    (Some(a), None) => Some(fit(a, &outs[0])),
                    (None, b) => b.as_ref().map(|b| $second(&fit(b, &outs[0]))),
                }]
            },
            |cts, operands| {
                let Some(ct) = &cts[0] else {
                    return vec![None, None];
                };
                vec![
                    unbroadcast(ct, &operands[0]),
                    operands[1]
                        .is_linear()
                        .then(|| sum_to_shape(&$second(ct), operands[1].aval().shape())),
                ]
            },
        )
    };
    (product) => {
        Differentiation::bilinear(
            |p, t, _| {
                let a = t[0].as_ref().map(|t| t * &p[1]);
                let b = t[1].as_ref().map(|t| &p[0] * t);
                vec![add_tangents(a, b)]
            },
            |cts, operands| {
                let Some(ct) = &cts[0] else {
                    return vec![None, None];
                };
                vec![
                    operands[1]
                        .known()
                        .and_then(|y| unbroadcast(&(ct * y), &operands[0])),
                    operands[0]
                        .known()
                        .and_then(|x| unbroadcast(&(x * ct), &operands[1])),
                ]
            },
        )
    };
    (quotient) => {
        Differentiation::bilinear(
            |p, t, _| {
                let a = t[0].as_ref().map(|t| t / &p[1]);
                let b = t[1].as_ref();
                let b = b.map(|t| &(&t.negative() * &p[0]) * &p[1].integer_pow(-2));
                vec![add_tangents(a, b)]
            },
            |cts, operands| {
                let Some(ct) = &cts[0] else {
                    return vec![None, None];
                };
                vec![
                    operands[1]
                        .known()
                        .and_then(|y| unbroadcast(&(ct / y), &operands[0])),
                    None,
                ]
            },
        )
    };
    ([$a:expr, $b:expr]) => {
        Differentiation::jvp(|p, t, outs| {
            let a: fn(&Array, &Array, &Array, &Array) -> Array = $a;
            let b: fn(&Array, &Array, &Array, &Array) -> Array = $b;
            let (x, y, z) = (&p[0], &p[1], &outs[0]);
            vec![add_tangents(
                t[0].as_ref().map(|g| a(g, x, y, z)),
                t[1].as_ref().map(|g| b(g, x, y, z)),
            )]
        })
    };
}

macro_rules! checks {
    ($class:ident quotient) => {
        Errors::NAN | Errors::DIV
    };
    ($class:ident $($diff:tt)+) => {
        Class::$class.checks()
    };
}

macro_rules! keeps_unreduced {
    (sum $($diff:tt)+) => {
        true
    };
    ($($diff:tt)+) => {
        false
    };
}

macro_rules! binary {
    ($( $(#[$doc:meta])* $ty:ident $f:ident $name:literal $hlo:literal $class:ident
        [($lo:expr, $hi:expr), ($lo2:expr, $hi2:expr)] {$($diff:tt)+}; )*) => { $(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub struct $ty;
        impl Primitive for $ty {
            fn name(&self) -> &'static str { $name }
            fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
                infer_same(Class::$class, args, 2)
            }
            elementwise_rules!(checks: checks!($class $($diff)+), keeps_unreduced: keeps_unreduced!($($diff)+));
            fn differentiation(&self) -> Differentiation<'_> { differentiation!($($diff)+) }
            fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], outs: &[Aval]) -> Vec<Value> {
                let args = ctx.broadcast_operands(args, outs[0]);
                vec![ctx.binary($hlo, &args)]
            }
        }
        impl Array {
            $(#[$doc])*
            ///
            /// Operands are promoted to a common dtype and broadcast.
            ///
            /// # Panics
            /// Panics if the shapes do not broadcast, or if the promoted dtype is not supported.
            #[track_caller]
            pub fn $f(&self, other: impl IntoArray) -> Array {
                let (a, b) = operands::promote($name, self, &other.into_array());
                match ($name, a.dtype()) {
                    ("add", DType::Bool) => bind1(Or, &[&a, &b]),
                    ("mul", DType::Bool) => bind1(And, &[&a, &b]),
                    _ => bind1($ty, &[&a, &b]),
                }
            }
        } )*
        /// Table of binary operators.
        pub const BINARY: &[ElementwiseRow] = &[
            $( elementwise_row!($ty $f $name, Class::$class, &[($lo, $hi), ($lo2, $hi2)], |x, y|) ),*
        ];
    };
}

/// Returns the share of the tangent of `x` in the tangent of `z`, the maximum or minimum of `x`
/// and `y`: each gets half if they are equal.
fn balanced(g: &Array, x: &Array, y: &Array, z: &Array) -> Array {
    let chosen = x.eq(z).select(&z.ones_like(), &z.zeros_like());
    let tied = y.eq(z).select(&z.full_like(2), &z.ones_like());
    g * &(&chosen / &tied)
}

binary! {
    /// Computes the sum of the elements; for booleans, logical or.
    Add add "add" "add" Number [(-3.0, 3.0), (-3.0, 3.0)] {sum Add |t: &Array| t.clone()};
    /// Computes the difference of the elements.
    Sub sub "sub" "subtract" Number [(-3.0, 3.0), (-3.0, 3.0)] {sum Sub |t: &Array| t.negative()};
    /// Computes the product of the elements; for booleans, logical and.
    Mul mul "mul" "multiply" Number [(-3.0, 3.0), (-3.0, 3.0)] {product};
    /// Computes the quotient of the elements; integers are rounded towards zero. The operator `/`
    /// is NumPy's true division.
    #[doc(alias = "div")]
    Div lax_div "div" "divide" Number [(-3.0, 3.0), (0.5, 3.0)] {quotient};
    /// Computes the remainder of the elements, with the sign of the dividend.
    #[doc(alias = "rem")]
    Rem lax_rem "rem" "remainder" Real [(1.1, 1.9), (2.1, 3.0)] {[
        |g, _, y, z| { let _ = y; fit(g, z) },
        |g, x, y, _| {
            let q = x.lax_div(y);
            let whole = q.sign() * q.abs().floor();
            &g.negative() * &whole
        }
    ]};
    /// Computes the maximum of the elements. NaN propagates. Complex numbers are ordered by their
    /// real parts, then by their imaginary parts.
    Max maximum "max" "maximum" Any [(-3.0, 3.0), (-3.0, 3.0)] {[
        |g, x, y, z| balanced(g, x, y, z),
        |g, x, y, z| balanced(g, y, x, z)
    ]};
    /// Computes the minimum of the elements. NaN propagates. Complex numbers are ordered by their
    /// real parts, then by their imaginary parts.
    Min minimum "min" "minimum" Any [(-3.0, 3.0), (-3.0, 3.0)] {[
        |g, x, y, z| balanced(g, x, y, z),
        |g, x, y, z| balanced(g, y, x, z)
    ]};
    /// Computes the angle of the point `(other, self)` in radians; for complex numbers, its
    /// analytic continuation.
    Atan2 arctan2 "atan2" "atan2" Inexact [(0.5, 3.0), (0.5, 3.0)] {[
        |g, x, y, _| g * &(y / &(&x.square() + &y.square())),
        |g, x, y, _| g * &(&x.negative() / &(&x.square() + &y.square()))
    ]};
    /// Computes the bitwise and of the elements; for booleans, logical and.
    And bitwise_and "and" "and" Bits [(0.0, 9.0), (0.0, 9.0)] {zero};
    /// Computes the bitwise or of the elements; for booleans, logical or.
    Or bitwise_or "or" "or" Bits [(0.0, 9.0), (0.0, 9.0)] {zero};
    /// Computes the bitwise exclusive or of the elements.
    Xor bitwise_xor "xor" "xor" Bits [(0.0, 9.0), (0.0, 9.0)] {zero};
    /// Shifts the bits of each element left by `other`; the result is zero if `other` is at least
    /// the number of bits.
    #[doc(alias = "shift_left")]
    ShiftLeft left_shift "shift_left" "shift_left" Integer [(0.0, 9.0), (0.0, 7.0)] {zero};
    /// Shifts the bits of each element right, filling with zeros.
    #[doc(alias = "shift_right_logical")]
    ShiftRightLogical right_shift_logical "shift_right_logical" "shift_right_logical" Integer
        [(0.0, 9.0), (0.0, 7.0)] {zero};
    /// Shifts the bits of each element right, filling with the sign bit.
    #[doc(alias = "shift_right_arithmetic")]
    ShiftRightArithmetic right_shift_arithmetic "shift_right_arithmetic" "shift_right_arithmetic"
        Integer [(0.0, 9.0), (0.0, 7.0)] {zero};
    /// Computes the next representable number after the first element in the direction of the
    /// second.
    NextAfter nextafter "nextafter" "chlo.next_after" Float [(-3.0, 3.0), (-3.0, 3.0)]
        {first |g, _, _, z| fit(g, z)};
}

impl Lowering<'_> {
    /// Emits a binary operator whose operands and result have the same type.
    pub(crate) fn binary(&mut self, name: &str, args: &[Value]) -> Value {
        let dtype = args[0].dtype();
        if dtype.is_complex() && matches!(name, "maximum" | "minimum") {
            return self.complex_extreme(name, [args[0], args[1]]);
        }
        match name.strip_prefix("chlo.") {
            Some(name) => self.chlo(name, args),
            None if dtype.is_integer() && matches!(name, "divide" | "remainder") => {
                self.divide(name, [args[0], args[1]])
            }
            None => self.same(name, args),
        }
    }

    /// Emits an integer quotient or remainder. XLA defines the quotient by zero as -1 and the
    /// remainder as `x`. If both operands are constants, however, the compiler divides on the
    /// host, which raises a signal, so that divisors of zero are replaced.
    fn divide(&mut self, name: &str, [x, y]: [Value; 2]) -> Value {
        let [zero, one] = [0, 1].map(|value| self.splat(value, x.aval()));
        let by_zero = self.compare("EQ", [y, zero]);
        let safe = self.select(by_zero, one, y);
        let result = self.same(name, &[x, safe]);
        let at_zero = match name {
            "divide" => self.same("not", &[zero]),
            _ => x,
        };
        self.select(by_zero, at_zero, result)
    }
}
