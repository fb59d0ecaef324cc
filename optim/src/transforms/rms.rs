//! Rescaling by the magnitude of past updates: the sum, mean or variance of their squares.

use crate::base::moments::{corrected, update_moment, update_moment_per_elem_norm};
use crate::base::numerics::{count_zero, safe_increment};
use crate::base::options::options;
use crate::transforms::scaled::Scaled;
use crate::{GradientTransformation, Hyperparam, tree};
use ramie_core::{Array, State, where_};
use ramie_derive::Tree;

/// The state of [`scale_by_rss`].
#[derive(Tree)]
pub struct ScaleByRssState {
    /// Sum of the squares of all updates.
    pub sum_of_squares: State,
}

options! {
    /// Divides by the root of the sum of all squared updates so far.
    ///
    /// Duchi et al., *Adaptive Subgradient Methods for Online Learning and
    /// Stochastic Optimization*, 2011.
    scale_by_rss() -> ScaleByRss in Scaled {
        /// Sets the initial value of the sum.
        initial_accumulator_value: num = 0.1,
        /// Sets the constant added inside the square root.
        eps: num = 1e-7,
    }
    |o| {
        let initial = o.initial_accumulator_value.clone();
        GradientTransformation::new(
            move |params| ScaleByRssState {
                sum_of_squares: tree::full_like(params, &initial, None),
            },
            move |updates, state: ScaleByRssState, _| {
                let sum_of_squares = updates.zip(&state.sum_of_squares, |g, t| tree::abs_sq(g) + t);
                let updates = sum_of_squares.zip(&updates, |t, g| {
                    where_(t.gt(0.0), (t + &o.eps).rsqrt(), 0.0) * g
                });
                (updates, ScaleByRssState { sum_of_squares })
            },
        )
    }
}

/// The state of [`scale_by_rms`].
#[derive(Tree)]
pub struct ScaleByRmsState {
    /// Decaying mean of squares.
    pub nu: State,
}

/// The state of [`scale_by_rms`] with bias correction.
#[derive(Tree)]
pub struct ScaleByRmsWithCountState {
    /// Number of steps, 0-d `i32`.
    pub count: Array,
    /// Decaying mean of squares.
    pub nu: State,
}

options! {
    /// Divides by the root of a decaying mean of squared updates.
    ///
    /// Tieleman and Hinton, *Lecture 6.5: RMSProp*, 2012.
    scale_by_rms() -> ScaleByRms {
        /// Sets the decay rate of the mean of squares.
        decay: num = 0.9,
        /// Sets the constant added to the denominator.
        eps: num = 1e-8,
        /// Sets the initial value of the mean.
        initial_scale: num = 0.0,
        /// Sets whether `eps` is added inside the square root.
        eps_in_sqrt: toggle = true,
        /// Sets whether the mean is bias-corrected.
        bias_correction: toggle = false,
    }
    |o| {
        let initial = o.initial_scale.clone();
        let nu = move |params: &State| tree::full_like(params, &initial, None);
        if o.bias_correction {
            GradientTransformation::new(
                move |params| ScaleByRmsWithCountState {
                    count: count_zero(),
                    nu: nu(params),
                },
                move |updates, state: ScaleByRmsWithCountState, _| {
                    let count = safe_increment(&state.count);
                    let (updates, nu) = o.step(&updates, &state.nu, Some(&count));
                    (updates, ScaleByRmsWithCountState { count, nu })
                },
            )
        } else {
            GradientTransformation::new(
                move |params| ScaleByRmsState { nu: nu(params) },
                move |updates, state: ScaleByRmsState, _| {
                    let (updates, nu) = o.step(&updates, &state.nu, None);
                    (updates, ScaleByRmsState { nu })
                },
            )
        }
    }
}

impl ScaleByRms {
    /// Returns the new updates and the new mean of squares.
    fn step(&self, updates: &State, nu: &State, count: Option<&Array>) -> (State, State) {
        let nu = update_moment_per_elem_norm(updates, nu, &self.decay, 2);
        let nu_hat = corrected(&nu, &self.decay, count);
        (over_root(updates, &nu_hat, &self.eps, self.eps_in_sqrt), nu)
    }
}

/// Divides the updates by the root of `squares`, with `eps` added inside or outside the root.
fn over_root(updates: &State, squares: &State, eps: &Hyperparam, eps_in_sqrt: bool) -> State {
    squares.zip(updates, |s, g| {
        if eps_in_sqrt {
            (s + eps).rsqrt() * g
        } else {
            1.0_f64 / (s.sqrt() + eps) * g
        }
    })
}

