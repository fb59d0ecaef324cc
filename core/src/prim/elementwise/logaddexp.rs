//! `logaddexp`: a primitive, because the derivative of the formula that avoids
//! overflow is wrong where its pieces meet.

use super::{Class, add_tangents, batch_elementwise, infer_same};
use crate::lower::{Lowering, Value};
use crate::prim::{Avals, BatchAxis, Batched, Differentiation, Primitive};
use crate::trace::bind1;
use crate::{Array, Aval, DType, IntoArray, ShapeError, ShardingRule, where_};

/// `log(eᵃ + eᵇ)` of two operands of one shape.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LogAddExp;

impl Primitive for LogAddExp {
    fn name(&self) -> &'static str {
        "logaddexp"
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        let outs = infer_same(Class::Float, args, 2)?;
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
        // e^(a - z) is at most 1; the infinite a = z has the weight 1.
        let finite = |x: &Array| where_(&x.eq(f64::INFINITY), 0, x);
        Differentiation::jvp(move |p, t, outs| {
            let weight = |x: &Array| (finite(x) - finite(&outs[0])).exp();
            let part = |i: usize| t[i].as_ref().map(|t| t * weight(&p[i]));
            vec![add_tangents(part(0), part(1))]
        })
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], _: BatchAxis) -> Batched {
        batch_elementwise(args, axes, |a| {
            let shape = crate::ops::common_shape("logaddexp", a);
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
        let aval = outs[0];
        let largest = ctx.binary("maximum", args, aval);
        let distance = ctx.same("subtract", args, aval);
        let magnitude = ctx.same("abs", &[distance], aval);
        let negative = ctx.same("negate", &[magnitude], aval);
        let power = ctx.same("exponential", &[negative], aval);
        let rest = ctx.same("log_plus_one", &[power], aval);
        let sum = ctx.same("add", &[largest, rest], aval);
        // Equal infinities have no distance; their sum is the answer.
        let undefined = ctx.compare("NE", [distance, distance], aval);
        let plain = ctx.same("add", args, aval);
        let types = [aval.with_dtype(DType::Bool), aval, aval];
        vec![ctx.op1("select", &[undefined, plain, sum], &types, aval, "")]
    }
}

impl Array {
    /// `log(eᵃ + eᵇ)`, without overflow.
    ///
    /// # Panics
    /// If the shapes do not broadcast.
    #[track_caller]
    pub fn logaddexp(&self, other: impl IntoArray) -> Array {
        let (a, b) = crate::ops::promote("logaddexp", self, &other.into_array());
        let (a, b) = (a.to_inexact(), b.to_inexact());
        let shape = crate::ops::common_shape("logaddexp", &[&a, &b]);
        bind1(
            LogAddExp,
            &[&a.broadcast_to(&shape), &b.broadcast_to(&shape)],
        )
    }
}
