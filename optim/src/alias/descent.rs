//! Gradient descent and its kin.

use crate::momentum::trace_if;
use crate::options::options;
use crate::{
    PolyakVariant, ScaleByPolyak, ScaleByRprop, add_noise, chain, scale, scale_by_learning_rate,
};
use ramie_core::random::{Key, key};

options! {
    /// Stochastic gradient descent: `u = -rate · g`.
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
        /// Follows a decaying sum of past gradients, `t ← g + decay · t`.
        momentum: optional,
        /// Looks one step ahead, where there is a momentum.
        nesterov: flag,
        /// The element type of the sum, by default that of the parameters.
        accumulator_dtype: dtype,
    }
    |o| chain((
        trace_if(o.momentum, o.nesterov, o.accumulator_dtype),
        scale_by_learning_rate(o.learning_rate),
    ))
}

options! {
    /// Gradient descent with normal noise on the gradients, of the variance
    /// `eta / (1 + t)^gamma` in step `t`.
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
        /// The variance of the noise at first.
        eta: num = 0.01,
        /// How fast it decays.
        gamma: num = 0.55,
        /// What decides the noise.
        key: Key = key(0),
    }
    |o| chain((
        add_noise(o.eta, o.gamma, o.key),
        scale_by_learning_rate(o.learning_rate),
    ))
}

options! {
    /// Gradient descent with Polyak's step size, which follows from the value
    /// of the objective.
    ///
    /// Its `update` panics if [`ExtraArgs::value`](crate::ExtraArgs::value) is
    /// not given.
    ///
    /// ```
    /// use ramie_optim::polyak_sgd;
    /// let tx = polyak_sgd().max_learning_rate(0.5);
    /// ```
    ///
    /// Loizou et al., *Stochastic Polyak Step-size for SGD*, 2020.
    polyak_sgd() -> PolyakSgd {
        /// The greatest step.
        max_learning_rate: num = 1.0,
        /// Multiplies the step.
        scaling: schedule = 1.0,
        /// A lower bound of the objective.
        f_min: num = 0.0,
        /// Added to the squared norm of the gradient.
        eps: num = 0.0,
        /// What is done below `f_min`.
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
    /// Resilient propagation: steps by the sign of the gradient, for each
    /// element of a size of its own. For full batches.
    ///
    /// ```
    /// use ramie_optim::rprop;
    /// let tx = rprop(0.01);
    /// ```
    ///
    /// Riedmiller and Braun, *A direct adaptive method for faster
    /// backpropagation learning: the RPROP algorithm*, 1993.
    rprop(learning_rate: num) -> Rprop {
        /// Multiplies a step when the sign changes.
        eta_minus: num = 0.5,
        /// Multiplies a step while the sign stays.
        eta_plus: num = 1.2,
        /// The least step.
        min_step_size: num = 1e-6,
        /// The greatest step.
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
