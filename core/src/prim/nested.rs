//! Helpers for operations that contain programs: the batched, tangent and transposed programs.

use super::{Avals, BatchAxis, Operand, Tangents, move_batch_axis};
use crate::extend::Outputs;
use crate::passes::{batch_eval, jvp_eval, linearize_eval, transpose_call};
use crate::program::jaxpr::{ClosedJaxpr, Jaxpr};
use crate::program::lists::{avals, given, some_where};
use crate::program::trace::trace_to_jaxpr;
use crate::{Array, Aval, ShapeError};
use std::fmt::Display;
use std::sync::Arc;

/// Returns the result types of the program of `what` for operands of the types `args`.
pub(super) fn infer(what: impl Display, jaxpr: &Jaxpr, args: &[Aval]) -> Result<Avals, ShapeError> {
    let expected = jaxpr.in_avals();
    let (takes, given) = (expected.len(), args.len());
    crate::ensure_shape!(takes == given, "{what} takes {takes} arrays, got {given}");
    for (i, (a, e)) in args.iter().zip(&expected).enumerate() {
        let fits = a.strong() == e.strong();
        crate::ensure_shape!(fits, "{what} takes {e} as array {i}, got {a}");
    }
    Ok(jaxpr.out_avals().into())
}

/// Runs a program, one operation after the other.
pub(super) fn evaluate(jaxpr: &Jaxpr, args: &[&Array]) -> crate::Result<Outputs> {
    let args: Vec<Array> = args.iter().map(|a| (*a).clone()).collect();
    Ok(jaxpr.eval(&[], &args).into())
}

/// Implements forward mode of the call of a program; `call` calls another program.
pub(super) fn call_jvp(
    jaxpr: &Jaxpr,
    primals: &[Array],
    tangents: &[Option<Array>],
    call: impl FnOnce(ClosedJaxpr, &[Array]) -> Vec<Array>,
) -> (Vec<Array>, Tangents) {
    let args = with_tangents(primals, tangents);
    let (program, nonzero) = pushed(jaxpr, &avals(&args), &given(tangents), &[]);
    let mut outs = call(program, &args);
    let dots = outs.split_off(jaxpr.outvars.len());
    (outs, some_where(&nonzero, dots))
}

/// Implements the transposition of the call of a program; `call` calls another program.
pub(super) fn call_transpose(
    jaxpr: &Jaxpr,
    cts: &[Option<Array>],
    operands: &[Operand],
    call: impl FnOnce(ClosedJaxpr, &[Array]) -> Vec<Array>,
) -> Tangents {
    let args = known_and_given(operands, cts);
    let (program, nonzero) = pulled(jaxpr, &avals(&args), operands, &given(cts), &[]);
    some_where(&nonzero, call(program, &args))
}

/// Returns zeros of a type.
pub(super) fn zeros(aval: Aval) -> Array {
    Array::zeros_of(aval)
}

/// Returns the program for many examples at once, from arguments of the given types, whose batch
/// axes are in `axes`. `out_axis` returns the position of the batch axis of result `i`, given the
/// position that the result has.
pub(super) fn batched(
    jaxpr: &Jaxpr,
    avals: &[Aval],
    axes: &[Option<usize>],
    axis: BatchAxis,
    out_axis: impl Fn(usize, Option<usize>) -> Option<usize>,
) -> (ClosedJaxpr, Vec<Option<usize>>) {
    let mut out_axes = Vec::new();
    let program = trace_to_jaxpr(avals, |args| {
        let (outs, found) = batch_eval(jaxpr, &[], args, axes, axis);
        let outs = outs.into_iter().zip(found).enumerate();
        outs.map(|(i, (out, at))| {
            let to = out_axis(i, at);
            out_axes.push(to);
            match to {
                Some(to) => move_batch_axis(&out, at, to, axis),
                None => {
                    assert!(at.is_none(), "internal error: result {i} is batched");
                    out
                }
            }
        })
        .collect()
    });
    (program, out_axes)
}

