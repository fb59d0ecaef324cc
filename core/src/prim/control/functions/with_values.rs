//! Control flow inside [`disable_jit`](crate::config::disable_jit): functions are called directly, and
//! can read the values of their arrays.

use super::ScanOptions;
use crate::program::disable::jit_is_disabled;
use crate::program::tree;
use crate::{Array, DType, Tree, stack};

/// Returns the value of a predicate if jit is disabled and the predicate is not traced.
pub(super) fn truth(pred: &Array) -> Option<bool> {
    (jit_is_disabled() && !pred.is_tracer()).then(|| pred.item::<bool>())
}

/// Returns the value of an index if jit is disabled and the index is not traced.
pub(super) fn number(index: &Array) -> Option<i32> {
    (jit_is_disabled() && !index.is_tracer()).then(|| index.item::<i32>())
}

/// Returns whether a loop continues, if jit is disabled.
pub(super) fn while_holds<C: Tree>(condition: &impl Fn(C) -> Array, carry: &C) -> Option<bool> {
    if !jit_is_disabled() {
        return None;
    }
    let holds = condition(tree::copy(carry));
    (holds.ndim() == 0 && holds.dtype() == DType::Bool)
        .then(|| truth(&holds))
        .flatten()
}

/// Runs a scan step by step. Returns `None` if the scan must be traced, because jit is enabled,
/// or because there are no steps from which to infer the results.
pub(super) fn scan<C: Tree, X: Tree, Y: Tree>(
    f: &impl Fn(C, X) -> (C, Y),
    init: C,
    xs: &X,
    length: usize,
    options: &ScanOptions,
) -> Result<(C, Y), C> {
    if !jit_is_disabled() || length == 0 {
        return Err(init);
    }
    let mut carry = init;
    let mut results: Vec<Y> = Vec::with_capacity(length);
    for i in 0..length {
        let at = if options.reverse { length - 1 - i } else { i };
        let (next, y) = f(carry, tree::map(xs, |x| x.index(at)));
        carry = next;
        results.push(y);
    }
    if options.reverse {
        results.reverse();
    }
    let columns = tree::transpose(&results).into_iter();
    let stacked: Vec<Array> = columns
        .map(|column| stack(&column.iter().collect::<Vec<_>>(), 0))
        .collect();
    Ok((carry, tree::with_leaves(&results[0], stacked)))
}
