//! Adam and its kin.

use crate::decay::decay;
use crate::options::options;
use crate::{
    ScaleByAdam, ScaleByAdamax, ScaleByAdan, ScaleByAmsgrad, ScaleByBelief, ScaleByRadam,
    ScaleByYogi, chain, scale_by_learning_rate,
};

options! {
    /// Adam: steps of about the learning rate, whatever the gradients' size.
    ///
    /// With `m` and `n` the decaying means of gradients and of their squares,
    /// both corrected for starting at zero:
    /// `u = -rate · m / (√(n + eps_root) + eps)`.
    ///
    /// ```
    /// use ramie_optim::adam;
    /// let tx = adam(1e-3).b2(0.99);
    /// ```
    ///
    /// Kingma and Ba, *Adam: A Method for Stochastic Optimization*, 2014.
    adam(learning_rate: schedule) -> Adam {
        /// Decay of the mean of gradients.
        b1: num = 0.9,
        /// Decay of the mean of their squares.
        b2: num = 0.999,
        /// Added to the denominator outside the square root.
        eps: num = 1e-8,
        /// Added inside the square root.
        eps_root: num = 0.0,
        /// The element type of the mean, by default that of the parameters.
        mu_dtype: dtype,
        /// Looks one step ahead, as Nesterov's momentum does.
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

/// [`adam`] with Nesterov's momentum.
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
    /// [`adam`] with weight decay that the moments do not see:
    /// `u = -rate · (m / (√(n + eps_root) + eps) + weight_decay · p)`.
    ///
    /// Its `update` panics if it is not given the parameters.
    ///
    /// ```
    /// use ramie_optim::adamw;
    /// let tx = adamw(1e-3).weight_decay(0.01).mask(|path, _| path.ends_with("kernel"));
    /// ```
    ///
    /// Loshchilov and Hutter, *Decoupled Weight Decay Regularization*, 2019.
    adamw(learning_rate: schedule) -> AdamW {
        /// Decay of the mean of gradients.
        b1: num = 0.9,
        /// Decay of the mean of their squares.
        b2: num = 0.999,
        /// Added to the denominator outside the square root.
        eps: num = 1e-8,
        /// Added inside the square root.
        eps_root: num = 0.0,
        /// The element type of the mean, by default that of the parameters.
        mu_dtype: dtype,
        /// The strength of the decay. It is multiplied by the learning rate.
        weight_decay: schedule = 1e-4,
        /// Which parameters decay, by path and value; by default all.
        mask: mask,
        /// Looks one step ahead, as Nesterov's momentum does.
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

/// [`adamw`] with Nesterov's momentum.
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
    /// [`adam`] with a denominator that never shrinks.
    ///
    /// ```
    /// use ramie_optim::amsgrad;
    /// let tx = amsgrad(1e-3);
    /// ```
    ///
    /// Reddi et al., *On the Convergence of Adam and Beyond*, 2018.
    amsgrad(learning_rate: schedule) -> Amsgrad {
        /// Decay of the mean of gradients.
        b1: num = 0.9,
        /// Decay of the mean of their squares.
        b2: num = 0.999,
        /// Added to the denominator outside the square root.
        eps: num = 1e-8,
        /// Added inside the square root.
        eps_root: num = 0.0,
        /// The element type of the mean, by default that of the parameters.
        mu_dtype: dtype,
        /// Whether the mean is corrected for starting at zero.
        bias_correction_mu: toggle = true,
        /// Whether the mean of squares is.
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
    /// Adamax: [`adam`] that divides by the greatest magnitude of gradients
    /// instead of their mean square.
    ///
    /// ```
    /// use ramie_optim::adamax;
    /// let tx = adamax(2e-3);
    /// ```
    ///
    /// Kingma and Ba, *Adam: A Method for Stochastic Optimization*, 2014.
    adamax(learning_rate: schedule) -> Adamax {
        /// Decay of the mean of gradients.
        b1: num = 0.9,
        /// Decay of their greatest magnitude.
        b2: num = 0.999,
        /// Added to each magnitude.
        eps: num = 1e-8,
    }
    |o| chain((
        ScaleByAdamax { b1: o.b1, b2: o.b2, eps: o.eps },
        scale_by_learning_rate(o.learning_rate),
    ))
}

options! {
    /// [`adamax`] with weight decay that the moments do not see.
    ///
    /// Its `update` panics if it is not given the parameters.
    ///
    /// ```
    /// use ramie_optim::adamaxw;
    /// let tx = adamaxw(2e-3).weight_decay(0.01);
    /// ```
    ///
    /// Loshchilov and Hutter, *Decoupled Weight Decay Regularization*, 2019.
    adamaxw(learning_rate: schedule) -> AdamaxW {
        /// Decay of the mean of gradients.
        b1: num = 0.9,
        /// Decay of their greatest magnitude.
        b2: num = 0.999,
        /// Added to each magnitude.
        eps: num = 1e-8,
        /// The strength of the decay. It is multiplied by the learning rate.
        weight_decay: schedule = 1e-4,
        /// Which parameters decay, by path and value; by default all.
        mask: mask,
    }
    |o| chain((
        ScaleByAdamax { b1: o.b1, b2: o.b2, eps: o.eps },
        decay(o.weight_decay, o.mask),
        scale_by_learning_rate(o.learning_rate),
    ))
}

options! {
    /// AdaBelief: large steps where gradients are as foreseen.
    ///
    /// ```
    /// use ramie_optim::adabelief;
    /// let tx = adabelief(1e-3);
    /// ```
    ///
    /// Zhuang et al., *AdaBelief Optimizer*, 2020.
    adabelief(learning_rate: schedule) -> AdaBelief {
        /// Decay of the mean of gradients.
        b1: num = 0.9,
        /// Decay of their variance.
        b2: num = 0.999,
        /// Added to the denominator outside the square root.
        eps: num = 1e-16,
        /// Added to the variance in every step.
        eps_root: num = 1e-16,
        /// Looks one step ahead.
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
    /// Rectified Adam: [`adam`] that uses the mean of squares only once it is
    /// known well enough, which replaces a warm-up.
    ///
    /// ```
    /// use ramie_optim::radam;
    /// let tx = radam(1e-3);
    /// ```
    ///
    /// Liu et al., *On the Variance of the Adaptive Learning Rate and Beyond*,
    /// 2020.
    radam(learning_rate: schedule) -> Radam {
        /// Decay of the mean of gradients.
        b1: num = 0.9,
        /// Decay of the mean of their squares.
        b2: num = 0.999,
        /// Added to the denominator outside the square root.
        eps: num = 1e-8,
        /// Added inside the square root.
        eps_root: num = 0.0,
        /// From how many effective samples on the mean of squares is used.
        threshold: num = 5.0,
        /// Looks one step ahead.
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
    /// Yogi: [`adam`] with a mean of squares that grows no faster than it
    /// shrinks.
    ///
    /// ```
    /// use ramie_optim::yogi;
    /// let tx = yogi(1e-2);
    /// ```
    ///
    /// Zaheer et al., *Adaptive Methods for Nonconvex Optimization*, 2018.
    yogi(learning_rate: schedule) -> Yogi {
        /// Decay of the mean of gradients.
        b1: num = 0.9,
        /// Decay of the mean of their squares.
        b2: num = 0.999,
        /// Added to the denominator outside the square root.
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
    /// Adan: Nesterov's momentum told by differences of gradients, divided by
    /// the root of its mean square.
    ///
    /// ```
    /// use ramie_optim::adan;
    /// let tx = adan(1e-2).weight_decay(0.02);
    /// ```
    ///
    /// Xie et al., *Adan: Adaptive Nesterov Momentum Algorithm*, 2022.
    adan(learning_rate: schedule) -> Adan {
        /// Decay of the mean of gradients.
        b1: num = 0.98,
        /// Decay of the mean of their differences.
        b2: num = 0.92,
        /// Decay of the mean of squares.
        b3: num = 0.99,
        /// Added to the denominator outside the square root.
        eps: num = 1e-8,
        /// Added inside the square root.
        eps_root: num = 1e-8,
        /// The strength of weight decay. It is multiplied by the learning rate.
        weight_decay: schedule = 0.0,
        /// Which parameters decay, by path and value; by default all.
        mask: mask,
    }
    |o| chain((
        ScaleByAdan { b1: o.b1, b2: o.b2, b3: o.b3, eps: o.eps, eps_root: o.eps_root },
        decay(o.weight_decay, o.mask),
        scale_by_learning_rate(o.learning_rate),
    ))
}
