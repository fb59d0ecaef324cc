//! Adam and its variants.

use crate::{
    ScaleByAdam, ScaleByAdamax, ScaleByAdan, ScaleByAmsgrad, ScaleByBelief, ScaleByRadam,
    ScaleByYogi, Scaled, Schedule, scale_by_adam, scale_by_adamax, scale_by_adan, scale_by_amsgrad,
    scale_by_belief, scale_by_radam, scale_by_yogi,
};

/// The options of [`adam`].
pub type Adam = Scaled<ScaleByAdam>;

/// Creates an Adam optimizer, whose steps are about as large as the learning rate whatever
/// the scale of the gradients.
///
/// With `m` and `n` the bias-corrected decaying means of the gradients and of their squares:
/// `u = -rate · m / (√(n + eps_root) + eps)`.
///
/// ```
/// use ramie_optim::adam;
/// let tx = adam(1e-3).b2(0.99);
/// ```
///
/// Kingma and Ba, *Adam: A Method for Stochastic Optimization*, 2014.
#[track_caller]
pub fn adam(learning_rate: impl Into<Schedule>) -> Adam {
    Scaled::new(scale_by_adam(), learning_rate)
}

/// Creates an [`adam`] optimizer with Nesterov momentum.
///
/// ```
/// use ramie_optim::nadam;
/// let tx = nadam(1e-3);
/// ```
///
/// Dozat, *Incorporating Nesterov Momentum into Adam*, 2016.
#[track_caller]
pub fn nadam(learning_rate: impl Into<Schedule>) -> Adam {
    adam(learning_rate).nesterov()
}

/// The options of [`adamw`].
pub type AdamW = Scaled<ScaleByAdam>;

/// Creates an [`adam`] optimizer with decoupled weight decay, which does not enter the
/// moments: `u = -rate · (m / (√(n + eps_root) + eps) + weight_decay · p)`.
///
/// `update` panics if `params` is `None`.
///
/// ```
/// use ramie_optim::adamw;
/// let tx = adamw(1e-3).weight_decay(0.01).mask(|path, _| path.ends_with("kernel"));
/// ```
///
/// The weight decay defaults to 1e-4.
///
/// Loshchilov and Hutter, *Decoupled Weight Decay Regularization*, 2019.
#[track_caller]
pub fn adamw(learning_rate: impl Into<Schedule>) -> AdamW {
    Scaled::new(scale_by_adam(), learning_rate).weight_decay(1e-4)
}

/// Creates an [`adamw`] optimizer with Nesterov momentum.
///
/// ```
/// use ramie_optim::nadamw;
/// let tx = nadamw(1e-3).weight_decay(0.01);
/// ```
///
/// Dozat, *Incorporating Nesterov Momentum into Adam*, 2016.
#[track_caller]
pub fn nadamw(learning_rate: impl Into<Schedule>) -> AdamW {
    adamw(learning_rate).nesterov()
}

/// The options of [`amsgrad`].
pub type Amsgrad = Scaled<ScaleByAmsgrad>;

/// Creates an AMSGrad optimizer: [`adam`] with a denominator that never decreases.
///
/// ```
/// use ramie_optim::amsgrad;
/// let tx = amsgrad(1e-3);
/// ```
///
/// Reddi et al., *On the Convergence of Adam and Beyond*, 2018.
#[track_caller]
pub fn amsgrad(learning_rate: impl Into<Schedule>) -> Amsgrad {
    Scaled::new(scale_by_amsgrad(), learning_rate)
}

/// The options of [`adamax`].
pub type Adamax = Scaled<ScaleByAdamax>;

/// Creates an AdaMax optimizer: [`adam`] that divides by the decaying maximum of the gradient
/// magnitudes instead of the root mean square.
///
/// ```
/// use ramie_optim::adamax;
/// let tx = adamax(2e-3);
/// ```
///
/// Kingma and Ba, *Adam: A Method for Stochastic Optimization*, 2014.
#[track_caller]
pub fn adamax(learning_rate: impl Into<Schedule>) -> Adamax {
    Scaled::new(scale_by_adamax(), learning_rate)
}

/// The options of [`adamaxw`].
pub type AdamaxW = Scaled<ScaleByAdamax>;

/// Creates an [`adamax`] optimizer with decoupled weight decay, which does not enter the
/// moments.
///
/// `update` panics if `params` is `None`.
///
/// ```
/// use ramie_optim::adamaxw;
/// let tx = adamaxw(2e-3).weight_decay(0.01);
/// ```
///
/// The weight decay defaults to 1e-4.
///
/// Loshchilov and Hutter, *Decoupled Weight Decay Regularization*, 2019.
#[track_caller]
pub fn adamaxw(learning_rate: impl Into<Schedule>) -> AdamaxW {
    Scaled::new(scale_by_adamax(), learning_rate).weight_decay(1e-4)
}

/// The options of [`adabelief`].
pub type AdaBelief = Scaled<ScaleByBelief>;

/// Creates an AdaBelief optimizer, which takes large steps where gradients are close to their
/// mean.
///
/// ```
/// use ramie_optim::adabelief;
/// let tx = adabelief(1e-3);
/// ```
///
/// Zhuang et al., *AdaBelief Optimizer*, 2020.
#[track_caller]
pub fn adabelief(learning_rate: impl Into<Schedule>) -> AdaBelief {
    Scaled::new(scale_by_belief(), learning_rate)
}

/// The options of [`radam`].
pub type Radam = Scaled<ScaleByRadam>;

/// Creates a rectified Adam optimizer: [`adam`] that uses the mean of squares only after its
/// variance is small enough, which replaces a warm-up.
///
/// ```
/// use ramie_optim::radam;
/// let tx = radam(1e-3);
/// ```
///
/// Liu et al., *On the Variance of the Adaptive Learning Rate and Beyond*,
/// 2020.
#[track_caller]
pub fn radam(learning_rate: impl Into<Schedule>) -> Radam {
    Scaled::new(scale_by_radam(), learning_rate)
}

/// The options of [`yogi`].
pub type Yogi = Scaled<ScaleByYogi>;

/// Creates a Yogi optimizer: [`adam`] with a mean of squares that grows no faster than it
/// shrinks.
///
/// ```
/// use ramie_optim::yogi;
/// let tx = yogi(1e-2);
/// ```
///
/// Zaheer et al., *Adaptive Methods for Nonconvex Optimization*, 2018.
#[track_caller]
pub fn yogi(learning_rate: impl Into<Schedule>) -> Yogi {
    Scaled::new(scale_by_yogi(), learning_rate)
}

/// The options of [`adan`].
pub type Adan = Scaled<ScaleByAdan>;

/// Creates an Adan optimizer: Nesterov momentum estimated from differences of gradients,
/// divided by the root mean square.
///
/// ```
/// use ramie_optim::adan;
/// let tx = adan(1e-2).weight_decay(0.02);
/// ```
///
/// `eps_root` defaults to 1e-8, and the weight decay to 0.
///
/// Xie et al., *Adan: Adaptive Nesterov Momentum Algorithm*, 2022.
#[track_caller]
pub fn adan(learning_rate: impl Into<Schedule>) -> Adan {
    Scaled::new(scale_by_adan().eps_root(1e-8), learning_rate).weight_decay(0.0)
}
