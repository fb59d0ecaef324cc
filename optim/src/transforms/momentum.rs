//! Momentum, and other sums of past updates.

use crate::base::moments::{corrected, update_moment};
use crate::base::numerics::{count_zero, safe_increment};
use crate::base::options::options;
use crate::base::wide::wide_state;
use crate::{GradientTransformation, Hyperparam, identity, tree};
use ramie_core::{Array, DType, State, where_};
use ramie_derive::Tree;

/// The state of [`trace`].
#[derive(Tree)]
pub struct TraceState {
    /// Decaying sum of past updates.
    pub trace: State,
}

options! {
    /// Replaces updates by a decaying sum of past updates, `t ← g + decay · t`. With `nesterov`,
    /// the new updates are `g + decay · t` for the new `t`, otherwise `t`.
    ///
    /// ```
    /// use ramie_optim::{chain, scale, trace};
    /// let tx = chain((trace(0.9).nesterov(), scale(-0.1)));
    /// ```
    trace(decay: num) -> Trace {
        /// Enables Nesterov momentum.
        nesterov: flag,
        /// Sets the dtype of the sum. Defaults to that of the parameters, but at least `f32`.
        accumulator_dtype: dtype,
    }
    |o| {
        let dtype = o.accumulator_dtype;
        GradientTransformation::new(
            move |params| TraceState { trace: tree::zeros_like(params, dtype) },
            move |updates, state: TraceState, _| {
                let add = |updates: &State, trace: &State| updates.zip(trace, |g, t| g + t * &o.decay);
                let trace = add(&updates, &wide_state(&state.trace));
                let updates = if o.nesterov { add(&updates, &trace) } else { trace.clone() };
                (updates, TraceState { trace: tree::cast(&trace, dtype) })
            },
        )
    }
}

/// Returns [`trace`] if there is a decay, otherwise [`identity`].
pub(crate) fn trace_if(
    decay: Option<Hyperparam>,
    nesterov: bool,
    accumulator_dtype: Option<DType>,
) -> GradientTransformation {
    match decay {
        Some(decay) => Trace {
            decay,
            nesterov,
            accumulator_dtype,
        }
        .into(),
        None => identity(),
    }
}

/// The state of [`ema`].
#[derive(Tree)]
pub struct EmaState {
    /// Number of steps, 0-d `i32`.
    pub count: Array,
    /// Decaying mean of the updates.
    pub ema: State,
}

options! {
    /// Replaces updates by the decaying mean of past updates.
    ///
    /// Applied to parameters instead of updates, it computes their moving average:
    ///
    /// ```no_run
    /// use ramie_core::{Array, State};
    /// use ramie_optim::ema;
    /// let params = State::from_iter([("w", Array::from(2.0f32))]);
    /// let average = ema(0.99);
    /// let state = average.init(&params);
    /// let (averaged, state) = average.update(params, state, None);
    /// assert_eq!(averaged.arrays()[0].item::<f32>(), 2.0);
    /// ```
    ema(decay: num) -> Ema {
        /// Sets whether the mean is bias-corrected.
        debias: toggle = true,
        /// Sets the dtype of the mean. Defaults to that of the parameters, but at least `f32`.
        accumulator_dtype: dtype,
    }
    |o| {
        let dtype = o.accumulator_dtype;
        GradientTransformation::new(
            move |params| EmaState {
                count: count_zero(),
                ema: tree::zeros_like(params, dtype),
            },
            move |updates, state: EmaState, _| {
                let ema = update_moment(&updates, &state.ema, &o.decay, 1);
                let count = safe_increment(&state.count);
                let updates = corrected(&ema, &o.decay, o.debias.then_some(&count));
                (updates, EmaState { count, ema: tree::cast(&ema, dtype) })
            },
        )
    }
}

/// The state of [`apply_every`].
#[doc(alias = "ApplyEvery")]
#[derive(Tree)]
pub struct ApplyEveryState {
    /// Number of updates summed so far, 0-d `i32`.
    pub count: Array,
    /// Sum of these updates.
    pub grad_acc: State,
}

/// Accumulates `k` updates and then emits their sum. The updates in between are zero, and the
/// transformations that follow in a chain receive these zeros. Use
/// [`multi_steps`](crate::multi_steps) to skip them instead.
///
/// # Panics
/// Panics if `k` is 0.
#[track_caller]
pub fn apply_every(k: usize) -> GradientTransformation {
    assert!(
        k > 0,
        "apply_every: k is 0\n  help: use 1 to apply every update"
    );
    let k = i32::try_from(k).expect("fewer than 2^31 steps");
    GradientTransformation::new(
        |params| ApplyEveryState {
            count: count_zero(),
            grad_acc: params.zeros_like(),
        },
        move |updates, state: ApplyEveryState, _| {
            let place = state.count.remainder(k);
            let (adds, emits) = (place.ne(0), place.eq(k - 1));
            let grad_acc = updates.zip(&state.grad_acc, |g, sum| {
                where_(&adds, sum, sum.zeros_like()) + g
            });
            let updates = grad_acc.map(|sum| where_(&emits, sum, sum.zeros_like()));
            let count = safe_increment(&state.count).remainder(k);
            (updates, ApplyEveryState { count, grad_acc })
        },
    )
}
