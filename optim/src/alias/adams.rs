//! Adam and its variants.

use crate::decay::decay;
use crate::options::options;
use crate::{
    ScaleByAdam, ScaleByAdamax, ScaleByAdan, ScaleByAmsgrad, ScaleByBelief, ScaleByRadam,
    ScaleByYogi, chain, scale_by_learning_rate,
};

options! {
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
    adam(learning_rate: schedule) -> Adam {
        /// Sets the decay rate of the mean of the gradients.
        b1: num = 0.9,
        /// Sets the decay rate of the mean of squares.
        b2: num = 0.999,
        /// Sets the constant added to the denominator outside the square root.
        eps: num = 1e-8,
        /// Sets the constant added inside the square root.
        eps_root: num = 0.0,
        /// Sets the dtype of the mean. Defaults to the dtype of the parameters.
        mu_dtype: dtype,
        /// Enables Nesterov momentum.
        nesterov: flag,
    }
    |o| chain((
        ScaleByAdam {
            b1: o.b1,
            b2: o.b2,
            eps: o.eps,
            eps_root: o.eps_root,
            mu_dtype: o.mu_dtype,
            nesterov: o.nesterov,
        },
        scale_by_learning_rate(o.learning_rate),
    ))
}

/// Creates an [`adam`] optimizer with Nesterov momentum.
///
/// ```
/// use ramie_optim::nadam;
/// let tx = nadam(1e-3);
/// ```
///
/// Dozat, *Incorporating Nesterov Momentum into Adam*, 2016.
pub fn nadam(learning_rate: impl Into<crate::Schedule>) -> Adam {
    adam(learning_rate).nesterov()
}

options! {
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
    /// Loshchilov and Hutter, *Decoupled Weight Decay Regularization*, 2019.
    adamw(learning_rate: schedule) -> AdamW {
        /// Sets the decay rate of the mean of the gradients.
        b1: num = 0.9,
        /// Sets the decay rate of the mean of squares.
        b2: num = 0.999,
        /// Sets the constant added to the denominator outside the square root.
        eps: num = 1e-8,
        /// Sets the constant added inside the square root.
        eps_root: num = 0.0,
        /// Sets the dtype of the mean. Defaults to the dtype of the parameters.
        mu_dtype: dtype,
        /// Sets the strength of weight decay, which is multiplied by the learning rate.
        weight_decay: schedule = 1e-4,
        /// Sets the predicate that selects the parameters to decay by path and array. Defaults to
        /// all.
        mask: mask,
        /// Enables Nesterov momentum.
        nesterov: flag,
    }
    |o| chain((
        ScaleByAdam {
            b1: o.b1,
            b2: o.b2,
            eps: o.eps,
            eps_root: o.eps_root,
            mu_dtype: o.mu_dtype,
            nesterov: o.nesterov,
        },
        decay(o.weight_decay, o.mask),
        scale_by_learning_rate(o.learning_rate),
    ))
}

/// Creates an [`adamw`] optimizer with Nesterov momentum.
///
/// ```
/// use ramie_optim::nadamw;
/// let tx = nadamw(1e-3).weight_decay(0.01);
/// ```
///
/// Dozat, *Incorporating Nesterov Momentum into Adam*, 2016.
pub fn nadamw(learning_rate: impl Into<crate::Schedule>) -> AdamW {
    adamw(learning_rate).nesterov()
}

options! {
    /// Creates an AMSGrad optimizer: [`adam`] with a denominator that never decreases.
    ///
    /// ```
    /// use ramie_optim::amsgrad;
    /// let tx = amsgrad(1e-3);
    /// ```
    ///
    /// Reddi et al., *On the Convergence of Adam and Beyond*, 2018.
    amsgrad(learning_rate: schedule) -> Amsgrad {
        /// Sets the decay rate of the mean of the gradients.
        b1: num = 0.9,
        /// Sets the decay rate of the mean of squares.
        b2: num = 0.999,
        /// Sets the constant added to the denominator outside the square root.
        eps: num = 1e-8,
        /// Sets the constant added inside the square root.
        eps_root: num = 0.0,
        /// Sets the dtype of the mean. Defaults to the dtype of the parameters.
        mu_dtype: dtype,
        /// Sets whether the mean is bias-corrected.
        bias_correction_mu: toggle = true,
        /// Sets whether the mean of squares is bias-corrected.
        bias_correction_nu: toggle = true,
    }
    |o| chain((
        ScaleByAmsgrad {
            b1: o.b1,
            b2: o.b2,
            eps: o.eps,
            eps_root: o.eps_root,
            mu_dtype: o.mu_dtype,
            bias_correction_mu: o.bias_correction_mu,
            bias_correction_nu: o.bias_correction_nu,
        },
        scale_by_learning_rate(o.learning_rate),
    ))
}

