//! Optimizers for games, where gradient descent tends to cycle.

use crate::base::options::options;
use crate::{
    Hyperparam, ScaleByAdam, ScaleByOptimisticGradient, Scaled, Schedule, chain,
    scale_by_learning_rate, scale_by_optimistic_gradient,
};

/// The options of [`optimistic_gradient_descent`].
pub type OptimisticGradientDescent = Scaled<ScaleByOptimisticGradient>;

/// Creates an optimistic gradient descent optimizer:
/// `u = -rate · ((alpha + beta) · g - beta · g')`, where `g'` is the gradient of the previous
/// step.
///
/// ```
/// use ramie_optim::optimistic_gradient_descent;
/// let tx = optimistic_gradient_descent(0.1);
/// ```
///
/// Mokhtari et al., *A Unified Analysis of Extra-gradient and Optimistic
/// Gradient Methods for Saddle Point Problems*, 2019.
#[track_caller]
pub fn optimistic_gradient_descent(
    learning_rate: impl Into<Schedule>,
) -> OptimisticGradientDescent {
    Scaled::new(scale_by_optimistic_gradient(), learning_rate)
}

/// Builds the `ScaleByAdam` of the optimistic Adam optimizers from their options.
macro_rules! optimistic {
    ($o:ident) => {
        ScaleByAdam {
            b1: $o.b1,
            b2: $o.b2,
            eps: $o.eps,
            eps_root: $o.eps_root,
            mu_dtype: $o.mu_dtype,
            nesterov: $o.nesterov,
        }
    };
}

/// An optional number.
type MaybeNumber = Option<Hyperparam>;

options! {
    /// Creates the original optimistic Adam optimizer: `learning_rate` and `optimism` are the
    /// weights of the update and of its change. [`optimistic_adam_v2`] also accepts schedules.
    ///
    /// ```
    /// use ramie_optim::optimistic_adam;
    /// let tx = optimistic_adam(1e-3).optimism(Some(1e-3.into()));
    /// ```
    ///
    /// Daskalakis et al., *Training GANs with Optimism*, 2017.
    optimistic_adam(learning_rate: num) -> OptimisticAdam {
        /// Sets the weight of the change of the update. `None` uses the learning rate.
        optimism: MaybeNumber = None,
        /// Sets the decay rate of the mean of the gradients.
        b1: num = 0.9,
        /// Sets the decay rate of the mean of squares.
        b2: num = 0.999,
        /// Sets the constant added to the denominator outside the square root.
        eps: num = 1e-8,
        /// Sets the constant added inside the square root.
        eps_root: num = 0.0,
        /// Sets the dtype of the mean. Defaults to that of the parameters, but at least `f32`.
        mu_dtype: dtype,
        /// Sets whether Nesterov momentum is used.
        nesterov: toggle = true,
    }
    |o| {
        let beta = o.optimism.unwrap_or_else(|| o.learning_rate.clone());
        chain((
            optimistic!(o),
            ScaleByOptimisticGradient { alpha: o.learning_rate, beta },
            scale_by_learning_rate(1.0),
        ))
    }
}

options! {
    /// Creates an optimistic Adam optimizer: [`nadam`](crate::nadam) with updates extrapolated by
    /// their last change.
    ///
    /// ```
    /// use ramie_optim::optimistic_adam_v2;
    /// let tx = optimistic_adam_v2(1e-3);
    /// ```
    ///
    /// Daskalakis et al., *Training GANs with Optimism*, 2017.
    optimistic_adam_v2(learning_rate: schedule) -> OptimisticAdamV2 {
        /// Sets the weight of the update.
        alpha: num = 1.0,
        /// Sets the weight of the change of the gradient.
        beta: num = 1.0,
        /// Sets the decay rate of the mean of the gradients.
        b1: num = 0.9,
        /// Sets the decay rate of the mean of squares.
        b2: num = 0.999,
        /// Sets the constant added to the denominator outside the square root.
        eps: num = 1e-8,
        /// Sets the constant added inside the square root.
        eps_root: num = 0.0,
        /// Sets the dtype of the mean. Defaults to that of the parameters, but at least `f32`.
        mu_dtype: dtype,
        /// Sets whether Nesterov momentum is used.
        nesterov: toggle = true,
    }
    |o| chain((
        optimistic!(o),
        ScaleByOptimisticGradient { alpha: o.alpha, beta: o.beta },
        scale_by_learning_rate(o.learning_rate),
    ))
}
