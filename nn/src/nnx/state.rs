//! Conversions of states to lists and nested dictionaries.

use super::filter::Leaf;
use super::graph::{Filters, States};
use ramie_core::text::listed;
use ramie_core::{Array, State};
use std::collections::BTreeMap;

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
pub fn to_flat_state(state: &State) -> FlatState {
    let steps = |path: &str| path.split('.').map(str::to_owned).collect();
    state.iter().map(|(p, a)| (steps(p), a.clone())).collect()
}

/// Creates a state from path components and arrays (`nnx.from_flat_state`). Its leaves have no
/// kinds.
pub fn from_flat_state(flat: impl IntoIterator<Item = (Vec<String>, Array)>) -> State {
    flat.into_iter().map(|(p, a)| (p.join("."), a)).collect()
}

/// Nested dictionaries of arrays.
#[derive(Clone, Debug)]
pub enum PureDict {
    /// An array.
    Leaf(Array),
    /// The children, by name.
    Node(BTreeMap<String, PureDict>),
}

impl PureDict {
    /// Returns the entry at a dotted path.
    pub fn get(&self, path: &str) -> Option<&PureDict> {
        path.split('.').try_fold(self, |at, step| match at {
            PureDict::Node(below) => below.get(step),
            PureDict::Leaf(_) => None,
        })
    }

    /// Returns the array, if this is a leaf.
    pub fn array(&self) -> Option<&Array> {
        match self {
            PureDict::Leaf(array) => Some(array),
            PureDict::Node(_) => None,
        }
    }

    fn put(&mut self, steps: &[&str], array: &Array) {
        let Some((first, rest)) = steps.split_first() else {
            *self = PureDict::Leaf(array.clone());
            return;
        };
        if let PureDict::Node(below) = self {
            let empty = || PureDict::Node(BTreeMap::new());
            let next = below.entry((*first).to_owned()).or_insert_with(empty);
            next.put(rest, array);
        }
    }
}

/// Converts a state to nested dictionaries (`nnx.to_pure_dict`).
///
/// ```
/// use ramie_core::{Array, DType, State};
/// use ramie_nn::nnx;
/// let state = State::from_iter([("dense.bias", Array::zeros(&[2], DType::F32))]);
/// let dict = nnx::to_pure_dict(&state);
/// assert_eq!(dict.get("dense.bias").and_then(|d| d.array()).map(Array::shape), Some(&[2][..]));
/// ```
pub fn to_pure_dict(state: &State) -> PureDict {
    let mut dict = PureDict::Node(BTreeMap::new());
    for (path, array) in state.iter() {
        let steps: Vec<&str> = path.split('.').collect();
        dict.put(&steps, array);
    }
    dict
}

/// Replaces arrays of a state by those of nested dictionaries (`nnx.replace_by_pure_dict`).
///
/// # Panics
/// Panics if the dictionaries have a path that the state lacks.
#[track_caller]
pub fn replace_by_pure_dict(state: &mut State, dict: &PureDict) {
    fn walk(path: &str, dict: &PureDict, found: &mut Vec<(String, Array)>) {
        match dict {
            PureDict::Leaf(array) => found.push((path.to_owned(), array.clone())),
            PureDict::Node(below) => {
                for (name, dict) in below {
                    let dot = if path.is_empty() { "" } else { "." };
                    walk(&format!("{path}{dot}{name}"), dict, found);
                }
            }
        }
    }
    let mut found = Vec::new();
    walk("", dict, &mut found);
    let unknown: Vec<&String> = found
        .iter()
        .filter_map(|(p, _)| state.get(p).is_none().then_some(p))
        .collect();
    assert!(
        unknown.is_empty(),
        "nnx::replace_by_pure_dict: the state has no {}\n  help: use a dictionary created from \
         the state of the same model",
        listed(&unknown)
    );
    for (path, array) in found {
        state.insert(&path, array);
    }
}

fn divide<F: Filters>(state: &State, filters: &F) -> (F::States, Vec<String>) {
    let mut place = Vec::new();
    let mut others = Vec::new();
    for (path, array) in state.iter() {
        let found = filters.first(&Leaf {
            path,
            kind: state.kind(path),
            metadata: None,
            array,
        });
        if found.is_none() {
            others.push(path.to_owned());
        }
        place.push(found);
    }
    let states = (0..F::COUNT).map(|i| {
        let mut next = place.iter();
        state.filter(|_, _| next.next() == Some(&Some(i)))
    });
    (F::gather(states.collect()), others)
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
