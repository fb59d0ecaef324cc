//! Second derivatives of losses (`optax.second_order`).

use ramie_core::{Array, State, grad, tree, vmap};

/// Computes the product of the Hessian of a loss with `v`, which has the structure of the
/// parameters (`optax.second_order.hvp`). It is [`ramie_core::hvp`] for states.
///
/// # Panics
/// Panics if the loss is not a scalar, or if `v` has other paths, shapes or dtypes than `params`.
#[track_caller]
pub fn hvp(loss: impl Fn(State) -> Array + Send + Sync, v: &State, params: &State) -> State {
    ramie_core::hvp(loss, params.clone(), v.clone())
}

/// Computes the diagonal of the Hessian of a loss, in the structure of the parameters
/// (`optax.second_order.hessian_diag` returns one vector instead). The cost is one Hessian-vector
/// product for each element of the parameters.
///
/// ```no_run
/// use ramie_core::{Array, State};
/// use ramie_optim::second_order::hessian_diag;
/// let loss = |p: State| (p.arrays()[0].square() * &p.arrays()[0]).sum();
/// let params = State::from_iter([("w", Array::from([1.0f32, 2.0]))]);
/// let diagonal = hessian_diag(loss, &params);
/// assert_eq!(diagonal.arrays()[0].to_vec::<f32>(), [6.0, 12.0]);
/// ```
///
/// # Panics
/// Panics if the loss is not a scalar.
#[track_caller]
pub fn hessian_diag(loss: impl Fn(State) -> Array + Send + Sync, params: &State) -> State {
    let (flat, restore) = tree::ravel(params);
    let element = |v: Array| {
        let product = hvp(&loss, &restore(&v), params);
        (&v * tree::ravel(&product).0).sum()
    };
    let directions = Array::eye(flat.size(), flat.dtype());
    restore(&vmap(element)(directions))
}

/// Computes the squares of the gradients of a loss, in the structure of the parameters
/// (`optax.second_order.fisher_diag`). For a negative log-likelihood, they are the diagonal of
/// the observed Fisher information.
///
/// # Panics
/// Panics if the loss is not a scalar.
#[track_caller]
pub fn fisher_diag(
    negative_log_likelihood: impl Fn(State) -> Array + Send + Sync,
    params: &State,
) -> State {
    grad(negative_log_likelihood)(params.clone()).map(Array::square)
}
