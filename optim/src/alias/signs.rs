//! Optimizers that use the signs of gradients.

use crate::base::options::options;
use crate::{
    ScaleByLion, Scaled, Schedule, chain, ema, scale_by_learning_rate, scale_by_lion, scale_by_sign,
};

options! {
    /// Creates a sign descent optimizer: `u = -rate · sign(g)`.
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
    /// Creates a Signum optimizer: descent by the signs of a decaying mean of the gradients.
    ///
    /// ```
    /// use ramie_optim::signum;
    /// let tx = signum(1e-3).beta(0.95);
    /// ```
    ///
    /// Bernstein et al., *signSGD: Compressed Optimisation for Non-Convex
    /// Problems*, 2018.
    signum(learning_rate: schedule) -> Signum {
        /// Sets the decay rate of the mean.
        beta: num = 0.9,
        /// Sets the dtype of the mean. Defaults to that of the parameters, but at least `f32`.
        accumulator_dtype: dtype,
    }
    |o| {
        let mut mean = ema(o.beta).debias(false);
        mean.accumulator_dtype = o.accumulator_dtype;
        chain((mean, scale_by_sign(), scale_by_learning_rate(o.learning_rate)))
    }
}

/// The options of [`lion`].
pub type Lion = Scaled<ScaleByLion>;

/// Creates a Lion optimizer: the sign of a mix of gradient and momentum, with weight decay.
/// The best learning rates are three to ten times smaller than those of
/// [`adamw`](crate::adamw).
///
/// ```
/// use ramie_optim::lion;
/// let tx = lion(1e-4).weight_decay(0.1);
/// ```
///
/// The weight decay defaults to 1e-3.
///
/// Chen et al., *Symbolic Discovery of Optimization Algorithms*, 2023.
#[track_caller]
pub fn lion(learning_rate: impl Into<Schedule>) -> Lion {
    Scaled::new(scale_by_lion(), learning_rate).weight_decay(1e-3)
}
