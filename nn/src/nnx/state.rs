//! Conversions of states to lists and nested dictionaries.

use crate::model::{Filters, Leaf, States, divided};
use ramie_checkpoint::serialization::{StateDict, to_state_dict};
use ramie_core::text::listed;
use ramie_core::{Array, State};

/// A state as a list of path components and arrays (`nnx.to_flat_state`).
pub type FlatState = Vec<(Vec<String>, Array)>;

/// Converts a state to a list of path components and arrays, in order (`nnx.to_flat_state`).
///
/// ```
/// use ramie_core::{Array, DType, State};
/// use ramie_nn::nnx;
/// let state = State::from_iter([("dense.bias", Array::zeros(&[2], DType::F32))]);
/// assert_eq!(nnx::to_flat_state(&state)[0].0, ["dense", "bias"]);
/// ```
#[doc(alias = "flat_state")]
pub fn to_flat_state(state: &State) -> FlatState {
    let steps = |path: &str| path.split('.').map(str::to_owned).collect();
    state.iter().map(|(p, a)| (steps(p), a.clone())).collect()
}

/// Creates a state from path components and arrays (`nnx.from_flat_state`). Its leaves have no
/// kinds.
pub fn from_flat_state(flat: impl IntoIterator<Item = (Vec<String>, Array)>) -> State {
    flat.into_iter().map(|(p, a)| (p.join("."), a)).collect()
}

/// Converts a state to nested dictionaries (`nnx.to_pure_dict`).
///
/// ```
/// use ramie_checkpoint::serialization::StateDict;
/// use ramie_core::{Array, State};
/// use ramie_nn::nnx;
/// let state = State::from_iter([("dense.bias", Array::from([1.0f32, 2.0]))]);
/// let dict = nnx::to_pure_dict(&state);
/// assert!(matches!(dict.get("dense.bias"), Some(StateDict::Array(_))));
/// ```
///
/// # Panics
/// Panics if the path of an array continues the path of another one.
#[track_caller]
pub fn to_pure_dict(state: &State) -> StateDict {
    to_state_dict(state)
}

/// Replaces arrays of a state by those of nested dictionaries (`nnx.replace_by_pure_dict`).
///
/// # Panics
/// Panics if the dictionaries have a path that the state lacks.
#[track_caller]
pub fn replace_by_pure_dict(state: &mut State, dict: &StateDict) {
    let found = dict.arrays();
    let unknown: Vec<&str> = found.paths().filter(|p| state.get(p).is_none()).collect();
    assert!(
        unknown.is_empty(),
        "nnx::replace_by_pure_dict: the state has no {}\n  help: use a dictionary created from \
         the state of the same model",
        listed(&unknown)
    );
    for (path, array) in found.iter() {
        state.insert(path, array.clone());
    }
}

fn divide<F: Filters>(state: &State, filters: &F) -> (F::States, Vec<String>) {
    let leaf = |(path, array)| Leaf {
        path,
        kind: state.kind(path),
        metadata: None,
        array,
    };
    let found: Vec<Option<usize>> = state.iter().map(|of| filters.first(&leaf(of))).collect();
    divided::<F>(state, &found)
}

/// Splits a state into one state per filter; each leaf belongs to the first filter that accepts
/// it (`nnx.split_state`).
///
/// # Panics
/// Panics if no filter accepts a leaf.
#[track_caller]
pub fn split_state<F: Filters>(state: &State, filters: F) -> F::States {
    let (states, others) = divide(state, &filters);
    assert!(
        others.is_empty(),
        "nnx::split_state: no filter accepts {}\n  help: add `Everything` as the last filter, or \
         use nnx::filter_state",
        listed(&others)
    );
    states
}

/// Returns the leaves of a state that a filter accepts, or one state per filter of a tuple
/// (`nnx.filter_state`).
pub fn filter_state<F: Filters>(state: &State, filters: F) -> F::States {
    divide(state, &filters).0
}

/// Merges the leaves of all states. If several have a leaf at the same path, the last one wins
/// (`nnx.merge_state`).
pub fn merge_state(states: impl States) -> State {
    let mut merged = State::new();
    for state in states.list() {
        for (path, array) in state.iter() {
            merged.insert_of_kind(path, state.kind(path), array.clone());
        }
    }
    merged
}

/// Applies `f` to the path and value of every array of a state (`nnx.map_state`).
pub fn map_state(state: &State, f: impl FnMut(&str, &Array) -> Array) -> State {
    state.map_with_path(f)
}
