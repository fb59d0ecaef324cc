//! Quasi-Newton methods.

use crate::base::given::CheckedSetting;
use crate::base::options::options;
use crate::{
    GradientTransformation, InitialGuess, ScaleByLbfgs, chain, scale, scale_by_learning_rate,
    scale_by_zoom_linesearch,
};

/// An optional schedule.
type MaybeSchedule = Option<crate::Schedule>;

fn default_search() -> GradientTransformation {
    scale_by_zoom_linesearch()
        .max_linesearch_steps(20)
        .initial_guess_strategy(InitialGuess::One)
        .into()
}

options! {
    /// Creates an L-BFGS optimizer for full batches. It steps along an estimate of Newton's
    /// direction; a line search determines the length of the step.
    ///
    /// `update` panics if `params` is `None`, or if the line search lacks
    /// [`ExtraArgs::value`](crate::ExtraArgs::value), [`ExtraArgs::grad`](crate::ExtraArgs::grad)
    /// or [`ExtraArgs::value_fn`](crate::ExtraArgs::value_fn).
    ///
    /// ```
    /// use ramie_optim::lbfgs;
    /// let tx = lbfgs().memory_size(5);
    /// ```
    ///
    /// Liu and Nocedal, *On the limited memory BFGS method for large scale
    /// optimization*, 1989.
    lbfgs() -> Lbfgs {
        /// Sets the number of differences to store, at least 1.
        memory_size: count = 10,
        /// Sets whether the initial estimate is scaled by the last difference instead of being
        /// the identity.
        scale_init_precond: toggle = true,
        /// Sets the line search that determines the length of steps. Pass
        /// [`identity`](crate::identity) for none. Defaults to `scale_by_zoom_linesearch` with at
        /// most 20 steps that starts from step size 1.
        linesearch: tx = default_search(),
        /// Sets the learning rate, which multiplies the direction before the line search. `None`
        /// means 1.
        rate: MaybeSchedule = None,
    }
    |o| chain((
        ScaleByLbfgs { memory_size: o.memory_size, scale_init_precond: o.scale_init_precond },
        match o.rate {
            Some(rate) => scale_by_learning_rate(rate),
            None => scale(-1.0),
        },
        o.linesearch,
    ))
}

impl Lbfgs {
    /// Sets the learning rate, which multiplies the direction before the line search. Defaults to
    /// 1.
    #[must_use]
    #[track_caller]
    pub fn learning_rate(self, learning_rate: impl Into<crate::Schedule>) -> Lbfgs {
        self.rate(Some(learning_rate.into().given("learning_rate")))
    }
}
