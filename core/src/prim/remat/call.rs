//! The call of a function under `checkpoint`.

use super::CheckpointPolicy;
use super::split::{Split, eval_inlined};
use crate::extend::Outputs;
use crate::prim::nested;
use crate::prim::{
    Avals, BatchAxis, Batched, Differentiation, Facts, Nested, NestedDifferentiation, Operand,
    Param, Primitive, Tangents,
};
use crate::prim::{Jaxprs, StatePass};
use crate::program::jaxpr::{ClosedJaxpr, Jaxpr};
use crate::program::lists::{self, some_where};
use crate::program::lower::{Lowering, Value};
use crate::program::trace::{bind, trace_to_jaxpr};
use crate::{Array, Aval, Result, ShapeError};
use smallvec::SmallVec;
use std::sync::Arc;

/// The call of a function whose linearization saves the values that a policy selects and
/// recomputes the others.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Remat {
    /// Program of the function, without captured values.
    pub jaxpr: Arc<Jaxpr>,
    /// Whether this is a tangent or cotangent program, which recomputes values.
    pub differentiated: bool,
    /// Policy that selects the values to save; `None` saves nothing.
    pub policy: Option<CheckpointPolicy>,
    /// Whether to prevent the compiler from merging recomputed values with the original ones.
    pub prevent_cse: bool,
}

impl Remat {
    /// Applies another program with the same parameters.
    pub(crate) fn apply(
        &self,
        program: ClosedJaxpr,
        args: &[Array],
        differentiated: bool,
    ) -> Vec<Array> {
        let all: SmallVec<[&Array; 8]> = program.consts.iter().chain(args).collect();
        let call = Remat {
            jaxpr: program.jaxpr.with_consts_as_inputs(),
            differentiated,
            policy: self.policy.clone(),
            prevent_cse: self.prevent_cse,
        };
        bind(call, &all).into_vec()
    }
}

impl Primitive for Remat {
    fn name(&self) -> &'static str {
        "remat2"
    }
    fn facts(&self) -> Facts<'_> {
        Facts::exact()
    }
    fn nested(&self) -> Option<&dyn Nested> {
        Some(self)
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        let policy = match &self.policy {
            Some(policy) => Param::new(policy),
            None => Param::new("None"),
        };
        vec![
            ("differentiated", Param::flag(self.differentiated)),
            ("jaxpr", Param::Jaxpr(self.jaxpr.clone())),
            ("policy", policy),
            ("prevent_cse", Param::flag(self.prevent_cse)),
        ]
    }
    fn infer(&self, args: &[Aval]) -> std::result::Result<Avals, ShapeError> {
        nested::infer("the function", &self.jaxpr, args)
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::Nested(self)
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched {
        let avals = lists::avals(args);
        let (program, out_axes) = nested::batched(&self.jaxpr, &avals, axes, axis, |_, at| at);
        let outs = self.apply(program, args, self.differentiated);
        (outs.into(), out_axes.into())
    }
    fn evaluate(&self, args: &[&Array]) -> Option<Result<Outputs>> {
        Some(nested::evaluate(&self.jaxpr, args))
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], _: &[Aval]) -> Vec<Value> {
        if self.differentiated && self.prevent_cse && !args.is_empty() {
            let args = ctx.barrier(args);
            return ctx.inline(&self.jaxpr, &args);
        }
        ctx.inline(&self.jaxpr, args)
    }
}

impl Nested for Remat {
    fn thread_state(&self, pass: &StatePass<'_>, args: &[Array]) -> Option<Vec<Array>> {
        let program = pass.program(&self.jaxpr, &lists::avals(args));
        Some(self.apply(program, &pass.with(args), self.differentiated))
    }
    fn jaxprs(&self) -> Jaxprs<'_> {
        Jaxprs::from_slice(&[&self.jaxpr])
    }
}

impl NestedDifferentiation for Remat {
    fn jvp(&self, primals: &[Array], tangents: &[Option<Array>]) -> (Vec<Array>, Tangents) {
        nested::call_jvp(&self.jaxpr, primals, tangents, |program, args| {
            self.apply(program, args, self.differentiated)
        })
    }

    /// Splits the linearized program: the part that computes the results runs below, and the
    /// tangent program starts by recomputing the residuals.
    fn linearize(&self, primals: &[Array], tangents: &[Option<Array>]) -> (Vec<Array>, Tangents) {
        let perturbed = lists::given(tangents);
        let nothing = CheckpointPolicy::nothing_saveable();
        let policy = self.policy.as_ref().unwrap_or(&nothing);
        policy.check_platform();
        let inlined;
        let jaxpr = if policy.is_uniform() {
            &*self.jaxpr
        } else {
            let types = self.jaxpr.in_avals();
            inlined = trace_to_jaxpr(&types, |args| eval_inlined(&self.jaxpr, args));
            debug_assert!(inlined.consts.is_empty());
            &*inlined.jaxpr
        };
        let nested::Split {
            known,
            linear,
            nonzero,
        } = nested::linearized(jaxpr, &lists::avals(primals), &perturbed);
        let args: Vec<Array> = known.consts.iter().chain(primals).cloned().collect();
        let known = known.jaxpr.with_consts_as_inputs();
        let split = Split::new(&known, self.jaxpr.outvars.len(), policy);
        let (outs, mut operands) = split.compute(&args);
        let saved = operands.len();
        operands.extend(split.inputs.iter().map(|&i| args[i].clone()));
        let kept = operands.len();
        operands.extend(tangents.iter().flatten().cloned());
        let program = trace_to_jaxpr(&lists::avals(&operands), |args| {
            let residuals = split.recompute(&args[..saved], &args[saved..kept]);
            linear.eval(&residuals, &args[kept..])
        });
        let dots = if program.jaxpr.outvars.is_empty() {
            Vec::new()
        } else {
            self.apply(program, &operands, true)
        };
        (outs, some_where(&nonzero, dots))
    }

    fn transpose(&self, cts: &[Option<Array>], operands: &[Operand]) -> Vec<Option<Array>> {
        nested::call_transpose(&self.jaxpr, cts, operands, |program, args| {
            self.apply(program, args, self.differentiated)
        })
    }
}
