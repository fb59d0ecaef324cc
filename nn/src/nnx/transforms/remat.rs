//! `remat` for functions that change a model.

use super::{copy, pure, replace};
use ramie_core::options::CheckpointOptions;
use ramie_core::{Tree, checkpoint_with};

/// Calls a function of a model and arguments whose intermediate values are recomputed in the
/// backward pass instead of being stored (`nnx.remat`).
///
/// ```no_run
/// use ramie_core::{Array, DType};
/// use ramie_nn::{Linear, Rngs, grad, nnx};
/// let mut layer = Linear::new(4, 4, &mut Rngs::new(0));
/// let x = Array::ones(&[2, 4], DType::F32);
/// let grads = grad(&mut layer, |layer| {
///     nnx::remat(layer, x.clone(), |layer, x| layer.forward(&x).tanh()).sum()
/// });
/// ```
#[track_caller]
pub fn remat<M: Tree, A: Tree, R: Tree>(
    model: &mut M,
    args: A,
    f: impl Fn(&mut M, A) -> R + Send + Sync,
) -> R {
    remat_with(model, args, CheckpointOptions::default(), f)
}

/// Like [`remat`], with a policy that selects values to store, or with options.
#[track_caller]
pub fn remat_with<M: Tree, A: Tree, R: Tree>(
    model: &mut M,
    args: A,
    options: impl Into<CheckpointOptions>,
    f: impl Fn(&mut M, A) -> R + Send + Sync,
) -> R {
    let f = pure(f);
    let (out, after) = checkpoint_with(move |m: M, a: A| f(m, a), options)(copy(model), args);
    replace(model, after);
    out
}
