//! Control flow with functions that change a model, and `eval_shape`.

use super::{copy, replace};
use ramie_core::{Array, IntoArray, Tree, tree};

/// Panics if a branch changed the structure of the model.
#[track_caller]
fn same_structure<M: Tree>(operation: &str, branch: &str, before: &M, after: &M) {
    if let Some(lines) = tree::structure_mismatch(["before", "after"], before, after) {
        panic!(
            "{operation}: {branch} changed the structure of the model\n  {lines}\n  help: change \
             only the model's arrays in branches and loops; change hyperparameters and modes, \
             and sow values, before or after"
        );
    }
}

/// Calls one of two functions of a model, selected by a boolean scalar (`nnx.cond`). The model
/// has the state after the selected function.
///
/// ```
/// use ramie_core::Array;
/// use ramie_nn::{BatchStat, nnx};
/// let mut count = BatchStat::new(Array::from(1));
/// nnx::cond(Array::from(true), &mut count, |c| **c += 1, |_| ());
/// assert_eq!(count.item::<i32>(), 2);
/// ```
///
/// # Panics
/// Panics if the predicate is not a scalar, if the functions return different structures or
/// types, or if one of them changes the structure of the model.
#[track_caller]
pub fn cond<M: Tree, R: Tree>(
    pred: impl IntoArray,
    model: &mut M,
    true_fn: impl FnOnce(&mut M) -> R,
    false_fn: impl FnOnce(&mut M) -> R,
) -> R {
    let before = copy(model);
    let check = |branch: &str, out: R, model: M| {
        same_structure("nnx::cond", branch, &before, &model);
        (out, model)
    };
    let (out, after) = ramie_core::lax::cond(
        pred,
        |mut m: M| {
            let out = true_fn(&mut m);
            check("true_fn", out, m)
        },
        |mut m| {
            let out = false_fn(&mut m);
            check("false_fn", out, m)
        },
        copy(model),
    );
    replace(model, after);
    out
}

/// Calls one of several functions of a model, selected by its index (`nnx.switch`).
///
/// # Panics
/// Panics as [`cond`] does, and if there are no functions.
#[track_caller]
pub fn switch<M: Tree, R: Tree>(
    index: impl IntoArray,
    model: &mut M,
    branches: &[&dyn Fn(&mut M) -> R],
) -> R {
    let before = copy(model);
    let checked: Vec<_> = branches
        .iter()
        .enumerate()
        .map(|(i, f)| {
            let before = &before;
            move |mut model: M| {
                let out = f(&mut model);
                same_structure("nnx::switch", &format!("branch {i}"), before, &model);
                (out, model)
            }
        })
        .collect();
    let branches: Vec<&dyn Fn(M) -> (R, M)> = checked.iter().map(|f| f as _).collect();
    let (out, after) = ramie_core::lax::switch(index, &branches, copy(model));
    replace(model, after);
    out
}

/// Calls a function of a model repeatedly while a condition on the model is true
/// (`nnx.while_loop`).
///
/// ```
/// use ramie_core::Array;
/// use ramie_nn::{BatchStat, nnx};
/// let mut n = BatchStat::new(Array::from(1));
/// nnx::while_loop(&mut n, |n| n.lt(100), |n| **n *= 2);
/// assert_eq!(n.item::<i32>(), 128);
/// ```
///
/// # Panics
/// Panics if the condition is not a boolean scalar, or if the function changes the structure or
/// types of the model.
#[track_caller]
pub fn while_loop<M: Tree>(model: &mut M, condition: impl Fn(&M) -> Array, body: impl Fn(&mut M)) {
    let before = copy(model);
    let after = ramie_core::lax::while_loop(
        |m: M| condition(&m),
        |mut m| {
            body(&mut m);
            same_structure("nnx::while_loop", "the body", &before, &m);
            m
        },
        copy(model),
    );
    replace(model, after);
}

/// Calls a function of an index and a model for each index from `lower` up to, but not
/// including, `upper` (`nnx.fori_loop`).
///
/// ```
/// use ramie_core::Array;
/// use ramie_nn::{BatchStat, nnx};
/// let mut sum = BatchStat::new(Array::from(0));
/// nnx::fori_loop(0, 5, &mut sum, |i, sum| **sum += i);
/// assert_eq!(sum.item::<i32>(), 10);
/// ```
///
/// # Panics
/// Panics if the function changes the structure or types of the model.
#[track_caller]
pub fn fori_loop<M: Tree>(
    lower: impl IntoArray,
    upper: impl IntoArray,
    model: &mut M,
    body: impl Fn(Array, &mut M),
) {
    let before = copy(model);
    let after = ramie_core::lax::fori_loop(
        lower,
        upper,
        |i, mut m: M| {
            body(i, &mut m);
            same_structure("nnx::fori_loop", "the body", &before, &m);
            m
        },
        copy(model),
    );
    replace(model, after);
}

/// Traces a function and returns its result with abstract arrays; nothing is computed
/// (`nnx.eval_shape`). For example, this gives the shapes of a model before it is created.
///
/// ```
/// use ramie_nn::{Linear, Rngs, nnx};
/// let model = nnx::eval_shape(|| Linear::new(4, 3, &mut Rngs::new(0)));
/// assert_eq!(model.kernel.aval().to_string(), "f32[4,3]");
/// ```
///
/// # Panics
/// Panics if the function does.
#[track_caller]
pub fn eval_shape<R: Tree>(f: impl FnOnce() -> R) -> R {
    ramie_core::eval_shape(|()| f(), ())
}
