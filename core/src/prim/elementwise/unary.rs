//! Unary elementwise operators.

use crate::prim::elementwise::{ElementwiseRow, parts};
use crate::prim::{Avals, Differentiation, Facts, Param, Primitive, one};
use crate::program::checks::Errors;
use crate::program::class::{Class, infer_same};
use crate::program::lower::{Lowering, Value};
use crate::program::trace::bind1;
use crate::{Array, Aval, DType, ShapeError};

macro_rules! differentiation {
    (zero) => {
        Differentiation::Zero
    };
    // A rule that may have no tangent.
    (perhaps |$g:ident, $x:ident, $y:ident| $rule:expr) => {
        Differentiation::jvp(|primals, tangents, outs| {
            let ($x, $y) = (&primals[0], &outs[0]);
            vec![tangents[0].as_ref().and_then(|$g| $rule)]
        })
    };
    (linear $rule:expr) => {
        Differentiation::linear(|ct, _| $rule(ct))
    };
    (|$g:ident, $x:ident, $y:ident| $rule:expr) => {
        Differentiation::jvp(|primals, tangents, outs| {
            let ($x, $y) = (&primals[0], &outs[0]);
            let _ = ($x, $y);
            vec![tangents[0].as_ref().map(|$g| $rule)]
        })
    };
}

macro_rules! unary {
    ($( $(#[$doc:meta])* $ty:ident $f:ident $name:literal {$($lowering:tt)+} $class:ident
        ($lo:expr, $hi:expr) $([$($diff:tt)*])+ $({$($types:tt)+})?; )*) => { $(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub struct $ty;
        impl Primitive for $ty {
            fn name(&self) -> &'static str { $name }
            fn facts(&self) -> Facts<'_> {
                // Step functions return integers, so they cannot produce NaN.
                let checks = match (Class::$class, self.differentiation()) {
                    (Class::Float | Class::Inexact, Differentiation::Jvp { .. }) => Errors::NAN,
                    _ => Errors::NONE,
                };
                Facts { checks, ..Facts::elementwise() }
            }
            fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
                let types: Types = types!($($($types)+)?);
                let out = infer_same(Class::$class, args, 1)?[0];
                one(out.with_dtype((types.result)(out.dtype())))
            }
            elementwise_rules!(@rules);
            fn differentiation(&self) -> Differentiation<'_> { differentiation!($($($diff)*)+) }
            fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], _: &[Aval]) -> Vec<Value> {
                let rule = lowering!($($lowering)+);
                vec![rule(ctx, args[0])]
            }
        }
        impl Array {
            $(#[$doc])*
            ///
            /// Integers are converted to floats first if the operator only supports floats.
            ///
            /// # Panics
            /// Panics if the dtype is not supported.
            #[track_caller]
            pub fn $f(&self) -> Array {
                let types: Types = types!($($($types)+)?);
                if (types.unchanged)(self.dtype()) {
                    return self.clone();
                }
                let x = if matches!(Class::$class, Class::Float | Class::Inexact) { self.to_inexact() } else { self.clone() };
                bind1($ty, &[&x])
            }
        } )*
        /// Table of unary operators.
        pub const UNARY: &[ElementwiseRow] = &[
            $( elementwise_row!($ty $f $name, Class::$class, &[($lo, $hi)], |x|) ),*
        ];
    };
}

/// The result dtypes of an operator, if they are not those of its class.
struct Types {
    /// Returns the dtype of the result, given that of the operand.
    result: fn(DType) -> DType,
    /// Returns whether arrays of a dtype are returned unchanged, as by NumPy.
    unchanged: fn(DType) -> bool,
}

macro_rules! types {
    () => {
        Types {
            result: |dtype| dtype,
            unchanged: |_| false,
        }
    };
    ($($types:tt)+) => {
        Types { $($types)+ }
    };
}

