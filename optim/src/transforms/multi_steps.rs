//! `multi_steps`: gradient accumulation over several steps.

use crate::base::given::check_numbers;
use crate::base::numerics::{count_zero, safe_increment};
use crate::base::wide::{into_wide, wide_state};
use crate::{ExtraArgs, GradientTransformation, OptState, tree};
use ramie_core::lax::cond;
use ramie_core::{Array, DType, State, where_};
use ramie_derive::Tree;
use std::fmt;
use std::sync::Arc;

/// The state of [`multi_steps`].
#[derive(Tree)]
pub struct MultiStepsState {
    /// Number of gradients accumulated since the last update, 0-d `i32`.
    pub mini_step: Array,
    /// Number of updates made, 0-d `i32`.
    pub gradient_step: Array,
    /// The state of the optimizer.
    pub inner_opt_state: OptState,
    /// Mean or sum of the accumulated gradients.
    pub acc_grads: State,
    /// Result of the skip function for the last gradients.
    pub skip_state: State,
}

impl MultiStepsState {
    /// Returns whether the last call of `update` made an update, 0-d `bool`.
    pub fn has_updated(&self) -> Array {
        self.mini_step.eq(0).bitwise_and(self.gradient_step.gt(0))
    }
}

type Every = dyn Fn(&Array) -> Array + Send + Sync;
type Skip = dyn Fn(&State, &Array, Option<&State>) -> (Array, State) + Send + Sync;

/// The options of [`multi_steps`].
#[derive(Clone)]
pub struct MultiSteps {
    optimizer: GradientTransformation,
    every: Arc<Every>,
    sum: bool,
    skip: Option<Arc<Skip>>,
    accumulator_dtype: Option<DType>,
}

impl fmt::Debug for MultiSteps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MultiSteps")
            .field("optimizer", &self.optimizer)
            .field("sum", &self.sum)
            .field("accumulator_dtype", &self.accumulator_dtype)
            .finish_non_exhaustive()
    }
}

/// Accumulates the gradients of `every` steps and passes their mean to the optimizer. The updates
/// in between are zero (`optax.MultiSteps`).
///
/// ```
/// use ramie_optim::{adam, multi_steps, skip_not_finite};
/// let tx = multi_steps(adam(1e-3), 4).skip(skip_not_finite);
/// ```
///
/// # Panics
/// Panics if `every` is 0.
#[track_caller]
pub fn multi_steps(optimizer: impl Into<GradientTransformation>, every: usize) -> MultiSteps {
    assert!(
        every > 0,
        "multi_steps: `every` is 0\n  help: use 1 to update in every step"
    );
    let every = i32::try_from(every).expect("fewer than 2^31 steps");
    multi_steps_by(optimizer, move |_| Array::scalar(every, DType::I32))
}

/// Accumulates gradients like [`multi_steps`], but the number of gradients per update depends on
/// the number of updates made, both 0-d `i32`.
///
/// ```
/// use ramie_core::where_;
/// use ramie_optim::{multi_steps_by, sgd};
/// let tx = multi_steps_by(sgd(0.1), |step| where_(step.lt(100), 1, 4));
/// ```
pub fn multi_steps_by(
    optimizer: impl Into<GradientTransformation>,
    every: impl Fn(&Array) -> Array + Send + Sync + 'static,
) -> MultiSteps {
    MultiSteps {
        optimizer: optimizer.into(),
        every: Arc::new(every),
        sum: false,
        skip: None,
        accumulator_dtype: None,
    }
}

impl MultiSteps {
    /// Passes the sum of the gradients to the optimizer instead of their mean.
    #[must_use]
    pub fn sum(mut self) -> MultiSteps {
        self.sum = true;
        self
    }

    /// Sets a function that decides whether to skip gradients, such as [`skip_not_finite`] or
    /// [`skip_large_updates`]. The function receives the gradients, the number of updates made
    /// and the parameters. It returns whether to skip, 0-d `bool`, and a state to store about the
    /// decision.
    #[must_use]
    pub fn skip(
        mut self,
        skip: impl Fn(&State, &Array, Option<&State>) -> (Array, State) + Send + Sync + 'static,
    ) -> MultiSteps {
        self.skip = Some(Arc::new(skip));
        self
    }

    /// Sets the dtype in which the accumulated gradients are stored between steps. Defaults to
    /// that of the parameters, but at least `f32`.
    #[must_use]
    pub fn accumulator_dtype(mut self, dtype: DType) -> MultiSteps {
        self.accumulator_dtype = Some(dtype);
        self
    }

    fn skips(
        &self,
        updates: &State,
        step: &Array,
        params: Option<&State>,
    ) -> (Option<Array>, State) {
        let Some(skip) = &self.skip else {
            return (None, State::new());
        };
        let (skip, state) = skip(updates, step, params);
        if skip.dtype() != DType::Bool || skip.ndim() != 0 {
            crate::base::mistake::refuse(&format!(
                "multi_steps: the skip function returned {}, expected a 0-d bool\n  help: combine \
                 the elements with .all() or .any()",
                skip.aval()
            ));
        }
        (Some(skip), state)
    }

