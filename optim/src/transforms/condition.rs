//! Transformations that are applied conditionally.

use crate::base::numerics::{count_zero, safe_increment};
use crate::base::wide::into_wide;
use crate::{ExtraArgs, GradientTransformation, OptState, tree};
use ramie_core::lax::cond;
use ramie_core::{Array, DType, State, where_};
use ramie_derive::Tree;

/// The state of [`conditionally_transform`].
#[derive(Tree)]
pub struct ConditionallyTransformState {
    /// The state of the inner transformation.
    pub inner_state: OptState,
    /// Number of calls of `update`, 0-d `i32`.
    pub step: Array,
}

/// The state of [`conditionally_mask`].
#[derive(Tree)]
pub struct ConditionallyMaskState {
    /// Number of calls of `update`, 0-d `i32`.
    pub step: Array,
    /// The state of the inner transformation.
    pub inner_state: OptState,
}

/// Applies a transformation only in the steps in which the predicate returns true. In the other
/// steps the updates and the state do not change.
///
/// The predicate receives the number of the step, 0-d `i32`, and the extra arguments of
/// `update_with`.
///
/// ```
/// use ramie_optim::{clip, conditionally_transform};
/// let only_at_first = conditionally_transform(clip(1.0), |step, _| step.lt(1000));
/// ```
pub fn conditionally_transform(
    inner: impl Into<GradientTransformation>,
    should_transform: impl Fn(&Array, &ExtraArgs<'_>) -> Array + Send + Sync + 'static,
) -> GradientTransformation {
    let inner = inner.into();
    let first = inner.clone();
    GradientTransformation::passing_on(
        move |params| ConditionallyTransformState {
            inner_state: first.init(params),
            step: count_zero(),
        },
        move |updates, state: ConditionallyTransformState, params, extra: &ExtraArgs<'_>| {
            let (updates, inner_state) = cond(
                should_transform(&state.step, extra),
                |(u, s)| inner.update_with(u, s, params, extra),
                |unchanged| unchanged,
                (into_wide(updates), state.inner_state),
            );
            let step = safe_increment(&state.step);
            (updates, ConditionallyTransformState { inner_state, step })
        },
    )
}

/// Applies a transformation only in the steps in which the predicate returns true. In the other
/// steps the updates are zero and the state does not change.
///
/// The predicate receives the number of the step, 0-d `i32`, and the extra arguments of
/// `update_with`.
pub fn conditionally_mask(
    inner: impl Into<GradientTransformation>,
    should_transform: impl Fn(&Array, &ExtraArgs<'_>) -> Array + Send + Sync + 'static,
) -> GradientTransformation {
    let inner = inner.into();
    let first = inner.clone();
    GradientTransformation::passing_on(
        move |params| ConditionallyMaskState {
            step: count_zero(),
            inner_state: first.init(params),
        },
        move |updates, state: ConditionallyMaskState, params, extra: &ExtraArgs<'_>| {
            let (updates, inner_state) = cond(
                should_transform(&state.step, extra),
                |(u, s)| inner.update_with(u, s, params, extra),
                |(u, s): (State, OptState)| (u.zeros_like(), s),
                (into_wide(updates), state.inner_state),
            );
            let step = safe_increment(&state.step);
            (updates, ConditionallyMaskState { step, inner_state })
        },
    )
}

/// The state of [`apply_if_finite`].
#[derive(Tree)]
pub struct ApplyIfFiniteState {
    /// Number of consecutive updates that were not finite, 0-d `i32`.
    pub notfinite_count: Array,
    /// Whether the last updates were finite, 0-d `bool`.
    pub last_finite: Array,
    /// Total number of updates that were not finite, 0-d `i32`.
    pub total_notfinite: Array,
    /// The state of the inner transformation.
    pub inner_state: OptState,
}

/// Applies a transformation unless an incoming update contains an infinity or NaN. In that case
/// the updates are zero and the state does not change. After `max_consecutive_errors` such steps
/// in a row, the transformation is applied anyway.
///
/// ```
/// use ramie_optim::{adam, apply_if_finite};
/// let tx = apply_if_finite(adam(1e-3), 5);
/// ```
pub fn apply_if_finite(
    inner: impl Into<GradientTransformation>,
    max_consecutive_errors: u32,
) -> GradientTransformation {
    let inner = inner.into();
    let first = inner.clone();
    let most = i64::from(max_consecutive_errors);
    GradientTransformation::passing_on(
        move |params| ApplyIfFiniteState {
            notfinite_count: count_zero(),
            last_finite: Array::scalar(true, DType::Bool),
            total_notfinite: count_zero(),
            inner_state: first.init(params),
        },
        move |updates, state: ApplyIfFiniteState, params, extra: &ExtraArgs<'_>| {
            let last_finite = tree::all(&updates.map(|u| u.is_finite().all()));
            let zero = count_zero();
            let notfinite_count =
                where_(&last_finite, zero, safe_increment(&state.notfinite_count));
            let total_notfinite = where_(
                &last_finite,
                &state.total_notfinite,
                safe_increment(&state.total_notfinite),
            );
            let (updates, inner_state) = cond(
                last_finite.bitwise_or(notfinite_count.gt(most)),
                |(u, s): (State, OptState)| inner.update_with(u, s, params, extra),
                |(u, s)| (u.zeros_like(), s),
                (into_wide(updates), state.inner_state),
            );
            let state = ApplyIfFiniteState {
                notfinite_count,
                last_finite,
                total_notfinite,
                inner_state,
            };
            (updates, state)
        },
    )
}
