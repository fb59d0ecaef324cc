//! Lookup of arrays by name, and of the arrays that correspond to parameters.

use crate::base::any_tree::as_state;
use ramie_core::tree::{self, Key, Tree, Visitor};
use ramie_core::{Array, IntoArray, State};

/// Returns whether the path is `key` or ends in `.key`.
fn named(path: &str, key: &str) -> bool {
    path == key
        || path
            .strip_suffix(key)
            .is_some_and(|front| front.ends_with('.'))
}

/// Returns all arrays of a tree whose path ends in `key`, with their paths
/// (`optax.tree.get_all_with_path`).
pub fn get_all_with_path<T: Tree>(x: &T, key: &str) -> Vec<(String, Array)> {
    let mut found = Vec::new();
    tree::for_each_with_path(x, |path, _, array| {
        if named(path, key) {
            found.push((path.to_owned(), array.clone()));
        }
    });
    found
}

/// Returns the only array of a tree whose path ends in `key`, such as `learning_rate` in the
/// state of an optimizer, or `None` if there is none (`optax.tree.get`).
///
/// ```no_run
/// use ramie_core::{Array, State};
/// use ramie_optim::{GradientTransformation, inject_hyperparams, sgd, tree};
/// let params = State::from_iter([("w", Array::from(1.0f32))]);
/// let tx = inject_hyperparams([("learning_rate", 0.1)], |h| sgd(h.get("learning_rate")));
/// let state = GradientTransformation::from(tx).init(&params);
/// let rate = tree::get(&state, "learning_rate").expect("it is there");
/// assert_eq!(rate.item::<f32>(), 0.1);
/// ```
///
/// # Panics
/// Panics if several arrays match; the message lists them.
#[track_caller]
pub fn get<T: Tree>(x: &T, key: &str) -> Option<Array> {
    only(key, get_all_with_path(x, key))
}

/// Returns the only array that [`get`] finds and the predicate accepts by path and array
/// (`filtering` of Optax).
///
/// ```no_run
/// # use ramie_core::{Array, State};
/// # use ramie_optim::{GradientTransformation, adam, chain, tree, trace};
/// # let params = State::from_iter([("w", Array::from(1.0f32))]);
/// let state = chain((trace(0.9), adam(0.1))).init(&params);
/// let count = tree::get_with(&state, "count", |path, _| path.starts_with("1."));
/// ```
///
/// # Panics
/// Panics if several arrays match; the message lists them.
#[track_caller]
pub fn get_with<T: Tree>(
    x: &T,
    key: &str,
    mut accepts: impl FnMut(&str, &Array) -> bool,
) -> Option<Array> {
    let mut found = get_all_with_path(x, key);
    found.retain(|(path, array)| accepts(path, array));
    only(key, found)
}

#[track_caller]
fn only(key: &str, mut found: Vec<(String, Array)>) -> Option<Array> {
    assert!(
        found.len() < 2,
        "tree::get: several arrays match `{key}`: {}\n  help: pass a longer path, such as `{}`",
        found
            .iter()
            .map(|(p, _)| p.as_str())
            .collect::<Vec<_>>()
            .join(", "),
        found[0].0
    );
    found.pop().map(|(_, array)| array)
}

/// Sets every array of a tree whose path ends in `key`, cast to the dtype of the array
/// (`optax.tree.set`).
///
/// ```no_run
/// # use ramie_core::{Array, State};
/// # use ramie_optim::{GradientTransformation, adam, tree};
/// # let params = State::from_iter([("w", Array::from(1.0f32))]);
/// let mut state = GradientTransformation::from(adam(0.1)).init(&params);
/// tree::set(&mut state, "count", 10);
/// ```
///
/// # Panics
/// Panics if no array matches or a shape differs.
#[track_caller]
pub fn set<T: Tree>(x: &mut T, key: &str, value: impl IntoArray) {
    set_with(x, key, value, |_, _| true);
}

/// Sets the arrays that [`set`] finds and the predicate accepts by path and array (`filtering` of
/// Optax).
///
/// # Panics
/// Panics if no array matches or a shape differs.
#[track_caller]
pub fn set_with<T: Tree>(
    x: &mut T,
    key: &str,
    value: impl IntoArray,
    mut accepts: impl FnMut(&str, &Array) -> bool,
) {
    let value = value.into_array();
    let mut places = Vec::new();
    tree::for_each_with_path(x, |path, _, array| {
        places.push(named(path, key) && accepts(path, array));
    });
    assert!(
        places.contains(&true),
        "tree::set: no array matches `{key}`\n  help: use one of these names: {}",
        tree::paths(x).join(", ")
    );
    let mut next = places.into_iter();
    x.walk_mut(&mut |array| {
        if next.next() == Some(true) {
            assert!(
                array.shape() == value.shape(),
                "tree::set: `{key}` is {}, but the new value is {}",
                array.aval(),
                value.aval()
            );
            *array = value.astype(array.dtype());
        }
    });
}

/// Finds the leaves of a tree that correspond to parameters: those of a [`State`] at the path of
/// a parameter.
struct Parameters<'a> {
    params: &'a State,
    steps: Vec<Option<String>>,
    found: Vec<Option<String>>,
}

impl Visitor for Parameters<'_> {
    fn leaf(&mut self, _: &Array) {
        let last = self.steps.last().and_then(|name| name.as_deref());
        let known = last.filter(|path| self.params.get(path).is_some());
        self.found.push(known.map(str::to_owned));
    }
    fn enter(&mut self, key: Key<'_>) {
        self.steps.push(match key {
            Key::Name(name) => Some(name.to_owned()),
            Key::Field(_) | Key::Index(_) => None,
        });
    }
    fn exit(&mut self) {
        self.steps.pop();
    }
}

/// Applies `f` to every array of an optimizer's state that corresponds to a parameter, such as a
/// moment. `f` also receives the path of the parameter, by which it finds what belongs to the
/// parameter in other trees (`*rest` of Optax). Other arrays, such as counts, do not change
/// (`optax.tree.map_params`). The parameters are a `State`, a model or any other tree.
///
/// ```no_run
/// use ramie_core::{Array, DType, State};
/// use ramie_optim::{GradientTransformation, adam, tree};
/// let params = State::from_iter([("w", Array::from([1.0f32, 2.0]))]);
/// let state = GradientTransformation::from(adam(0.1)).init(&params);
/// let narrow = tree::map_params(&params, &state, |_path, moment| moment.astype(DType::BF16));
/// assert_eq!(tree::get(&narrow, "mu.w").expect("a moment").dtype(), DType::BF16);
/// assert_eq!(tree::get(&narrow, "0.count").expect("a count").dtype(), DType::I32);
/// ```
#[doc(alias = "tree_map_params")]
#[track_caller]
pub fn map_params<P: Tree, T: Tree>(
    params: &P,
    state: &T,
    f: impl FnMut(&str, &Array) -> Array,
) -> T {
    map_params_or(params, state, f, Array::clone)
}

/// Applies [`map_params`] with a second function for the other arrays (`transform_non_params`).
#[track_caller]
pub fn map_params_or<P: Tree, T: Tree>(
    params: &P,
    state: &T,
    mut f: impl FnMut(&str, &Array) -> Array,
    mut others: impl FnMut(&Array) -> Array,
) -> T {
    let mut visitor = Parameters {
        params: &as_state(params),
        steps: Vec::new(),
        found: Vec::new(),
    };
    state.walk(&mut visitor);
    let mut next = visitor.found.into_iter();
    state.rebuild(&mut |array| match next.next().flatten() {
        Some(path) => f(&path, array),
        None => others(array),
    })
}
