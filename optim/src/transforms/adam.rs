//! Rescaling by estimates of the first two moments.

use crate::base::moments::{
    bias_correction, corrected, corrected_mean, update_moment, update_moment_per_elem_norm,
};
use crate::base::numerics::{count_zero, safe_increment};
use crate::base::options::options;
use crate::transforms::scaled::Scaled;
use crate::{GradientTransformation, tree};
use ramie_core::{Array, State};
use ramie_derive::Tree;

/// The state of [`scale_by_adam`] and its variants.
#[derive(Tree)]
pub struct ScaleByAdamState {
    /// Number of steps, 0-d `i32`.
    pub count: Array,
    /// Decaying mean of the updates.
    pub mu: State,
    /// Decaying mean of squares.
    pub nu: State,
}

options! {
    /// Divides the decaying mean of past updates by the root of the decaying mean of their
    /// squares, both bias-corrected.
    ///
    /// ```
    /// use ramie_optim::{chain, scale, scale_by_adam};
    /// let tx = chain((scale_by_adam().b2(0.99), scale(-1e-3)));
    /// ```
    ///
    /// Kingma and Ba, *Adam: A Method for Stochastic Optimization*, 2014; Dozat,
    /// *Incorporating Nesterov Momentum into Adam*, 2016.
    scale_by_adam() -> ScaleByAdam in Scaled {
        /// Sets the decay rate of the mean of the updates.
        b1: num = 0.9,
        /// Sets the decay rate of the mean of squares.
        b2: num = 0.999,
        /// Sets the constant added to the denominator outside the square root.
        eps: num = 1e-8,
        /// Sets the constant added inside the square root, which keeps its derivative finite.
        eps_root: num = 0.0,
        /// Sets the dtype of the mean. Defaults to that of the parameters, but at least `f32`.
        mu_dtype: dtype,
        /// Enables Nesterov momentum.
        nesterov: flag,
    }
    |o| {
        let mu_dtype = o.mu_dtype;
        GradientTransformation::new(
            move |params| ScaleByAdamState {
                count: count_zero(),
                mu: tree::zeros_like(params, mu_dtype),
                nu: params.zeros_like(),
            },
            move |updates, state: ScaleByAdamState, _| {
                let mu = update_moment(&updates, &state.mu, &o.b1, 1);
                let nu = update_moment_per_elem_norm(&updates, &state.nu, &o.b2, 2);
                let count = safe_increment(&state.count);
                let mu_hat = corrected_mean(&updates, &mu, &o.b1, &count, o.nesterov);
                let nu_hat = bias_correction(&nu, &o.b2, &count);
                let updates = mu_hat.zip(&nu_hat, |m, n| m / ((n + &o.eps_root).sqrt() + &o.eps));
                let mu = tree::cast(&mu, mu_dtype);
                let nu = tree::cast_like(&nu, &state.nu);
                (updates, ScaleByAdamState { count, mu, nu })
            },
        )
    }
}

/// The state of [`scale_by_amsgrad`].
#[derive(Tree)]
pub struct ScaleByAmsgradState {
    /// Number of steps, 0-d `i32`.
    pub count: Array,
    /// Decaying mean of the updates.
    pub mu: State,
    /// Decaying mean of squares.
    pub nu: State,
    /// Largest bias-corrected mean of squares so far.
    pub nu_max: State,
}

options! {
    /// Rescales updates like [`scale_by_adam`], but with a denominator that never decreases.
    ///
    /// Reddi et al., *On the Convergence of Adam and Beyond*, 2018.
    scale_by_amsgrad() -> ScaleByAmsgrad in Scaled {
        /// Sets the decay rate of the mean of the updates.
        b1: num = 0.9,
        /// Sets the decay rate of the mean of squares.
        b2: num = 0.999,
        /// Sets the constant added to the denominator outside the square root.
        eps: num = 1e-8,
        /// Sets the constant added inside the square root.
        eps_root: num = 0.0,
        /// Sets the dtype of the mean. Defaults to that of the parameters, but at least `f32`.
        mu_dtype: dtype,
        /// Sets whether the mean is bias-corrected.
        bias_correction_mu: toggle = true,
        /// Sets whether the mean of squares is bias-corrected.
        bias_correction_nu: toggle = true,
    }
    |o| {
        let mu_dtype = o.mu_dtype;
        GradientTransformation::new(
            move |params| ScaleByAmsgradState {
                count: count_zero(),
                mu: tree::zeros_like(params, mu_dtype),
                nu: params.zeros_like(),
                nu_max: params.zeros_like(),
            },
            move |updates, state: ScaleByAmsgradState, _| {
                let mu = update_moment(&updates, &state.mu, &o.b1, 1);
                let nu = update_moment_per_elem_norm(&updates, &state.nu, &o.b2, 2);
                let count = safe_increment(&state.count);
                let mu_hat = corrected(&mu, &o.b1, o.bias_correction_mu.then_some(&count));
                let nu_hat = corrected(&nu, &o.b2, o.bias_correction_nu.then_some(&count));
                let nu_max = state.nu_max.zip(&nu_hat, |a, b| a.maximum(b));
                let updates = mu_hat.zip(&nu_max, |m, n| m / ((n + &o.eps_root).sqrt() + &o.eps));
                let mu = tree::cast(&mu, mu_dtype);
                (updates, ScaleByAmsgradState { count, mu, nu, nu_max })
            },
        )
    }
}

