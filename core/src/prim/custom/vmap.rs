//! `custom_vmap_call`: a function with a custom batching rule.

use super::Rule;
use crate::base::location;
use crate::extend::Outputs;
use crate::passes::{batch_eval, jvp_eval, transpose_call};
use crate::prim::nested;
use crate::prim::{
    Avals, BatchAxis, Batched, Differentiation, Facts, NestedDifferentiation, Operand, Param,
    Primitive, Tangents, move_batch_axis,
};
use crate::prim::{Jaxprs, Nested, StatePass};
use crate::program::jaxpr::Jaxpr;
use crate::program::lists::{self, avals, given, some_where};
use crate::program::lower::{Lowering, Value};
use crate::program::trace::{bind, trace_to_jaxpr};
use crate::{Array, Aval, Result, ShapeError};
use smallvec::SmallVec;
use std::sync::Arc;

type Arrays = Vec<Array>;
type Run = dyn Fn(usize, &[bool], &[Array]) -> (Arrays, Vec<bool>) + Send + Sync;

/// The rule of a [`CustomVmapCall`]: maps the number of examples, which arguments are batched,
/// and the arguments, to the results and which of them are batched. Batch axes are the first.
pub type VmapRule = Rule<Run>;

impl VmapRule {
    /// Returns the rule for the function's values and tangents, by differentiating this rule.
    fn tangent(&self, perturbed: &[bool]) -> VmapRule {
        let identity = self.identity.differentiated(perturbed);
        let (inner, perturbed) = (self.run.clone(), perturbed.to_vec());
        let run = move |size: usize, batched: &[bool], args: &[Array]| {
            let (primals, given) = args.split_at(perturbed.len());
            let (of_primals, of_tangents) = batched.split_at(perturbed.len());
            let (mut primals, mut at) = (primals.to_vec(), of_primals.to_vec());
            let mut tangents = some_where(&perturbed, given.iter().cloned());
            let of_tangents = some_where(&perturbed, of_tangents.iter().copied());
            for (i, batched) in of_tangents.into_iter().enumerate() {
                let Some(batched) = batched.filter(|&batched| batched != at[i]) else {
                    continue;
                };
                // A value and its tangent must be batched together.
                let one = if batched {
                    &mut primals[i]
                } else {
                    tangents[i].as_mut().expect("a tangent")
                };
                *one = move_batch_axis(one, None, 0, size);
                at[i] = true;
            }
            let mut found = Vec::new();
            let program = trace_to_jaxpr(&avals(&primals), |args| {
                let (outs, batched) = inner(size, &at, args);
                found = batched;
                outs
            });
            let (program, captured) = program.open();
            let all = [captured, primals].concat();
            let none = vec![None; all.len() - tangents.len()];
            let all_tangents = [none, tangents].concat();
            let moving = moving(&program);
            let (outs, dots) = nested::jvp(&program, &all, &all_tangents, &moving);
            let of_dots = lists::picked(&found, &moving, true);
            let outs = outs.into_iter().chain(dots.into_iter().flatten());
            (outs.collect(), [found, of_dots].concat())
        };
        Rule::new(self.name, identity, Arc::new(run))
    }
}

/// Returns which results of a program can have tangents. All of them get one, since a function
/// and its rule may differ in which tangents are zero.
fn moving(jaxpr: &Jaxpr) -> Vec<bool> {
    let outs = jaxpr.out_avals();
    outs.iter().map(|out| out.dtype().is_inexact()).collect()
}

/// The call of a function with a custom batching rule.
///
/// Forward mode differentiates the rule, too: the batched tangent is that of the rule. Reverse
/// mode, and derivatives with respect to captured values, differentiate the program, whose
/// operations are then batched by their own rules.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CustomVmapCall {
    /// Name of the function.
    pub name: Arc<str>,
    /// Program of the function; captured values are its first arguments.
    pub call: Arc<Jaxpr>,
    /// Number of captured values.
    pub num_consts: usize,
    /// Batching rule, for the arguments after the captured values.
    pub rule: VmapRule,
}

nested_program!(CustomVmapCall, call);

impl Primitive for CustomVmapCall {
    fn name(&self) -> &'static str {
        "custom_vmap_call"
    }
    runs_program!(call, "custom_vmap");
    fn facts(&self) -> Facts<'_> {
        Facts::exact()
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        vec![
            ("call", Param::Jaxpr(self.call.clone())),
            ("name", Param::new(&self.name)),
            ("rule", Param::new(self.rule.name)),
        ]
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched {
        if axes.iter().all(Option::is_none) {
            // The function refers to the axis by name.
            let (outs, out_axes) = batch_eval(&self.call, &[], args, axes, axis);
            return (outs.into(), out_axes.into());
        }
        if axes[..self.num_consts].iter().any(Option::is_some) {
            location::fail(&format!(
                "custom_vmap: the function `{}` captures a value that is batched, but its rule \
                 only covers its arguments\n  help: pass the value as an argument",
                self.name
            ));
        }
        let given = args.iter().zip(axes).skip(self.num_consts);
        let (args, batched): (Arrays, Vec<bool>) = given
            .map(|(x, at)| match at {
                Some(at) => (move_batch_axis(x, Some(*at), 0, axis), true),
                None => (x.clone(), false),
            })
            .unzip();
        let (outs, batched) = (self.rule.run)(axis.size, &batched, &args);
        let out_axes = batched.into_iter().map(|batched| batched.then_some(0));
        (outs.into(), out_axes.collect())
    }
}

impl NestedDifferentiation for CustomVmapCall {
    fn jvp(&self, primals: &[Array], tangents: &[Option<Array>]) -> (Vec<Array>, Tangents) {
        if tangents[..self.num_consts].iter().any(Option::is_some) {
            return jvp_eval(&self.call, &[], primals, tangents);
        }
        let perturbed = given(tangents);
        let given = tangents.iter().flatten();
        let args: Arrays = primals.iter().chain(given).cloned().collect();
        let moving = moving(&self.call);
        let (program, _) = nested::pushed(&self.call, &avals(&args), &perturbed, &moving);
        let (program, captured) = program.open();
        let call = CustomVmapCall {
            name: self.name.clone(),
            num_consts: self.num_consts + captured.len(),
            rule: self.rule.tangent(&perturbed[self.num_consts..]),
            call: program,
        };
        let all: SmallVec<[&Array; 8]> = captured.iter().chain(&args).collect();
        let mut outs = bind(call, &all).into_vec();
        let dots = outs.split_off(self.call.outvars.len());
        (outs, some_where(&moving, dots))
    }

    /// Does not use the rule, since the rule does not define residuals.
    fn linearize(&self, primals: &[Array], tangents: &[Option<Array>]) -> (Vec<Array>, Tangents) {
        jvp_eval(&self.call, &[], primals, tangents)
    }

    fn transpose(&self, cts: &[Option<Array>], operands: &[Operand]) -> Tangents {
        transpose_call(&self.call, operands, cts)
    }
}
