//! `inject_hyperparams`: hyperparameters in the state of an optimizer.

use crate::base::given::CheckedSetting;
use crate::base::mistake::refuse;
use crate::base::numerics::{count_zero, safe_increment};
use crate::base::wide::highest_number_dtype;
use crate::{ExtraArgs, GradientTransformation, Hyperparam, OptState, Schedule};
use ramie_core::{Array, DType, State};
use ramie_derive::Tree;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The state of [`inject_hyperparams`].
#[doc(alias = "InjectStatefulHyperparamsState")]
#[derive(Tree)]
pub struct InjectHyperparamsState {
    /// Number of steps, 0-d `i32`.
    pub count: Array,
    /// Values of the hyperparameters in the last step, 0-d, by name. Changes made here take
    /// effect in the next step, unless a schedule computes the value.
    pub hyperparams: State,
    /// Step counts of the scheduled hyperparameters, and the states of the stateful ones.
    pub hyperparams_states: State,
    /// The state of the optimizer.
    pub inner_state: OptState,
}

/// The current hyperparameters by name, from which an optimizer is created.
pub struct Hyperparams(State);

impl Hyperparams {
    /// Returns the hyperparameter with a name.
    ///
    /// # Panics
    /// Panics if there is no hyperparameter with this name.
    #[track_caller]
    pub fn get(&self, name: &str) -> Hyperparam {
        match self.0.get(name) {
            Some(array) => array.into(),
            None => refuse(&format!(
                "inject_hyperparams: there is no hyperparameter `{name}`\n  help: use one of these names: {}",
                self.0.paths().collect::<Vec<_>>().join(", ")
            )),
        }
    }
}

type StateFn = dyn Fn(&State, &ExtraArgs<'_>) -> State + Send + Sync;
type Value = dyn Fn(&State, &ExtraArgs<'_>) -> Array + Send + Sync;

/// A hyperparameter with its own state, which may depend on the extra arguments of `update_with`,
/// such as the loss (`optax.schedules.StatefulSchedule`).
///
/// ```
/// use ramie_core::{Array, State};
/// use ramie_optim::{ExtraArgs, StatefulSchedule, inject_hyperparams, sgd};
/// // A tenth of the mean of losses, which decays.
/// let by_loss = StatefulSchedule::new(
///     State::from_iter([("mean", Array::from(1.0f32))]),
///     |state, extra: &ExtraArgs<'_>| {
///         let loss = extra.expect_value("by_loss");
///         state.map(|mean| mean * 0.9 + loss * 0.1)
///     },
///     |state, _| state.arrays()[0].clone() * 0.1,
/// );
/// let constants: [(&str, f64); 0] = [];
/// let tx = inject_hyperparams(constants, |h| sgd(h.get("learning_rate")))
///     .stateful("learning_rate", by_loss);
/// ```
#[doc(alias = "WrappedSchedule")]
#[derive(Clone)]
pub struct StatefulSchedule {
    first: State,
    next: Arc<StateFn>,
    value: Arc<Value>,
}

impl StatefulSchedule {
    /// Creates a stateful hyperparameter.
    ///
    /// `init` is the initial state, `update` computes the next state after a step, and `value`
    /// computes the value in a step, 0-d. `value` receives no extra arguments before the first
    /// step.
    pub fn new(
        init: State,
        update: impl Fn(&State, &ExtraArgs<'_>) -> State + Send + Sync + 'static,
        value: impl Fn(&State, &ExtraArgs<'_>) -> Array + Send + Sync + 'static,
    ) -> StatefulSchedule {
        StatefulSchedule {
            first: init,
            next: Arc::new(update),
            value: Arc::new(value),
        }
    }
}

impl fmt::Debug for StatefulSchedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StatefulSchedule")
            .field(&self.first)
            .finish()
    }
}

type Factory = dyn Fn(&Hyperparams) -> GradientTransformation + Send + Sync;

/// The options of [`inject_hyperparams`].
#[derive(Clone)]
pub struct InjectHyperparams {
    schedules: BTreeMap<String, Schedule>,
    stateful: BTreeMap<String, StatefulSchedule>,
    factory: Arc<Factory>,
    dtype: Option<DType>,
}

impl fmt::Debug for InjectHyperparams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("InjectHyperparams")
            .field(&self.schedules)
            .field(&self.stateful)
            .finish()
    }
}

/// Stores hyperparameters in the state, where a running program can read and change them. They
/// may be constants or schedules (`optax.inject_hyperparams`).
///
/// `factory` creates the optimizer from their current values.
///
/// ```no_run
/// use ramie_core::{Array, DType, State};
/// use ramie_optim::{adam, inject_hyperparams, tree};
/// let rates = [("learning_rate", 1e-3), ("b1", 0.9)];
/// let tx = inject_hyperparams(rates, |h| adam(h.get("learning_rate")).b1(h.get("b1")));
/// let params = State::from_iter([("w", Array::from(1.0f32))]);
/// let mut state = tx.init(&params);
/// tree::set(&mut state, "hyperparams.learning_rate", 1e-4);
/// ```
///
/// # Panics
/// Panics if a number is not finite, or if the number `learning_rate` is negative.
#[doc(alias = "inject_stateful_hyperparams")]
#[track_caller]
pub fn inject_hyperparams<N: Into<String>, S: Into<Schedule>, T: Into<GradientTransformation>>(
    hyperparams: impl IntoIterator<Item = (N, S)>,
    factory: impl Fn(&Hyperparams) -> T + Send + Sync + 'static,
) -> InjectHyperparams {
    let mut schedules = BTreeMap::new();
    for (name, schedule) in hyperparams {
        let name: String = name.into();
        let schedule: Schedule = schedule.into().given(&name);
        schedules.insert(name, schedule);
    }
    InjectHyperparams {
        schedules,
        stateful: BTreeMap::new(),
        factory: Arc::new(move |h| factory(h).into()),
        dtype: None,
    }
}

