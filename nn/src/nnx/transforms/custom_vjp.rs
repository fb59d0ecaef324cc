//! `custom_vjp` for functions that change a model.

use super::{copy, pure, replace};
use ramie_core::text::listed;
use ramie_core::{Array, State, Tree, tree};

/// Calls a function of a model and arguments with a custom reverse-mode rule
/// (`nnx.custom_vjp`).
///
/// `fwd` computes the result and the residuals. From the residuals and the cotangent of the
/// result, `bwd` computes the cotangents of some of the model's leaves, as a [`State`], and
/// those of the arguments. Leaves that the state lacks have a zero cotangent. `f` and `fwd` may
/// change the model.
///
/// ```
/// use ramie_core::{Array, State};
/// use ramie_nn::{Param, grad, nnx};
/// let mut w = (Param::new(Array::from(3.0f32)),);
/// // Clip the gradient of the parameter to [-1, 1].
/// let grads = grad(&mut w, |w| {
///     nnx::custom_vjp(
///         w,
///         Array::from(5.0f32),
///         |w: &mut (Param,), x: Array| &*w.0 * x,
///         |w, x| (&*w.0 * &x, (w.0.value().clone(), x)),
///         |(w, x), ct: Array| {
///             let for_w = (&ct * x).clip(-1.0, 1.0);
///             (State::from_iter([("0", for_w)]), ct * w)
///         },
///     )
/// });
/// assert_eq!(grads["0"].item::<f32>(), 1.0);
/// ```
///
/// # Panics
/// The derivative panics if a rule returns types that differ from those of the arguments or the
/// result, or a cotangent for a path that the model lacks.
#[track_caller]
pub fn custom_vjp<M: Tree, A: Tree, R: Tree, S: Tree>(
    model: &mut M,
    args: A,
    f: impl Fn(&mut M, A) -> R + Send + Sync,
    fwd: impl Fn(&mut M, A) -> (R, S) + Send + Sync + 'static,
    bwd: impl Fn(S, R) -> (State, A) + Send + Sync + 'static,
) -> R {
    let f = pure(f);
    // Keep only the types, because the rules outlive the trace that the model may belong to.
    let like = tree::shape_dtype_structs(model);
    let with_rule = ramie_core::custom_vjp(
        move |m: M, a: A| f(m, a),
        move |(mut m, a): (M, A)| {
            let (out, residuals) = fwd(&mut m, a);
            ((out, m), residuals)
        },
        move |residuals: S, (ct, _): (R, M)| {
            let (grads, args) = bwd(residuals, ct);
            (cotangents(&like, &grads), args)
        },
    );
    let (out, after) = with_rule(copy(model), args);
    replace(model, after);
    out
}

/// Creates a model of cotangents from those of a state, with zeros elsewhere.
#[track_caller]
fn cotangents<M: Tree>(like: &M, grads: &State) -> M {
    let paths = tree::paths(like);
    let unknown: Vec<&str> = grads
        .paths()
        .filter(|p| !paths.iter().any(|q| q == p))
        .collect();
    assert!(
        unknown.is_empty(),
        "nnx::custom_vjp: the backward rule returned cotangents for {}, which the model does not \
         have\n  help: use paths of the model: {}",
        listed(&unknown),
        listed(&paths)
    );
    tree::map_with_path(like, |path, leaf| {
        let zeros = || Array::zeros(leaf.shape(), leaf.dtype());
        grads.get(path).cloned().unwrap_or_else(zeros)
    })
}