/// Computes results and tangents of a program; a zero tangent is materialized if `instantiate` is
/// set for it.
pub(super) fn jvp(
    jaxpr: &Jaxpr,
    primals: &[Array],
    tangents: &[Option<Array>],
    instantiate: &[bool],
) -> (Vec<Array>, Vec<Option<Array>>) {
    let (outs, mut dots) = jvp_eval(jaxpr, &[], primals, tangents);
    for ((dot, on), out) in dots.iter_mut().zip(instantiate).zip(&outs) {
        if *on && dot.is_none() {
            *dot = Some(zeros(out.aval()));
        }
    }
    (outs, dots)
}

/// Returns the operands of a program of results and tangents: the values, followed by the nonzero
/// tangents.
pub(super) fn with_tangents(primals: &[Array], tangents: &[Option<Array>]) -> Vec<Array> {
    let all = primals.iter().chain(tangents.iter().flatten());
    all.cloned().collect()
}

/// Returns the program of results and tangents, and which results have a tangent. It maps the
/// arguments, and the tangents of those in `perturbed`, to the results followed by their
/// tangents.
pub(super) fn pushed(
    jaxpr: &Jaxpr,
    avals: &[Aval],
    perturbed: &[bool],
    instantiate: &[bool],
) -> (ClosedJaxpr, Vec<bool>) {
    let mut nonzero = Vec::new();
    let program = trace_to_jaxpr(avals, |args| {
        let (primals, dots) = args.split_at(perturbed.len());
        let dots = some_where(perturbed, dots.iter().cloned());
        let (mut outs, dots) = jvp(jaxpr, primals, &dots, instantiate);
        nonzero = given(&dots);
        outs.extend(dots.into_iter().flatten());
        outs
    });
    (program, nonzero)
}

/// A program split into one without tangents and one that is linear in them.
pub(super) struct Split {
    /// Program from the arguments to the results, followed by the residuals.
    pub known: ClosedJaxpr,
    /// Program from tangents to the nonzero tangents of the results; its captured values are the
    /// residuals.
    pub linear: Arc<Jaxpr>,
    /// Whether each result has a nonzero tangent.
    pub nonzero: Vec<bool>,
}

/// Linearizes a program with respect to the arguments marked in `perturbed`.
pub(super) fn linearized(jaxpr: &Jaxpr, avals: &[Aval], perturbed: &[bool]) -> Split {
    let mut parts = None;
    let known = trace_to_jaxpr(avals, |args| {
        let lin = linearize_eval(jaxpr, &[], args, perturbed);
        let mut outs = lin.outs;
        outs.extend(lin.linear.consts);
        parts = Some((lin.linear.jaxpr, lin.nonzero));
        outs
    });
    let (linear, nonzero) = parts.expect("the program was linearized");
    Split {
        known,
        linear,
        nonzero,
    }
}

/// Returns the operands of a transposed program: the known operands, followed by the nonzero
/// cotangents.
pub(super) fn known_and_given(operands: &[Operand], cts: &[Option<Array>]) -> Vec<Array> {
    let known = operands.iter().filter_map(Operand::known);
    known.chain(cts.iter().flatten()).cloned().collect()
}

/// Returns the transposed program, and which operands have a cotangent. Its arguments are those
/// of [`known_and_given`], of the given types. A zero cotangent is materialized if `instantiate`
/// is set for it.
pub(super) fn pulled(
    jaxpr: &Jaxpr,
    avals: &[Aval],
    operands: &[Operand],
    cts: &[bool],
    instantiate: &[bool],
) -> (ClosedJaxpr, Vec<bool>) {
    let mut nonzero = Vec::new();
    let program = trace_to_jaxpr(avals, |args| {
        let mut args = args.iter().cloned();
        let inner = operands.iter().map(|o| o.nested(o.aval(), &mut args));
        let inner: Vec<Operand> = inner.collect();
        let mut grads = transpose_call(jaxpr, &inner, &some_where(cts, args));
        for ((grad, on), o) in grads.iter_mut().zip(instantiate).zip(operands) {
            if *on && grad.is_none() {
                *grad = Some(zeros(o.aval()));
            }
        }
        nonzero = given(&grads);
        grads.into_iter().flatten().collect()
    });
    (program, nonzero)
}
