//! Operations that hold programs: the error goes in and comes out.

use super::pass::Pass;
use super::{Errors, automatic};
use crate::jaxpr::{Eqn, Jaxpr};
use crate::prim::Primitive;
use crate::prim::call::Call;
use crate::prim::check::Check;
use crate::prim::control::{Cond, Part, Parts, Scan, While};
use crate::prim::custom::{CustomJvpCall, CustomVjpCall, CustomVmapCall};
use crate::prim::nested::avals;
use crate::prim::remat::Remat;
use crate::stack::with_room;
use crate::trace::{self, trace_to_jaxpr};
use crate::{Array, Aval, Outputs};
use std::sync::Arc;

/// The programs that an operation holds and runs.
pub(super) fn programs(primitive: &dyn Primitive) -> Vec<Arc<Jaxpr>> {
    if automatic::indexes(primitive) {
        return Vec::new();
    }
    let params = primitive.params();
    let programs = params.iter().flat_map(|(_, value)| value.jaxprs());
    programs.cloned().collect()
}

/// Whether a program has a check of these.
fn has_checks(jaxpr: &Jaxpr, errors: Errors) -> bool {
    jaxpr.eqns.iter().any(|eqn| {
        let primitive = &*eqn.primitive;
        primitive.as_any().is::<Check>()
            || automatic::checks(primitive, errors)
            || with_room(|| programs(primitive).iter().any(|p| has_checks(p, errors)))
    })
}

/// Whether a program has a check that the user made.
fn has_user_checks(jaxpr: &Jaxpr) -> bool {
    has_checks(jaxpr, Errors::USER)
}

/// The results of an operation that holds programs with checks; `None` for any
/// other.
pub(super) fn run(pass: &mut Pass, eqn: &Eqn, ins: &[Array]) -> Option<Outputs> {
    let held = programs(&*eqn.primitive);
    if !held.iter().any(|p| has_checks(p, pass.errors)) {
        return None;
    }
    let any = eqn.primitive.as_any();
    let outs = if let Some(op) = any.downcast_ref::<Call>() {
        call(pass, op, ins)
    } else if let Some(op) = any.downcast_ref::<Cond>() {
        cond(pass, op, ins)
    } else if let Some(op) = any.downcast_ref::<Scan>() {
        scan(pass, op, ins)
    } else if let Some(op) = any.downcast_ref::<While>() {
        while_loop(pass, op, ins)
    } else if let Some(op) = any.downcast_ref::<Remat>() {
        remat(pass, op, ins)
    } else if any.is::<CustomJvpCall>() || any.is::<CustomVjpCall>() || any.is::<CustomVmapCall>() {
        if !has_user_checks(&held[0]) {
            return None;
        }
        pass.run(&held[0], &[], ins)
    } else {
        if !held.iter().any(|p| has_user_checks(p)) {
            return None;
        }
        trace::fail(&format!(
            "checkify: a `check` inside of `{}` cannot be made a value\n  help: apply checkify inside \
             of it",
            eqn.primitive.name()
        ))
    };
    Some(outs.into())
}

/// Takes the error off the front of results.
fn split_state(pass: &mut Pass, mut outs: Vec<Array>) -> Vec<Array> {
    let rest = outs.split_off(pass.layout.avals().len());
    pass.set_state(outs);
    rest
}

fn call(pass: &mut Pass, op: &Call, ins: &[Array]) -> Vec<Array> {
    let program = pass.stage(&avals(ins), |pass, args| pass.run(&op.jaxpr, &[], args));
    let args = [pass.state(), ins].concat();
    let outs = Call::apply(&op.name, program, &args);
    split_state(pass, outs)
}

fn remat(pass: &mut Pass, op: &Remat, ins: &[Array]) -> Vec<Array> {
    let program = pass.stage(&avals(ins), |pass, args| pass.run(&op.jaxpr, &[], args));
    let args = [pass.state(), ins].concat();
    let outs = op.apply(program, &args, op.differentiated);
    split_state(pass, outs)
}

