//! Special functions computed by series, continued fractions and polynomials, written with other
//! operations and lowered through them.

mod bessel;
pub(crate) mod erfcinv;
mod incomplete_beta;
mod incomplete_gamma;

use super::{ElementwiseRow, fit};
use crate::base::location;
use crate::passes::add_tangents;
use crate::prim::operands;
use crate::prim::{Avals, Differentiation, Primitive};
use crate::program::checks::Errors;
use crate::program::class::{Class, infer_same};
use crate::program::lower::{Lowering, Value};
use crate::program::trace::bind1;
use crate::{Array, Aval, DType, IntoArray, ShapeError};
use std::f64::consts::PI;

/// Returns the dtype of the computation: 16-bit floats are not precise enough.
fn computed_in(dtype: DType) -> DType {
    match dtype {
        DType::F64 => DType::F64,
        _ => DType::F32,
    }
}

/// Returns the distance from 1 to the next float.
fn epsilon(dtype: DType) -> f64 {
    match dtype {
        DType::F64 => f64::EPSILON,
        DType::BF16 => half::bf16::EPSILON.to_f64(),
        DType::F16 => half::f16::EPSILON.to_f64(),
        _ => f64::from(f32::EPSILON),
    }
}

/// Returns the logarithm of the largest float.
fn largest_exponent(dtype: DType) -> f64 {
    match dtype {
        DType::F64 => f64::MAX.ln(),
        _ => f64::from(f32::MAX.ln()),
    }
}

/// Panics, since there is no derivative with respect to an operand.
#[track_caller]
pub(super) fn refuse(function: &str, operands: &str) -> ! {
    location::fail(&format!(
        "{function}: has no derivative with respect to {operands}\n  help: use stop_gradient on \
         them"
    ))
}

/// Adds the two tangents of a function of two operands, each with its own rule.
fn both(
    t: &[Option<Array>],
    out: &Array,
    first: impl Fn(&Array) -> Array,
    second: impl Fn(&Array) -> Array,
) -> Vec<Option<Array>> {
    let a = t[0].as_ref().map(|t| fit(&first(t), out));
    let b = t[1].as_ref().map(|t| fit(&second(t), out));
    vec![add_tangents(a, b)]
}

macro_rules! lowering {
    ($name:literal, chlo $op:literal, $ctx:ident, $args:ident, $out:ident) => {
        vec![$ctx.chlo($op, &$args)]
    };
    ($name:literal, $f:expr, $ctx:ident, $args:ident, $out:ident) => {{
        $ctx.traced($name, &$args, |operands| {
            let wide = computed_in($out.dtype());
            let operands: Vec<Array> = operands.iter().map(|x| x.astype(wide)).collect();
            let f: fn(&[Array]) -> Array = $f;
            vec![f(&operands).astype($out.dtype())]
        })
    }};
}

macro_rules! special {
    ($( $(#[$doc:meta])* $ty:ident $f:ident $name:literal ($($other:ident)*) $([$domain:expr])?
        {$($lowering:tt)+} [$diff:expr]; )*) => { $(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub struct $ty;
        impl Primitive for $ty {
            fn name(&self) -> &'static str { $name }
            fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
                let operands = ["self", $(stringify!($other)),*];
                infer_same(Class::Float, args, operands.len())
            }
            elementwise_rules!(checks: Errors::NAN);
            fn differentiation(&self) -> Differentiation<'_> { $diff }
            fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], outs: &[Aval]) -> Vec<Value> {
                let out = outs[0];
                let args = ctx.broadcast_operands(args, out);
                lowering!($name, $($lowering)+, ctx, args, out)
            }
        }
        impl Array {
            $(#[$doc])*
            ///
            /// Operands are promoted to a common floating-point dtype and broadcast.
            ///
            /// # Panics
            /// Panics if the shapes do not broadcast.
            #[track_caller]
            pub fn $f(&self $(, $other: impl IntoArray)*) -> Array {
                let operands = [self.to_inexact() $(, $other.into_array().to_inexact())*];
                let operands = operands::broadcast_promoted($name, &operands);
                let refs: Vec<&Array> = operands.iter().collect();
                bind1($ty, &refs)
            }
        } )*
        /// Table of special functions.
        pub const SPECIAL: &[ElementwiseRow] = &[
            $( elementwise_row!($ty $f $name, Class::Float, &[$($domain)?], |this $(, $other)*|) ),*
        ];
    };
}

