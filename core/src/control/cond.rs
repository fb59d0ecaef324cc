//! `cond` and `switch`.

use super::{differences, types_of, with_values};
use crate::jaxpr::{Atom, ClosedJaxpr, Jaxpr};
use crate::prim::control::{Cond, shared_consts};
use crate::prim::elementwise::Clamp;
use crate::trace::bind1;
use crate::transform::trace_tree;
use crate::{Array, DType, IntoArray, Tree, tree};
use std::sync::Arc;

/// What `true_fn` gives where `pred` is true, and what `false_fn` gives
/// otherwise (`jax.lax.cond`).
///
/// `pred` is a scalar; a number is true unless it is zero. Several operands are
/// given as a tuple, and what the functions capture need not be given at all.
/// Both are traced, and one is run. Under [`vmap`](crate::vmap) with a predicate
/// that differs between examples both are run, and results are chosen.
///
/// ```no_run
/// use ramie_core::{Array, cond};
/// let x = Array::from(-2.0f32);
/// let root = cond(x.ge(0.0), |x: Array| x.sqrt(), |_| Array::from(0.0f32), x);
/// assert_eq!(root.item::<f32>(), 0.0);
/// ```
///
/// # Panics
/// If `pred` is not a scalar, or the results differ in structure or types.
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
        "cond: the predicate must be a scalar, it is {}\n  help: for a choice for each element use \
         where_; for one for each example use vmap",
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

/// What the function with number `index` gives; an index out of range is moved
/// into it (`jax.lax.switch`).
///
/// ```no_run
/// use ramie_core::{Array, switch};
/// let x = Array::from(3.0f32);
/// let y = switch(2, &[&|x: Array| x + 1.0, &|x| -x, &|x| &x * &x], x);
/// assert_eq!(y.item::<f32>(), 9.0);
/// ```
///
/// # Panics
/// If there are no functions, `index` is not a scalar integer, or results differ
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
        "switch: the index must be a scalar integer, it is {}\n  help: convert it with \
         astype(DType::I32)",
        index.aval()
    );
    match branches {
        [] => panic!("switch: there are no branches\n  help: give at least one function"),
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
fn branch<A: Tree, R: Tree>(operands: &A, f: impl FnOnce(A) -> R) -> crate::transform::Traced<R> {
    trace_tree(&types_of(operands, Array::aval), f)
}

#[track_caller]
fn check_results<R: Tree>(operation: &str, names: [&str; 2], a: &R, b: &R) {
    if let Some(lines) = differences(names, "", (a, b)) {
        let whose = names.map(|n| format!("the result of {n}"));
        let help = super::varying_help(a, b, [&whose[0], &whose[1]])
            .unwrap_or_else(|| "convert the result of a branch with astype or reshape".into());
        panic!(
            "{operation}: the branches must give results of one structure and type\n  {}\n  help: \
             {help}",
            lines.join("\n  ")
        );
    }
}

/// Binds programs of equal types, which take `args` and then the operands. A
/// result that is the same operand in all of
/// them does not go through.
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
        ClosedJaxpr {
            jaxpr: b.with_interface(b.invars.clone(), kept).into(),
            consts: Vec::new(),
        }
    });
    let mut outs = Cond::apply(index, programs.collect(), &args).into_iter();
    let outs = forward.iter().map(|f| match f {
        Some(i) => args[*i].clone(),
        None => outs.next().expect("one for each result"),
    });
    tree::with_leaves(like, outs)
}
