//! `logaddexp`: a primitive, because the derivative of the overflow-safe formula is wrong at the
//! boundaries of its cases.

use super::batch_elementwise;
use crate::extend::ShardingRule;
use crate::passes::add_tangents;
use crate::prim::operands;
use crate::prim::{Avals, BatchAxis, Batched, Differentiation, Facts, Primitive};
use crate::program::checks::Errors;
use crate::program::class::{Class, infer_same};
use crate::program::lower::{Lowering, Value};
use crate::program::trace::bind1;
use crate::{Array, Aval, IntoArray, ShapeError, where_};
use std::f64::consts::PI;

/// Computes `log(eᵃ + eᵇ)` of two operands of the same shape.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LogAddExp;

impl Primitive for LogAddExp {
    fn name(&self) -> &'static str {
        "logaddexp"
    }
    fn facts(&self) -> Facts<'_> {
        Facts {
            checks: Errors::NAN,
            ..Facts::elementwise()
        }
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        let outs = infer_same(Class::Inexact, args, 2)?;
        crate::ensure_shape!(
            args[0].shape() == args[1].shape(),
            "operands differ in shape: {} and {}",
            args[0],
            args[1]
        );
        Ok(outs)
    }
    fn sharding(&self, _: &[Aval], _: &[Aval]) -> Result<ShardingRule, ShapeError> {
        Ok(ShardingRule::Elementwise)
    }
    fn differentiation(&self) -> Differentiation<'_> {
        // e^(a - z) is at most 1. It is 0 for z = -∞, the sum of two zeros. Of an infinite z, the
        // infinite operands have weight 1, and finite ones 0.
        let infinite = |x: &Array| x.real().eq(f64::INFINITY);
        Differentiation::jvp(move |p, t, outs| {
            let z = &outs[0];
            let shift = where_(z.real().is_inf(), 0, z);
            let at_infinity = infinite(z);
            let weight = |x: &Array| {
                let finite = (where_(&at_infinity, 0, x) - &shift).exp();
                where_(&at_infinity, infinite(x).astype(z.dtype()), finite)
            };
            let part = |i: usize| t[i].as_ref().map(|t| t * weight(&p[i]));
            vec![add_tangents(part(0), part(1))]
        })
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], _: BatchAxis) -> Batched {
        batch_elementwise(args, axes, &|a| {
            let shape = operands::common_shape("logaddexp", a);
            bind1(
                LogAddExp,
                &[&a[0].broadcast_to(&shape), &a[1].broadcast_to(&shape)],
            )
        })
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], _: &[Aval]) -> Vec<Value> {
        vec![ctx.log_add_exp([args[0], args[1]])]
    }
}

impl Lowering<'_> {
    /// Emits `log(eᵃ + eᵇ)` without overflow; equal infinities yield themselves.
    pub(crate) fn log_add_exp(&mut self, args: [Value; 2]) -> Value {
        if args[0].dtype().is_complex() {
            return self.complex_log_add_exp(args);
        }
        let ctx = self;
        let args = &args;
        let largest = ctx.binary("maximum", args);
        let distance = ctx.same("subtract", args);
        let magnitude = ctx.same("abs", &[distance]);
        let negative = ctx.same("negate", &[magnitude]);
        let power = ctx.same("exponential", &[negative]);
        let rest = ctx.same("log_plus_one", &[power]);
        let sum = ctx.same("add", &[largest, rest]);
        // The difference of equal infinities is NaN; their sum is the result.
        let undefined = ctx.compare("NE", [distance, distance]);
        let plain = ctx.same("add", args);
        ctx.select(undefined, plain, sum)
    }

    /// Emits `log(eᵃ + eᵇ)` of complex numbers, with an imaginary part from -π to π.
    fn complex_log_add_exp(&mut self, args: [Value; 2]) -> Value {
        let largest = self.binary("maximum", &args);
        let sum = self.same("add", &args);
        let twice = self.same("add", &[largest, largest]);
        // The difference of two logarithms of zero is NaN.
        let size = self.part("real", largest);
        let lowest = self.splat(f64::NEG_INFINITY, size.aval());
        let is_zero = self.compare("EQ", [size, lowest]);
        let zeros = self.splat(0, sum.aval());
        let twice = self.select(is_zero, zeros, twice);
        let distance = self.same("subtract", &[sum, twice]);
        let power = self.same("exponential", &[distance]);
        let rest = self.same("log_plus_one", &[power]);
        let sum = self.same("add", &[largest, rest]);
        let [re, im] = self.parts(sum);
        let [pi, turn, zero] = [PI, 2.0 * PI, 0.0].map(|v| self.splat(v, im.aval()));
        let moved = self.same("add", &[im, pi]);
        let rest = self.same("remainder", &[moved, turn]);
        let below = self.compare("LT", [rest, zero]);
        let above = self.same("add", &[rest, turn]);
        let rest = self.select(below, above, rest);
        let im = self.same("subtract", &[rest, pi]);
        self.complex([re, im])
    }
}

impl Array {
    /// Computes `log(eᵃ + eᵇ)` without overflow. The imaginary part of a complex result is
    /// between -π and π.
    ///
    /// # Panics
    /// Panics if the shapes do not broadcast.
    #[track_caller]
    pub fn logaddexp(&self, other: impl IntoArray) -> Array {
        let (a, b) = operands::promote("logaddexp", self, &other.into_array());
        let (a, b) = (a.to_inexact(), b.to_inexact());
        let shape = operands::common_shape("logaddexp", &[&a, &b]);
        bind1(
            LogAddExp,
            &[&a.broadcast_to(&shape), &b.broadcast_to(&shape)],
        )
    }
}
