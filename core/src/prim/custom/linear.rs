//! `custom_lin`: the tangents of a function with only a reverse-mode rule.

use super::{Rule, batched_run};
use crate::base::location;
use crate::prim::{
    Avals, BatchAxis, Batched, Differentiation, Facts, NestedDifferentiation, Operand, Param,
    Primitive, Tangents, move_batch_axis,
};
use crate::program::lists::{self, some_where};
use crate::program::lower::{Lowering, Value};
use crate::program::trace::bind;
use crate::{Array, Aval, ShapeError};
use smallvec::SmallVec;
use std::sync::Arc;

type Run = dyn Fn(&[Array], &[Option<Array>]) -> Vec<Option<Array>> + Send + Sync;

/// The backward rule of a [`CustomVjpCall`](super::CustomVjpCall): maps the residuals and the
/// cotangents of the results to those of the arguments, where `None` is zero.
pub type BackwardRule = Rule<Run>;

impl BackwardRule {
    /// Returns the rule for all examples at once: `kept` contains the batch axes of the
    /// residuals, `axes` those of the arguments. An argument that all examples share gets the sum
    /// of their cotangents.
    pub(super) fn batched(
        &self,
        kept: &[Option<usize>],
        axes: &[Option<usize>],
        axis: BatchAxis,
    ) -> BackwardRule {
        let all: Vec<Option<usize>> = kept.iter().chain(axes).copied().collect();
        let identity = self.identity.batched(&all, axis);
        let (inner, kept, axes) = (self.run.clone(), kept.to_vec(), axes.to_vec());
        let run = move |residuals: &[Array], cts: &[Option<Array>]| {
            // The rule is traced for one example, where only the nonzero cotangents are arguments.
            // Which gradients are nonzero is known after that trace, hence the list outside of the
            // closure.
            let marked = lists::given(cts);
            let given = cts.iter().flatten();
            let args: Vec<Array> = residuals.iter().chain(given.clone()).cloned().collect();
            let arg_axes: Vec<Option<usize>> =
                kept.iter().copied().chain(given.map(|_| Some(0))).collect();
            let mut nonzero = Vec::new();
            let (grads, found) = batched_run(&args, &arg_axes, axis, |xs| {
                let (residuals, given) = xs.split_at(residuals.len());
                let cts = some_where(&marked, given.iter().cloned());
                let grads = inner(residuals, &cts);
                nonzero = lists::given(&grads);
                grads.into_iter().flatten().collect()
            });
            let mut grads = grads.into_iter().zip(found);
            nonzero
                .iter()
                .zip(&axes)
                .map(|(nonzero, wanted)| {
                    let (grad, found) = if *nonzero { grads.next()? } else { return None };
                    let to = wanted.unwrap_or(0);
                    let all = move_batch_axis(&grad, found, to, axis);
                    // Every example adds to the gradient of an argument that all share.
                    Some(match wanted {
                        Some(_) => all,
                        None => all.reduce_sum(&[0]),
                    })
                })
                .collect()
        };
        Rule::new(self.name, identity, Arc::new(run))
    }
}

/// A linear function of tangents that can only be transposed, which calls the backward rule. Its
/// operands are the residuals, followed by the nonzero tangents; its results are the tangents of
/// the floating-point results.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CustomLin {
    /// Name of the function.
    pub name: Arc<str>,
    /// Backward rule of the function.
    pub bwd: BackwardRule,
    /// Number of residuals.
    pub num_res: usize,
    /// Whether each argument has a tangent.
    pub perturbed: Vec<bool>,
    /// Types of the function's results.
    pub out_avals: Vec<Aval>,
}

impl CustomLin {
    /// Returns the tangents of the results.
    pub(super) fn apply(
        name: &Arc<str>,
        bwd: BackwardRule,
        residuals: &[Array],
        tangents: &[Option<Array>],
        out_avals: Vec<Aval>,
    ) -> Vec<Option<Array>> {
        let floats: Vec<bool> = out_avals.iter().map(|a| a.dtype().is_inexact()).collect();
        let lin = CustomLin {
            name: name.clone(),
            bwd,
            num_res: residuals.len(),
            perturbed: lists::given(tangents),
            out_avals,
        };
        let args: SmallVec<[&Array; 8]> =
            residuals.iter().chain(tangents.iter().flatten()).collect();
        some_where(&floats, bind(lin, &args))
    }
}

/// Panics, since forward mode cannot use a reverse-mode rule.
#[track_caller]
pub(super) fn refuse_forward_mode(name: &str) -> ! {
    location::fail(&format!(
        "custom_vjp: the function `{name}` only has a reverse-mode rule, so it cannot be \
         differentiated in forward mode (jvp, jacfwd, or calling the result of linearize)\n  help: \
         use reverse mode (grad, vjp, jacrev), or define the derivative with custom_jvp, which \
         supports both"
    ))
}

impl Primitive for CustomLin {
    fn name(&self) -> &'static str {
        "custom_lin"
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        vec![
            ("name", Param::new(&self.name)),
            ("num_res", Param::new(self.num_res)),
        ]
    }
    fn facts(&self) -> Facts<'_> {
        Facts::exact()
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        let tangents = self.perturbed.iter().filter(|p| **p).count();
        crate::ensure_shape!(
            args.len() == self.num_res + tangents,
            "expects {} residuals and {tangents} tangents, got {} operands",
            self.num_res,
            args.len()
        );
        let outs = self.out_avals.iter().filter(|a| a.dtype().is_inexact());
        Ok(outs.map(Aval::strong).collect())
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::Nested(self)
    }
    fn batch(&self, _: &[Array], _: &[Option<usize>], _: BatchAxis) -> Batched {
        refuse_forward_mode(&self.name)
    }
    fn lower(&self, _: &mut Lowering<'_>, _: &[Value], _: &[Aval]) -> Vec<Value> {
        refuse_forward_mode(&self.name)
    }
}

impl NestedDifferentiation for CustomLin {
    fn jvp(&self, _: &[Array], _: &[Option<Array>]) -> (Vec<Array>, Tangents) {
        refuse_forward_mode(&self.name)
    }

    fn linearize(&self, _: &[Array], _: &[Option<Array>]) -> (Vec<Array>, Tangents) {
        refuse_forward_mode(&self.name)
    }

    fn transpose(&self, cts: &[Option<Array>], operands: &[Operand]) -> Vec<Option<Array>> {
        let (residuals, tangents) = operands.split_at(self.num_res);
        let Some(residuals) = residuals
            .iter()
            .map(|o| o.known().cloned())
            .collect::<Option<Vec<Array>>>()
        else {
            refuse_forward_mode(&self.name)
        };
        // The primitive has results for floating-point results only, but the rule takes a cotangent
        // for each result.
        let mut cts = cts.iter();
        let cts: Vec<Option<Array>> = self
            .out_avals
            .iter()
            .map(|a| {
                if a.dtype().is_inexact() {
                    cts.next().cloned().flatten()
                } else {
                    None
                }
            })
            .collect();
        let grads = (self.bwd.run)(&residuals, &cts);
        let grads = grads.into_iter().zip(&self.perturbed);
        let grads = grads.filter(|(_, perturbed)| **perturbed).map(|(g, _)| g);
        let mut all = vec![None; residuals.len()];
        all.extend(grads);
        debug_assert_eq!(all.len(), residuals.len() + tangents.len());
        all
    }
}
