//! `polygamma`.

use super::{Class, batch_elementwise, fit, infer_same, spread};
use crate::lower::{Lowering, Value};
use crate::prim::{Avals, BatchAxis, Batched, Differentiation, Primitive};
use crate::trace::bind1;
use crate::{Array, Aval, IntoArray, ShapeError, ShardingRule};

/// Derivatives of the digamma function: operand 0 tells which, operand 1 where.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Polygamma;

impl Primitive for Polygamma {
    fn name(&self) -> &'static str {
        "polygamma"
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        infer_same(Class::Float, args, 2)
    }
    fn sharding(&self, _: &[Aval], _: &[Aval]) -> Result<ShardingRule, ShapeError> {
        Ok(ShardingRule::Elementwise)
    }
    fn differentiation(&self) -> Differentiation<'_> {
        // The order is a whole number: no derivative is taken in it.
        Differentiation::jvp(|p, t, outs| {
            let next = |g: &Array| fit(&(g * &(&p[0] + 1.0).polygamma(&p[1])), &outs[0]);
            vec![t[1].as_ref().map(next)]
        })
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], _: BatchAxis) -> Batched {
        batch_elementwise(args, axes, |a| bind1(Polygamma, a))
    }
    fn lower(
        &self,
        ctx: &mut Lowering<'_>,
        args: &[Value],
        ins: &[Aval],
        outs: &[Aval],
    ) -> Vec<Value> {
        let args = spread(ctx, args, ins, outs[0]);
        vec![ctx.chlo("polygamma", &args, outs[0], outs[0])]
    }
}

impl Array {
    /// The derivative of the digamma function at `x`, as many times as `self`
    /// says (whole numbers, in floats).
    ///
    /// # Panics
    /// If the operands are no floats, or their shapes do not broadcast.
    #[track_caller]
    pub fn polygamma(&self, x: impl IntoArray) -> Array {
        let (n, x) = crate::ops::promote("polygamma", self, &x.into_array());
        bind1(Polygamma, &[&n, &x])
    }
}
