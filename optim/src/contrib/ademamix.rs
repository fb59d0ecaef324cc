//! AdEMAMix: a fast and a slow mean of gradients.

use crate::base::moments::{bias_correction, update_moment, update_moment_per_elem_norm};
use crate::base::numerics::{count_zero, safe_increment};
use crate::base::options::options;
use crate::{GradientTransformation, Scaled, Schedule, tree};
use ramie_core::{Array, State};
use ramie_derive::Tree;

/// The state of [`scale_by_ademamix`].
#[derive(Tree)]
pub struct ScaleByAdemamixState {
    /// Number of steps, 0-d `i32`.
    pub count: Array,
    /// Number of steps that the slow mean has seen, 0-d `i32`.
    pub count_m2: Array,
    /// Fast mean of the updates.
    pub m1: State,
    /// Slow mean of the updates.
    pub m2: State,
    /// Decaying mean of squares.
    pub nu: State,
}

options! {
    /// Adds a fast and a slow mean of the updates and divides by the root of the mean of squares.
    ///
    /// Pagliardini et al., *The AdEMAMix Optimizer: Better, Faster, Older*,
    /// 2024.
    scale_by_ademamix() -> ScaleByAdemamix in Scaled {
        /// Sets the decay rate of the fast mean.
        b1: num = 0.9,
        /// Sets the decay rate of the mean of squares.
        b2: num = 0.999,
        /// Sets the decay rate of the slow mean.
        b3: schedule = 0.9999,
        /// Sets the weight of the slow mean.
        alpha: schedule = 6.0,
        /// Sets the constant added to the denominator outside the square root.
        eps: num = 1e-8,
        /// Sets the constant added inside the square root.
        eps_root: num = 0.0,
        /// Sets the dtype of the means. Defaults to that of the parameters, but at least `f32`.
        mu_dtype: dtype,
    }
    |o| {
        let dtype = o.mu_dtype;
        GradientTransformation::new(
            move |params| ScaleByAdemamixState {
                count: count_zero(),
                count_m2: count_zero(),
                m1: tree::zeros_like(params, dtype),
                m2: tree::zeros_like(params, dtype),
                nu: tree::zeros_like(params, dtype),
            },
            move |updates, state: ScaleByAdemamixState, _| {
                let (b3, alpha) = (o.b3.number(&state.count_m2), o.alpha.number(&state.count_m2));
                let m1 = update_moment(&updates, &state.m1, &o.b1, 1);
                let m2 = update_moment(&updates, &state.m2, b3, 1);
                let nu = update_moment_per_elem_norm(&updates, &state.nu, &o.b2, 2);
                let count = safe_increment(&state.count);
                let mixed = tree::add_scale(&bias_correction(&m1, &o.b1, &count), alpha, &m2);
                let nu_hat = bias_correction(&nu, &o.b2, &count);
                let updates = mixed.zip(&nu_hat, |m, v| m / ((v + &o.eps_root).sqrt() + &o.eps));
                let state = ScaleByAdemamixState {
                    count,
                    count_m2: safe_increment(&state.count_m2),
                    m1: tree::cast(&m1, dtype),
                    m2: tree::cast(&m2, dtype),
                    nu: tree::cast(&nu, dtype),
                };
                (updates, state)
            },
        )
    }
}

/// The options of [`ademamix`].
pub type Ademamix = Scaled<ScaleByAdemamix>;

/// Creates an AdEMAMix optimizer: [`adamw`](crate::adamw) with a second, slow mean of
/// gradients.
///
/// ```
/// use ramie_optim::contrib::ademamix;
/// let tx = ademamix(1e-3).alpha(8.0);
/// ```
///
/// `alpha` defaults to 5, and the weight decay to 0.
///
/// Pagliardini et al., *The AdEMAMix Optimizer: Better, Faster, Older*,
/// 2024.
#[track_caller]
pub fn ademamix(learning_rate: impl Into<Schedule>) -> Ademamix {
    Scaled::new(scale_by_ademamix().alpha(5.0), learning_rate).weight_decay(0.0)
}

/// The state of [`scale_by_simplified_ademamix`].
#[doc(alias = "ScaleBySimplifiedAdEMAMixState")]
#[derive(Tree)]
pub struct ScaleBySimplifiedAdemamixState {
    /// Number of steps, 0-d `i32`.
    pub t: Array,
    /// Decaying sum of the updates.
    pub m: State,
    /// Decaying mean of squares.
    pub n: State,
}

options! {
    /// Adds the weighted update to a decaying sum of the updates and divides by the root of the
    /// mean of squares.
    ///
    /// Morwani et al., *Connections between Schedule-Free Optimizers, AdEMAMix,
    /// and Accelerated SGD Variants*, 2025.
    scale_by_simplified_ademamix() -> ScaleBySimplifiedAdemamix in Scaled {
        /// Sets the decay rate of the sum.
        b1: num = 0.99,
        /// Sets the decay rate of the mean of squares.
        b2: num = 0.95,
        /// Sets the weight of the update itself.
        alpha: schedule = 0.0,
        /// Sets the constant added to the denominator outside the square root.
        eps: num = 1e-8,
        /// Sets the constant added inside the square root.
        eps_root: num = 0.0,
    }
    |o| GradientTransformation::new(
        |params| ScaleBySimplifiedAdemamixState {
            t: count_zero(),
            m: params.zeros_like(),
            n: params.zeros_like(),
        },
        move |g, state: ScaleBySimplifiedAdemamixState, _| {
            let alpha = o.alpha.number(&state.t);
            let m = tree::add_scale(&g, &o.b1, &state.m);
            let squares = tree::mul(&g, &g);
            let n = tree::add_scale(&squares, &o.b2, &tree::sub(&state.n, &squares));
            let t = safe_increment(&state.t);
            let n_hat = bias_correction(&n, &o.b2, &t);
            let above = tree::add_scale(&m, alpha, &g);
            let updates = above.zip(&n_hat, |u, n| u / ((n + &o.eps_root).sqrt() + &o.eps));
            (updates, ScaleBySimplifiedAdemamixState { t, m, n })
        },
    )
}

/// The options of [`simplified_ademamix`].
pub type SimplifiedAdemamix = Scaled<ScaleBySimplifiedAdemamix>;

/// Creates a simplified AdEMAMix optimizer with one decaying sum; the gradient itself
/// replaces the fast mean.
///
/// ```
/// use ramie_optim::contrib::simplified_ademamix;
/// let tx = simplified_ademamix(1e-4).alpha(10.0);
/// ```
///
/// The weight decay defaults to 0.
///
/// Morwani et al., *Connections between Schedule-Free Optimizers, AdEMAMix,
/// and Accelerated SGD Variants*, 2025.
#[track_caller]
pub fn simplified_ademamix(learning_rate: impl Into<Schedule>) -> SimplifiedAdemamix {
    Scaled::new(scale_by_simplified_ademamix(), learning_rate).weight_decay(0.0)
}
