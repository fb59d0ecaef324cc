//! `add_any`: the sum of tangents or cotangents.

use crate::extend::ShardingRule;
use crate::program::checks::Errors;
use crate::program::class::{Class, infer_same};
use crate::program::lower::{Lowering, Value};
use crate::program::primitive::{Avals, Facts, Primitive, batched};
use crate::program::rules::{BatchAxis, Batched, Differentiation, in_front};
use crate::program::trace::bind1;
use crate::{Array, Aval, ShapeError};

/// Adds two tangents or cotangents of the same type (JAX's `add_any`).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AddAny;

impl Primitive for AddAny {
    fn name(&self) -> &'static str {
        "add_any"
    }
    fn facts(&self) -> Facts<'_> {
        Facts {
            checks: Errors::NAN,
            keeps_unreduced: true,
            ..Facts::elementwise()
        }
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        if args.len() == 2 && args[0].shape() != args[1].shape() {
            return Err(ShapeError::new("operands have different shapes"));
        }
        infer_same(Class::Number, args, 2)
    }
    fn sharding(&self, _: &[Aval], _: &[Aval]) -> Result<ShardingRule, ShapeError> {
        Ok(ShardingRule::Elementwise)
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::bilinear(
            |_, t, _| vec![add_tangents(t[0].clone(), t[1].clone())],
            |cts, operands| {
                operands
                    .iter()
                    .map(|o| cts[0].clone().filter(|_| o.is_linear()))
                    .collect()
            },
        )
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched {
        let moved = in_front(args, axes, axis);
        batched(add_any(&moved[0], &moved[1]), Some(0))
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], _: &[Aval]) -> Vec<Value> {
        vec![ctx.same("add", args)]
    }
}

/// Binds [`AddAny`].
pub(crate) fn add_any(a: &Array, b: &Array) -> Array {
    bind1(AddAny, &[a, b])
}

/// Adds two tangents, either of which may be zero.
pub(crate) fn add_tangents(a: Option<Array>, b: Option<Array>) -> Option<Array> {
    match (a, b) {
        (Some(a), Some(b)) => Some(add_any(&a, &b)),
        (a, b) => a.or(b),
    }
}
