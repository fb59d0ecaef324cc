//! Control flow on values, inside of [`disable_jit`](crate::disable_jit): the
//! functions are called as they are, and can read the arrays that they get.

use super::ScanOptions;
use crate::jit::jit_is_disabled;
use crate::{Array, DType, Tree, stack, tree};

/// The value of a predicate, if functions are to be called with values.
pub(super) fn truth(pred: &Array) -> Option<bool> {
    (jit_is_disabled() && !pred.is_tracer()).then(|| pred.item::<bool>())
}

/// The value of an index, if functions are to be called with values.
pub(super) fn number(index: &Array) -> Option<i32> {
    (jit_is_disabled() && !index.is_tracer()).then(|| index.item::<i32>())
}

/// Whether a loop goes on, if functions are to be called with values.
pub(super) fn while_holds<C: Tree>(condition: &impl Fn(C) -> Array, carry: &C) -> Option<bool> {
    if !jit_is_disabled() {
        return None;
    }
    let holds = condition(tree::map(carry, Array::clone));
    (holds.ndim() == 0 && holds.dtype() == DType::Bool)
        .then(|| truth(&holds))
        .flatten()
}

/// The result of a scan, one step after the other. `None` if it is to be traced:
/// for that, or because there are no steps to learn the results from.
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
