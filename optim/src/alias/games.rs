//! Optimizers for games, where gradients turn.

use crate::options::options;
use crate::{Hyperparam, ScaleByAdam, ScaleByOptimisticGradient, chain, scale_by_learning_rate};

options! {
    /// Optimistic gradient descent: `u = -rate · ((alpha + beta) · g - beta · g')`
    /// with the gradient `g'` of the step before.
    ///
    /// ```
    /// use ramie_optim::optimistic_gradient_descent;
    /// let tx = optimistic_gradient_descent(0.1);
    /// ```
    ///
    /// Mokhtari et al., *A Unified Analysis of Extra-gradient and Optimistic
    /// Gradient Methods for Saddle Point Problems*, 2019.
    optimistic_gradient_descent(learning_rate: schedule) -> OptimisticGradientDescent {
        /// Weight of the gradient.
        alpha: num = 1.0,
        /// Weight of its change.
        beta: num = 1.0,
    }
    |o| chain((
        ScaleByOptimisticGradient { alpha: o.alpha, beta: o.beta },
        scale_by_learning_rate(o.learning_rate),
    ))
}

/// Decay of means, epsilons and the like of the optimistic Adams.
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

/// A number, where there is one.
type MaybeNumber = Option<Hyperparam>;

options! {
    /// Optimistic Adam in its first form: rate and optimism are the weights of
    /// the gradient and of its change. [`optimistic_adam_v2`] also takes
    /// schedules.
    ///
    /// ```
    /// use ramie_optim::optimistic_adam;
    /// let tx = optimistic_adam(1e-3).optimism(Some(1e-3.into()));
    /// ```
    ///
    /// Daskalakis et al., *Training GANs with Optimism*, 2017.
    optimistic_adam(learning_rate: num) -> OptimisticAdam {
        /// The weight of a gradient's change, by default the learning rate.
        optimism: MaybeNumber = None,
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
        /// Looks one step ahead.
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
    /// Optimistic Adam: [`nadam`](crate::nadam) whose updates foresee their
    /// change.
    ///
    /// ```
    /// use ramie_optim::optimistic_adam_v2;
    /// let tx = optimistic_adam_v2(1e-3);
    /// ```
    ///
    /// Daskalakis et al., *Training GANs with Optimism*, 2017.
    optimistic_adam_v2(learning_rate: schedule) -> OptimisticAdamV2 {
        /// Weight of the update.
        alpha: num = 1.0,
        /// Weight of its change.
        beta: num = 1.0,
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
        /// Looks one step ahead.
        nesterov: toggle = true,
    }
    |o| chain((
        optimistic!(o),
        ScaleByOptimisticGradient { alpha: o.alpha, beta: o.beta },
        scale_by_learning_rate(o.learning_rate),
    ))
}
