//! `custom_vjp_call`: a function with a custom reverse-mode rule.

use super::{BackwardRule, CustomLin, Rule, batched_run, bind_batched, refuse_captured};
use crate::base::location;
use crate::extend::Outputs;
use crate::prim::{
    Avals, BatchAxis, Batched, Differentiation, Facts, NestedDifferentiation, Operand, Param,
    Primitive, Tangents, in_front, nested,
};
use crate::prim::{Jaxprs, Nested, StatePass};
use crate::program::checks::Errors;
use crate::program::jaxpr::Jaxpr;
use crate::program::lists::given;
use crate::program::lower::{Lowering, Value};
use crate::{Array, Aval, Result, ShapeError};
use std::sync::Arc;

/// The output of the forward rule.
pub struct Forward {
    /// Results of the function.
    pub outs: Vec<Array>,
    /// Values that the backward rule needs.
    pub residuals: Vec<Array>,
    /// Backward rule, for residuals of this structure.
    pub backward: BackwardRule,
}

type Run = dyn Fn(&[Array], &[bool]) -> Forward + Send + Sync;

/// The forward rule of a [`CustomVjpCall`]: maps the arguments, and which of them are
/// differentiated, to results and residuals.
pub type ForwardRule = Rule<Run>;

impl ForwardRule {
    /// Returns the rule for all examples at once.
    fn batched(&self, axes: &[Option<usize>], axis: BatchAxis) -> ForwardRule {
        let identity = self.identity.batched(axes, axis);
        let (inner, axes) = (self.run.clone(), axes.to_vec());
        let run = move |primals: &[Array], perturbed: &[bool]| {
            let mut rest = None;
            let (mut outs, out_axes) = batched_run(primals, &axes, axis, |primals| {
                let Forward {
                    mut outs,
                    residuals,
                    backward,
                } = inner(primals, perturbed);
                rest = Some((outs.len(), backward));
                outs.extend(residuals);
                outs
            });
            let (count, backward) = rest.expect("the rule was called");
            let residuals = outs.split_off(count);
            let (out_axes, kept) = out_axes.split_at(count);
            Forward {
                outs: in_front(&outs, out_axes, axis.size),
                residuals,
                backward: backward.batched(kept, &axes, axis),
            }
        };
        Rule::new(self.name, identity, Arc::new(run))
    }
}

/// The call of a function with a custom reverse-mode rule.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CustomVjpCall {
    /// Name of the function.
    pub name: Arc<str>,
    /// Program of the function; captured values are its first arguments.
    pub call_jaxpr: Arc<Jaxpr>,
    /// Number of captured values.
    pub num_consts: usize,
    /// Whether the rules receive which arguments are differentiated, and zero cotangents as
    /// symbolic zeros.
    pub symbolic_zeros: bool,
    /// Forward rule, which returns the backward rule.
    pub fwd: ForwardRule,
    /// Name of the backward rule.
    pub bwd: &'static str,
}

nested_program!(CustomVjpCall, call_jaxpr);

impl Primitive for CustomVjpCall {
    fn name(&self) -> &'static str {
        "custom_vjp_call"
    }
    runs_program!(call_jaxpr, "custom_vjp");
    fn facts(&self) -> Facts<'_> {
        Facts {
            checks: Errors::NAN,
            ..Facts::exact()
        }
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        let mut params = vec![
            ("name", Param::new(&self.name)),
            ("bwd", Param::new(self.bwd)),
            ("call_jaxpr", Param::Jaxpr(self.call_jaxpr.clone())),
            ("fwd", Param::new(self.fwd.name)),
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
            |call_jaxpr, captured| CustomVjpCall {
                name: self.name.clone(),
                call_jaxpr,
                num_consts: self.num_consts + captured,
                symbolic_zeros: self.symbolic_zeros,
                fwd: self.fwd.batched(&axes[self.num_consts..], axis),
                bwd: self.bwd,
            },
        )
    }
}

impl NestedDifferentiation for CustomVjpCall {
    fn jvp(&self, _: &[Array], _: &[Option<Array>]) -> (Vec<Array>, Tangents) {
        super::linear::refuse_forward_mode(&self.name)
    }

    fn linearize(&self, primals: &[Array], tangents: &[Option<Array>]) -> (Vec<Array>, Tangents) {
        let (captured, tangents) = tangents.split_at(self.num_consts);
        refuse_captured("custom_vjp", &self.name, captured);
        let perturbed = given(tangents);
        let Forward {
            outs,
            residuals,
            backward,
        } = (self.fwd.run)(&primals[self.num_consts..], &perturbed);
        let dots = CustomLin::apply(
            &self.name,
            backward,
            &residuals,
            tangents,
            outs.iter().map(Array::aval).collect(),
        );
        (outs, dots)
    }

    fn transpose(&self, _: &[Option<Array>], _: &[Operand]) -> Vec<Option<Array>> {
        location::fail(&format!(
            "custom_vjp: the function `{}` cannot be transposed: it has a rule for its derivative, \
             but is not known to be linear\n  help: transpose its derivative, from linearize, or \
             the function without the rule",
            self.name
        ))
    }
}
