//! `masked`: a transformation for some of the parameters.

use crate::{GradientTransformation, OptState};
use ramie_core::{Array, State};

/// Applies a transformation to the updates that the predicate accepts by path
/// and array; the others pass unchanged. The transformation's state has no
/// place for them.
///
/// ```
/// use ramie_optim::{add_decayed_weights, masked};
/// let decay_kernels = masked(add_decayed_weights(1e-4), |path, _| path.ends_with("kernel"));
/// ```
pub fn masked(
    inner: impl Into<GradientTransformation>,
    mask: impl Fn(&str, &Array) -> bool + Send + Sync + 'static,
) -> GradientTransformation {
    let inner = inner.into();
    let mask = std::sync::Arc::new(mask);
    let (first, first_mask) = (inner.clone(), mask.clone());
    GradientTransformation::new(
        move |params| first.init(&params.filter(|path, _| accepts(&*first_mask, params, path))),
        move |updates, state: OptState, params| {
            let chosen = updates.filter(|path, _| accepts(&*mask, &updates, path));
            let params = params.map(|p| p.filter(|path, _| chosen.get(path).is_some()));
            let (new, state) = inner.update(chosen, state, params.as_ref());
            let merged = updates.map_with_path(|path, u| new.get(path).unwrap_or(u).clone());
            (merged, state)
        },
    )
}

fn accepts(mask: &dyn Fn(&str, &Array) -> bool, state: &State, path: &str) -> bool {
    state.get(path).is_some_and(|array| mask(path, array))
}
