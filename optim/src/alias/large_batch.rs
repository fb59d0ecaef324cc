//! Optimizers that scale the update of each array by the norm of its parameter.

use crate::base::options::{Predicate, options};
use crate::transforms::decay::decay;
use crate::{
    ScaleByNovograd, Schedule, Trace, add_decayed_weights, chain, masked, scale_by_adam,
    scale_by_learning_rate, scale_by_trust_ratio,
};

options! {
    /// Creates a LAMB optimizer for large batches: [`adamw`](crate::adamw) with updates scaled by
    /// the norm of each parameter.
    ///
    /// `update` panics if `params` is `None`.
    ///
    /// ```
    /// use ramie_optim::lamb;
    /// let tx = lamb(1e-3).weight_decay(0.01);
    /// ```
    ///
    /// You et al., *Large Batch Optimization for Deep Learning*, 2019.
    lamb(learning_rate: schedule) -> Lamb {
        /// Sets the decay rate of the mean of the gradients.
        b1: num = 0.9,
        /// Sets the decay rate of the mean of squares.
        b2: num = 0.999,
        /// Sets the constant added to the denominator outside the square root.
        eps: num = 1e-6,
        /// Sets the constant added inside the square root.
        eps_root: num = 0.0,
        /// Sets the strength of weight decay.
        weight_decay: schedule = 0.0,
        /// Sets the predicate that selects the parameters to decay by path and array. Defaults to
        /// all.
        mask: mask,
    }
    |o| chain((
        scale_by_adam().b1(o.b1).b2(o.b2).eps(o.eps).eps_root(o.eps_root),
        decay(o.weight_decay, o.mask),
        scale_by_trust_ratio(),
        scale_by_learning_rate(o.learning_rate),
    ))
}

options! {
    /// Creates a LARS optimizer: gradient descent with momentum and with updates scaled by the
    /// norm of each parameter.
    ///
    /// `update` panics if `params` is `None`.
    ///
    /// ```
    /// use ramie_optim::lars;
    /// let tx = lars(0.1).trust_ratio_mask(|_, array| array.ndim() > 1);
    /// ```
    ///
    /// You et al., *Large Batch Training of Convolutional Networks*, 2017.
    lars(learning_rate: schedule) -> Lars {
        /// Sets the strength of weight decay.
        weight_decay: schedule = 0.0,
        /// Sets the predicate that selects the parameters to decay by path and array. Defaults to
        /// all.
        weight_decay_mask: mask,
        /// Sets the factor that multiplies the trust ratio.
        trust_coefficient: num = 0.001,
        /// Sets the constant added to the norm of the update.
        eps: num = 0.0,
        /// Sets the predicate that selects the parameters whose steps are scaled, by path and
        /// array. Defaults to all.
        trust_ratio_mask: mask,
        /// Sets the decay rate of the sum of past updates.
        momentum: num = 0.9,
        /// Enables Nesterov momentum.
        nesterov: flag,
    }
    |o| {
        let everything = || Predicate(std::sync::Arc::new(|_, _| true));
        let Predicate(scaled) = o.trust_ratio_mask.unwrap_or_else(everything);
        let ratio = scale_by_trust_ratio().trust_coefficient(o.trust_coefficient).eps(o.eps);
        chain((
            decay(o.weight_decay, Some(o.weight_decay_mask.unwrap_or_else(everything))),
            masked(ratio, move |path, array| scaled(path, array)),
            scale_by_learning_rate(o.learning_rate),
            Trace { decay: o.momentum, nesterov: o.nesterov, accumulator_dtype: None },
        ))
    }
}

options! {
    /// Creates a Fromage optimizer, whose steps have the relative size `rate`, for networks that
    /// are products of layers.
    ///
    /// `update` panics if `params` is `None`.
    ///
    /// ```
    /// use ramie_optim::fromage;
    /// let tx = fromage(0.01);
    /// ```
    ///
    /// Bernstein et al., *On the distance between two neural networks and the
    /// stability of learning*, 2020.
    fromage(learning_rate: schedule) -> Fromage {
        /// Sets the lower bound of the norms. Smaller norms are replaced by it.
        min_norm: num = 1e-6,
    }
    |o| {
        let rate = o.learning_rate;
        let (step, shrink): (Schedule, Schedule) = match rate.as_hyperparam() {
            Some(rate) => {
                let factor = rate.times(rate).plus(1.0).to_the(0.5);
                let factor = factor.with(1.0, |f, one| one / f, |f, one| one / f);
                (rate.times(&factor).into(), factor.plus(-1.0).into())
            }
            None => {
                let factor = move |count: &ramie_core::Array| {
                    let rate = rate.at(count);
                    (1.0_f64 / (rate.square() + 1.0).power(0.5), rate)
                };
                let shrink = factor.clone();
                (
                    Schedule::new(move |count| { let (f, rate) = factor(count); f * rate }),
                    Schedule::new(move |count| shrink(count).0 - 1.0),
                )
            }
        };
        chain((
            scale_by_trust_ratio().min_norm(o.min_norm),
            scale_by_learning_rate(step),
            add_decayed_weights(shrink),
        ))
    }
}

options! {
    /// Creates a NovoGrad optimizer: a decaying sum of gradients, each divided by the norm of its
    /// array.
    ///
    /// `update` panics if `params` is `None`.
    ///
    /// ```
    /// use ramie_optim::novograd;
    /// let tx = novograd(1e-2).weight_decay(1e-3);
    /// ```
    ///
    /// Ginsburg et al., *Stochastic Gradient Methods with Layer-wise Adaptive
    /// Moments*, 2019.
    novograd(learning_rate: schedule) -> Novograd {
        /// Sets the decay rate of the sum of gradients.
        b1: num = 0.9,
        /// Sets the decay rate of the mean of squared norms.
        b2: num = 0.25,
        /// Sets the constant added to the denominator outside the square root.
        eps: num = 1e-6,
        /// Sets the constant added inside the square root.
        eps_root: num = 0.0,
        /// Sets the strength of weight decay.
        weight_decay: num = 0.0,
    }
    |o| chain((
        ScaleByNovograd {
            b1: o.b1,
            b2: o.b2,
            eps: o.eps,
            eps_root: o.eps_root,
            weight_decay: o.weight_decay,
            mu_dtype: None,
        },
        scale_by_learning_rate(o.learning_rate),
    ))
}