options! {
    /// Divides the decaying mean of past updates by the decaying maximum of their magnitudes.
    ///
    /// Kingma and Ba, *Adam: A Method for Stochastic Optimization*, 2014,
    /// section 7.1.
    scale_by_adamax() -> ScaleByAdamax in Scaled {
        /// Sets the decay rate of the mean of the updates.
        b1: num = 0.9,
        /// Sets the decay rate of the maximum magnitude.
        b2: num = 0.999,
        /// Sets the constant added to each magnitude.
        eps: num = 1e-8,
    }
    |o| GradientTransformation::new(adam_init, move |updates, state: ScaleByAdamState, _| {
        let count = safe_increment(&state.count);
        let mu = update_moment(&updates, &state.mu, &o.b1, 1);
        let nu = crate::update_infinity_moment(&updates, &state.nu, &o.b2, &o.eps);
        let updates = tree::div(&bias_correction(&mu, &o.b1, &count), &nu);
        (updates, ScaleByAdamState { count, mu, nu })
    })
}

pub(crate) fn adam_init(params: &State) -> ScaleByAdamState {
    ScaleByAdamState {
        count: count_zero(),
        mu: params.zeros_like(),
        nu: params.zeros_like(),
    }
}

options! {
    /// Rescales updates like [`scale_by_adam`], but changes the mean of squares additively, so
    /// that it grows no faster than it shrinks.
    ///
    /// Zaheer et al., *Adaptive Methods for Nonconvex Optimization*, 2018.
    scale_by_yogi() -> ScaleByYogi in Scaled {
        /// Sets the decay rate of the mean of the updates.
        b1: num = 0.9,
        /// Sets the decay rate of the mean of squares.
        b2: num = 0.999,
        /// Sets the constant added to the denominator outside the square root.
        eps: num = 1e-3,
        /// Sets the constant added inside the square root.
        eps_root: num = 0.0,
        /// Sets the initial value of both means.
        initial_accumulator_value: num = 1e-6,
    }
    |o| {
        let initial = o.initial_accumulator_value.clone();
        GradientTransformation::new(
            move |params| ScaleByAdamState {
                count: count_zero(),
                mu: tree::full_like(params, &initial, None),
                nu: tree::full_like(params, &initial, None),
            },
            move |updates, state: ScaleByAdamState, _| {
                let mu = update_moment(&updates, &state.mu, &o.b1, 1);
                let rest = o.b2.rest();
                let nu = updates.zip(&state.nu, |g, v| {
                    let square = tree::abs_sq(g);
                    v - (v - &square).sign() * &rest * square
                });
                let count = safe_increment(&state.count);
                let mu_hat = bias_correction(&mu, &o.b1, &count);
                let nu_hat = bias_correction(&nu, &o.b2, &count);
                let updates = mu_hat.zip(&nu_hat, |m, n| m / ((n + &o.eps_root).sqrt() + &o.eps));
                (updates, ScaleByAdamState { count, mu, nu })
            },
        )
    }
}

options! {
    /// Rescales updates like [`scale_by_adam`], but uses the mean of squares only after its
    /// variance is small enough.
    ///
    /// Liu et al., *On the Variance of the Adaptive Learning Rate and Beyond*,
    /// 2020.
    scale_by_radam() -> ScaleByRadam in Scaled {
        /// Sets the decay rate of the mean of the updates.
        b1: num = 0.9,
        /// Sets the decay rate of the mean of squares.
        b2: num = 0.999,
        /// Sets the constant added to the denominator outside the square root.
        eps: num = 1e-8,
        /// Sets the constant added inside the square root.
        eps_root: num = 0.0,
        /// Sets the number of effective samples from which on the mean of squares is used.
        threshold: num = 5.0,
        /// Enables Nesterov momentum.
        nesterov: flag,
    }
    |o| GradientTransformation::new(adam_init, move |updates, state: ScaleByAdamState, _| {
        let most = o.b2.rest().with(2.0, |r, two| two / r - 1.0, |r, two| two / r - 1.0);
        let mu = update_moment(&updates, &state.mu, &o.b1, 1);
        let nu = update_moment_per_elem_norm(&updates, &state.nu, &o.b2, 2);
        let count = safe_increment(&state.count);
        let b2t = o.b2.power(&count);
        let samples = -((&count * 2) * &b2t / (1.0_f64 - &b2t)) + &most;
        let mu_hat = corrected_mean(&updates, &mu, &o.b1, &count, o.nesterov);
        let nu_hat = bias_correction(&nu, &o.b2, &count);
        let bound = most.with(4.0, |m, four| (m - four) * (m - 2.0), |m, four| (&m - four) * (m - 2.0));
        let r = ((&samples - 4.0) * (&samples - 2.0) * &most / (&samples * &bound)).sqrt();
        let known = samples.ge(&o.threshold);
        let updates = mu_hat.zip(&nu_hat, |m, n| {
            let scaled = r.astype(m.dtype()) * m / ((n + &o.eps_root).sqrt() + &o.eps);
            ramie_core::where_(&known, scaled, m)
        });
        (updates, ScaleByAdamState { count, mu, nu })
    })
}
