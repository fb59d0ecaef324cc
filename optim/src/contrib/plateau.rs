//! Learning rates that shrink when the objective stops improving.

use crate::base::numerics::{count_zero, safe_increment};
use crate::base::options::options;
use crate::base::wide::{highest_number_dtype, number_dtype};
use crate::{ExtraArgs, GradientTransformation};
use ramie_core::{Array, where_};
use ramie_derive::Tree;

/// The state of [`reduce_on_plateau`].
#[doc(alias = "ReduceLROnPlateauState")]
#[derive(Clone, Tree)]
pub struct ReduceLrOnPlateauState {
    /// Factor that multiplies the updates, 0-d.
    pub scale: Array,
    /// Smallest value so far, 0-d.
    pub best_value: Array,
    /// Number of values since the last improvement, 0-d `i32`.
    pub plateau_count: Array,
    /// Number of values left in the cooldown, 0-d `i32`.
    pub cooldown_count: Array,
    /// Number of values averaged so far, 0-d `i32`.
    pub count: Array,
    /// Average of these values, 0-d.
    pub avg_value: Array,
}

options! {
    /// Multiplies updates by a scale that shrinks when the value of the objective has not
    /// improved for some time.
    ///
    /// `update` panics if [`ExtraArgs::value`] is missing. Pass the training loss, or better the
    /// validation loss.
    ///
    /// ```
    /// use ramie_optim::{adam, chain, contrib::reduce_on_plateau};
    /// let tx = chain((adam(1e-3), reduce_on_plateau().patience(5).accumulation_size(100)));
    /// ```
    ///
    /// The conversion into a transformation panics if `factor` is not between 0 and 1, a
    /// tolerance is negative, both are zero, `rtol` is greater than 1, or `patience` or
    /// `accumulation_size` is 0.
    reduce_on_plateau() -> ReduceOnPlateau {
        /// Sets the factor that multiplies the scale when it shrinks.
        factor: f64 = 0.1,
        /// Sets the number of values without an improvement after which the scale shrinks.
        patience: count = 10,
        /// Sets the required improvement, as a fraction of the best value.
        rtol: f64 = 1e-4,
        /// Sets the required absolute improvement.
        atol: f64 = 0.0,
        /// Sets the number of values after a reduction during which no improvement is required.
        cooldown: count = 0,
        /// Sets the number of calls of `update` whose values are averaged into one.
        accumulation_size: count = 1,
        /// Sets the minimum scale.
        min_scale: f64 = 0.0,
    }
    |o| {
        assert!(
            o.factor > 0.0 && o.factor < 1.0,
            "reduce_on_plateau: factor is {}, expected a number between 0 and 1\n  help: use \
             `.factor(0.1)`, for example",
            o.factor
        );
        assert!(
            o.rtol >= 0.0 && o.atol >= 0.0 && o.rtol + o.atol > 0.0 && o.rtol <= 1.0,
            "reduce_on_plateau: invalid tolerances, rtol is {} and atol is {}\n  help: both must \
             be at least 0, one must be positive, and rtol must be at most 1",
            o.rtol,
            o.atol
        );
        assert!(
            o.patience > 0 && o.accumulation_size > 0,
            "reduce_on_plateau: patience is {} and accumulation_size is {}, expected at least 1\n  \
             help: with `.patience(1)` the first value without an improvement shrinks the scale",
            o.patience,
            o.accumulation_size
        );
        GradientTransformation::with_extra_args(
            |params| {
                let (low, high) = (number_dtype(params), highest_number_dtype(params));
                ReduceLrOnPlateauState {
                    scale: Array::scalar(1.0, low),
                    best_value: Array::scalar(f64::INFINITY, high),
                    plateau_count: count_zero(),
                    cooldown_count: count_zero(),
                    count: count_zero(),
                    avg_value: Array::scalar(0.0, high),
                }
            },
            move |updates, state: ReduceLrOnPlateauState, _, extra: &ExtraArgs<'_>| {
                let value = extra.expect_value("reduce_on_plateau").astype(state.avg_value.dtype());
                let count = safe_increment(&state.count);
                let avg_value = (&state.avg_value * &state.count + value) / &count;
                let avg_value = avg_value.astype(state.avg_value.dtype());
                let complete = count.eq(o.accumulation_size as i32);
                let gathered = ReduceLrOnPlateauState { count, avg_value, ..state };
                let judged = o.judge(&gathered);
                let state = ramie_core::tree::map2(&judged, &gathered, |a, b| where_(&complete, a, b));
                (updates.map(|u| u * &state.scale), state)
            },
        )
    }
}

impl ReduceOnPlateau {
    /// Returns the state after an average is complete.
    fn judge(&self, state: &ReduceLrOnPlateauState) -> ReduceLrOnPlateauState {
        let (mean, best) = (&state.avg_value, &state.best_value);
        // An improvement is a decrease by a fraction of the size of the best value: of a negative
        // one, too.
        let factor = where_(best.lt(0), 1.0 + self.rtol, 1.0 - self.rtol);
        let improved = mean.lt(best * factor - self.atol);
        let waited = where_(&improved, 0, safe_increment(&state.plateau_count));
        let cooling = state.cooldown_count.gt(0);
        let shrinks = waited
            .eq(self.patience as i32)
            .bitwise_and(cooling.logical_not());
        let scale = where_(&shrinks, &state.scale * self.factor, &state.scale);
        let scale = where_(&cooling, &state.scale, scale.maximum(self.min_scale));
        let cooldown = where_(&shrinks, self.cooldown as i32, 0);
        ReduceLrOnPlateauState {
            scale,
            best_value: where_(&improved, mean, best),
            plateau_count: where_(cooling.bitwise_or(&shrinks), 0, waited),
            cooldown_count: where_(&cooling, &state.cooldown_count - 1, cooldown),
            count: count_zero(),
            avg_value: mean.zeros_like(),
        }
    }
}
