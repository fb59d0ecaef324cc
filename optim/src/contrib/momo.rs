//! MoMo: momentum with a learning rate computed from a lower bound of the loss.

use crate::base::extra_args::expect_params;
use crate::base::numerics::{count_zero, safe_increment};
use crate::base::options::options;
use crate::base::wide::number_dtype;
use crate::{ExtraArgs, GradientTransformation, Hyperparam, tree};
use ramie_core::{Array, IntoArray, State, where_};
use ramie_derive::Tree;

/// The state of [`momo`].
#[derive(Tree)]
pub struct MomoState {
    /// Decaying mean of the gradients.
    pub exp_avg: State,
    /// Decaying mean of the losses, 0-d.
    pub barf: Array,
    /// Decaying mean of the inner products of gradients and parameters, 0-d.
    pub gamma: Array,
    /// Lower bound of the loss, 0-d.
    pub lb: Array,
    /// Number of steps, 0-d `i32`.
    pub count: Array,
}

/// Directions with a squared norm of at most this cause no step.
const SMALLEST: f64 = f64::EPSILON;

/// The model of the loss along a direction, which determines the step size.
struct Model<'a> {
    /// `1 + α · decay`.
    grown: &'a Hyperparam,
    barf: &'a Array,
    gamma: &'a Array,
    /// Inner product of direction and parameters.
    product: &'a Array,
    /// Squared norm of the direction.
    norm: &'a Array,
}

impl Model<'_> {
    /// Returns the value of the model at the parameters. A larger lower bound is invalid.
    fn cap(&self) -> Array {
        (self.barf - self.gamma) * self.grown + self.product
    }

    /// Returns the step size at which the model reaches the bound.
    fn reach(&self, bound: &Array) -> Array {
        let above = (self.barf - bound - self.gamma) * self.grown + self.product;
        let far = above.maximum(0.0) / self.norm;
        where_(self.norm.le(SMALLEST), 0.0, far)
    }
}

/// Computes `-α · decay / (1 + α · decay)`.
fn shrinking(strength: &Hyperparam, grown: &Hyperparam) -> Hyperparam {
    strength.negative().with(grown, |a, b| a / b, |a, b| a / b)
}

options! {
    /// Creates a MoMo optimizer: gradient descent with momentum and Polyak's learning rate, which
    /// is computed from a lower bound of the loss. The bound is zero for most losses.
    ///
    /// `update` panics if [`ExtraArgs::value`] is missing or `params` is `None`.
    ///
    /// ```
    /// use ramie_optim::contrib::momo;
    /// let tx = momo().learning_rate(1.0).weight_decay(1e-4);
    /// ```
    ///
    /// Schaipp et al., *MoMo: Momentum Models for Adaptive Learning Rates*, 2023.
    momo() -> Momo {
        /// Sets the maximum learning rate.
        learning_rate: schedule = 1.0,
        /// Sets the decay rate of the mean of the gradients.
        beta: num = 0.9,
        /// Sets the lower bound of the loss.
        lower_bound: num = 0.0,
        /// Sets the strength of weight decay.
        weight_decay: num = 0.0,
        /// Estimates the lower bound during training, for losses whose lower bound is unknown.
        adapt_lower_bound: flag,
    }
    |o| {
        let first = o.lower_bound.clone();
        GradientTransformation::with_extra_args(
            move |params| {
                let dtype = number_dtype(params);
                MomoState {
                    exp_avg: params.zeros_like(),
                    barf: Array::scalar(0.0, dtype),
                    gamma: Array::scalar(0.0, dtype),
                    lb: (&first).into_array().astype(dtype),
                    count: count_zero(),
                }
            },
            move |updates, state: MomoState, params, extra: &ExtraArgs<'_>| {
                let params = expect_params("momo", params);
                let value = extra.expect_value("momo").astype(state.barf.dtype());
                let keep = where_(state.count.eq(0), 0.0, &o.beta);
                let rest = 1.0_f64 - &keep;
                let barf = &keep * &state.barf + &rest * value;
                let exp_avg = state.exp_avg.zip(&updates, |m, g| &keep * m + &rest * g);
                let gamma = &keep * &state.gamma + &rest * tree::vdot(&updates, params);
                let norm = tree::squared_norm(&exp_avg);
                let product = tree::vdot(&exp_avg, params);
                let rate = o.learning_rate.number(&state.count);
                let strength = rate.times(&o.weight_decay);
                let grown = strength.plus(1.0);
                let model = Model { grown: &grown, barf: &barf, gamma: &gamma, product: &product, norm: &norm };
                let bound = if o.adapt_lower_bound {
                    let cap = model.cap();
                    let lower = (&cap / &grown.times(2.0)).maximum(&o.lower_bound);
                    where_(cap.lt(&state.lb * &grown), lower, &state.lb)
                } else {
                    state.lb.clone()
                };
                let far = model.reach(&bound).minimum(&rate);
                let shrink = shrinking(&strength, &grown);
                let updates = exp_avg.zip(params, |m, p| p * &shrink - &far * m);
                let lb = if o.adapt_lower_bound {
                    let reached = (&barf + &product - &gamma) - &far * 0.5 * &norm;
                    reached.maximum(&o.lower_bound)
                } else {
                    state.lb
                };
                let count = safe_increment(&state.count);
                (updates, MomoState { exp_avg, barf, gamma, lb, count })
            },
        )
    }
}