special! {
    /// Computes the regularized lower incomplete gamma function `P(a, x)`, the fraction of the
    /// gamma function's integral up to `x`; `self` is `a`.
    Igamma igamma "igamma" (x) {incomplete_gamma::lower} [Differentiation::jvp(|p, t, outs| {
        both(t, &outs[0], |t| t * p[0].igamma_grad_a(&p[1]), |t| t * incomplete_gamma::density(&p[0], &p[1]))
    })];
    /// Computes the regularized upper incomplete gamma function `Q(a, x) = 1 - P(a, x)`; `self`
    /// is `a`.
    Igammac igammac "igammac" (x) {incomplete_gamma::upper} [Differentiation::jvp(|p, t, outs| {
        both(
            t,
            &outs[0],
            |t| -(t * p[0].igamma_grad_a(&p[1])),
            |t| -(t * incomplete_gamma::density(&p[0], &p[1])),
        )
    })];
    /// Computes the derivative of [`igamma`](Array::igamma) with respect to `a`, which is `self`.
    IgammaGradA igamma_grad_a "igamma_grad_a" (x) {incomplete_gamma::derivative}
        [Differentiation::Undefined {
            why: "it is itself a derivative, of igamma",
            help: "use stop_gradient",
        }];
    /// Computes the derivative of a sample `x` of the gamma distribution with respect to the
    /// distribution's parameter `a`, which is `self`, as if the sample were a smooth function of
    /// it.
    RandomGammaGrad random_gamma_grad "random_gamma_grad" (x) {incomplete_gamma::of_sample}
        [Differentiation::Undefined {
            why: "it is itself a derivative, of samples of the gamma distribution",
            help: "use stop_gradient",
        }];
    /// Computes the regularized incomplete beta function: the fraction of the beta function's
    /// integral up to `x`; `self` is its first parameter.
    Betainc betainc "regularized_incomplete_beta" (b x) {incomplete_beta::regularized}
        [Differentiation::jvp(|p, t, outs| {
            if t[0].is_some() || t[1].is_some() {
                refuse("betainc", "its first two operands");
            }
            let rule = |t: &Array| fit(&(incomplete_beta::density(&p[0], &p[1], &p[2]) * t), &outs[0]);
            vec![t[2].as_ref().map(rule)]
        })];
    /// Computes the Hurwitz zeta function `Σ (k + q)⁻ˢ` over `k` from 0; `self` is `s`.
    Zeta zeta "zeta" (q) {chlo "zeta"} [Differentiation::jvp(|p, t, outs| {
        if t[0].is_some() {
            refuse("zeta", "its first operand");
        }
        let rule = |t: &Array| fit(&(t * &(-&p[0] * (&p[0] + 1.0).zeta(&p[1]))), &outs[0]);
        vec![t[1].as_ref().map(rule)]
    })];
    /// Computes the modified Bessel function of order 0, scaled by `e^-|x|`.
    BesselI0e bessel_i0e "bessel_i0e" () [(0.5, 4.0)] {bessel::i0e} [Differentiation::jvp(|p, t, outs| {
        let slope = || p[0].bessel_i1e() - p[0].sign() * &outs[0];
        vec![t[0].as_ref().map(|t| t * slope())]
    })];
    /// Computes the modified Bessel function of order 1, scaled by `e^-|x|`.
    BesselI1e bessel_i1e "bessel_i1e" () [(0.5, 4.0)] {chlo "bessel_i1e"} [Differentiation::jvp(|p, t, outs| {
        vec![t[0].as_ref().map(|t| t * bessel::i1e_slope(&p[0], &outs[0]))]
    })];
    /// Computes the inverse of the complementary error function [`erfc`](Array::erfc), accurate
    /// for small `x`, where [`erf_inv`](Array::erf_inv) of `1 - x` is infinite. It is infinite at 0
    /// and 2, and NaN outside of them.
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// let y = Array::from([1e-30f32, 1.0, 2.0]).erfcinv();
    /// assert!(y.allclose(Array::from([8.148616f32, 0.0, f32::NEG_INFINITY])).item::<bool>());
    /// ```
    Erfcinv erfcinv "erfcinv" () [(0.3, 1.7)] {erfcinv::erfcinv} [Differentiation::jvp(|_, t, outs| {
        let slope = || outs[0].square().exp() * (-PI.sqrt() / 2.0);
        vec![t[0].as_ref().map(|t| t * slope())]
    })];
}