fn cond(pass: &mut Pass, op: &Cond, ins: &[Array]) -> Vec<Array> {
    let (index, operands) = (&ins[0], &ins[1..]);
    let types = avals(operands);
    let branches = op.branches.iter();
    let branches = branches
        .map(|b| pass.stage(&types, |pass, args| pass.run(b, &[], args)))
        .collect();
    let args = [pass.state(), operands].concat();
    let outs = Cond::apply(index, branches, &args);
    split_state(pass, outs)
}

fn scan(pass: &mut Pass, op: &Scan, ins: &[Array]) -> Vec<Array> {
    let args = op.parts(ins);
    let state = pass.layout.avals();
    let consts = args.consts.len();
    // Constants come first in the program, the error is part of the carry.
    let types: Vec<Aval> = op.jaxpr.in_avals();
    let (const_types, rest) = types.split_at(consts);
    let all = [const_types, &state, rest].concat();
    let program = trace_to_jaxpr(&all, |args| {
        let (consts, rest) = args.split_at(consts);
        let (state, rest) = rest.split_at(state.len());
        let mut inner = Pass::new(pass.errors, pass.layout.clone(), state.to_vec());
        let outs = inner.run(&op.jaxpr, &[], &[consts, rest].concat());
        inner.into_state().into_iter().chain(outs).collect()
    });
    let carry = [pass.state(), &args.carry].concat();
    let outs = op.apply(program, Parts { carry, ..args });
    split_state(pass, outs)
}

fn while_loop(pass: &mut Pass, op: &While, ins: &[Array]) -> Vec<Array> {
    if op.cond_jaxpr.out_avals()[0].ndim() > 0 {
        trace::fail(
            "checkify: a loop whose number of steps differs between the examples of a vmap has checks \
             in it\n  help: apply checkify first: vmap(checkify(f, errors))",
        );
    }
    let (cconsts, rest) = ins.split_at(op.cond_nconsts);
    let (bconsts, init) = rest.split_at(op.body_nconsts);
    // The condition is checked where the loop begins, and after each step.
    let condition = |pass: &mut Pass, consts: &[Array], carry: &[Array]| {
        if has_checks(&op.cond_jaxpr, pass.errors) {
            pass.run(&op.cond_jaxpr, &[], &[consts, carry].concat());
        }
    };
    condition(pass, cconsts, init);
    let state = pass.layout.avals();
    let carried = avals(init);
    let consts = [cconsts, bconsts].concat();
    let body_types = [&avals(&consts)[..], &state, &carried].concat();
    let body = trace_to_jaxpr(&body_types, |args| {
        let (consts, rest) = args.split_at(consts.len());
        let (cconsts, bconsts) = consts.split_at(op.cond_nconsts);
        let (state, carry) = rest.split_at(state.len());
        let mut inner = Pass::new(pass.errors, pass.layout.clone(), state.to_vec());
        let next = inner.run(&op.body_jaxpr, &[], &[bconsts, carry].concat());
        condition(&mut inner, cconsts, &next);
        inner.into_state().into_iter().chain(next).collect()
    });
    let cond_types = [&avals(cconsts)[..], &state, &carried].concat();
    let cond = trace_to_jaxpr(&cond_types, |args| {
        let (cconsts, rest) = args.split_at(cconsts.len());
        let (state, carry) = rest.split_at(state.len());
        // What its checks find here is found where the condition is checked.
        let mut inner = Pass::new(pass.errors, pass.layout.clone(), state.to_vec());
        inner.run(&op.cond_jaxpr, &[], &[cconsts, carry].concat())
    });
    let cond = Part {
        program: cond.pruned(),
        consts: cconsts.to_vec(),
    };
    let body = Part {
        program: body,
        consts,
    };
    let carry = [pass.state(), init].concat();
    let outs = While::apply(op.made_by, cond, body, &carry);
    split_state(pass, outs)
}
