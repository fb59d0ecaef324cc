//! A `while` loop that threads a state through its programs.

use super::{Part, While};
use crate::base::location;
use crate::prim::StatePass;
use crate::program::lists::avals;
use crate::program::trace::trace_to_jaxpr;
use crate::{Array, Aval};

/// Runs the condition with the state before the loop and after each step, since the condition
/// itself cannot change the carry.
pub(super) fn thread(op: &While, pass: &StatePass<'_>, args: &[Array]) -> Vec<Array> {
    if op.cond_jaxpr.out_avals()[0].ndim() > 0 {
        location::fail(
            "checkify: a loop that contains checks runs different numbers of steps for the \
             examples of a vmap\n  help: apply checkify first: vmap(checkify(f, errors))",
        );
    }
    let (cconsts, rest) = args.split_at(op.cond_nconsts);
    let (bconsts, init) = rest.split_at(op.body_nconsts);
    let count = pass.state().len();
    let condition = |mut state: Vec<Array>, consts: &[Array], carry: &[Array]| {
        if pass.changes(&op.cond_jaxpr) {
            state = pass.run(&op.cond_jaxpr, &state, &[consts, carry].concat());
            state.truncate(count);
        }
        state
    };
    let first = condition(pass.state().to_vec(), cconsts, init);
    let carried: Vec<Aval> = pass.avals().into_iter().chain(avals(init)).collect();
    let consts = [cconsts, bconsts].concat();
    let body = trace_to_jaxpr(&[&avals(&consts)[..], &carried].concat(), |args| {
        let (consts, rest) = args.split_at(consts.len());
        let (cconsts, bconsts) = consts.split_at(op.cond_nconsts);
        let (state, carry) = rest.split_at(count);
        let mut state = pass.run(&op.body_jaxpr, state, &[bconsts, carry].concat());
        let next = state.split_off(count);
        let state = condition(state, cconsts, &next);
        state.into_iter().chain(next).collect()
    });
    let cond = trace_to_jaxpr(&[&avals(cconsts)[..], &carried].concat(), |args| {
        let (cconsts, rest) = args.split_at(cconsts.len());
        let (state, carry) = rest.split_at(count);
        // Its checks are recorded where the condition runs with the state.
        let mut outs = pass.run(&op.cond_jaxpr, state, &[cconsts, carry].concat());
        outs.split_off(count)
    });
    let cond = Part {
        program: cond.pruned(),
        consts: cconsts.to_vec(),
    };
    let body = Part {
        program: body,
        consts,
    };
    let carry: Vec<Array> = first.iter().chain(init).cloned().collect();
    While::apply(op.made_by, cond, body, &carry)
}