/// The state of [`scale_by_stddev`].
#[derive(Tree)]
pub struct ScaleByRStdDevState {
    /// Decaying mean of the updates.
    pub mu: State,
    /// Decaying mean of squares.
    pub nu: State,
}

/// The state of [`scale_by_stddev`] with bias correction.
#[derive(Tree)]
pub struct ScaleByRStdDevWithCountState {
    /// Number of steps, 0-d `i32`.
    pub count: Array,
    /// Decaying mean of the updates.
    pub mu: State,
    /// Decaying mean of squares.
    pub nu: State,
}

options! {
    /// Divides by the standard deviation of past updates.
    ///
    /// Graves, *Generating Sequences With Recurrent Neural Networks*, 2013.
    scale_by_stddev() -> ScaleByStddev {
        /// Sets the decay rate of both means.
        decay: num = 0.9,
        /// Sets the constant added to the denominator.
        eps: num = 1e-8,
        /// Sets the initial value of the mean of squares.
        initial_scale: num = 0.0,
        /// Sets whether `eps` is added inside the square root.
        eps_in_sqrt: toggle = true,
        /// Sets whether the means are bias-corrected.
        bias_correction: toggle = false,
    }
    |o| {
        let initial = o.initial_scale.clone();
        let nu = move |params: &State| tree::full_like(params, &initial, None);
        if o.bias_correction {
            GradientTransformation::new(
                move |params| ScaleByRStdDevWithCountState {
                    count: count_zero(),
                    mu: params.zeros_like(),
                    nu: nu(params),
                },
                move |updates, state: ScaleByRStdDevWithCountState, _| {
                    let count = safe_increment(&state.count);
                    let (updates, mu, nu) = o.step(&updates, &state.mu, &state.nu, Some(&count));
                    (updates, ScaleByRStdDevWithCountState { count, mu, nu })
                },
            )
        } else {
            GradientTransformation::new(
                move |params| ScaleByRStdDevState {
                    mu: params.zeros_like(),
                    nu: nu(params),
                },
                move |updates, state: ScaleByRStdDevState, _| {
                    let (updates, mu, nu) = o.step(&updates, &state.mu, &state.nu, None);
                    (updates, ScaleByRStdDevState { mu, nu })
                },
            )
        }
    }
}

impl ScaleByStddev {
    /// Returns the new updates and the new means.
    fn step(
        &self,
        updates: &State,
        mu: &State,
        nu: &State,
        count: Option<&Array>,
    ) -> (State, State, State) {
        let mu = update_moment(updates, mu, &self.decay, 1);
        let nu = update_moment_per_elem_norm(updates, nu, &self.decay, 2);
        let mu_hat = corrected(&mu, &self.decay, count);
        let nu_hat = corrected(&nu, &self.decay, count);
        // Rounding can make the difference negative.
        let variance = nu_hat.zip(&mu_hat, |n, m| (n - tree::abs_sq(m)).maximum(0.0));
        let updates = over_root(updates, &variance, &self.eps, self.eps_in_sqrt);
        (updates, mu, nu)
    }
}

/// The state of [`scale_by_adadelta`].
#[derive(Tree)]
pub struct ScaleByAdaDeltaState {
    /// Decaying mean of the squares of gradients.
    pub e_g: State,
    /// Decaying mean of the squares of updates.
    pub e_x: State,
}

options! {
    /// Divides by the root mean square of the gradients and multiplies by that of the updates, so
    /// that the units match.
    ///
    /// Zeiler, *Adadelta: An Adaptive Learning Rate Method*, 2012.
    scale_by_adadelta() -> ScaleByAdadelta {
        /// Sets the decay rate of both means.
        rho: num = 0.9,
        /// Sets the constant added inside the square roots.
        eps: num = 1e-6,
    }
    |o| GradientTransformation::new(
        |params| ScaleByAdaDeltaState {
            e_g: params.zeros_like(),
            e_x: params.zeros_like(),
        },
        move |updates, state: ScaleByAdaDeltaState, _| {
            let e_g = update_moment(&updates, &state.e_g, &o.rho, 2);
            let ratio = e_g.zip(&state.e_x, |g, x| (x + &o.eps).sqrt() / (g + &o.eps).sqrt());
            let updates = tree::mul(&ratio, &updates);
            let e_x = update_moment(&updates, &state.e_x, &o.rho, 2);
            (updates, ScaleByAdaDeltaState { e_g, e_x })
        },
    )
}
