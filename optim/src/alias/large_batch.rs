//! Optimizers that scale each array's update to the norm of its parameter.

use crate::decay::decay;
use crate::options::{Predicate, options};
use crate::{
    ScaleByAdam, ScaleByNovograd, Schedule, Trace, add_decayed_weights, chain, masked,
    scale_by_learning_rate, scale_by_trust_ratio,
};

options! {
    /// LAMB: [`adamw`](crate::adamw) with steps scaled to the norm of each
    /// parameter, for large batches.
    ///
    /// Its `update` panics if it is not given the parameters.
    ///
    /// ```
    /// use ramie_optim::lamb;
    /// let tx = lamb(1e-3).weight_decay(0.01);
    /// ```
    ///
    /// You et al., *Large Batch Optimization for Deep Learning*, 2019.
    lamb(learning_rate: schedule) -> Lamb {
        /// Decay of the mean of gradients.
        b1: num = 0.9,
        /// Decay of the mean of their squares.
        b2: num = 0.999,
        /// Added to the denominator outside the square root.
        eps: num = 1e-6,
        /// Added inside the square root.
        eps_root: num = 0.0,
        /// The strength of weight decay.
        weight_decay: schedule = 0.0,
        /// Which parameters decay, by path and value; by default all.
        mask: mask,
    }
    |o| chain((
        ScaleByAdam {
            b1: o.b1,
            b2: o.b2,
            eps: o.eps,
            eps_root: o.eps_root,
            mu_dtype: None,
            nesterov: false,
        },
        decay(o.weight_decay, o.mask),
        scale_by_trust_ratio(),
        scale_by_learning_rate(o.learning_rate),
    ))
}

options! {
    /// LARS: descent with momentum, with steps scaled to the norm of each
    /// parameter.
    ///
    /// Its `update` panics if it is not given the parameters.
    ///
    /// ```
    /// use ramie_optim::lars;
    /// let tx = lars(0.1).trust_ratio_mask(|_, array| array.ndim() > 1);
    /// ```
    ///
    /// You et al., *Large Batch Training of Convolutional Networks*, 2017.
    lars(learning_rate: schedule) -> Lars {
        /// The strength of weight decay.
        weight_decay: schedule = 0.0,
        /// Which parameters decay, by path and value; by default all.
        weight_decay_mask: mask,
        /// Multiplies the ratio of norms.
        trust_coefficient: num = 0.001,
        /// Added to the norm of the update.
        eps: num = 0.0,
        /// Which parameters' steps are scaled, by path and value; by default
        /// all.
        trust_ratio_mask: mask,
        /// Decay of the sum of past updates.
        momentum: num = 0.9,
        /// Looks one step ahead.
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
    /// Fromage: steps of the relative size `rate`, for networks whose layers
    /// multiply.
    ///
    /// Its `update` panics if it is not given the parameters.
    ///
    /// ```
    /// use ramie_optim::fromage;
    /// let tx = fromage(0.01);
    /// ```
    ///
    /// Bernstein et al., *On the distance between two neural networks and the
    /// stability of learning*, 2020.
    fromage(learning_rate: schedule) -> Fromage {
        /// The least norm that counts.
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
    /// NovoGrad: the decaying sum of gradients divided by the norm of their
    /// array.
    ///
    /// Its `update` panics if it is not given the parameters.
    ///
    /// ```
    /// use ramie_optim::novograd;
    /// let tx = novograd(1e-2).weight_decay(1e-3);
    /// ```
    ///
    /// Ginsburg et al., *Stochastic Gradient Methods with Layer-wise Adaptive
    /// Moments*, 2019.
    novograd(learning_rate: schedule) -> Novograd {
        /// Decay of the sum of gradients.
        b1: num = 0.9,
        /// Decay of the mean of squared norms.
        b2: num = 0.25,
        /// Added to the denominator outside the square root.
        eps: num = 1e-6,
        /// Added inside the square root.
        eps_root: num = 0.0,
        /// The strength of weight decay.
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