impl InjectHyperparams {
    /// Sets the dtype of the hyperparameters. Defaults to `f64` if a parameter has this dtype,
    /// otherwise to `f32`. In `bf16` a decay rate of 0.999 is 1.
    #[must_use]
    pub fn hyperparam_dtype(mut self, dtype: DType) -> InjectHyperparams {
        self.dtype = Some(dtype);
        self
    }

    /// Adds a hyperparameter with its own state. It replaces a schedule with the same name.
    #[must_use]
    pub fn stateful(mut self, name: &str, schedule: StatefulSchedule) -> InjectHyperparams {
        self.schedules.remove(name);
        self.stateful.insert(name.to_owned(), schedule);
        self
    }

    /// Returns the states before the first step.
    fn first_states(&self) -> State {
        let scheduled = self.schedules.iter();
        // A constant has no count: it does not depend on the step.
        let scheduled = scheduled.filter(|(_, s)| s.as_hyperparam().is_none());
        let counts: State = scheduled
            .map(|(name, _)| (counter(name), count_zero()))
            .collect();
        let states = self.stateful.iter();
        states.fold(counts, |all, (name, s)| all.merge(s.first.nested(name)))
    }

    /// Returns the states for the next step.
    fn next_states(&self, states: &State, extra: &ExtraArgs<'_>) -> State {
        let mut next = states.clone();
        for name in self.schedules.keys() {
            if let Some(count) = states.get(&counter(name)) {
                next.insert(&counter(name), safe_increment(count));
            }
        }
        for (name, schedule) in &self.stateful {
            let own = (schedule.next)(&states.subtree(name), extra);
            for (path, array) in own.nested(name).iter() {
                next.insert(path, array.clone());
            }
        }
        next
    }

    /// Returns the hyperparameters of a step. Constants are read from the state.
    fn values(
        &self,
        last: Option<&State>,
        states: &State,
        like: &State,
        extra: &ExtraArgs<'_>,
    ) -> State {
        let dtype = self.dtype.unwrap_or_else(|| highest_number_dtype(like));
        let value = |(name, schedule): (&String, &Schedule)| {
            let value = match (schedule.as_hyperparam(), last) {
                // The user may have changed a constant in the state. Before the first step there is
                // no state.
                (Some(_), Some(last)) => kept(last, name),
                _ => schedule.at(states.get(&counter(name)).unwrap_or(&count_zero())),
            };
            (name.clone(), value.astype(dtype))
        };
        let stateful = |(name, schedule): (&String, &StatefulSchedule)| {
            let value = (schedule.value)(&states.subtree(name), extra);
            (name.clone(), value.astype(dtype))
        };
        let scheduled = self.schedules.iter().map(value);
        scheduled
            .chain(self.stateful.iter().map(stateful))
            .collect()
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
            "inject_hyperparams: the state has no hyperparameter `{name}`\n  help: change only \
             the values in the state, not the names"
        )),
    }
}

crate::base::options::transformation_methods! { InjectHyperparams }

impl From<InjectHyperparams> for GradientTransformation {
    fn from(inject: InjectHyperparams) -> GradientTransformation {
        let first = inject.clone();
        GradientTransformation::passing_on(
            move |params| {
                let hyperparams_states = first.first_states();
                let none = ExtraArgs::new();
                let hyperparams = first.values(None, &hyperparams_states, params, &none);
                InjectHyperparamsState {
                    count: count_zero(),
                    inner_state: (first.factory)(&Hyperparams(hyperparams.clone())).init(params),
                    hyperparams,
                    hyperparams_states,
                }
            },
            move |updates, state: InjectHyperparamsState, params, extra: &ExtraArgs<'_>| {
                let like = params.unwrap_or(&updates);
                // A step uses the states before it, so that the first step uses those of `init`.
                let (last, states) = (&state.hyperparams, &state.hyperparams_states);
                let hyperparams = inject.values(Some(last), states, like, extra);
                let hyperparams_states = inject.next_states(states, extra);
                // The optimizer is built at every step, because its hyperparameters are arrays of
                // this step; its state has the same structure each time.
                let tx = (inject.factory)(&Hyperparams(hyperparams.clone()));
                let (updates, inner_state) =
                    tx.update_with(updates, state.inner_state, params, extra);
                let state = InjectHyperparamsState {
                    count: safe_increment(&state.count),
                    hyperparams,
                    hyperparams_states,
                    inner_state,
                };
                (updates, state)
            },
        )
    }
}
