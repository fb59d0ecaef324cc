//! `stop_gradient`.

use crate::prim::{Avals, Differentiation, Primitive};
use crate::program::class::{Class, infer_same};
use crate::program::lower::{Lowering, Value};
use crate::program::trace::bind1;
use crate::{Array, Aval, ShapeError};

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
    elementwise_rules!();
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::Zero
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
