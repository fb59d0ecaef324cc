//! Quasi-Newton methods.

use crate::options::options;
use crate::{
    GradientTransformation, InitialGuess, ScaleByLbfgs, chain, scale, scale_by_learning_rate,
    scale_by_zoom_linesearch,
};

/// A schedule, where there is one.
type MaybeSchedule = Option<crate::Schedule>;

fn default_search() -> GradientTransformation {
    scale_by_zoom_linesearch()
        .max_linesearch_steps(20)
        .initial_guess_strategy(InitialGuess::One)
        .into()
}

options! {
    /// L-BFGS: steps along an estimate of Newton's direction, of a length that
    /// a line search finds. For full batches.
    ///
    /// Its `update` panics if parameters and, for the line search,
    /// [`ExtraArgs::value`](crate::ExtraArgs::value),
    /// [`ExtraArgs::grad`](crate::ExtraArgs::grad) and
    /// [`ExtraArgs::value_fn`](crate::ExtraArgs::value_fn) are not given.
    ///
    /// ```
    /// use ramie_optim::lbfgs;
    /// let tx = lbfgs().memory_size(5);
    /// ```
    ///
    /// Liu and Nocedal, *On the limited memory BFGS method for large scale
    /// optimization*, 1989.
    lbfgs() -> Lbfgs {
        /// How many differences are kept, at least 1.
        memory_size: count = 10,
        /// Whether the estimate starts from the scale of the last difference.
        scale_init_precond: toggle = true,
        /// Finds the length of steps; [`identity`](crate::identity) for none.
        linesearch: tx = default_search(),
        /// Multiplies the direction before the line search; `None` for 1.
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
    /// Multiplies the direction before the line search.
    #[must_use]
    pub fn learning_rate(self, learning_rate: impl Into<crate::Schedule>) -> Lbfgs {
        self.rate(Some(learning_rate.into()))
    }
}
