//! Checks that a loop's carry keeps its structure and types.

use super::differences;
use crate::prim::operands;
use crate::program::tree;
use crate::{Array, DType, Tree};

/// Converts the initial carry to the types that the body returns, where an initial value is
/// weakly typed, such as a number. Returns `None` if nothing has to change.
pub(crate) fn promoted<C: Tree>(init: &C, next: &C) -> Option<C> {
    let (first, next) = (tree::leaves(init), tree::leaves(next));
    if first.len() != next.len() {
        return None;
    }
    let mut changed = false;
    let converted: Vec<Array> = first
        .iter()
        .zip(&next)
        .map(|(a, b)| {
            let (from, to) = (a.aval(), b.aval());
            if !from.weak_type() || from.dtype() == to.dtype() {
                return a.clone();
            }
            let types = ((from.dtype(), true), (to.dtype(), to.weak_type()));
            let (dtype, weak) = DType::promote(types.0, types.1);
            changed |= dtype != from.dtype();
            operands::convert(a, dtype, weak)
        })
        .collect();
    changed.then(|| tree::with_leaves(init, converted))
}

/// Checks that a body returned a carry of the same structure and types. The caller's carry is at
/// the path `inside`.
#[track_caller]
pub(crate) fn check<C: Tree>(operation: &str, inside: &str, given: &C, next: &C) {
    let names = ["the initial carry", "the returned carry"];
    if let Some(lines) = differences(names, inside, (given, next)) {
        let whose = ["the initial carry", "the returned carry"];
        let help = super::varying_help(given, next, whose).unwrap_or_else(|| {
            "convert with astype or reshape in the body, or start with an array of the type that \
             the body returns; values that are not arrays cannot change between steps, so pass a \
             number as an array: `0.into_array()`"
                .into()
        });
        panic!(
            "{operation}: the body must return a carry with the structure and types of its \
             argument\n  {}\n  help: {help}",
            lines.join("\n  ")
        );
    }
}
