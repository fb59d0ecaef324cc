//! `inject_hyperparams`: hyperparameters in the state of an optimizer.

use crate::mistake::refuse;
use crate::numerics::{count_zero, safe_increment};
use crate::{ExtraArgs, GradientTransformation, Hyperparam, OptState, Schedule, tree};
use ramie_core::{Array, DType, State};
use ramie_derive::Tree;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The state of [`inject_hyperparams`].
#[derive(Tree)]
pub struct InjectHyperparamsState {
    /// Steps made, 0-d `i32`.
    pub count: Array,
    /// The numbers of the last step, 0-d, by name. What is changed here holds
    /// from the next step on, unless a schedule gives the number.
    pub hyperparams: State,
    /// The counts of the hyperparameters that follow a schedule.
    pub hyperparams_states: State,
    /// The state of the optimizer.
    pub inner_state: OptState,
}

/// Hyperparameters by name, which an optimizer is made of.
pub struct Hyperparams(State);

impl Hyperparams {
    /// The hyperparameter with a name.
    ///
    /// # Panics
    /// If there is none.
    #[track_caller]
    pub fn get(&self, name: &str) -> Hyperparam {
        match self.0.get(name) {
            Some(array) => array.into(),
            None => refuse(&format!(
                "inject_hyperparams: there is no hyperparameter `{name}`\n  help: there are {}",
                self.0.paths().collect::<Vec<_>>().join(", ")
            )),
        }
    }
}

type Factory = dyn Fn(&Hyperparams) -> GradientTransformation + Send + Sync;

/// The options of [`inject_hyperparams`].
#[derive(Clone)]
pub struct InjectHyperparams {
    schedules: BTreeMap<String, Schedule>,
    factory: Arc<Factory>,
    dtype: Option<DType>,
}

impl fmt::Debug for InjectHyperparams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("InjectHyperparams")
            .field(&self.schedules)
            .finish()
    }
}

/// Keeps hyperparameters in the state, where a running program can read and
/// change them, constants and those that follow a schedule alike.
///
/// `factory` makes the optimizer of their present values.
///
/// ```no_run
/// use ramie_core::{Array, DType, State};
/// use ramie_optim::{GradientTransformation, Schedule, adam, inject_hyperparams, tree};
/// let rates = [("learning_rate", 1e-3), ("b1", 0.9)];
/// let tx: GradientTransformation =
///     inject_hyperparams(rates, |h| adam(h.get("learning_rate")).b1(h.get("b1"))).into();
/// let params = State::from_iter([("w", Array::from(1.0f32))]);
/// let mut state = tx.init(&params);
/// tree::set(&mut state, "hyperparams.learning_rate", 1e-4);
/// ```
pub fn inject_hyperparams<N: Into<String>, S: Into<Schedule>, T: Into<GradientTransformation>>(
    hyperparams: impl IntoIterator<Item = (N, S)>,
    factory: impl Fn(&Hyperparams) -> T + Send + Sync + 'static,
) -> InjectHyperparams {
    let named = |(name, schedule): (N, S)| (name.into(), schedule.into());
    InjectHyperparams {
        schedules: hyperparams.into_iter().map(named).collect(),
        factory: Arc::new(move |h| factory(h).into()),
        dtype: None,
    }
}

impl InjectHyperparams {
    /// The element type of the hyperparameters, by default the widest of the
    /// parameters.
    #[must_use]
    pub fn hyperparam_dtype(mut self, dtype: DType) -> InjectHyperparams {
        self.dtype = Some(dtype);
        self
    }

    /// The hyperparameters of a step: constants from the state before it.
    fn values(&self, last: Option<&State>, counts: &State, like: &State) -> State {
        let dtype = self.dtype.unwrap_or_else(|| tree::highest_dtype(like));
        let value = |(name, schedule): (&String, &Schedule)| {
            let value = match (schedule.as_hyperparam(), last) {
                (Some(_), Some(last)) => kept(last, name),
                _ => schedule.at(counts.get(&counter(name)).unwrap_or(&count_zero())),
            };
            (name.clone(), value.astype(dtype))
        };
        self.schedules.iter().map(value).collect()
    }
}

fn counter(name: &str) -> String {
    format!("{name}.count")
}

#[track_caller]
fn kept(hyperparams: &State, name: &str) -> Array {
    match hyperparams.get(name) {
        Some(array) => array.clone(),
        None => refuse(&format!(
            "inject_hyperparams: the state has no hyperparameter `{name}`\n  help: replace its \
             values, but leave the names as they are"
        )),
    }
}

impl From<InjectHyperparams> for GradientTransformation {
    fn from(inject: InjectHyperparams) -> GradientTransformation {
        let first = inject.clone();
        GradientTransformation::with_extra_args(
            move |params| {
                let scheduled = first
                    .schedules
                    .iter()
                    .filter(|(_, s)| s.as_hyperparam().is_none());
                let hyperparams_states: State = scheduled
                    .map(|(name, _)| (counter(name), count_zero()))
                    .collect();
                let hyperparams = first.values(None, &hyperparams_states, params);
                InjectHyperparamsState {
                    count: count_zero(),
                    inner_state: (first.factory)(&Hyperparams(hyperparams.clone())).init(params),
                    hyperparams,
                    hyperparams_states,
                }
            },
            move |updates, state: InjectHyperparamsState, params, extra: &ExtraArgs<'_>| {
                let like = params.unwrap_or(&updates);
                let hyperparams =
                    inject.values(Some(&state.hyperparams), &state.hyperparams_states, like);
                let tx = (inject.factory)(&Hyperparams(hyperparams.clone()));
                let (updates, inner_state) =
                    tx.update_with(updates, state.inner_state, params, extra);
                let state = InjectHyperparamsState {
                    count: safe_increment(&state.count),
                    hyperparams,
                    hyperparams_states: state.hyperparams_states.map(safe_increment),
                    inner_state,
                };
                (updates, state)
            },
        )
    }
}
