//! `flatten`: all parameters as one vector.

use crate::{ExtraArgs, GradientTransformation, OptState};
use ramie_core::{Array, State, concatenate};

/// Passes all arrays to a transformation as one vector and splits its updates again
/// (`optax.flatten`). One large array is faster to update than many small arrays.
///
/// The vector contains the arrays in the order of the state. Where the inner transformation's
/// state would have one array for each parameter, it has a single array with an empty path.
///
/// ```
/// use ramie_optim::{adam, flatten};
/// let tx = flatten(adam(1e-3));
/// ```
pub fn flatten(inner: impl Into<GradientTransformation>) -> GradientTransformation {
    let inner = inner.into();
    let first = inner.clone();
    GradientTransformation::passing_on(
        move |params| first.init(&vector(params)),
        move |updates, state: OptState, params, extra: &ExtraArgs<'_>| {
            let params = params.map(vector);
            let flat = vector(&updates);
            let (new, state) =
                inner.update_with(flat, state, params.as_ref(), &extra.map_grad(vector));
            (apart(&new.arrays()[0], &updates), state)
        },
    )
}

/// Concatenates all arrays into one vector at the empty path.
#[track_caller]
fn vector(x: &State) -> State {
    assert!(
        !x.is_empty(),
        "flatten: the state has no arrays\n  help: pass at least one parameter"
    );
    let flat: Vec<Array> = x.arrays().iter().map(Array::ravel).collect();
    State::of(&concatenate(&flat, 0))
}

/// Splits a vector into arrays with the shapes of `like`, in order.
#[track_caller]
pub(crate) fn apart(vector: &Array, like: &State) -> State {
    let mut start = 0;
    like.map(|a| {
        let end = start + a.size();
        let part = vector.index(start as isize..end as isize);
        start = end;
        part.reshape(a.shape())
    })
}
