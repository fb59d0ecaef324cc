//! Optimizers that estimate their learning rate: Prodigy and D-Adaptation.

use crate::base::extra_args::expect_params;
use crate::base::numerics::{count_zero, safe_increment};
use crate::base::options::options;
use crate::base::wide::number_dtype;
use crate::{GradientTransformation, Hyperparam, tree};
use ramie_core::{Array, IntoArray, State, where_};
use ramie_derive::Tree;

/// The state of [`prodigy`].
#[derive(Tree)]
pub struct ProdigyState {
    /// Decaying mean of the scaled gradients.
    pub exp_avg: State,
    /// Decaying mean of the squared scaled gradients.
    pub exp_avg_sq: State,
    /// Decaying sum of the scaled gradients.
    pub grad_sum: State,
    /// Initial parameters.
    pub params0: State,
    /// Estimate of the distance to the solution, 0-d.
    pub estim_lr: Array,
    /// Weighted sum of the numerators of the estimate, 0-d.
    pub numerator_weighted: Array,
    /// Number of steps, 0-d `i32`.
    pub count: Array,
}

/// Computes `√(1 - b2ᵗ) / (1 - b1ᵗ)`.
fn correction(b1: &Hyperparam, b2: &Hyperparam, count: &Array) -> Array {
    (1.0_f64 - b2.power(count)).power(0.5) / (1.0_f64 - b1.power(count))
}

/// Computes `x / y`, or zero if `y` is zero: without gradients there is no estimate.
fn over(x: Array, y: Array) -> Array {
    where_(y.eq(0.0), 0.0, x / &y)
}

/// An optional number.
type MaybeNumber = Option<f64>;

options! {
    /// Creates a Prodigy optimizer: Adam with a learning rate computed from an estimate of the
    /// distance to the solution. Leave `learning_rate` at 1, or pass a schedule that starts at 1.
    ///
    /// `update` panics if `params` is `None`.
    ///
    /// ```
    /// use ramie_optim::contrib::prodigy;
    /// let tx = prodigy().weight_decay(0.01);
    /// ```
    ///
    /// Mishchenko and Defazio, *Prodigy: An Expeditiously Adaptive
    /// Parameter-Free Learner*, 2023.
    prodigy() -> Prodigy {
        /// Sets the factor that multiplies the estimated learning rate.
        learning_rate: schedule = 1.0,
        /// Sets the decay rate of the mean of the gradients.
        b1: num = 0.9,
        /// Sets the decay rate of the mean of squares.
        b2: num = 0.999,
        /// Sets the decay rate of the sums of the estimate. `None` means the square root of `b2`.
        b3: MaybeNumber = None,
        /// Sets the constant that is multiplied by the estimate and added to the denominator.
        eps: num = 1e-8,
        /// Sets the initial estimate.
        estim_lr0: num = 1e-6,
        /// Sets the factor that multiplies each new estimate.
        estim_lr_coef: num = 1.0,
        /// Sets the strength of weight decay.
        weight_decay: num = 0.0,
        /// Excludes the learning rate from the denominator of the estimate. Recommended with a
        /// warm-up.
        safeguard_warmup: flag,
    }
    |o| {
        let first = o.estim_lr0.clone();
        GradientTransformation::new(
            move |params| {
                let dtype = number_dtype(params);
                ProdigyState {
                    exp_avg: params.zeros_like(),
                    exp_avg_sq: params.zeros_like(),
                    grad_sum: params.zeros_like(),
                    params0: params.clone(),
                    estim_lr: (&first).into_array().astype(dtype),
                    numerator_weighted: Array::scalar(0.0, dtype),
                    count: count_zero(),
                }
            },
            move |updates, state: ProdigyState, params| {
                let params = expect_params("prodigy", params);
                let b3 = o.b3.map_or_else(|| o.b2.to_the(0.5), Hyperparam::from);
                let count = safe_increment(&state.count);
                let rate = o.learning_rate.number(&state.count);
                let lr = &state.estim_lr;
                let dlr = (lr * &rate * correction(&o.b1, &o.b2, &count)).astype(lr.dtype());
                let scaled = updates.map(|g| g * lr);
                let gone = tree::sub(&state.params0, params);
                let numerator = tree::vdot(&updates, &gone);
                let (r1, r2) = (o.b1.rest(), o.b2.rest());
                let exp_avg = state.exp_avg.zip(&scaled, |m, g| m * &o.b1 + g * &r1);
                let exp_avg_sq = state.exp_avg_sq.zip(&scaled, |v, g| v * &o.b2 + (g * &r2) * g);
                let weight = if o.safeguard_warmup { lr } else { &dlr };
                let grad_sum = state.grad_sum.zip(&scaled, |s, g| s * &b3 + g * weight / &o.estim_lr0);
                let numerator_weighted =
                    &state.numerator_weighted * &b3 + lr / &o.estim_lr0 * &dlr * numerator;
                let denominator = tree::l1_norm(&grad_sum);
                let estimate = &numerator_weighted * &o.estim_lr_coef;
                let estim_lr = lr.maximum(over(estimate, denominator));
                let least = &estim_lr * &o.eps;
                let steps = exp_avg.zip(&exp_avg_sq, |m, v| m * &dlr / (v.sqrt() + &least));
                let decay = &dlr * &o.weight_decay.negative();
                let updates = params.zip(&steps, |p, s| p * &decay - s);
                let state = ProdigyState {
                    exp_avg,
                    exp_avg_sq,
                    grad_sum,
                    params0: state.params0,
                    estim_lr,
                    numerator_weighted,
                    count,
                };
                (updates, state)
            },
        )
    }
}