type Rule = fn(&mut Lowering<'_>, Value) -> Value;

macro_rules! lowering {
    (stablehlo $name:literal) => {{
        let rule: Rule = |ctx, x| ctx.same($name, &[x]);
        rule
    }};
    (chlo $name:literal) => {{
        let rule: Rule = |ctx, x| ctx.chlo($name, &[x]);
        rule
    }};
    ($rule:expr) => {{
        let rule: Rule = $rule;
        rule
    }};
}

unary! {
    /// Computes `-x`; unsigned integers wrap.
    #[doc(alias = "neg")]
    Neg negative "neg" {stablehlo "negate"} Number (-3.0, 3.0) [linear |ct: &Array| ct.negative()];
    /// Computes the sign of `x`: `-1`, `0` or `1`.
    Sign sign "sign" {|ctx, x| ctx.sign(x)} Number (0.5, 3.0)
        [perhaps |g, x, y| super::complex::sign_tangent(g, x, y)];
    /// Computes the absolute value of each element.
    Abs abs "abs" {|ctx, x| ctx.absolute(x)} Signed (0.5, 3.0) [|g, x, y| super::complex::abs_tangent(g, x, y)]
        {result: DType::real, unchanged: |dtype| dtype.is_unsigned() || dtype == DType::Bool};
    /// Computes `eˣ`.
    Exp exp "exp" {stablehlo "exponential"} Inexact (-2.0, 2.0) [|g, x, y| g * y];
    /// Computes `2ˣ`.
    Exp2 exp2 "exp2" {|ctx, x| ctx.exp2(x)} Inexact (-2.0, 2.0)
        [|g, x, y| std::f64::consts::LN_2 * &(g * y)];
    /// Computes `eˣ - 1`, accurate near zero.
    Expm1 expm1 "expm1" {stablehlo "exponential_minus_one"} Inexact (-2.0, 2.0) [|g, x, y| g * &(y + 1.0)];
    /// Computes the natural logarithm of each element.
    Log log "log" {stablehlo "log"} Inexact (0.3, 4.0) [|g, x, y| g / x];
    /// Computes the base-2 logarithm of each element.
    Log2 log2 "log2" {|ctx, x| ctx.log2(x)} Inexact (0.3, 4.0)
        [|g, x, y| g / &(x * std::f64::consts::LN_2)];
    /// Computes `log(1 + x)`, accurate near zero.
    Log1p log1p "log1p" {stablehlo "log_plus_one"} Inexact (-0.5, 3.0) [|g, x, y| g / &(x + 1.0)];
    /// Computes the square root of each element.
    Sqrt sqrt "sqrt" {stablehlo "sqrt"} Inexact (0.3, 4.0) [|g, x, y| g * &(0.5 / y)];
    /// Computes `1 / √x`.
    Rsqrt rsqrt "rsqrt" {stablehlo "rsqrt"} Inexact (0.3, 4.0) [|g, x, y| g * &(-0.5 * &(y / x))];
    /// Computes the cube root of each element.
    Cbrt cbrt "cbrt" {stablehlo "cbrt"} Float (0.3, 4.0) [|g, x, y| g * &((1.0 / 3.0) * &y.integer_pow(-2))];
    /// Computes the sine of `x` in radians.
    Sin sin "sin" {stablehlo "sine"} Inexact (-3.0, 3.0) [|g, x, y| g * &x.cos()];
    /// Computes the cosine of `x` in radians.
    Cos cos "cos" {stablehlo "cosine"} Inexact (-3.0, 3.0) [|g, x, y| (g * &x.sin()).negative()];
    /// Computes the tangent of `x` in radians.
    Tan tan "tan" {stablehlo "tan"} Inexact (-1.0, 1.0) [|g, x, y| g * &(1.0 + &y.square())];
    /// Computes the hyperbolic tangent of each element.
    Tanh tanh "tanh" {stablehlo "tanh"} Inexact (-2.0, 2.0) [|g, x, y| g * &y.one_minus_square()];
    /// Computes the hyperbolic sine of each element.
    Sinh sinh "sinh" {chlo "sinh"} Inexact (-2.0, 2.0) [|g, x, y| g * &x.cosh()];
    /// Computes the hyperbolic cosine of each element.
    Cosh cosh "cosh" {chlo "cosh"} Inexact (-2.0, 2.0) [|g, x, y| g * &x.sinh()];
    /// Computes the inverse sine of each element, in radians.
    Asin asin "asin" {chlo "asin"} Inexact (-0.8, 0.8) [|g, x, y| g * &x.one_minus_square().rsqrt()];
    /// Computes the inverse cosine of each element, in radians.
    Acos acos "acos" {chlo "acos"} Inexact (-0.8, 0.8)
        [|g, x, y| g * &x.one_minus_square().rsqrt().negative()];
    /// Computes the inverse tangent of each element, in radians.
    Atan atan "atan" {chlo "atan"} Inexact (-2.0, 2.0) [|g, x, y| g / &(1.0 + &x.square())];
    /// Computes the inverse hyperbolic sine of each element.
    Asinh asinh "asinh" {chlo "asinh"} Inexact (-2.0, 2.0) [|g, x, y| g * &(&x.square() + 1.0).rsqrt()];
    /// Computes the inverse hyperbolic cosine of each element.
    Acosh acosh "acosh" {chlo "acosh"} Inexact (1.5, 4.0)
        [|g, x, y| g * &(&(x - 1.0).rsqrt() * &(x + 1.0).rsqrt())];
    /// Computes the inverse hyperbolic tangent of each element.
    Atanh atanh "atanh" {chlo "atanh"} Inexact (-0.8, 0.8) [|g, x, y| g / &x.one_minus_square()];
    /// Computes the logistic function `1 / (1 + e⁻ˣ)`.
    Logistic logistic "logistic" {stablehlo "logistic"} Inexact (-3.0, 3.0)
        [|g, x, y| g * &(y * &(1.0 - y))];
    /// Computes the error function of each element.
    Erf erf "erf" {chlo "erf"} Float (-2.0, 2.0)
        [|g, x, y| std::f64::consts::FRAC_2_SQRT_PI * &(g * &x.square().negative().exp())];
    /// Computes `1 - erf(x)`, accurate for large `x`.
    Erfc erfc "erfc" {chlo "erfc"} Float (-2.0, 2.0)
        [|g, x, y| -std::f64::consts::FRAC_2_SQRT_PI * &(g * &x.square().negative().exp())];
    /// Computes the inverse error function of each element.
    ErfInv erf_inv "erf_inv" {chlo "erf_inv"} Float (-0.8, 0.8)
        [|g, x, y| (std::f64::consts::PI.sqrt() / 2.0) * &(g * &y.square().exp())];
    /// Computes the logarithm of the absolute value of the gamma function.
    Lgamma lgamma "lgamma" {chlo "lgamma"} Float (0.5, 4.0) [|g, x, y| g * &x.digamma()];
    /// Computes the digamma function, the derivative of [`lgamma`](Array::lgamma). It is `-∞` at 0
    /// and NaN at the other poles, the negative integers.
    Digamma digamma "digamma" {|ctx, x| ctx.digamma(x)} Float (0.5, 4.0)
        [|g, x, y| g * &x.ones_like().polygamma(x)];
    /// Computes `x²`.
    Square square "square" {|ctx, x| ctx.same("multiply", &[x, x])} Number (-3.0, 3.0) [|g, x, y| g * &(2.0 * x)];
    /// Computes `1 - x²` as `(1 + x)(1 - x)`, accurate where `|x|` is near 1. The derivative, `-2x`,
    /// is accurate near 0.
    OneMinusSquare one_minus_square "one_minus_square" {|ctx, x| ctx.one_minus_square(x)}
        Number (-3.0, 3.0) [|g, x, y| g * &(-2.0 * x)];
    /// Rounds each element down to an integer.
    Floor floor "floor" {stablehlo "floor"} Float (0.1, 0.9) [zero]
        {result: |dtype| dtype, unchanged: |dtype| !dtype.is_inexact()};
    /// Rounds each element up to an integer.
    Ceil ceil "ceil" {stablehlo "ceil"} Float (0.1, 0.9) [zero]
        {result: |dtype| dtype, unchanged: |dtype| !dtype.is_inexact()};
    /// Inverts the bits of each element; for booleans, logical not.
    Not bitwise_not "not" {stablehlo "not"} Bits (0.0, 9.0) [zero];
    /// Computes the number of one bits of each element.
    PopulationCount population_count "population_count" {stablehlo "popcnt"} Integer (0.0, 9.0) [zero];
    /// Computes the number of leading zero bits of each element.
    #[doc(alias = "clz")]
    Clz count_leading_zeros "clz" {|ctx, x| ctx.leading_zeros(x)} Integer (0.0, 9.0) [zero];
}

impl Lowering<'_> {
    /// Emits the absolute value, which is real.
    fn absolute(&mut self, x: Value) -> Value {
        if x.dtype().is_complex() {
            self.op1("abs", &[x], x.aval().with_dtype(x.dtype().real()), "")
        } else {
            self.same("abs", &[x])
        }
    }

    /// Emits the sign. StableHLO does not support `sign` of unsigned integers.
    fn sign(&mut self, x: Value) -> Value {
        if !x.dtype().is_unsigned() {
            return self.same("sign", &[x]);
        }
        let one = self.splat(1, x.aval());
        self.same("minimum", &[x, one])
    }

    /// Emits the number of leading zeros. XLA sign-extends constants to 64 bits before it counts,
    /// which yields a negative number for a negative constant, so the bits are counted as
    /// unsigned integers.
    fn leading_zeros(&mut self, x: Value) -> Value {
        let bits = match x.dtype() {
            DType::I2 => DType::U2,
            DType::I4 => DType::U4,
            DType::I8 => DType::U8,
            DType::I16 => DType::U16,
            DType::I32 => DType::U32,
            DType::I64 => DType::U64,
            unsigned => unsigned,
        };
        if bits == x.dtype() {
            return self.same("count_leading_zeros", &[x]);
        }
        let unsigned = self.bitcast(x, bits);
        let zeros = self.same("count_leading_zeros", &[unsigned]);
        self.bitcast(zeros, x.dtype())
    }

    /// Emits the base-2 logarithm. A product with a complex constant would give NaN for infinite
    /// parts.
    fn log2(&mut self, x: Value) -> Value {
        let log = self.same("log", &[x]);
        let half = x.aval().with_dtype(x.dtype().real());
        let factor = self.splat(std::f64::consts::LOG2_E, half);
        if !x.dtype().is_complex() {
            return self.same("multiply", &[log, factor]);
        }
        let parts = ["real", "imag"].map(|part| {
            let part = self.part(part, log);
            self.same("multiply", &[part, factor])
        });
        self.complex(parts)
    }

    fn digamma(&mut self, x: Value) -> Value {
        let value = self.chlo("digamma", &[x]);
        let [zero, pole] = [0.0, f64::NEG_INFINITY].map(|number| self.splat(number, x.aval()));
        let at_zero = self.compare("EQ", [x, zero]);
        self.select(at_zero, pole, value)
    }

    fn one_minus_square(&mut self, x: Value) -> Value {
        let one = self.splat(1, x.aval());
        let [sum, difference] = ["add", "subtract"].map(|name| self.same(name, &[one, x]));
        self.same("multiply", &[sum, difference])
    }

    fn exp2(&mut self, x: Value) -> Value {
        let ln2 = self.splat(std::f64::consts::LN_2, x.aval());
        let scaled = self.same("multiply", &[x, ln2]);
        self.same("exponential", &[scaled])
    }
}

