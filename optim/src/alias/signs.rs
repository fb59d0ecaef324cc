//! Optimizers that step by signs.

use crate::decay::decay;
use crate::options::options;
use crate::{LionMode, ScaleByLion, chain, ema, scale_by_learning_rate, scale_by_sign};

options! {
    /// Descent by the signs of gradients: `u = -rate · sign(g)`.
    ///
    /// ```
    /// use ramie_optim::sign_sgd;
    /// let tx = sign_sgd(1e-3);
    /// ```
    ///
    /// Bernstein et al., *signSGD: Compressed Optimisation for Non-Convex
    /// Problems*, 2018.
    sign_sgd(learning_rate: schedule) -> SignSgd {}
    |o| chain((scale_by_sign(), scale_by_learning_rate(o.learning_rate)))
}

options! {
    /// Descent by the signs of a decaying mean of gradients.
    ///
    /// ```
    /// use ramie_optim::signum;
    /// let tx = signum(1e-3).beta(0.95);
    /// ```
    ///
    /// Bernstein et al., *signSGD: Compressed Optimisation for Non-Convex
    /// Problems*, 2018.
    signum(learning_rate: schedule) -> Signum {
        /// Decay of the mean.
        beta: num = 0.9,
        /// The element type of the mean, by default that of the parameters.
        accumulator_dtype: dtype,
    }
    |o| {
        let mut mean = ema(o.beta).debias(false);
        mean.accumulator_dtype = o.accumulator_dtype;
        chain((mean, scale_by_sign(), scale_by_learning_rate(o.learning_rate)))
    }
}

options! {
    /// Lion: the sign of a mix of gradient and momentum, with weight decay.
    /// Rates are best three to ten times less than those of
    /// [`adamw`](crate::adamw).
    ///
    /// ```
    /// use ramie_optim::lion;
    /// let tx = lion(1e-4).weight_decay(0.1);
    /// ```
    ///
    /// Chen et al., *Symbolic Discovery of Optimization Algorithms*, 2023.
    lion(learning_rate: schedule) -> Lion {
        /// How much of the momentum the step is made of, beside the gradient.
        b1: num = 0.9,
        /// Decay of the momentum.
        b2: num = 0.99,
        /// The element type of the momentum, by default that of the parameters.
        mu_dtype: dtype,
        /// The strength of weight decay, multiplied by the learning rate.
        weight_decay: schedule = 1e-3,
        /// Which parameters decay, by path and value; by default all.
        mask: mask,
    }
    |o| chain((
        ScaleByLion { b1: o.b1, b2: o.b2, mu_dtype: o.mu_dtype, mode: LionMode::Hard },
        decay(o.weight_decay, o.mask),
        scale_by_learning_rate(o.learning_rate),
    ))
}
