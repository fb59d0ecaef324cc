//! Forward mode, which evaluates a jaxpr on primals and tangents together, and linearization,
//! which also records the tangent program separately.

use crate::Array;
use crate::base::location::{self, in_user_code};
use crate::extend::Outputs;
use crate::program::jaxpr::{ClosedJaxpr, Jaxpr};
use crate::program::lists::{avals, some_where};
use crate::program::primitive::Primitive;
use crate::program::rules::Differentiation;
use crate::program::trace::{self, OpenTrace, bind_arc, trace_to_jaxpr};
use smallvec::SmallVec;
use std::sync::Arc;

/// Evaluates a jaxpr on primals and tangents; `None` is a zero tangent.
pub(crate) fn jvp_eval(
    jaxpr: &Jaxpr,
    consts: &[Array],
    primals: &[Array],
    tangents: &[Option<Array>],
) -> (Vec<Array>, Vec<Option<Array>>) {
    let dual = |(value, tangent): (Array, Option<Array>)| {
        // `jvp` passes a tangent for every leaf of a tree, but integers and booleans have none.
        let tangent = tangent.filter(|_| value.dtype().is_inexact());
        (value, tangent)
    };
    let consts = consts.iter().map(|a| (a.clone(), None));
    let args = primals.iter().cloned().zip(tangents.iter().cloned());
    let duals = jaxpr.evaluate(consts, args.map(dual), |eqn, operands| {
        let (ins, ts): (SmallVec<[Array; 4]>, SmallVec<[Option<Array>; 4]>) =
            operands.into_iter().unzip();
        let (outs, dots) = jvp_equation(&eqn.primitive, &ins, &ts);
        outs.into_iter().zip(dots).map(dual)
    });
    duals.into_iter().unzip()
}

/// Computes the results and tangents of a function of arrays, for the rules of primitives. A zero
/// tangent of a result is materialized.
#[track_caller]
pub(crate) fn jvp_of(
    f: impl FnOnce(&[Array]) -> Vec<Array>,
    primals: &[Array],
    tangents: &[Option<Array>],
) -> (Vec<Array>, Vec<Array>) {
    // The rules apply to equations, so `f` becomes a program first.
    let program = trace_to_jaxpr(&avals(primals), |args| in_user_code(|| f(args)));
    let (outs, dots) = jvp_eval(&program.jaxpr, &program.consts, primals, tangents);
    let dots = outs.iter().zip(dots);
    let dots = dots.map(|(out, dot)| dot.unwrap_or_else(|| out.zeros_like()));
    let dots = dots.collect();
    (outs, dots)
}

type OutputTangents = SmallVec<[Option<Array>; 2]>;

/// Returns true if a rule returned tangents of the results' types, and panics otherwise.
fn fit(primitive: &dyn Primitive, outs: &[Array], dots: &[Option<Array>]) -> bool {
    let name = primitive.name();
    assert_eq!(dots.len(), outs.len(), "{name}: one tangent per result");
    for (t, o) in dots.iter().zip(outs) {
        assert!(
            t.as_ref().is_none_or(|t| t.aval().matches(o.aval())),
            "{name}: the rule returned a tangent {:?} for a result {:?}",
            t.as_ref().map(Array::aval),
            o.aval()
        );
    }
    true
}

fn jvp_equation(
    primitive: &Arc<dyn Primitive>,
    ins: &[Array],
    ts: &[Option<Array>],
) -> (Outputs, OutputTangents) {
    let refs: SmallVec<[&Array; 4]> = ins.iter().collect();
    let without_tangents = || {
        let outs = bind_arc(primitive.clone(), &refs);
        let zeros = OutputTangents::from_elem(None, outs.len());
        (outs, zeros)
    };
    if ts.iter().all(Option::is_none) {
        return without_tangents();
    }
    match primitive.differentiation() {
        Differentiation::Zero => without_tangents(),
        Differentiation::Undefined { why, help } => location::fail(&format!(
            "{}: has no derivative, but is on the path of a gradient: {why}\n  help: {help}",
            primitive.name()
        )),
        Differentiation::Linear(_) => {
            // The tangent of a linear `f` is `f(t)`. It is linear in all operands together, so that
            // a zero tangent must be an array here.
            let outs = bind_arc(primitive.clone(), &refs);
            let full: SmallVec<[Array; 4]> = ts
                .iter()
                .zip(ins)
                .map(|(t, x)| t.clone().unwrap_or_else(|| x.zeros_like()))
                .collect();
            let refs: SmallVec<[&Array; 4]> = full.iter().collect();
            let dots = bind_arc(primitive.clone(), &refs);
            (outs, dots.into_iter().map(Some).collect())
        }
        Differentiation::Jvp { jvp, .. } => {
            let outs = bind_arc(primitive.clone(), &refs);
            let dots = jvp(ins, ts, &outs);
            debug_assert!(fit(&**primitive, &outs, &dots));
            (outs, dots.into())
        }
        Differentiation::Nested(nested) => {
            // A linearization separates the nested program's primal part, which runs below its
            // trace, from the tangents, which the trace records.
            let (outs, dots) = if trace::is_linearizing() {
                nested.linearize(ins, ts)
            } else {
                nested.jvp(ins, ts)
            };
            (outs.into(), dots.into())
        }
    }
}

/// A linearized function: its results, and the program of its tangents.
pub(crate) struct Linearized {
    /// Results of the function.
    pub outs: Vec<Array>,
    /// Program from the tangents of the perturbed inputs to the nonzero tangents of the results;
    /// its captured values are the residuals.
    pub linear: ClosedJaxpr,
    /// Whether each result has a nonzero tangent.
    pub nonzero: Vec<bool>,
}

impl Linearized {
    /// Returns an entry for each result: the next value if its tangent is nonzero, otherwise
    /// `None`.
    pub fn per_result(&self, values: impl IntoIterator<Item = Array>) -> Vec<Option<Array>> {
        some_where(&self.nonzero, values)
    }
}

/// Evaluates a jaxpr and records the program of its tangents with respect to
/// the inputs marked in `perturbed`.
#[track_caller]
pub(crate) fn linearize_eval(
    jaxpr: &Jaxpr,
    consts: &[Array],
    primals: &[Array],
    perturbed: &[bool],
) -> Linearized {
    // Only operations on tangents are recorded in this trace; the primal ones run below it. Primal
    // values that tangents need are therefore captured: they are the residuals.
    let trace = OpenTrace::partial();
    let tangents: Vec<Option<Array>> = primals
        .iter()
        .zip(perturbed)
        .map(|(p, &on)| on.then(|| trace.input(p.aval().strong())))
        .collect();
    let (outs, dots) = jvp_eval(jaxpr, consts, primals, &tangents);
    let nonzero: Vec<bool> = dots.iter().map(Option::is_some).collect();
    let dots: Vec<Array> = dots.into_iter().flatten().collect();
    Linearized {
        outs,
        linear: trace.finish(&dots),
        nonzero,
    }
}