options! {
    /// Creates an AdaMax optimizer: [`adam`] that divides by the decaying maximum of the gradient
    /// magnitudes instead of the root mean square.
    ///
    /// ```
    /// use ramie_optim::adamax;
    /// let tx = adamax(2e-3);
    /// ```
    ///
    /// Kingma and Ba, *Adam: A Method for Stochastic Optimization*, 2014.
    adamax(learning_rate: schedule) -> Adamax {
        /// Sets the decay rate of the mean of the gradients.
        b1: num = 0.9,
        /// Sets the decay rate of the maximum magnitude.
        b2: num = 0.999,
        /// Sets the constant added to each magnitude.
        eps: num = 1e-8,
    }
    |o| chain((
        ScaleByAdamax { b1: o.b1, b2: o.b2, eps: o.eps },
        scale_by_learning_rate(o.learning_rate),
    ))
}

options! {
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
    /// Loshchilov and Hutter, *Decoupled Weight Decay Regularization*, 2019.
    adamaxw(learning_rate: schedule) -> AdamaxW {
        /// Sets the decay rate of the mean of the gradients.
        b1: num = 0.9,
        /// Sets the decay rate of the maximum magnitude.
        b2: num = 0.999,
        /// Sets the constant added to each magnitude.
        eps: num = 1e-8,
        /// Sets the strength of weight decay, which is multiplied by the learning rate.
        weight_decay: schedule = 1e-4,
        /// Sets the predicate that selects the parameters to decay by path and array. Defaults to
        /// all.
        mask: mask,
    }
    |o| chain((
        ScaleByAdamax { b1: o.b1, b2: o.b2, eps: o.eps },
        decay(o.weight_decay, o.mask),
        scale_by_learning_rate(o.learning_rate),
    ))
}

options! {
    /// Creates an AdaBelief optimizer, which takes large steps where gradients are close to their
    /// mean.
    ///
    /// ```
    /// use ramie_optim::adabelief;
    /// let tx = adabelief(1e-3);
    /// ```
    ///
    /// Zhuang et al., *AdaBelief Optimizer*, 2020.
    adabelief(learning_rate: schedule) -> AdaBelief {
        /// Sets the decay rate of the mean of the gradients.
        b1: num = 0.9,
        /// Sets the decay rate of the variance of the gradients.
        b2: num = 0.999,
        /// Sets the constant added to the denominator outside the square root.
        eps: num = 1e-16,
        /// Sets the constant added to the variance in every step.
        eps_root: num = 1e-16,
        /// Enables Nesterov momentum.
        nesterov: flag,
    }
    |o| chain((
        ScaleByBelief {
            b1: o.b1,
            b2: o.b2,
            eps: o.eps,
            eps_root: o.eps_root,
            nesterov: o.nesterov,
        },
        scale_by_learning_rate(o.learning_rate),
    ))
}

options! {
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
    radam(learning_rate: schedule) -> Radam {
        /// Sets the decay rate of the mean of the gradients.
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
    |o| chain((
        ScaleByRadam {
            b1: o.b1,
            b2: o.b2,
            eps: o.eps,
            eps_root: o.eps_root,
            threshold: o.threshold,
            nesterov: o.nesterov,
        },
        scale_by_learning_rate(o.learning_rate),
    ))
}

options! {
    /// Creates a Yogi optimizer: [`adam`] with a mean of squares that grows no faster than it
    /// shrinks.
    ///
    /// ```
    /// use ramie_optim::yogi;
    /// let tx = yogi(1e-2);
    /// ```
    ///
    /// Zaheer et al., *Adaptive Methods for Nonconvex Optimization*, 2018.
    yogi(learning_rate: schedule) -> Yogi {
        /// Sets the decay rate of the mean of the gradients.
        b1: num = 0.9,
        /// Sets the decay rate of the mean of squares.
        b2: num = 0.999,
        /// Sets the constant added to the denominator outside the square root.
        eps: num = 1e-3,
    }
    |o| chain((
        ScaleByYogi {
            b1: o.b1,
            b2: o.b2,
            eps: o.eps,
            eps_root: 0.0.into(),
            initial_accumulator_value: 1e-6.into(),
        },
        scale_by_learning_rate(o.learning_rate),
    ))
}

options! {
    /// Creates an Adan optimizer: Nesterov momentum estimated from differences of gradients,
    /// divided by the root mean square.
    ///
    /// ```
    /// use ramie_optim::adan;
    /// let tx = adan(1e-2).weight_decay(0.02);
    /// ```
    ///
    /// Xie et al., *Adan: Adaptive Nesterov Momentum Algorithm*, 2022.
    adan(learning_rate: schedule) -> Adan {
        /// Sets the decay rate of the mean of the gradients.
        b1: num = 0.98,
        /// Sets the decay rate of the mean of the differences.
        b2: num = 0.92,
        /// Sets the decay rate of the mean of squares.
        b3: num = 0.99,
        /// Sets the constant added to the denominator outside the square root.
        eps: num = 1e-8,
        /// Sets the constant added inside the square root.
        eps_root: num = 1e-8,
        /// Sets the strength of weight decay, which is multiplied by the learning rate.
        weight_decay: schedule = 0.0,
        /// Sets the predicate that selects the parameters to decay by path and array. Defaults to
        /// all.
        mask: mask,
    }
    |o| chain((
        ScaleByAdan { b1: o.b1, b2: o.b2, b3: o.b3, eps: o.eps, eps_root: o.eps_root },
        decay(o.weight_decay, o.mask),
        scale_by_learning_rate(o.learning_rate),
    ))
}
