//! `pow`.

use super::fit;
use crate::passes::add_tangents;
use crate::prim::operands;
use crate::prim::{Avals, Differentiation, Primitive, one};
use crate::program::checks::Errors;
use crate::program::class::{Class, broadcast_rule, infer_same};
use crate::program::lower::{Lowering, Value};
use crate::program::trace::bind1;
use crate::{Array, Aval, IntoArray, ShapeError};

/// Raises floats to a power: floats of the same dtype, or integers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Pow;

/// Replaces zeros by ones, whose logarithm is zero.
fn replace_zero(x: &Array) -> Array {
    x.eq(0).select(&x.ones_like(), x)
}

impl Primitive for Pow {
    fn name(&self) -> &'static str {
        "pow"
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        crate::ensure_shape!(args.len() == 2, "expects 2 operands, got {}", args.len());
        if !args[1].dtype().is_integer() {
            return infer_same(Class::Inexact, args, 2);
        }
        Class::Inexact.check(args[0].dtype())?;
        one(args[0].with_shape(&broadcast_rule(args)?))
    }
    elementwise_rules!(checks: Errors::NAN);
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::jvp(|p, t, outs| {
            let (x, y, z) = (&p[0], &p[1], &outs[0]);
            let base = t[0].as_ref().map(|g| {
                let integer = y.dtype().is_integer();
                let x = x.broadcast_to(z.shape());
                let y = y.astype(x.dtype()).broadcast_to(z.shape());
                // The derivative of x⁰ is 0, also at x = 0, where 0 · x⁻¹ is NaN.
                let constant = if integer {
                    y.eq(0)
                } else {
                    y.eq(0).bitwise_and(x.eq(0))
                };
                let slope = &y * &constant.select(&x.ones_like(), &x).lax_pow(&y - 1.0);
                fit(&(g * &slope), z)
            });
            let exponent = t[1]
                .as_ref()
                .map(|g| fit(&(g * &(&replace_zero(x).log() * z)), z));
            vec![add_tangents(base, exponent)]
        })
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], outs: &[Aval]) -> Vec<Value> {
        let args = ctx.broadcast_operands(args, outs[0]);
        let y = ctx.convert(args[1], outs[0].dtype());
        vec![ctx.same("power", &[args[0], y])]
    }
}

impl Array {
    /// Raises the first element to the power of the second, which must be floats of the same
    /// dtype.
    ///
    /// Operands are promoted to a common dtype and broadcast.
    ///
    /// # Panics
    /// Panics if the shapes do not broadcast, or if the promoted dtype is not a floating-point
    /// dtype.
    #[track_caller]
    pub fn lax_pow(&self, other: impl IntoArray) -> Array {
        let (a, b) = operands::promote("pow", self, &other.into_array());
        bind1(Pow, &[&a, &b])
    }
}
