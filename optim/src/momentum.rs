//! Momentum.

use crate::GradientTransformation;
use ramie_core::State;
use ramie_derive::Tree;

/// The state of [`trace`].
#[derive(Tree)]
pub struct TraceState {
    /// The decaying sum of past updates.
    pub trace: State,
}

/// Adds a decaying sum of past updates, `t ← g + decay · t`; with `nesterov`
/// the updates are `g + decay · t` for the new `t`, else `t`.
pub fn trace(decay: f64, nesterov: bool) -> GradientTransformation {
    GradientTransformation::new(
        |params| TraceState {
            trace: params.zeros_like(),
        },
        move |updates, state: TraceState, _| {
            let add = |updates: &State, trace: &State| updates.zip(trace, |g, t| g + t * decay);
            let trace = add(&updates, &state.trace);
            let updates = if nesterov {
                add(&updates, &trace)
            } else {
                trace.clone()
            };
            (updates, TraceState { trace })
        },
    )
}
