//! Backtracking line search.

use crate::base::extra_args::expect_params;
use crate::base::numerics::count_zero;
use crate::base::options::options;
use crate::base::wide::number_dtype;
use crate::{ExtraArgs, GradientTransformation, tree};
use ramie_core::lax::while_loop;
use ramie_core::{Array, State, value_and_grad, where_};
use ramie_derive::Tree;

/// The state of [`scale_by_backtracking_linesearch`].
#[derive(Tree)]
pub struct ScaleByBacktrackingLinesearchState {
    /// Step size of the last search, 0-d.
    pub learning_rate: Array,
    /// Value of the objective after that step, 0-d.
    pub value: Array,
    /// Gradients after that step, if `store_grad` is set.
    pub grad: Option<State>,
    /// Statistics of the last search.
    pub info: BacktrackingLinesearchInfo,
}

/// Statistics of a backtracking line search.
#[derive(Tree)]
pub struct BacktrackingLinesearchInfo {
    /// Number of evaluations of the objective, 0-d `i32`.
    pub num_linesearch_steps: Array,
    /// Amount by which the objective missed the required decrease, 0-d.
    pub decrease_error: Array,
}

/// The loop state of a search.
#[derive(Tree)]
struct Search {
    learning_rate: Array,
    new_value: Array,
    new_grad: Option<State>,
    decrease_error: Array,
    iter_num: Array,
}

options! {
    /// Shortens the step until it decreases the objective enough (Armijo's condition) and
    /// multiplies the updates by it.
    ///
    /// `update` panics if `params` is `None`, or if [`ExtraArgs::value`], [`ExtraArgs::grad`] or
    /// [`ExtraArgs::value_fn`] is missing.
    ///
    /// ```
    /// use ramie_optim::{chain, scale_by_backtracking_linesearch, sgd};
    /// let tx = chain((sgd(1.0), scale_by_backtracking_linesearch().max_backtracking_steps(15)));
    /// ```
    ///
    /// Nocedal and Wright, *Numerical Optimization*, 1999, section 3.1;
    /// Vaswani et al., *Painless SGD*, 2019.
    scale_by_backtracking_linesearch() -> ScaleByBacktrackingLinesearch {
        /// Sets the maximum number of times that a step is shortened.
        max_backtracking_steps: count = 15,
        /// Sets the fraction of the decrease predicted by the slope that is required.
        slope_rtol: num = 1e-4,
        /// Sets the factor that multiplies a step that did not decrease the objective enough.
        decrease_factor: num = 0.8,
        /// Sets the factor that multiplies the last step size to get the first trial of the next
        /// search.
        increase_factor: num = 1.5,
        /// Sets the maximum step size.
        max_learning_rate: num = 1.0,
        /// Sets the absolute tolerance of the decrease condition.
        atol: num = 0.0,
        /// Sets the tolerance of the decrease condition relative to the value of the objective.
        rtol: num = 0.0,
        /// Stores the gradients at the end of the step, so that they need not be computed again:
        /// see [`value_and_grad_from_state`](crate::value_and_grad_from_state).
        store_grad: flag,
    }
    |o| {
        let store = o.store_grad;
        GradientTransformation::with_extra_args(
            move |params| {
                let dtype = number_dtype(params);
                ScaleByBacktrackingLinesearchState {
                    learning_rate: Array::scalar(1.0, dtype),
                    value: Array::scalar(f64::INFINITY, dtype),
                    grad: store.then(|| params.zeros_like()),
                    info: BacktrackingLinesearchInfo {
                        num_linesearch_steps: count_zero(),
                        decrease_error: Array::scalar(f64::INFINITY, dtype),
                    },
                }
            },
            move |updates, state: ScaleByBacktrackingLinesearchState, params, extra: &ExtraArgs<'_>| {
                o.search(updates, state, params, extra)
            },
        )
    }
}

const NAME: &str = "scale_by_backtracking_linesearch";

impl ScaleByBacktrackingLinesearch {
    /// Returns the state before the first evaluation of the objective.
    fn first(
        &self,
        state: &ScaleByBacktrackingLinesearchState,
        value: &Array,
        params: &State,
    ) -> Search {
        let dtype = state.value.dtype();
        let longer =
            (&state.learning_rate * &self.increase_factor).minimum(&self.max_learning_rate);
        Search {
            learning_rate: longer.astype(dtype),
            new_value: value.astype(dtype),
            new_grad: self.store_grad.then(|| params.zeros_like()),
            decrease_error: Array::scalar(f64::INFINITY, dtype),
            iter_num: count_zero(),
        }
    }

    fn search(
        &self,
        updates: State,
        state: ScaleByBacktrackingLinesearchState,
        params: Option<&State>,
        extra: &ExtraArgs<'_>,
    ) -> (State, ScaleByBacktrackingLinesearchState) {
        let params = expect_params(NAME, params);
        let (value, grad) = (extra.expect_value(NAME), extra.expect_grad(NAME));
        let value_fn = extra.expect_value_fn(NAME);
        let dtype = state.value.dtype();
        let slope = tree::vdot(&tree::conj(&updates), &tree::conj(grad));
        // Of a negative value, too, the tolerance is an increase.
        let allowed = value + value.abs() * &self.rtol;
        let most = self.max_backtracking_steps as i32;
        let error = |step: &Array, new: &Array| {
            let error = new - &allowed - step * &self.slope_rtol * &slope;
            let error = where_(error.is_nan(), f64::INFINITY, error);
            error.maximum(0.0).astype(dtype)
        };
        let body = |s: Search| {
            let shorter = &s.learning_rate * &self.decrease_factor;
            let learning_rate = where_(s.iter_num.gt(0), shorter, &s.learning_rate).astype(dtype);
            let at = tree::cast_like(&tree::add_scale(params, &learning_rate, &updates), params);
            let (new_value, new_grad) = match &s.new_grad {
                Some(_) => {
                    let (v, g) = value_and_grad(|p: State| value_fn(&p))(at);
                    (v, Some(tree::cast_like(&g, params)))
                }
                None => (value_fn(&at), None),
            };
            Search {
                decrease_error: error(&learning_rate, &new_value),
                learning_rate,
                new_value: new_value.astype(dtype),
                new_grad,
                iter_num: s.iter_num + 1,
            }
        };
        let first = self.first(&state, value, params);
        let goes_on = |s: Search| {
            let bad = s.decrease_error.le(&self.atol).logical_not();
            bad.bitwise_and(s.iter_num.le(most))
        };
        let found = while_loop(goes_on, body, first);
        // Outside the domain of the objective the step is zero.
        let outside = found.decrease_error.is_inf();
        let rate = found.learning_rate;
        let rate = where_(&outside, rate.zeros_like(), &rate);
        let state = ScaleByBacktrackingLinesearchState {
            learning_rate: rate.clone(),
            value: found.new_value,
            grad: found.new_grad,
            info: BacktrackingLinesearchInfo {
                num_linesearch_steps: found.iter_num,
                decrease_error: found.decrease_error,
            },
        };
        (tree::scale(rate, &updates), state)
    }
}
