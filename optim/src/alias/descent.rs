//! Gradient descent and its variants.

use crate::base::options::options;
use crate::transforms::momentum::trace_if;
use crate::{
    PolyakVariant, ScaleByPolyak, ScaleByRprop, add_noise, chain, scale, scale_by_learning_rate,
};
use ramie_core::random::{Key, key};

options! {
    /// Creates a stochastic gradient descent optimizer: `u = -rate · g`.
    ///
    /// ```
    /// use ramie_optim::sgd;
    /// let plain = sgd(0.05);
    /// let fast = sgd(0.05).momentum(0.9).nesterov();
    /// ```
    ///
    /// Sutskever et al., *On the importance of initialization and momentum in
    /// deep learning*, 2013.
    sgd(learning_rate: schedule) -> Sgd {
        /// Enables momentum with this decay rate, a decaying sum of past gradients:
        /// `t ← g + momentum · t`.
        momentum: optional,
        /// Uses Nesterov momentum. Has no effect without `momentum`.
        nesterov: flag,
        /// Sets the dtype of the sum. Defaults to that of the parameters, but at least `f32`.
        accumulator_dtype: dtype,
    }
    |o| chain((
        trace_if(o.momentum, o.nesterov, o.accumulator_dtype),
        scale_by_learning_rate(o.learning_rate),
    ))
}

options! {
    /// Creates a gradient descent optimizer that adds normal noise to the gradients, with the
    /// variance `eta / (1 + t)^gamma` in step `t`.
    ///
    /// ```
    /// use ramie_core::random;
    /// use ramie_optim::noisy_sgd;
    /// let tx = noisy_sgd(0.1).key(random::key(7));
    /// ```
    ///
    /// Neelakantan et al., *Adding Gradient Noise Improves Learning for Very
    /// Deep Networks*, 2015.
    noisy_sgd(learning_rate: schedule) -> NoisySgd {
        /// Sets the initial variance of the noise.
        eta: num = 0.01,
        /// Sets the exponent of the decay of the variance.
        gamma: num = 0.55,
        /// Sets the RNG key of the noise.
        key: Key = key(0),
    }
    |o| chain((
        add_noise(o.eta, o.gamma, o.key),
        scale_by_learning_rate(o.learning_rate),
    ))
}

options! {
    /// Creates a gradient descent optimizer with Polyak's step size, which is computed from the
    /// value of the objective.
    ///
    /// `update` panics if [`ExtraArgs::value`](crate::ExtraArgs::value) is missing.
    ///
    /// ```
    /// use ramie_optim::polyak_sgd;
    /// let tx = polyak_sgd().max_learning_rate(0.5);
    /// ```
    ///
    /// Loizou et al., *Stochastic Polyak Step-size for SGD*, 2020.
    polyak_sgd() -> PolyakSgd {
        /// Sets the maximum step size.
        max_learning_rate: num = 1.0,
        /// Sets the factor that multiplies the step.
        scaling: schedule = 1.0,
        /// Sets the lower bound of the objective.
        f_min: num = 0.0,
        /// Sets the constant added to the squared norm of the gradient.
        eps: num = 0.0,
        /// Sets the behavior when the objective is below `f_min`.
        variant: PolyakVariant = PolyakVariant::Sps,
    }
    |o| chain((
        sgd(o.scaling),
        ScaleByPolyak {
            f_min: o.f_min,
            max_learning_rate: o.max_learning_rate,
            eps: o.eps,
            variant: o.variant,
        },
    ))
}

options! {
    /// Creates a resilient propagation optimizer for full batches: it steps by the sign of the
    /// gradient and keeps a separate step size for each element.
    ///
    /// ```
    /// use ramie_optim::rprop;
    /// let tx = rprop(0.01);
    /// ```
    ///
    /// Riedmiller and Braun, *A direct adaptive method for faster
    /// backpropagation learning: the RPROP algorithm*, 1993.
    rprop(learning_rate: num) -> Rprop {
        /// Sets the factor that multiplies the step size when the sign of the gradient changes.
        eta_minus: num = 0.5,
        /// Sets the factor that multiplies the step size while the sign of the gradient stays the
        /// same.
        eta_plus: num = 1.2,
        /// Sets the minimum step size of an element.
        min_step_size: num = 1e-6,
        /// Sets the maximum step size of an element.
        max_step_size: num = 50.0,
    }
    |o| chain((
        ScaleByRprop {
            learning_rate: o.learning_rate,
            eta_minus: o.eta_minus,
            eta_plus: o.eta_plus,
            min_step_size: o.min_step_size,
            max_step_size: o.max_step_size,
        },
        scale(-1.0),
    ))
}
