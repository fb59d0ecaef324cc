//! `while_loop`.

use super::{carry, types_of, with_values};
use crate::prim::control::{Part, While};
use crate::program::jaxpr::{Atom, ClosedJaxpr, Var};
use crate::program::traced::trace_tree;
use crate::program::tree;
use crate::{Array, DType, Tree};
use std::sync::Arc;

/// Calls `body` repeatedly, starting with `init` and then with the previous result, while
/// `condition` of the value is true (`jax.lax.while_loop`).
///
/// The carry is a tree that keeps its structure and types. Pass an initial number as a weak array,
/// `0.into_array()`, which takes the type that the body returns; a plain number is static.
/// Forward-mode differentiation is supported. Reverse mode is not, since the number of steps, and
/// so the memory for residuals, is unknown: use [`scan`](crate::lax::scan) or
/// [`fori_loop`](crate::lax::fori_loop) instead.
///
/// ```no_run
/// use ramie_core::lax::while_loop;
/// use ramie_core::Array;
/// // How often 100 can be halved until it is at most 1.
/// let (_, times) = while_loop(
///     |(x, _): (Array, Array)| x.gt(1.0),
///     |(x, times)| (x / 2.0, times + 1),
///     (Array::from(100.0f32), Array::from(0)),
/// );
/// assert_eq!(times.item::<i32>(), 7);
/// ```
///
/// # Panics
/// Panics if the condition does not return a scalar `bool`, or if the body returns a carry of
/// another structure or type.
#[track_caller]
pub fn while_loop<C: Tree>(condition: impl Fn(C) -> Array, body: impl Fn(C) -> C, init: C) -> C {
    while_as("while_loop", "", condition, body, init)
}

/// Runs [`while_loop`] on behalf of `operation`, whose own carry is at the path `inside`.
#[track_caller]
pub(crate) fn while_as<C: Tree>(
    operation: &'static str,
    inside: &str,
    condition: impl Fn(C) -> Array,
    body: impl Fn(C) -> C,
    init: C,
) -> C {
    let mut init = init;
    loop {
        match with_values::while_holds(&condition, &init) {
            None => break,
            Some(true) => init = body(init),
            Some(false) => return init,
        }
    }
    let trace = |init: &C| {
        let types = types_of(init, Array::aval);
        (trace_tree(&types, &condition), trace_tree(&types, &body))
    };
    let (mut holds, mut next) = trace(&init);
    if let Some(converted) = carry::promoted(&init, &next.result) {
        init = converted;
        (holds, next) = trace(&init);
    }
    let verdict = holds.result.aval();
    assert!(
        verdict.ndim() == 0 && verdict.dtype() == DType::Bool,
        "{operation}: the condition must return a scalar bool, got {verdict}\n  help: compare, \
         for example x.gt(0.0); reduce several elements with .all() or .any()"
    );
    carry::check(operation, inside, &init, &next.result);
    let outs = bind(operation, holds.program, next.program, tree::leaves(&init));
    tree::with_leaves(&next.result, outs)
}

/// Binds a loop. A carry that the body returns unchanged and the condition does not use becomes a
/// constant of the body.
#[track_caller]
fn bind(
    operation: &'static str,
    condition: ClosedJaxpr,
    body: ClosedJaxpr,
    init: Vec<Array>,
) -> Vec<Array> {
    let (mut cond_jaxpr, cond_consts) = condition.open();
    let (mut body_jaxpr, body_consts) = body.open();
    let (kc, kb) = (cond_consts.len(), body_consts.len());
    let forwarded = body_jaxpr.forwarded();
    let (_, looked_at) = cond_jaxpr.dce();
    let kept: Vec<bool> = (0..init.len())
        .map(|i| forwarded[i] != Some(kb + i) || looked_at[kc + i])
        .collect();
    let marked = |keep: bool| -> Vec<Array> {
        let marked = init.iter().zip(&kept).filter(|(_, on)| **on == keep);
        marked.map(|(a, _)| a.clone()).collect()
    };
    if kept.contains(&false) {
        let vars = |carry: &[Var], keep: bool| -> Vec<Var> {
            let marked = carry.iter().zip(&kept).filter(|(_, on)| **on == keep);
            marked.map(|(v, _)| *v).collect()
        };
        let (own, carry) = cond_jaxpr.invars.split_at(kc);
        let invars = [own, &vars(carry, true)].concat();
        let pruned = cond_jaxpr.dce().0;
        cond_jaxpr = Arc::new(pruned.with_interface(invars, cond_jaxpr.outvars.clone()));
        let (own, carry) = body_jaxpr.invars.split_at(kb);
        let invars = [&vars(carry, false)[..], own, &vars(carry, true)].concat();
        let outvars = body_jaxpr.outvars.iter().zip(&kept);
        let outvars: Vec<Atom> = outvars.filter(|(_, on)| **on).map(|(o, _)| *o).collect();
        body_jaxpr = Arc::new(body_jaxpr.with_interface(invars, outvars));
    }
    let part = |jaxpr: Arc<crate::extend::Jaxpr>, consts: Vec<Array>| Part {
        program: ClosedJaxpr::without_consts(jaxpr),
        consts,
    };
    let body_consts = [marked(false), body_consts].concat();
    let carry = marked(true);
    let outs = While::apply(
        operation,
        part(cond_jaxpr, cond_consts),
        part(body_jaxpr, body_consts),
        &carry,
    );
    let mut outs = outs.into_iter();
    init.iter()
        .zip(&kept)
        .map(|(first, on)| match on {
            true => outs.next().expect("one for each carry"),
            false => first.clone(),
        })
        .collect()
}
