//! Operations that run nested programs: the error becomes an additional input and output.

use super::pass::Pass;
use crate::Array;
use crate::base::location;
use crate::base::stack::with_room;
use crate::extend::Outputs;
use crate::prim::StatePass;
use crate::program::checks::Errors;
use crate::program::jaxpr::{Eqn, Jaxpr};
use crate::transform::checkify::primitive::Check;

/// Returns whether a program contains any of these checks.
fn has_checks(jaxpr: &Jaxpr, errors: Errors) -> bool {
    with_room(|| {
        jaxpr.eqns.iter().any(|eqn| {
            let primitive = &*eqn.primitive;
            primitive.as_any().is::<Check>()
                || primitive.checks().intersects(errors)
                || primitive.jaxprs().iter().any(|p| has_checks(p, errors))
        })
    })
}

/// Returns whether a program contains a user check.
fn has_user_checks(jaxpr: &Jaxpr) -> bool {
    has_checks(jaxpr, Errors::USER)
}

/// Returns the results of an operation that runs programs with checks; `None` for any other
/// operation.
pub(super) fn run(pass: &mut Pass, eqn: &Eqn, ins: &[Array]) -> Option<Outputs> {
    let programs = eqn.primitive.jaxprs();
    let (errors, layout) = (pass.errors, &pass.layout);
    if !programs.iter().any(|p| has_checks(p, errors)) {
        return None;
    }
    let run = |jaxpr: &Jaxpr, state: &[Array], args: &[Array]| {
        let mut inner = Pass::new(errors, layout.clone(), state.to_vec());
        let outs = inner.run(jaxpr, &[], args);
        inner.into_state().into_iter().chain(outs).collect()
    };
    let threaded = StatePass {
        state: pass.state(),
        run: &run,
        changes: &|jaxpr| has_checks(jaxpr, errors),
        requires: &has_user_checks,
    };
    match eqn
        .primitive
        .nested()
        .and_then(|n| n.thread_state(&threaded, ins))
    {
        Some(mut state) => {
            let outs = state.split_off(pass.state().len());
            pass.set_state(state);
            Some(outs.into())
        }
        None if programs.iter().any(|p| has_user_checks(p)) => location::fail(&format!(
            "checkify: a `check` inside `{}` cannot be converted to an error value\n  help: apply \
             checkify inside it, or implement `Nested::thread_state`",
            eqn.primitive.name()
        )),
        None => None,
    }
}
