//! `cond` and `switch`.

use super::{differences, types_of, with_values};
use crate::prim::control::{Cond, shared_consts};
use crate::prim::elementwise::Clamp;
use crate::program::jaxpr::{Atom, ClosedJaxpr, Jaxpr};
use crate::program::trace::bind1;
use crate::program::traced::{Traced, trace_tree};
use crate::program::tree;
use crate::{Array, DType, IntoArray, Tree};
use std::sync::Arc;

/// Calls `true_fn` if `pred` is true, and `false_fn` otherwise (`jax.lax.cond`).
///
/// `pred` is a scalar; nonzero numbers are true. Pass several operands as a tuple; values that
/// the functions capture need not be passed. Both functions are traced, and one of them runs.
/// Under [`vmap`](crate::vmap) with a predicate that differs between batch elements, both run and
/// the results are selected.
///
/// ```no_run
/// use ramie_core::lax::cond;
/// use ramie_core::Array;
/// let x = Array::from(-2.0f32);
/// let root = cond(x.ge(0.0), |x: Array| x.sqrt(), |_| Array::from(0.0f32), x);
/// assert_eq!(root.item::<f32>(), 0.0);
/// ```
///
/// # Panics
/// Panics if `pred` is not a scalar, or if the results differ in structure or types.
#[track_caller]
pub fn cond<A: Tree, R: Tree>(
    pred: impl IntoArray,
    true_fn: impl FnOnce(A) -> R,
    false_fn: impl FnOnce(A) -> R,
    operands: A,
) -> R {
    let pred = pred.into_array();
    assert!(
        pred.ndim() == 0,
        "cond: the predicate must be a scalar, got {}\n  help: use where_ to choose for each \
         element, or vmap to choose for each batch element",
        pred.aval()
    );
    let pred = match pred.dtype() {
        DType::Bool => pred,
        _ => pred.ne(0),
    };
    match with_values::truth(&pred) {
        Some(true) => return true_fn(operands),
        Some(false) => return false_fn(operands),
        None => {}
    }
    let on_true = branch(&operands, true_fn);
    let on_false = branch(&operands, false_fn);
    check_results(
        "cond",
        ["true_fn", "false_fn"],
        &on_true.result,
        &on_false.result,
    );
    let index = pred.astype(DType::I32);
    let (mut branches, consts) = shared_consts(vec![on_true.program, on_false.program]);
    branches.reverse();
    choose(&index, &branches, consts, &operands, &on_true.result)
}

/// Calls the function at `index`, which is clamped to the valid range (`jax.lax.switch`).
///
/// ```no_run
/// use ramie_core::lax::switch;
/// use ramie_core::Array;
/// let x = Array::from(3.0f32);
/// let y = switch(2, &[&|x: Array| x + 1.0, &|x| -x, &|x| &x * &x], x);
/// assert_eq!(y.item::<f32>(), 9.0);
/// ```
///
/// # Panics
/// Panics if there are no functions, if `index` is not a scalar integer, or if the results differ
/// in structure or types.
#[track_caller]
pub fn switch<A: Tree, R: Tree>(
    index: impl IntoArray,
    branches: &[&dyn Fn(A) -> R],
    operands: A,
) -> R {
    let index = index.into_array();
    assert!(
        index.ndim() == 0 && index.dtype().is_integer(),
        "switch: the index must be a scalar integer, got {}\n  help: convert it with \
         astype(DType::I32)",
        index.aval()
    );
    match branches {
        [] => panic!("switch: there are no branches\n  help: pass at least one function"),
        [only] => return only(operands),
        _ => {}
    }
    if let Some(chosen) = with_values::number(&index.astype(DType::I32)) {
        let last = branches.len() - 1;
        let chosen = usize::try_from(chosen).unwrap_or(0).min(last);
        return branches[chosen](operands);
    }
    let traced: Vec<_> = branches.iter().map(|f| branch(&operands, f)).collect();
    for (i, other) in traced.iter().enumerate().skip(1) {
        let names = ["branch 0", &format!("branch {i}")];
        check_results("switch", names, &traced[0].result, &other.result);
    }
    let last = Array::scalar(branches.len() as i64 - 1, DType::I32);
    let zero = Array::scalar(0, DType::I32);
    let index = bind1(Clamp, &[&zero, &index.astype(DType::I32), &last]);
    let (programs, results): (Vec<_>, Vec<_>) =
        traced.into_iter().map(|t| (t.program, t.result)).unzip();
    let (branches, consts) = shared_consts(programs);
    choose(&index, &branches, consts, &operands, &results[0])
}

#[track_caller]
fn branch<A: Tree, R: Tree>(operands: &A, f: impl FnOnce(A) -> R) -> Traced<R> {
    trace_tree(&types_of(operands, Array::aval), f)
}

#[track_caller]
fn check_results<R: Tree>(operation: &str, names: [&str; 2], a: &R, b: &R) {
    if let Some(lines) = differences(names, "", (a, b)) {
        let whose = names.map(|n| format!("the result of {n}"));
        let help = super::varying_help(a, b, [&whose[0], &whose[1]])
            .unwrap_or_else(|| "convert the result of one branch with astype or reshape".into());
        panic!(
            "{operation}: the branches must return results of the same structure and types\n  \
             {}\n  help: {help}",
            lines.join("\n  ")
        );
    }
}

/// Binds programs of the same types, which take `args` followed by the operands. A result that is
/// the same operand in all programs is not passed through them.
#[track_caller]
fn choose<A: Tree, R: Tree>(
    index: &Array,
    branches: &[Arc<Jaxpr>],
    mut args: Vec<Array>,
    operands: &A,
    like: &R,
) -> R {
    args.extend(tree::leaves(operands));
    let forwarded: Vec<Vec<Option<usize>>> = branches.iter().map(|b| b.forwarded()).collect();
    let forward: Vec<Option<usize>> = (0..branches[0].outvars.len())
        .map(|i| forwarded[0][i].filter(|_| forwarded.iter().all(|f| f[i] == forwarded[0][i])))
        .collect();
    let programs = branches.iter().map(|b| {
        let kept = b.outvars.iter().zip(&forward);
        let kept: Vec<Atom> = kept.filter(|(_, f)| f.is_none()).map(|(o, _)| *o).collect();
        ClosedJaxpr::without_consts(b.with_interface(b.invars.clone(), kept))
    });
    let mut outs = Cond::apply(index, programs.collect(), &args).into_iter();
    let outs = forward.iter().map(|f| match f {
        Some(i) => args[*i].clone(),
        None => outs.next().expect("one for each result"),
    });
    tree::with_leaves(like, outs)
}
