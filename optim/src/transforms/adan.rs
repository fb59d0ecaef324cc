//! Adaptive Nesterov momentum.

use crate::base::moments::{bias_correction, update_moment, update_moment_per_elem_norm};
use crate::base::numerics::{count_zero, safe_increment};
use crate::base::options::options;
use crate::transforms::scaled::Scaled;
use crate::{GradientTransformation, tree};
use ramie_core::{Array, State, where_};
use ramie_derive::Tree;

/// The state of [`scale_by_adan`].
#[derive(Tree)]
pub struct ScaleByAdanState {
    /// Decaying mean of the updates.
    pub m: State,
    /// Decaying mean of the differences between consecutive updates.
    pub v: State,
    /// Decaying mean of the squares of the updates extrapolated by Nesterov momentum.
    pub n: State,
    /// Updates of the previous step.
    pub g: State,
    /// Number of steps, 0-d `i32`.
    pub t: Array,
}

options! {
    /// Applies Nesterov momentum, estimated from differences of updates, and divides by the root
    /// mean square.
    ///
    /// Xie et al., *Adan: Adaptive Nesterov Momentum Algorithm*, 2022.
    scale_by_adan() -> ScaleByAdan in Scaled {
        /// Sets the decay rate of the mean of the updates.
        b1: num = 0.98,
        /// Sets the decay rate of the mean of the differences.
        b2: num = 0.92,
        /// Sets the decay rate of the mean of squares.
        b3: num = 0.99,
        /// Sets the constant added to the denominator outside the square root.
        eps: num = 1e-8,
        /// Sets the constant added inside the square root.
        eps_root: num = 0.0,
    }
    |o| GradientTransformation::new(
        |params| ScaleByAdanState {
            m: params.zeros_like(),
            v: params.zeros_like(),
            n: params.zeros_like(),
            g: params.zeros_like(),
            t: count_zero(),
        },
        move |g, state: ScaleByAdanState, _| {
            let first = state.t.eq(0);
            let diff = g.zip(&state.g, |g, before| where_(&first, g.zeros_like(), g - before));
            let m = update_moment(&g, &state.m, &o.b1, 1);
            let v = update_moment(&diff, &state.v, &o.b2, 1);
            let seen = tree::add_scale(&g, o.b2.rest(), &diff);
            let n = update_moment_per_elem_norm(&seen, &state.n, &o.b3, 2);
            let t = safe_increment(&state.t);
            let m_hat = bias_correction(&m, &o.b1, &t);
            let v_hat = bias_correction(&v, &o.b2, &t);
            let n_hat = bias_correction(&n, &o.b3, &t);
            let u = tree::add_scale(&m_hat, o.b2.rest(), &v_hat);
            let u = u.zip(&n_hat, |u, n| u / ((n + &o.eps_root).sqrt() + &o.eps));
            (u, ScaleByAdanState { m, v, n, g, t })
        },
    )
}