/// The rounding of halves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RoundingMethod {
    /// Rounds halves away from zero.
    AwayFromZero,
    /// Rounds halves to the even neighbor, as IEEE 754 and NumPy do.
    ToNearestEven,
}

/// Rounds to the nearest integer.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Round(pub RoundingMethod);

impl Primitive for Round {
    fn name(&self) -> &'static str {
        "round"
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        let code = match self.0 {
            RoundingMethod::AwayFromZero => 0,
            RoundingMethod::ToNearestEven => 1,
        };
        vec![("rounding_method", Param::new(code))]
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        infer_same(Class::Float, args, 1)
    }
    elementwise_rules!();
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::Zero
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], _: &[Aval]) -> Vec<Value> {
        let name = match self.0 {
            RoundingMethod::AwayFromZero => "round_nearest_afz",
            RoundingMethod::ToNearestEven => "round_nearest_even",
        };
        vec![ctx.same(name, args)]
    }
}

/// Returns whether `x` is neither infinite nor NaN.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct IsFinite;

impl Primitive for IsFinite {
    fn name(&self) -> &'static str {
        "is_finite"
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        let same = infer_same(Class::Inexact, args, 1)?;
        one(same[0].with_dtype(DType::Bool))
    }
    elementwise_rules!(propagates_weak_type: false);
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::Zero
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], outs: &[Aval]) -> Vec<Value> {
        if !args[0].dtype().is_complex() {
            return vec![ctx.op1("is_finite", args, outs[0], "")];
        }
        let [re, im] = ["real", "imag"].map(|part| {
            let part = ctx.part(part, args[0]);
            ctx.op1("is_finite", &[part], outs[0], "")
        });
        vec![ctx.same("and", &[re, im])]
    }
}

