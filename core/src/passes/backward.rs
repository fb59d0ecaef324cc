//! Transposition: runs a linear program backwards, from output cotangents to input cotangents.

use super::{add_any, resharded};
use crate::base::location::{self, in_user_code};
use crate::dtypes::Literal;
use crate::program::jaxpr::{Atom, ClosedJaxpr, Eqn, Jaxpr};
use crate::program::rules::{Differentiation, Operand};
use crate::program::trace::{OpenTrace, at_equation, trace_to_jaxpr};
use crate::{Array, Aval};
use smallvec::SmallVec;

/// Returns the cotangents of a linear program's inputs, given those of its outputs; `None` is
/// zero. Captured values are constants.
pub(crate) fn backward(program: &ClosedJaxpr, cts: &[Option<Array>]) -> Vec<Option<Array>> {
    let jaxpr = &*program.jaxpr;
    // The cotangent of each variable so far: the sum over the uses that the loop has passed.
    let mut env: Vec<Option<Array>> = vec![None; jaxpr.num_vars()];
    // Only captured values are known: a linear program is recorded by a partial trace, so that each
    // of its equations depends on a linear input.
    let mut known: Vec<Option<Array>> = vec![None; jaxpr.num_vars()];
    for (v, a) in jaxpr.constvars.iter().zip(&program.consts) {
        known[v.index()] = Some(a.clone());
    }
    let accumulate = |env: &mut [Option<Array>], atom: &Atom, ct: Option<Array>| {
        if let (Atom::Var(v), Some(ct)) = (atom, ct) {
            let slot = &mut env[v.index()];
            *slot = Some(match slot.take() {
                Some(sum) => add_any(&sum, &ct),
                None => ct,
            });
        }
    };
    for (atom, ct) in jaxpr.outvars.iter().zip(cts) {
        accumulate(&mut env, atom, ct.clone());
    }
    let operand = |atom: &Atom| match atom {
        Atom::Literal(l) => Operand::Known(Array::literal(*l)),
        Atom::Var(v) => match &known[v.index()] {
            Some(a) => Operand::Known(a.clone()),
            None => Operand::Linear(jaxpr.var_aval(*v)),
        },
    };
    // All uses of a variable follow the equation that computes it. In reverse order its cotangent
    // is therefore complete when that equation is reached.
    for eqn in jaxpr.eqns.iter().rev() {
        let cts: SmallVec<[Option<Array>; 2]> =
            eqn.outputs.iter().map(|v| env[v.index()].take()).collect();
        if cts.iter().all(Option::is_none) {
            continue;
        }
        let operands: SmallVec<[Operand; 4]> = eqn.inputs.iter().map(operand).collect();
        at_equation(eqn, || {
            let grads = transposed(eqn, &cts, &operands);
            debug_assert_eq!(grads.len(), operands.len(), "{}", eqn.primitive.name());
            for ((atom, operand), grad) in eqn.inputs.iter().zip(&operands).zip(grads) {
                if !operand.is_linear() {
                    continue;
                }
                debug_assert!(
                    grad.as_ref()
                        .is_none_or(|g| g.aval().matches(operand.aval())),
                    "{}: the transpose returned a cotangent {:?} for an operand {:?}",
                    eqn.primitive.name(),
                    grad.as_ref().map(Array::aval),
                    operand.aval()
                );
                let grad = grad.map(|g| placed_as(g, operand.aval()));
                accumulate(&mut env, atom, grad);
            }
        });
    }
    jaxpr.invars.iter().map(|v| env[v.index()].take()).collect()
}

/// Returns the cotangents of an equation's operands.
///
/// # Panics
/// Panics if the equation is not linear in its operands.
#[track_caller]
fn transposed(eqn: &Eqn, cts: &[Option<Array>], operands: &[Operand]) -> Vec<Option<Array>> {
    let grads = match eqn.primitive.differentiation() {
        Differentiation::Linear(rule) => return rule(cts, operands),
        Differentiation::Nested(nested) => return nested.transpose(cts, operands),
        Differentiation::Jvp {
            transpose: Some(rule),
            ..
        } => Some(rule(cts, operands)),
        _ => None,
    };
    // A product is linear in one operand if the others are known; the rule returns `None` for
    // unknown operands. It may also return `None` for empty arrays.
    let some = |o: &Operand| o.is_linear() && o.aval().size() > 0;
    let linear = |grads: &Vec<Option<Array>>| {
        grads.iter().any(Option::is_some)
            || cts.iter().flatten().all(|ct| ct.size() == 0)
            || !operands.iter().any(some)
    };
    grads.filter(linear).unwrap_or_else(|| {
        location::fail(&format!(
            "{}: cannot be transposed: it is not linear in its operands\n  help: a linear function can \
             only add values, multiply them by constants, and move them; use vjp for the derivative of \
             other functions",
            eqn.primitive.name()
        ))
    })
}

/// Returns the cotangent of an operand with the operand's sharding over explicit axes.
fn placed_as(ct: Array, operand: Aval) -> Array {
    // Where a value remains to be summed over a mesh axis, its cotangent is already reduced, and
    // vice versa.
    let wanted = operand.spec().of_cotangent();
    let Some(mesh) = operand.sharding().or(ct.aval().sharding()) else {
        return ct;
    };
    if ct.aval().spec() == wanted || !ct.is_tracer() && ct.aval().sharding().is_none() {
        ct
    } else {
        resharded(&ct, mesh.mesh(), &wanted)
    }
}

/// Same as [`backward`], for a program with known inputs: computes first what depends only on
/// those.
pub(crate) fn transpose_call(
    jaxpr: &Jaxpr,
    operands: &[Operand],
    cts: &[Option<Array>],
) -> Vec<Option<Array>> {
    let trace = OpenTrace::partial();
    let args: Vec<Array> = operands
        .iter()
        .map(|o| match o {
            Operand::Linear(aval) => trace.input(*aval),
            Operand::Known(a) => a.clone(),
        })
        .collect();
    // Evaluating the program again separates it: operations on known operands run in the traces
    // below, and this trace records only those that depend on linear operands.
    let mut outs = jaxpr.eval(&[], &args);
    let mut cts = cts.to_vec();
    // An output that does not depend on the linear inputs takes no cotangent.
    for (out, ct) in outs.iter_mut().zip(&mut cts) {
        if !trace.owns(out) {
            *out = Array::literal(Literal::new(0, out.dtype()));
            *ct = None;
        }
    }
    let program = trace.finish(&outs);
    // One for each input of the trace, thus only for linear operands.
    let mut grads = backward(&program, &cts).into_iter();
    operands
        .iter()
        .map(|o| {
            if o.is_linear() {
                grads.next().flatten()
            } else {
                None
            }
        })
        .collect()
}

/// Returns the cotangent of the operand of `f`, a linear function of an array of type `operand`,
/// for the rules of primitives.
#[track_caller]
pub(crate) fn transpose_of(f: impl FnOnce(&Array) -> Array, operand: Aval, ct: &Array) -> Array {
    // Traced twice, since the second trace is partial: what `f` computes without its argument runs
    // below that trace, and only operations on the argument are transposed.
    let program = trace_to_jaxpr(&[operand], |args| in_user_code(|| vec![f(&args[0])]));
    let trace = OpenTrace::partial();
    let outs = program.eval(&[trace.input(operand)]);
    let linear = trace.finish(&outs);
    let ct = backward(&linear, &[Some(ct.clone())]).pop().flatten();
    ct.unwrap_or_else(|| Array::zeros_of(operand))
}
