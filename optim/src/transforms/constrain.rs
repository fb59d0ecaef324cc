//! Updates that keep parameters within bounds, and repair of updates.

use crate::GradientTransformation;
use crate::base::extra_args::expect_params;
use ramie_core::{Array, DType, State, where_};
use ramie_derive::Tree;

/// Changes updates so that no parameter becomes negative: it becomes zero instead. This must be
/// the last transformation of a chain.
///
/// `update` panics if `params` is `None`.
pub fn keep_params_nonnegative() -> GradientTransformation {
    GradientTransformation::stateless(|updates, params| {
        let params = expect_params("keep_params_nonnegative", params);
        updates.zip(params, |u, p| where_((p + u).lt(0.0), -p, u))
    })
}

/// The state of [`zero_nans`].
#[derive(Tree)]
pub struct ZeroNansState {
    /// Whether each array of the last updates contained a NaN, 0-d `bool`.
    pub found_nan: State,
}

/// Replaces NaNs in updates with zeros.
pub fn zero_nans() -> GradientTransformation {
    GradientTransformation::new(
        |params| ZeroNansState {
            found_nan: params.map(|_| Array::scalar(false, DType::Bool)),
        },
        |updates, _: ZeroNansState, _| {
            let found_nan = updates.map(|u| u.is_nan().any());
            let updates = updates.map(|u| where_(u.is_nan(), u.zeros_like(), u));
            (updates, ZeroNansState { found_nan })
        },
    )
}
