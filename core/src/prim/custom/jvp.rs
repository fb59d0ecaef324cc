//! `custom_jvp_call`: a function with a custom tangent rule.

use super::{Rule, batched_run, bind_batched, refuse_captured};
use crate::extend::Outputs;
use crate::passes::{batch_eval, transpose_call};
use crate::prim::{
    Avals, BatchAxis, Batched, Differentiation, Facts, NestedDifferentiation, Operand, Param,
    Primitive, Tangents, in_front, nested,
};
use crate::prim::{Jaxprs, Nested, StatePass};
use crate::program::checks::Errors;
use crate::program::jaxpr::Jaxpr;
use crate::program::lists::{given, picked, some_where};
use crate::program::lower::{Lowering, Value};
use crate::program::trace::{OpenTrace, is_linearizing};
use crate::{Array, Aval, Result, ShapeError};
use std::sync::Arc;

type Arrays = Vec<Array>;
type Run = dyn Fn(&[Array], &[Option<Array>]) -> (Arrays, Tangents) + Send + Sync;

/// The rule of a [`CustomJvpCall`]: maps the arguments and their tangents, where `None` is zero,
/// to the results and their tangents.
pub type JvpRule = Rule<Run>;

impl JvpRule {
    /// Returns the rule for all examples at once.
    fn batched(&self, axes: &[Option<usize>], axis: BatchAxis) -> JvpRule {
        let identity = self.identity.batched(axes, axis);
        let (inner, axes) = (self.run.clone(), axes.to_vec());
        let run = move |primals: &[Array], tangents: &[Option<Array>]| {
            if is_linearizing() {
                return linearized(&*inner, primals, tangents, &axes, axis);
            }
            let perturbed = given(tangents);
            let both = [&axes[..], &picked(&axes, &perturbed, true)].concat();
            let args: Arrays = primals
                .iter()
                .chain(tangents.iter().flatten())
                .cloned()
                .collect();
            let mut nonzero = Vec::new();
            let (outs, out_axes) = batched_run(&args, &both, axis, |xs| {
                let (primals, dots) = xs.split_at(primals.len());
                let ts = some_where(&perturbed, dots.iter().cloned());
                let (mut outs, dots) = inner(primals, &ts);
                nonzero = given(&dots);
                outs.extend(dots.into_iter().flatten());
                outs
            });
            let mut outs = in_front(&outs, &out_axes, axis.size);
            let dots = outs.split_off(nonzero.len());
            (outs, some_where(&nonzero, dots))
        };
        Rule::new(self.name, identity, Arc::new(run))
    }
}

/// Runs a rule for all examples at once, inside a linearization. The computations that depend
/// only on the arguments form a separate program: in one program with the tangents, all results
/// of a `cond` or a loop would count as linear.
fn linearized(
    rule: &Run,
    primals: &[Array],
    tangents: &[Option<Array>],
    axes: &[Option<usize>],
    axis: BatchAxis,
) -> (Arrays, Tangents) {
    let mut parts = None;
    let (mut outs, mut out_axes) = batched_run(primals, axes, axis, |xs| {
        let trace = OpenTrace::partial();
        let ts: Tangents = xs
            .iter()
            .zip(tangents)
            .map(|(x, t)| t.as_ref().map(|_| trace.input(x.aval().strong())))
            .collect();
        let (mut outs, dots) = rule(xs, &ts);
        let nonzero = given(&dots);
        let linear = trace.finish(&dots.into_iter().flatten().collect::<Arrays>());
        outs.extend(linear.consts);
        parts = Some((linear.jaxpr, nonzero));
        outs
    });
    let (jaxpr, nonzero) = parts.expect("the rule ran");
    let mut args = outs.split_off(nonzero.len());
    let mut arg_axes = out_axes.split_off(nonzero.len());
    for (tangent, axis) in tangents.iter().zip(axes) {
        if let Some(tangent) = tangent {
            args.push(tangent.clone());
            arg_axes.push(*axis);
        }
    }
    let linear = jaxpr.with_consts_as_inputs();
    let (dots, dot_axes) = batch_eval(&linear, &[], &args, &arg_axes, axis);
    let dots = in_front(&dots, &dot_axes, axis.size);
    let outs = in_front(&outs, &out_axes, axis.size);
    (outs, some_where(&nonzero, dots))
}

/// The call of a function with a custom tangent rule.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CustomJvpCall {
    /// Name of the function.
    pub name: Arc<str>,
    /// Program of the function; captured values are its first arguments.
    pub call_jaxpr: Arc<Jaxpr>,
    /// Number of captured values.
    pub num_consts: usize,
    /// Whether the rule receives zero tangents as symbolic zeros.
    pub symbolic_zeros: bool,
    /// Tangent rule, for the arguments after the captured values.
    pub jvp: JvpRule,
}

nested_program!(CustomJvpCall, call_jaxpr);

impl Primitive for CustomJvpCall {
    fn name(&self) -> &'static str {
        "custom_jvp_call"
    }
    runs_program!(call_jaxpr, "custom_jvp");
    fn facts(&self) -> Facts<'_> {
        Facts {
            checks: Errors::NAN,
            ..Facts::exact()
        }
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        let mut params = vec![
            ("name", Param::new(&self.name)),
            ("call_jaxpr", Param::Jaxpr(self.call_jaxpr.clone())),
            ("jvp", Param::new(self.jvp.name)),
        ];
        if self.num_consts > 0 {
            params.push(("num_consts", Param::new(self.num_consts)));
        }
        params.push(("symbolic_zeros", Param::flag(self.symbolic_zeros)));
        params
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched {
        bind_batched(
            &self.call_jaxpr,
            args,
            axes,
            axis,
            |call_jaxpr, captured| CustomJvpCall {
                name: self.name.clone(),
                call_jaxpr,
                num_consts: self.num_consts + captured,
                symbolic_zeros: self.symbolic_zeros,
                jvp: self.jvp.batched(&axes[self.num_consts..], axis),
            },
        )
    }
}

impl NestedDifferentiation for CustomJvpCall {
    fn jvp(&self, primals: &[Array], tangents: &[Option<Array>]) -> (Vec<Array>, Tangents) {
        refuse_captured("custom_jvp", &self.name, &tangents[..self.num_consts]);
        (self.jvp.run)(&primals[self.num_consts..], &tangents[self.num_consts..])
    }

    /// Computations of the rule that do not depend on tangents are bound below the linearization,
    /// as in every rule.
    fn linearize(&self, primals: &[Array], tangents: &[Option<Array>]) -> (Vec<Array>, Tangents) {
        NestedDifferentiation::jvp(self, primals, tangents)
    }

    fn transpose(&self, cts: &[Option<Array>], operands: &[Operand]) -> Tangents {
        transpose_call(&self.call_jaxpr, operands, cts)
    }
}
