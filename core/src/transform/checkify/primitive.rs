//! `check`: a runtime check of a program.

use crate::extend::{Outputs, ShardingRule};
use crate::prim::{
    Avals, BatchAxis, Batched, Differentiation, Effects, Facts, Primitive, move_batch_axis,
};
use crate::program::lower::{Lowering, Value};
use crate::program::trace::bind;
use crate::transform::checkify::Error;
use crate::{Array, Aval, DType, Result, ShapeError, ensure_shape};
use std::panic::Location;

/// The first operand is the code of a failure, 0 for none, with a batch axis for each enclosing
/// `vmap`. The others are the arrays that failure messages need, with the same leading axes.
/// [`checkify`](crate::transform::checkify) converts it to an error value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Check {
    /// Types of the arrays that messages need, as lists: each failure uses one list.
    pub signatures: Vec<Vec<Aval>>,
    /// Whether the check is ignored outside `checkify`.
    pub debug: bool,
    /// Location of the check.
    pub at: &'static Location<'static>,
}

impl Primitive for Check {
    fn name(&self) -> &'static str {
        "check"
    }
    fn facts(&self) -> Facts<'_> {
        Facts {
            effects: Effects::Acts,
            ..Facts::strong()
        }
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        let types: Vec<Aval> = self.signatures.iter().flatten().copied().collect();
        ensure_shape!(
            args.len() == 1 + types.len() && args[0].dtype() == DType::I32,
            "expects a failure code and {} arrays",
            types.len()
        );
        for (arg, aval) in args[1..].iter().zip(&types) {
            let front = args[0].shape();
            ensure_shape!(
                arg.shape().strip_prefix(front) == Some(aval.shape()),
                "expects {aval} for each of the examples {front:?}, got {arg}"
            );
        }
        Ok(Avals::new())
    }
    fn sharding(&self, _: &[Aval], _: &[Aval]) -> Result<ShardingRule, ShapeError> {
        Ok(ShardingRule::Specs(Vec::new()))
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::Zero
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched {
        let size = axis.size;
        let args: Vec<Array> = args
            .iter()
            .zip(axes)
            .map(|(arg, axis)| move_batch_axis(arg, *axis, 0, size))
            .collect();
        bind(self.clone(), &args.iter().collect::<Vec<_>>());
        (Outputs::new(), Default::default())
    }
    fn evaluate(&self, args: &[&Array]) -> Option<Result<Outputs>> {
        if self.debug {
            return Some(Ok(Outputs::new()));
        }
        let arrays = args.iter().map(|a| (*a).clone()).collect();
        let error = Error::from_arrays(self.signatures.clone(), arrays);
        Some(error.into_result().map(|()| Outputs::new()))
    }
    fn lower(&self, _: &mut Lowering<'_>, _: &[Value], _: &[Aval]) -> Vec<Value> {
        assert!(
            self.debug,
            "check: a compiled program cannot panic on a failed check\n  created at {}\n  help: \
             convert it to a value: let (error, result) = checkify(f, Errors::USER)(…), then \
             error.throw()",
            self.at
        );
        Vec::new()
    }
}
