//! Layer-wise normalization of gradients.

use crate::base::extra_args::expect_params;
use crate::base::numerics::{count_zero, safe_increment};
use crate::base::options::options;
use crate::base::wide::wide_state;
use crate::{GradientTransformation, tree};
use ramie_core::{Array, State, where_};
use ramie_derive::Tree;

/// The state of [`scale_by_novograd`].
#[derive(Tree)]
pub struct ScaleByNovogradState {
    /// Number of steps, 0-d `i32`.
    pub count: Array,
    /// Decaying sum of the normalized gradients.
    pub mu: State,
    /// Decaying mean of the squared norm of each array's gradient, 0-d each.
    pub nu: State,
}

options! {
    /// Replaces updates by a decaying sum of gradients, each divided by the norm of its array.
    ///
    /// `update` panics if `params` is `None`.
    ///
    /// Ginsburg et al., *Stochastic Gradient Methods with Layer-wise Adaptive
    /// Moments*, 2019.
    scale_by_novograd() -> ScaleByNovograd {
        /// Sets the decay rate of the sum of gradients.
        b1: num = 0.9,
        /// Sets the decay rate of the mean of squared norms.
        b2: num = 0.25,
        /// Sets the constant added to the denominator outside the square root.
        eps: num = 1e-8,
        /// Sets the constant added inside the square root.
        eps_root: num = 0.0,
        /// Sets the strength of weight decay.
        weight_decay: num = 0.0,
        /// Sets the dtype of the sum. Defaults to that of the parameters, but at least `f32`.
        mu_dtype: dtype,
    }
    |o| {
        let mu_dtype = o.mu_dtype;
        GradientTransformation::new(
            move |params| ScaleByNovogradState {
                count: count_zero(),
                mu: tree::zeros_like(params, mu_dtype),
                nu: params.map(|p| Array::scalar(0.0, p.dtype())),
            },
            move |updates, state: ScaleByNovogradState, params| {
                let params = expect_params("scale_by_novograd", params);
                let count = safe_increment(&state.count);
                let first = count.eq(1);
                let rest = o.b2.rest();
                let nu = updates.zip(&state.nu, |g, n| {
                    let square = tree::abs_sq(g).sum().sqrt().square();
                    let square = square.astype(n.dtype());
                    where_(&first, &square, &square * &rest + n * &o.b2)
                });
                let scaled = updates.zip(&nu, |g, n| g / ((n + &o.eps_root).sqrt() + &o.eps));
                let added = scaled.zip(params, |g, p| g + p * &o.weight_decay);
                let mu = added.zip(&wide_state(&state.mu), |a, m| where_(&first, a, m * &o.b1 + a));
                let mu = tree::cast(&mu, mu_dtype);
                (mu.clone(), ScaleByNovogradState { count, mu, nu })
            },
        )
    }
}
