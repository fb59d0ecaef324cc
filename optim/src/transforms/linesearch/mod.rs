//! Line searches: step sizes along an update, found from values of the objective.

mod backtracking;
mod zoom;

use crate::{OptState, tree};
use ramie_core::lax::cond;
use ramie_core::{Array, State, value_and_grad};

pub use backtracking::{
    BacktrackingLinesearchInfo, ScaleByBacktrackingLinesearch, ScaleByBacktrackingLinesearchState,
    scale_by_backtracking_linesearch,
};
pub use zoom::{
    InitialGuess, ScaleByZoomLinesearch, ScaleByZoomLinesearchState, ZoomLinesearchInfo,
    scale_by_zoom_linesearch,
};

/// Returns the value and gradients of an objective. They are read from the state of a line search
/// that has just evaluated them, otherwise computed.
///
/// ```no_run
/// use ramie_core::{Array, State};
/// use ramie_optim::{lbfgs, value_and_grad_from_state};
/// let objective = |p: &State| p.arrays()[0].square().sum();
/// let params = State::from_iter([("w", Array::from([1.0f32, 2.0]))]);
/// let tx = lbfgs();
/// let (value, grads) = value_and_grad_from_state(&objective, &params, &tx.init(&params));
/// assert_eq!(value.item::<f32>(), 5.0);
/// ```
///
/// # Panics
/// Panics if the state has no `value` or `grad`.
#[track_caller]
pub fn value_and_grad_from_state(
    value_fn: &(dyn Fn(&State) -> Array + Send + Sync),
    params: &State,
    state: &OptState,
) -> (Array, State) {
    let value = tree::get(state, "value");
    let grads = params.map_with_path(|path, _| match tree::get(state, &format!("grad.{path}")) {
        Some(grad) => grad,
        None => panic!(
            "value_and_grad_from_state: the state has no gradient for `{path}`\n  help: use a \
             line search that stores it, such as scale_by_backtracking_linesearch().store_grad()"
        ),
    });
    let Some(value) = value else {
        panic!(
            "value_and_grad_from_state: the state has no value\n  help: use an optimizer with a \
             line search, such as lbfgs()"
        )
    };
    cond(
        value.is_finite(),
        |_: State| (value.clone(), grads.clone()),
        |p| {
            let (v, g) = value_and_grad(|p: State| value_fn(&p))(p);
            (v.astype(value.dtype()), tree::cast_like(&g, &grads))
        },
        params.clone(),
    )
}
