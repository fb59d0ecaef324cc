//! Programs derived from a nested one: the batched program, the linear part, and the
//! loop-invariant part.

use super::scan::Parts;
use crate::prim::BatchAxis;
use crate::prim::call::Call;
use crate::prim::nested;
use crate::prim::remat::eval_inlined;
use crate::program::array::Repr;
use crate::program::jaxpr::{Atom, ClosedJaxpr, Eqn, Evaluation, Jaxpr, Var};
use crate::program::lists::{given, picked};
use crate::program::trace::{OpenTrace, trace_to_jaxpr};
use crate::{Array, Aval};
use smallvec::SmallVec;
use std::sync::Arc;

/// Returns whether two handles refer to the same value.
pub(super) fn same(a: &Array, b: &Array) -> bool {
    match (&a.0, &b.0) {
        (Repr::Tracer(a), Repr::Tracer(b)) => (a.trace, a.var) == (b.trace, b.var),
        (Repr::Device(a), Repr::Device(b)) => Arc::ptr_eq(a, b),
        _ => false,
    }
}

/// Returns the program for many examples at once. `out_axis` returns the position of the batch
/// axis of result `i`, given the position that the result has.
pub(super) fn batched(
    jaxpr: &Jaxpr,
    axes: &[Option<usize>],
    axis: BatchAxis,
    out_axis: impl Fn(usize, Option<usize>) -> Option<usize>,
) -> (ClosedJaxpr, Vec<Option<usize>>) {
    let avals: Vec<Aval> = jaxpr
        .in_avals()
        .into_iter()
        .zip(axes)
        .map(|(aval, at)| match at {
            None => aval,
            Some(at) => aval.with_dimension(*at, axis.size, axis.explicit),
        })
        .collect();
    nested::batched(jaxpr, &avals, axes, axis, out_axis)
}

/// The origin of a value that a linear program needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Residual {
    /// An unchanged argument of the original program.
    Argument(usize),
    /// A computed value: the next of the additional results of the known program.
    Computed,
}

/// A program split into the part that does not depend on tangents and the part that is linear in
/// them.
pub(super) struct Split {
    /// Program from the arguments to the results, followed by the computed residuals.
    pub known: ClosedJaxpr,
    /// Origins of the first arguments of `linear`.
    pub residuals: Vec<Residual>,
    /// Program from residuals and tangents to the nonzero tangents of the results.
    pub linear: Arc<Jaxpr>,
    /// Whether each result has a nonzero tangent.
    pub nonzero: Vec<bool>,
}

impl Split {
    /// Returns how many results of `known` are residuals.
    pub fn computed(&self) -> usize {
        let computed = self.residuals.iter();
        computed.filter(|r| **r == Residual::Computed).count()
    }
}

/// Returns the origins of captured values: arguments marked by `forward`, or values added to
/// `outs`.
fn residuals(
    captured: &[Array],
    args: &[Array],
    forward: impl Fn(usize) -> bool,
    outs: &mut Vec<Array>,
) -> Vec<Residual> {
    let mut residuals = Vec::with_capacity(captured.len());
    for value in captured {
        // The program has an unchanged argument anyway, so storing it again would waste memory.
        let argument = args.iter().position(|a| same(a, value));
        residuals.push(match argument.filter(|i| forward(*i)) {
            Some(i) => Residual::Argument(i),
            None => {
                outs.push(value.clone());
                Residual::Computed
            }
        });
    }
    residuals
}

/// Linearizes a program with respect to the arguments marked in `perturbed`. Arguments marked in
/// `forward` are used as residuals directly.
pub(super) fn linearized(
    jaxpr: &Jaxpr,
    perturbed: &[bool],
    instantiate: &[bool],
    forward: impl Fn(usize) -> bool,
) -> Split {
    let mut parts = None;
    let known = trace_to_jaxpr(&jaxpr.in_avals(), |args| {
        // The tangents are traced in a program of their own, inside the trace of the values. Values
        // that it reads from there become its captured values: the residuals.
        let trace = OpenTrace::partial();
        let tangents: Vec<Option<Array>> = args
            .iter()
            .zip(perturbed)
            .map(|(p, &on)| on.then(|| trace.input(p.aval().strong())))
            .collect();
        let (mut outs, dots) = nested::jvp(jaxpr, args, &tangents, instantiate);
        let nonzero = given(&dots);
        let dots: Vec<Array> = dots.into_iter().flatten().collect();
        // Unread values of the outer trace must not become residuals.
        let linear = trace.finish(&dots).pruned();
        let residuals = residuals(&linear.consts, args, forward, &mut outs);
        parts = Some((residuals, linear.open().0, nonzero));
        outs
    });
    let (residuals, linear, nonzero) = parts.expect("the program was split");
    Split {
        known,
        residuals,
        linear,
        nonzero,
    }
}

