//! `logaddexp`: a primitive, because the derivative of the overflow-safe formula is wrong at the
//! boundaries of its cases.

use super::batch_elementwise;
use crate::passes::add_tangents;
use crate::prim::operands;
use crate::prim::{Avals, BatchAxis, Batched, Differentiation, Primitive};
use crate::program::checks::Errors;
use crate::program::class::{Class, infer_same};
use crate::program::lower::{Lowering, Value};
use crate::program::trace::bind1;
use crate::{Array, Aval, DType, IntoArray, ShapeError, ShardingRule, where_};
use std::f64::consts::PI;

/// Computes `log(eᵃ + eᵇ)` of two operands of the same shape.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LogAddExp;

impl Primitive for LogAddExp {
    fn name(&self) -> &'static str {
        "logaddexp"
    }
    fn checks(&self) -> Errors {
        Errors::NAN
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
        // e^(a - z) is at most 1; an infinite a = z has weight 1.
        let finite = |x: &Array| where_(x.real().eq(f64::INFINITY), 0, x);
        Differentiation::jvp(move |p, t, outs| {
            let weight = |x: &Array| (finite(x) - finite(&outs[0])).exp();
            let part = |i: usize| t[i].as_ref().map(|t| t * weight(&p[i]));
            vec![add_tangents(part(0), part(1))]
        })
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], _: BatchAxis) -> Batched {
        batch_elementwise(args, axes, |a| {
            let shape = operands::common_shape("logaddexp", a);
            bind1(
                LogAddExp,
                &[&a[0].broadcast_to(&shape), &a[1].broadcast_to(&shape)],
            )
        })
    }
    fn lower(
        &self,
        ctx: &mut Lowering<'_>,
        args: &[Value],
        _: &[Aval],
        outs: &[Aval],
    ) -> Vec<Value> {
        vec![ctx.log_add_exp([args[0], args[1]], outs[0])]
    }
}

impl Lowering<'_> {
    /// Emits `log(eᵃ + eᵇ)` without overflow; equal infinities yield themselves.
    pub(crate) fn log_add_exp(&mut self, args: [Value; 2], aval: Aval) -> Value {
        if aval.dtype().is_complex() {
            return self.complex_log_add_exp(args, aval);
        }
        let ctx = self;
        let args = &args;
        let largest = ctx.binary("maximum", args, aval);
        let distance = ctx.same("subtract", args, aval);
        let magnitude = ctx.same("abs", &[distance], aval);
        let negative = ctx.same("negate", &[magnitude], aval);
        let power = ctx.same("exponential", &[negative], aval);
        let rest = ctx.same("log_plus_one", &[power], aval);
        let sum = ctx.same("add", &[largest, rest], aval);
        // The difference of equal infinities is NaN; their sum is the result.
        let undefined = ctx.compare("NE", [distance, distance], aval);
        let plain = ctx.same("add", args, aval);
        let types = [aval.with_dtype(DType::Bool), aval, aval];
        ctx.op1("select", &[undefined, plain, sum], &types, aval, "")
    }

    /// Emits `log(eᵃ + eᵇ)` of complex numbers, with an imaginary part from -π to π.
    fn complex_log_add_exp(&mut self, args: [Value; 2], aval: Aval) -> Value {
        let largest = self.binary("maximum", &args, aval);
        let sum = self.same("add", &args, aval);
        let twice = self.same("add", &[largest, largest], aval);
        // The difference of two logarithms of zero is NaN.
        let half = aval.with_dtype(aval.dtype().real());
        let truth = half.with_dtype(DType::Bool);
        let size = self.op1("real", &[largest], &[aval], half, "");
        let lowest = self.splat(f64::NEG_INFINITY, half);
        let is_zero = self.compare("EQ", [size, lowest], half);
        let zeros = self.splat(0, aval);
        let twice = self.op1(
            "select",
            &[is_zero, zeros, twice],
            &[truth, aval, aval],
            aval,
            "",
        );
        let distance = self.same("subtract", &[sum, twice], aval);
        let power = self.same("exponential", &[distance], aval);
        let rest = self.same("log_plus_one", &[power], aval);
        let sum = self.same("add", &[largest, rest], aval);
        let [re, im] = ["real", "imag"].map(|part| self.op1(part, &[sum], &[aval], half, ""));
        let [pi, turn, zero] = [PI, 2.0 * PI, 0.0].map(|v| self.splat(v, half));
        let moved = self.same("add", &[im, pi], half);
        let rest = self.same("remainder", &[moved, turn], half);
        let below = self.compare("LT", [rest, zero], half);
        let above = self.same("add", &[rest, turn], half);
        let rest = self.op1(
            "select",
            &[below, above, rest],
            &[truth, half, half],
            half,
            "",
        );
        let im = self.same("subtract", &[rest, pi], half);
        self.op1("complex", &[re, im], &[half, half], aval, "")
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