/// The state of [`dadapt_adamw`].
#[doc(alias = "DAdaptAdamWState")]
#[derive(Tree)]
pub struct DadaptAdamWState {
    /// Decaying mean of the scaled gradients.
    pub exp_avg: State,
    /// Decaying mean of the squared gradients.
    pub exp_avg_sq: State,
    /// Decaying mean of the scaled gradients, for the estimate.
    pub grad_sum: State,
    /// Estimate of the distance to the solution, 0-d.
    pub estim_lr: Array,
    /// Weighted mean of the numerators of the estimate, 0-d.
    pub numerator_weighted: Array,
    /// Number of steps, 0-d `i32`.
    pub count: Array,
}

options! {
    /// Creates a D-Adaptation AdamW optimizer, whose learning rate is computed from an estimate
    /// of the distance to the solution.
    ///
    /// `update` panics if `params` is `None`.
    ///
    /// ```
    /// use ramie_optim::contrib::dadapt_adamw;
    /// let tx = dadapt_adamw().weight_decay(0.01);
    /// ```
    ///
    /// Defazio and Mishchenko, *Learning-Rate-Free Learning by D-Adaptation*,
    /// 2023.
    dadapt_adamw() -> DadaptAdamW {
        /// Sets the factor that multiplies the estimated learning rate.
        learning_rate: schedule = 1.0,
        /// Sets the decay rate of the mean of the gradients.
        b1: num = 0.9,
        /// Sets the decay rate of the mean of squares.
        b2: num = 0.999,
        /// Sets the constant added to the denominator.
        eps: num = 1e-8,
        /// Sets the initial estimate.
        estim_lr0: num = 1e-6,
        /// Sets the strength of weight decay.
        weight_decay: num = 0.0,
    }
    |o| {
        let first = o.estim_lr0.clone();
        GradientTransformation::new(
            move |params| {
                let dtype = number_dtype(params);
                DadaptAdamWState {
                    exp_avg: params.zeros_like(),
                    exp_avg_sq: params.zeros_like(),
                    grad_sum: params.zeros_like(),
                    estim_lr: (&first).into_array().astype(dtype),
                    numerator_weighted: Array::scalar(0.0, dtype),
                    count: count_zero(),
                }
            },
            move |updates, state: DadaptAdamWState, params| {
                let params = expect_params("dadapt_adamw", params);
                let root = o.b2.to_the(0.5);
                let count = safe_increment(&state.count);
                let rate = o.learning_rate.number(&state.count);
                let dlr = &state.estim_lr * &rate * correction(&o.b1, &o.b2, &count);
                let dlr = dlr.astype(state.numerator_weighted.dtype());
                let weighted = state.grad_sum.zip(&state.exp_avg_sq, |s, v| s / (v.sqrt() + &o.eps));
                let numerator = tree::vdot(&updates, &weighted);
                let (r1, r2, r3) = (o.b1.rest(), o.b2.rest(), root.rest());
                let own = (&dlr * &r1, &dlr * &r3);
                let exp_avg = state.exp_avg.zip(&updates, |m, g| m * &o.b1 + g * &own.0);
                let exp_avg_sq = state.exp_avg_sq.zip(&updates, |v, g| v * &o.b2 + (g * &r2) * g);
                let grad_sum = state.grad_sum.zip(&updates, |s, g| s * &root + g * &own.1);
                let length = tree::l1_norm(&grad_sum);
                let numerator_weighted = &state.numerator_weighted * &root + own.1 * numerator;
                let estimate = over(numerator_weighted.clone(), length * &r3);
                let estim_lr = state.estim_lr.maximum(estimate);
                let decay = &dlr * &o.weight_decay.negative();
                let steps = exp_avg.zip(&exp_avg_sq, |m, v| m / (v.sqrt() + &o.eps));
                let updates = params.zip(&steps, |p, s| p * &decay - s);
                let state = DadaptAdamWState {
                    exp_avg,
                    exp_avg_sq,
                    grad_sum,
                    estim_lr,
                    numerator_weighted,
                    count,
                };
                (updates, state)
            },
        )
    }
}