    fn first_state(&self, params: &State) -> MultiStepsState {
        let zero = count_zero();
        let wide = wide_state(params);
        MultiStepsState {
            mini_step: count_zero(),
            inner_opt_state: self.optimizer.init(params),
            acc_grads: tree::zeros_like(&*wide, self.accumulator_dtype),
            skip_state: self.skips(&wide.zeros_like(), &zero, Some(params)).1,
            gradient_step: zero,
        }
    }

    fn gather(
        &self,
        updates: State,
        state: MultiStepsState,
        params: Option<&State>,
        extra: &ExtraArgs<'_>,
        skip_state: State,
    ) -> (State, MultiStepsState) {
        let MultiStepsState {
            mini_step,
            gradient_step,
            inner_opt_state,
            acc_grads,
            ..
        } = state;
        let every = (self.every)(&gradient_step);
        let sums = updates.zip(&wide_state(&acc_grads), |g, acc| {
            if self.sum {
                g + acc
            } else {
                // A running mean stays as small as the gradients, so it cannot overflow.
                acc + (g - acc) / (&mini_step + 1)
            }
        });
        let gathered = tree::cast_like(&sums, &updates);
        // The optimizer runs in every step; its result counts only in the last one of a window.
        let (new, next) =
            self.optimizer
                .update_with(gathered, inner_opt_state.clone(), params, extra);
        let emit = mini_step.eq(&every - 1);
        let keep = emit.logical_not();
        // A product with 0 would keep a NaN of one window forever.
        let only = |when: &Array, a: &Array| where_(when, a, 0);
        let state = MultiStepsState {
            mini_step: safe_increment(&mini_step).remainder(&every),
            gradient_step: where_(&emit, safe_increment(&gradient_step), &gradient_step),
            inner_opt_state: ramie_core::tree::map2(&inner_opt_state, &next, |old, new| {
                where_(&emit, new.astype(old.dtype()), old)
            }),
            acc_grads: tree::cast_like(&sums.map(|a| only(&keep, a)), &acc_grads),
            skip_state,
        };
        (new.map(|u| only(&emit, u)), state)
    }
}

crate::base::options::transformation_methods! { MultiSteps }

impl From<MultiSteps> for GradientTransformation {
    fn from(steps: MultiSteps) -> GradientTransformation {
        let first = steps.clone();
        GradientTransformation::passing_on(
            move |params| first.first_state(params),
            move |updates, mut state: MultiStepsState, params, extra: &ExtraArgs<'_>| {
                let updates = into_wide(updates);
                let (skip, skip_state) = steps.skips(&updates, &state.gradient_step, params);
                let Some(skip) = skip else {
                    return steps.gather(updates, state, params, extra, skip_state);
                };
                state.skip_state = skip_state;
                cond(
                    skip,
                    |(u, s): (State, MultiStepsState)| (u.zeros_like(), s),
                    |(u, s)| {
                        let skip_state = s.skip_state.clone();
                        steps.gather(u, s, params, extra, skip_state)
                    },
                    (updates, state),
                )
            },
        )
    }
}

/// Skips gradients that are not finite. Pass it to [`MultiSteps::skip`].
#[track_caller]
pub fn skip_not_finite(updates: &State, _: &Array, _: Option<&State>) -> (Array, State) {
    let bad = updates
        .arrays()
        .iter()
        .map(|u| u.is_finite().logical_not().astype(DType::I32).sum());
    let num_not_finite = bad.reduce(|a, b| a + b).unwrap_or_else(count_zero);
    let should_skip = num_not_finite.gt(0);
    let state = [
        ("num_not_finite", num_not_finite),
        ("should_skip", should_skip.clone()),
    ];
    (should_skip, State::from_iter(state))
}

/// Skips gradients whose squared norm is at least `max_squared_norm` or NaN. Pass the result to
/// [`MultiSteps::skip`].
///
/// ```
/// use ramie_optim::{multi_steps, sgd, skip_large_updates};
/// let tx = multi_steps(sgd(0.1), 4).skip(skip_large_updates(100.0));
/// ```
#[track_caller]
pub fn skip_large_updates(
    max_squared_norm: f64,
) -> impl Fn(&State, &Array, Option<&State>) -> (Array, State) + Send + Sync + 'static {
    check_numbers!(max_squared_norm);
    move |updates, _, _| {
        let norm_squared = tree::squared_norm(updates);
        let should_skip = norm_squared.lt(max_squared_norm).logical_not();
        let state = [
            ("norm_squared", norm_squared),
            ("should_skip", should_skip.clone()),
        ];
        (should_skip, State::from_iter(state))
    }
}
