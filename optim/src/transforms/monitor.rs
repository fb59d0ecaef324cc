//! Measurements of updates, stored in the state.

use crate::{Ema, ExtraArgs, GradientTransformation, OptState};
use ramie_core::State;
use ramie_derive::Tree;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The state of [`snapshot`].
#[derive(Tree)]
pub struct SnapshotState {
    /// The last measurement, under its name.
    pub measurement: BTreeMap<String, State>,
}

/// Stores the result of `measure` on the updates in the state, under a name. The updates do not
/// change.
///
/// ```
/// use ramie_core::State;
/// use ramie_optim::{adam, chain, global_norm, snapshot};
/// let norm = |updates: &State| State::of(&global_norm(updates));
/// let tx = chain((snapshot("norm before", norm), adam(1e-3), snapshot("norm after", norm)));
/// ```
pub fn snapshot(
    name: &str,
    measure: impl Fn(&State) -> State + Send + Sync + 'static,
) -> GradientTransformation {
    let measure = Arc::new(measure);
    let name = name.to_owned();
    let state = move |updates: &State| SnapshotState {
        measurement: BTreeMap::from([(name.clone(), measure(updates))]),
    };
    let first = state.clone();
    GradientTransformation::new(first, move |updates, _: SnapshotState, _| {
        let next = state(&updates);
        (updates, next)
    })
}

/// The state of [`monitor`].
#[derive(Tree)]
pub struct MonitorState {
    /// The last measurements, by name.
    pub measurements: BTreeMap<String, State>,
    /// The states of the measures, in order.
    pub measure_states: Vec<OptState>,
}

/// Stores several measurements of the updates in the state. The updates do not change. A measure
/// is a transformation whose updates are the measurement: see [`measure`] and
/// [`measure_with_ema`].
///
/// ```
/// use ramie_core::State;
/// use ramie_optim::{ema, global_norm, measure, measure_with_ema, monitor};
/// let norm = |updates: &State| State::of(&global_norm(updates));
/// let mean = measure_with_ema(norm, ema(0.9));
/// let tx = monitor([("norm", measure(norm)), ("mean norm", mean)]);
/// ```
pub fn monitor<N: Into<String>, T: Into<GradientTransformation>>(
    measures: impl IntoIterator<Item = (N, T)>,
) -> GradientTransformation {
    let named = |(name, tx): (N, T)| (name.into(), tx.into());
    let measures: Vec<(String, GradientTransformation)> = measures.into_iter().map(named).collect();
    let first = measures.clone();
    GradientTransformation::passing_on(
        move |params| {
            let mut state = MonitorState {
                measurements: BTreeMap::new(),
                measure_states: Vec::new(),
            };
            for (name, tx) in &first {
                // A placeholder for the first measurement, so that the state keeps its structure.
                let (now, _) = tx.update(params.zeros_like(), tx.init(params), Some(params));
                state.measurements.insert(name.clone(), now.zeros_like());
                state.measure_states.push(tx.init(params));
            }
            state
        },
        move |updates, mut state: MonitorState, params, extra: &ExtraArgs<'_>| {
            assert!(
                state.measure_states.len() == measures.len(),
                "monitor: the state has {} measures, but the monitor has {}\n  help: pass the \
                 state that this transformation's `init` or last `update` returned",
                state.measure_states.len(),
                measures.len()
            );
            for ((name, tx), before) in measures.iter().zip(&mut state.measure_states) {
                let taken = std::mem::replace(before, OptState::new(()));
                let (now, next) = tx.update_with(updates.clone(), taken, params, extra);
                state.measurements.insert(name.clone(), now);
                *before = next;
            }
            (updates, state)
        },
    )
}

/// Creates a measure for [`monitor`] from a function of the updates.
pub fn measure(f: impl Fn(&State) -> State + Send + Sync + 'static) -> GradientTransformation {
    GradientTransformation::stateless(move |updates, _| f(&updates))
}

/// Creates a measure for [`monitor`]: the decaying mean of a function of the updates. The options
/// of the mean are those of [`ema`](crate::ema): `ema(0.9).debias(false)`.
pub fn measure_with_ema(
    f: impl Fn(&State) -> State + Send + Sync + 'static,
    average: Ema,
) -> GradientTransformation {
    let average = GradientTransformation::from(average);
    let f = Arc::new(f);
    let (first, first_f) = (average.clone(), f.clone());
    // The state is that of a chain of the function and the mean.
    GradientTransformation::new(
        move |params| vec![OptState::new(()), first.init(&first_f(params))],
        move |updates, mut state: Vec<OptState>, params| {
            let before = state.pop().expect("the state of the mean");
            let (mean, next) = average.update(f(&updates), before, params);
            state.push(next);
            (mean, state)
        },
    )
}