/// Computes `xʸ` for a fixed integer `y`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct IntegerPow(pub i32);

impl Primitive for IntegerPow {
    fn name(&self) -> &'static str {
        "integer_pow"
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        vec![("y", Param::new(self.0))]
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        let outs = infer_same(Class::Number, args, 1)?;
        if self.0 < 0 && !outs[0].dtype().is_inexact() {
            return Err(ShapeError::new(format!(
                "integers cannot be raised to the negative power {}",
                self.0
            ))
            .help("convert first: x.astype(DType::F32)"));
        }
        Ok(outs)
    }
    elementwise_rules!(checks: Errors::NAN);
    fn differentiation(&self) -> Differentiation<'_> {
        let y = self.0;
        Differentiation::jvp(move |primals, tangents, _| {
            vec![tangents[0].as_ref().filter(|_| y != 0).map(|g| {
                let x = &primals[0];
                match y {
                    1 => g.clone(),
                    2 => g * &(2.0 * x),
                    i32::MIN => g * &(f64::from(y) * &(x.integer_pow(y) / x)),
                    _ => g * &(f64::from(y) * &x.integer_pow(y - 1)),
                }
            })]
        })
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], _: &[Aval]) -> Vec<Value> {
        // Repeated squaring, as in JAX.
        let mut n = self.0.unsigned_abs();
        let mut base = args[0];
        let mut acc: Option<Value> = None;
        while n > 0 {
            if n & 1 == 1 {
                acc = Some(match acc {
                    Some(a) => ctx.same("multiply", &[a, base]),
                    None => base,
                });
            }
            n >>= 1;
            if n > 0 {
                base = ctx.same("multiply", &[base, base]);
            }
        }
        let one = |ctx: &mut Lowering<'_>| ctx.splat(1, args[0].aval());
        let power = acc.unwrap_or_else(|| one(ctx));
        if self.0 >= 0 {
            return vec![power];
        }
        let one = one(ctx);
        vec![ctx.same("divide", &[one, power])]
    }
}

impl Array {
    /// Rounds each element to the nearest integer; halves are rounded to the even neighbor, as in
    /// NumPy. Integers are returned unchanged; both parts of complex numbers are rounded.
    ///
    /// # Panics
    /// Panics if the dtype is `bool`.
    #[track_caller]
    pub fn round(&self) -> Array {
        if self.dtype().is_integer() {
            return self.clone();
        }
        parts::by_parts(self, |x| bind1(Round(RoundingMethod::ToNearestEven), &[x]))
    }

    /// Returns whether each element is neither infinite nor NaN, in both parts of a complex
    /// number.
    #[track_caller]
    pub fn is_finite(&self) -> Array {
        bind1(IsFinite, &[&self.to_inexact()])
    }

    /// Returns whether each element is NaN.
    #[track_caller]
    pub fn is_nan(&self) -> Array {
        let x = self.to_inexact();
        x.ne(&x)
    }

    /// Raises each element to the integer power `y`.
    ///
    /// # Panics
    /// Panics if `y` is negative and the dtype is an integer dtype.
    #[track_caller]
    #[doc(alias = "powi")]
    #[doc(alias = "pow")]
    pub fn integer_pow(&self, y: i32) -> Array {
        bind1(IntegerPow(y), &[self])
    }
}
