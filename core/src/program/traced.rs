//! Tracing of functions of trees.

use crate::base::location::in_user_code;
use crate::program::jaxpr::ClosedJaxpr;
use crate::program::trace::trace_to_jaxpr;
use crate::program::tree;
use crate::{Array, Aval, Tree};

/// A function traced at given types: its program and its result, with tracers as leaves.
pub(crate) struct Traced<R> {
    pub program: ClosedJaxpr,
    pub result: R,
}

/// Traces `f` at the types of `args`.
#[track_caller]
pub(crate) fn trace_tree<A: Tree, R: Tree>(args: &A, f: impl FnOnce(A) -> R) -> Traced<R> {
    let avals: Vec<Aval> = tree::leaves(args).iter().map(Array::aval).collect();
    let mut result = None;
    let program = trace_to_jaxpr(&avals, |tracers| {
        let args = tree::with_leaves(args, tracers.iter().cloned());
        let out = in_user_code(|| f(args));
        let leaves = tree::leaves(&out);
        result = Some(out);
        leaves
    });
    Traced {
        program,
        result: result.expect("the function ran"),
    }
}
