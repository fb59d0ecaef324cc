//! Checks of many calls that share few compiled programs.

use super::check::GROUP;
use super::panics::caught;
use ramie_core::{Tree, eval_shape, jit};

/// Calls `f` with each index and its operands, and passes the index and the results to `check`.
///
/// Most of a test's time is compilation, so many calls share a program. A call runs alone, outside
/// `jit`, if it cannot be traced because it reads elements, or if its check fails.
///
/// # Panics
/// With the messages of all checks that panic.
#[track_caller]
pub fn check_calls<T: Tree + Clone, R: Tree>(
    operands: &[T],
    f: impl Fn(usize, T) -> R + Send + Sync,
    check: impl Fn(usize, R),
) {
    let mut passed = vec![false; operands.len()];
    let traced = |i: &usize| caught(|| eval_shape(|x: T| f(*i, x), operands[*i].clone())).is_ok();
    let traced: Vec<usize> = (0..operands.len()).filter(traced).collect();
    for group in traced.chunks(GROUP) {
        let program = jit(|operands: Vec<T>| -> Vec<R> {
            let calls = group.iter().zip(operands);
            calls.map(|(&i, x)| f(i, x)).collect()
        });
        let operands = group.iter().map(|&i| operands[i].clone()).collect();
        let results = caught(|| program(operands));
        for (&i, result) in group.iter().zip(results.into_iter().flatten()) {
            passed[i] = caught(|| check(i, result)).is_ok();
        }
    }
    let alone = |i: usize| check(i, f(i, operands[i].clone()));
    let left = (0..operands.len()).filter(|&i| !passed[i]);
    let failure = |i: usize| Some(format!("call {i}: {}", caught(|| alone(i)).err()?));
    let failures: Vec<String> = left.filter_map(failure).collect();
    assert!(
        failures.is_empty(),
        "{} of {} calls fail\n{}",
        failures.len(),
        operands.len(),
        failures.join("\n")
    );
}
