//! `polygamma`.

use super::fit;
use super::special::refuse;
use crate::prim::operands;
use crate::prim::{Avals, Differentiation, Primitive};
use crate::program::class::{Class, infer_same};
use crate::program::lower::{Lowering, Value};
use crate::program::trace::bind1;
use crate::{Array, Aval, IntoArray, ShapeError};

/// Computes a derivative of the digamma function: operand 0 is the order, operand 1 the argument.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Polygamma;

impl Primitive for Polygamma {
    fn name(&self) -> &'static str {
        "polygamma"
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        infer_same(Class::Float, args, 2)
    }
    elementwise_rules!();
    fn differentiation(&self) -> Differentiation<'_> {
        // The order is an integer, so there is no derivative with respect to it.
        Differentiation::jvp(|p, t, outs| {
            if t[0].is_some() {
                refuse("polygamma", "its first operand");
            }
            let next = |g: &Array| fit(&(g * &(&p[0] + 1.0).polygamma(&p[1])), &outs[0]);
            vec![t[1].as_ref().map(next)]
        })
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], outs: &[Aval]) -> Vec<Value> {
        let args = ctx.broadcast_operands(args, outs[0]);
        vec![ctx.chlo("polygamma", &args)]
    }
}

impl Array {
    /// Computes the derivative of the digamma function of the order given by `self` (integers, as
    /// floats) at `x`.
    ///
    /// # Panics
    /// Panics if the operands are not floats, or if their shapes do not broadcast.
    #[track_caller]
    pub fn polygamma(&self, x: impl IntoArray) -> Array {
        let (n, x) = operands::promote("polygamma", self, &x.into_array());
        bind1(Polygamma, &[&n, &x])
    }
}
