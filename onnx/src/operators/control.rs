//! Branches.

use super::{Operator, values};
use crate::call::{Call, Value};
use ramie_core::Array;
use ramie_core::lax::cond;

pub(super) const OPERATORS: &[Operator] = &[values("If", branch)];

/// Evaluates one branch if the condition is known, and both otherwise.
fn branch(call: &Call<'_>) -> Vec<Value> {
    let graphs = &call.op.graphs;
    let (Some(yes), Some(no)) = (graphs.get("then_branch"), graphs.get("else_branch")) else {
        call.fail("a branch is missing");
    };
    if let Some(known) = call.known(0) {
        let chosen = if known.to_ints().first() == Some(&1) {
            yes
        } else {
            no
        };
        return call.scope.nested(chosen);
    }
    let arrays = |values: Vec<Value>| values.iter().map(Value::to_array).collect::<Vec<Array>>();
    let results = cond(
        call.array(0).reshape(()),
        |()| arrays(call.scope.nested(yes)),
        |()| arrays(call.scope.nested(no)),
        (),
    );
    results.into_iter().map(Value::from).collect()
}
