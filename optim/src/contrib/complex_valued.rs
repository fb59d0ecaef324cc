//! Complex parameters as pairs of real ones.

use crate::{ExtraArgs, GradientTransformation, OptState};
use ramie_core::numpy::complex;
use ramie_core::{Array, State};
use ramie_derive::Tree;

/// The state of [`split_real_and_imaginary`].
#[derive(Tree)]
pub struct SplitRealAndImaginaryState {
    /// The state of the inner transformation, for the real arrays.
    pub inner_state: OptState,
}

/// Presents each complex array to a transformation as two real arrays, with the paths
/// `{path}.real` and `{path}.imaginary`. Real arrays do not change.
///
/// For complex numbers, the gradient of a real function that [`grad`](ramie_core::grad()) returns
/// is the conjugate of the direction of steepest ascent. Conjugate it first
/// ([`tree::conj`](crate::tree::conj)).
///
/// ```
/// use ramie_optim::{adam, contrib::split_real_and_imaginary};
/// let tx = split_real_and_imaginary(adam(1e-3));
/// ```
pub fn split_real_and_imaginary(
    inner: impl Into<GradientTransformation>,
) -> GradientTransformation {
    let inner = inner.into();
    let first = inner.clone();
    GradientTransformation::passing_on(
        move |params| SplitRealAndImaginaryState {
            inner_state: first.init(&split(params)),
        },
        move |updates, state: SplitRealAndImaginaryState, params, extra: &ExtraArgs<'_>| {
            let params = params.map(split);
            let extra = extra.map_grad(split);
            let (new, inner_state) =
                inner.update_with(split(&updates), state.inner_state, params.as_ref(), &extra);
            let merged = updates.map_with_path(|path, u| merge(&new, path, u));
            (merged, SplitRealAndImaginaryState { inner_state })
        },
    )
}

fn split(state: &State) -> State {
    let parts = state.iter().flat_map(|(path, a)| {
        if a.dtype().is_complex() {
            vec![
                (format!("{path}.real"), a.real()),
                (format!("{path}.imaginary"), a.imag()),
            ]
        } else {
            vec![(path.to_owned(), a.clone())]
        }
    });
    parts.collect()
}

fn merge(parts: &State, path: &str, like: &Array) -> Array {
    let part = |name: &str| {
        let found = parts.get(name);
        found.expect("the paths that the updates had").clone()
    };
    if like.dtype().is_complex() {
        complex(
            part(&format!("{path}.real")),
            part(&format!("{path}.imaginary")),
        )
    } else {
        part(path)
    }
}
