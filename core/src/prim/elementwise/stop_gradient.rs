//! `stop_gradient`.

use super::batch_elementwise;
use crate::prim::{Avals, BatchAxis, Batched, Differentiation, Primitive};
use crate::program::class::{Class, infer_same};
use crate::program::lower::{Lowering, Value};
use crate::program::trace::bind1;
use crate::{Array, Aval, ShapeError, ShardingRule};

/// Returns the operand, with a tangent of zero.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct StopGradient;

impl Primitive for StopGradient {
    fn name(&self) -> &'static str {
        "stop_gradient"
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        infer_same(Class::Any, args, 1)
    }
    fn sharding(&self, _: &[Aval], _: &[Aval]) -> Result<ShardingRule, ShapeError> {
        Ok(ShardingRule::Elementwise)
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::Zero
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], _: BatchAxis) -> Batched {
        batch_elementwise(args, axes, |a| bind1(self.clone(), a))
    }
    fn lower(&self, _: &mut Lowering<'_>, args: &[Value], _: &[Aval]) -> Vec<Value> {
        vec![args[0]]
    }
}

impl Array {
    /// Returns the array as a constant for differentiation: derivatives do not flow through it.
    #[track_caller]
    pub fn stop_gradient(&self) -> Array {
        if !self.is_tracer() || !self.dtype().is_inexact() {
            return self.clone();
        }
        bind1(StopGradient, &[self])
    }
}
