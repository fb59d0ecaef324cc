//! Trees of any type, as the `State`s that transformations work on.

use ramie_core::{Array, State, Tree, tree};
use std::any::Any;
use std::borrow::Cow;

/// Returns the arrays of a tree by path. A `State` is borrowed as it is.
#[track_caller]
pub(crate) fn as_state<T: Tree>(tree: &T) -> Cow<'_, State> {
    match (tree as &dyn Any).downcast_ref::<State>() {
        Some(state) => Cow::Borrowed(state),
        None => Cow::Owned(State::of(tree)),
    }
}

/// Returns the arrays of a tree by path, and a template for [`from_state`] if it is no `State`.
#[track_caller]
pub(crate) fn into_state<T: Tree>(tree: T) -> (State, Option<T>) {
    let mut tree = Some(tree);
    if let Some(state) = (&mut tree as &mut dyn Any).downcast_mut::<Option<State>>() {
        return (state.take().expect("a state"), None);
    }
    let tree = tree.expect("a tree");
    (State::of(&tree), Some(tree::shape_dtype_structs(&tree)))
}

/// Returns a tree like the template with the arrays of a state, which has the same leaves in the same
/// order. A `State` is returned as it is.
#[track_caller]
pub(crate) fn from_state<T: Tree>(like: Option<&T>, state: State) -> T {
    let mut state = Some(state);
    if let Some(found) = (&mut state as &mut dyn Any).downcast_mut::<Option<T>>() {
        return found.take().expect("a state");
    }
    let state = state.expect("a state");
    tree::with_leaves(like.expect("a template"), state.arrays().iter().cloned())
}

/// Applies `f` to the arrays of two trees at equal paths.
///
/// # Panics
/// Panics if the trees have different paths.
#[track_caller]
pub(crate) fn zip<T: Tree>(x: &T, y: &T, f: impl FnMut(&Array, &Array) -> Array) -> T {
    from_state(Some(x), as_state(x).zip(&as_state(y), f))
}