/// The state of [`momo_adam`].
#[derive(Tree)]
pub struct MomoAdamState {
    /// Decaying mean of the gradients.
    pub exp_avg: State,
    /// Decaying mean of squares.
    pub exp_avg_sq: State,
    /// Decaying mean of the losses, 0-d.
    pub barf: Array,
    /// Decaying mean of the inner products of gradients and parameters, 0-d.
    pub gamma: Array,
    /// Lower bound of the loss, 0-d.
    pub lb: Array,
    /// Number of steps, 0-d `i32`.
    pub count: Array,
}

options! {
    /// Creates a MoMo-Adam optimizer: [`momo`] along the direction of AdamW.
    ///
    /// `update` panics if [`ExtraArgs::value`] is missing or `params` is `None`.
    ///
    /// ```
    /// use ramie_optim::contrib::momo_adam;
    /// let tx = momo_adam().learning_rate(0.1);
    /// ```
    ///
    /// Schaipp et al., *MoMo: Momentum Models for Adaptive Learning Rates*, 2023.
    momo_adam() -> MomoAdam {
        /// Sets the maximum learning rate.
        learning_rate: schedule = 1e-2,
        /// Sets the decay rate of the mean of the gradients.
        b1: num = 0.9,
        /// Sets the decay rate of the mean of squares.
        b2: num = 0.999,
        /// Sets the constant added to the denominator.
        eps: num = 1e-8,
        /// Sets the lower bound of the loss.
        lower_bound: num = 0.0,
        /// Sets the strength of weight decay.
        weight_decay: num = 0.0,
        /// Estimates the lower bound during training, for losses whose lower bound is unknown.
        adapt_lower_bound: flag,
    }
    |o| {
        let first = o.lower_bound.clone();
        GradientTransformation::with_extra_args(
            move |params| {
                let dtype = number_dtype(params);
                MomoAdamState {
                    exp_avg: params.zeros_like(),
                    exp_avg_sq: params.zeros_like(),
                    barf: Array::scalar(0.0, dtype),
                    gamma: Array::scalar(0.0, dtype),
                    lb: (&first).into_array().astype(dtype),
                    count: count_zero(),
                }
            },
            move |updates, state: MomoAdamState, params, extra: &ExtraArgs<'_>| {
                let params = expect_params("momo_adam", params);
                let dtype = state.barf.dtype();
                let value = extra.expect_value("momo_adam").astype(dtype);
                let (r1, r2) = (o.b1.rest(), o.b2.rest());
                let count = safe_increment(&state.count);
                let barf = &state.barf * &o.b1 + value * &r1;
                let exp_avg = state.exp_avg.zip(&updates, |m, g| m * &o.b1 + g * &r1);
                let exp_avg_sq = state.exp_avg_sq.zip(&updates, |v, g| v * &o.b2 + (g * &r2) * g);
                let bc2 = (1.0_f64 - o.b2.power(&count)).astype(dtype);
                let precond = exp_avg_sq.map(|v| (v / &bc2).sqrt() + &o.eps);
                let norm = tree::vdot(&exp_avg, &tree::div(&exp_avg, &precond));
                let gamma = &state.gamma * &o.b1 + tree::vdot(&updates, params) * &r1;
                let product = tree::vdot(&exp_avg, params);
                let rate = o.learning_rate.number(&state.count);
                let strength = rate.times(&o.weight_decay);
                let grown = strength.plus(1.0);
                let bc1 = (1.0_f64 - o.b1.power(&count)).astype(dtype);
                let model = Model { grown: &grown, barf: &barf, gamma: &gamma, product: &product, norm: &norm };
                let bound = if o.adapt_lower_bound {
                    let cap = model.cap();
                    let twice = (&bc1 * 2.0) * &grown;
                    let lower = (&cap / twice).maximum(&o.lower_bound);
                    where_(cap.lt(&bc1 * &grown * &state.lb), lower, &state.lb)
                } else {
                    state.lb.clone()
                };
                let most = (&rate).into_array() / &bc1;
                let far = model.reach(&(&bc1 * bound)).minimum(most);
                let shrink = shrinking(&strength, &grown);
                let steps = exp_avg.zip(&precond, |m, d| &far * m / d);
                let updates = params.zip(&steps, |p, s| p * &shrink - s);
                let lb = if o.adapt_lower_bound {
                    let reached = ((&barf + &product - &gamma) - &far * 0.5 * &norm) / &bc1;
                    reached.maximum(&o.lower_bound)
                } else {
                    state.lb
                };
                (updates, MomoAdamState { exp_avg, exp_avg_sq, barf, gamma, lb, count })
            },
        )
    }
}