/// Returns which results depend on the marked arguments.
pub(super) fn reached(jaxpr: &Jaxpr, marked: &[bool]) -> Vec<bool> {
    let mut on = vec![false; jaxpr.num_vars()];
    for (v, mark) in jaxpr.invars.iter().zip(marked) {
        on[v.index()] = *mark;
    }
    let marks = |on: &[bool], atom: &Atom| match atom {
        Atom::Var(v) => on[v.index()],
        Atom::Literal(_) => false,
    };
    for eqn in &jaxpr.eqns {
        let ins: SmallVec<[bool; 4]> = eqn.inputs.iter().map(|a| marks(&on, a)).collect();
        let called = eqn.primitive.as_any().downcast_ref::<Call>();
        // A call passes some of its arguments to some of its results. Other primitives, loops among
        // them, count as mixing all.
        let outs = match called {
            Some(call) => reached(&call.jaxpr, &ins),
            None => vec![ins.contains(&true); eqn.outputs.len()],
        };
        for (v, mark) in eqn.outputs.iter().zip(outs) {
            on[v.index()] = mark;
        }
    }
    jaxpr.outvars.iter().map(|a| marks(&on, a)).collect()
}

/// Splits a loop's program that is linear in the marked operands into the part that does not
/// depend on them and the rest. The known part returns the carries that are not marked; the
/// linear part returns all results that depend on marked operands.
pub(super) fn divided(jaxpr: &Jaxpr, marked: &Parts<bool>) -> Split {
    let marks = marked.all();
    let types = jaxpr.in_avals();
    let known_types = picked(&types, &marks, false);
    let reached = reached(jaxpr, &marks).into_iter().enumerate();
    let carried = marked.carry.len();
    let nonzero: Vec<bool> = reached
        // A marked carry stays in the linear loop even if this step resets it to a known value.
        .map(|(i, on)| if i < carried { marked.carry[i] } else { on })
        .collect();
    let carry = marked.consts.len()..marked.consts.len() + carried;
    let is_carry = marks.iter().enumerate().filter(|(_, on)| !**on);
    // A known carry differs from step to step, so it must be stored; constants and elements are
    // operands of the loop and need no copy.
    let is_carry: Vec<bool> = is_carry.map(|(i, _)| carry.contains(&i)).collect();
    let mut parts = None;
    let known = trace_to_jaxpr(&known_types, |known| {
        let trace = OpenTrace::partial();
        let mut given = known.iter();
        let args: Vec<Array> = types
            .iter()
            .zip(&marks)
            .map(|(aval, on)| match on {
                true => trace.input(*aval),
                false => given.next().expect("one for each").clone(),
            })
            .collect();
        let outs = eval_inlined(jaxpr, &args);
        let linear = trace.finish(&picked(&outs, &nonzero, true)).pruned();
        let mut results = picked(&outs[..carried], &nonzero, false);
        let residuals = residuals(&linear.consts, known, |i| !is_carry[i], &mut results);
        parts = Some((residuals, linear.open().0));
        results
    });
    let (residuals, linear) = parts.expect("the program was divided");
    Split {
        known,
        residuals,
        linear,
        nonzero,
    }
}

/// A loop's body without its loop-invariant part.
pub(super) struct Hoisted {
    /// Program from the varying arguments to the varying results; its captured values were
    /// computed outside the loop.
    pub program: ClosedJaxpr,
    /// Value of each result from the `kept`th on, if it is loop-invariant.
    pub invariant: Vec<Option<Array>>,
}

/// Computes what depends only on the first arguments, `known`, and returns the rest as a program.
/// The first `kept` results always remain results of that program.
pub(super) fn hoisted(program: &ClosedJaxpr, known: &[Array], kept: usize) -> Hoisted {
    let jaxpr = &*program.jaxpr;
    let mut values: Evaluation<Array> = Evaluation::new(jaxpr);
    values.set(&jaxpr.constvars, program.consts.iter().cloned());
    values.set(&jaxpr.invars, known.iter().cloned());
    let mut rest: Vec<Eqn> = Vec::new();
    for eqn in &jaxpr.eqns {
        // An effect must happen at every step.
        let outside =
            !eqn.primitive.has_effects() && eqn.inputs.iter().all(|a| values.get(a).is_some());
        if outside {
            values.apply(eqn, |operands| eqn.bind(&operands))
        } else {
            rest.push(eqn.clone())
        }
    }
    let mut outvars = jaxpr.outvars[..kept].to_vec();
    let mut outside = Vec::new();
    for atom in &jaxpr.outvars[kept..] {
        let value = values.get(atom);
        if value.is_none() {
            outvars.push(*atom);
        }
        outside.push(value);
    }
    // Outside values that the remaining program reads, in order of their first use.
    let mut constvars: Vec<Var> = Vec::new();
    let mut consts = Vec::new();
    // `take` returns a value once, so each captured value is listed once.
    let read_atoms = rest.iter().flat_map(|e| &e.inputs).chain(&outvars);
    for atom in read_atoms {
        if let Atom::Var(v) = atom
            && let Some(value) = values.take(*v)
        {
            constvars.push(*v);
            consts.push(value);
        }
    }
    let invars = jaxpr.invars[known.len()..].to_vec();
    let rest = Jaxpr::new(constvars, invars, rest, outvars, jaxpr.avals().to_vec());
    let program = ClosedJaxpr {
        jaxpr: Arc::new(rest),
        consts,
    };
    Hoisted {
        program: program.pruned(),
        invariant: outside,
    }
}
