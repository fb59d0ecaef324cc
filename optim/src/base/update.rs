//! Application of updates to parameters.

use crate::Hyperparam;
use crate::base::any_tree::zip;
use crate::base::given::CheckedSetting;
use crate::base::wide::wide;
use ramie_core::lax::cond;
use ramie_core::{Array, IntoArray, Tree, tree};

/// Adds the updates to the parameters, in at least `f32`, and casts the sums to the dtypes of the
/// parameters.
///
/// A parameter in `bf16` does not change if its update is smaller than 1/512 of it; see
/// [`kahan_summation`](crate::kahan_summation()).
///
/// # Panics
/// Panics if the trees have different paths.
#[track_caller]
pub fn apply_updates<T: Tree>(params: &T, updates: &T) -> T {
    zip(params, updates, |p, u| {
        (&*wide(p) + &*wide(u)).astype(p.dtype())
    })
}

/// Computes `step_size · new + (1 - step_size) · old`, a moving average of parameters as used for
/// target networks.
///
/// The averages are in at least `f32`, whatever the dtypes of the parameters: in `bf16` an average
/// with a step size of 0.001 never moves. Use [`tree::cast_like`](crate::tree::cast_like) to
/// compute with them in the dtypes of the parameters.
///
/// # Panics
/// Panics if the trees have different paths.
///
/// ```no_run
/// use ramie_core::{Array, State};
/// use ramie_optim::incremental_update;
/// let at = |x: f32| State::from_iter([("w", Array::from(x))]);
/// assert_eq!(incremental_update(&at(1.0), &at(0.0), 0.25).arrays()[0].item::<f32>(), 0.25);
/// ```
#[track_caller]
pub fn incremental_update<T: Tree>(new: &T, old: &T, step_size: impl Into<Hyperparam>) -> T {
    let step_size = step_size.into().given("step_size");
    let rest = step_size.rest();
    zip(new, old, |n, o| &*wide(n) * &step_size + &*wide(o) * &rest)
}

/// Returns the new arrays if `steps` is a multiple of `update_period`, otherwise the old ones.
///
/// # Panics
/// Panics if the trees have different paths, shapes or dtypes.
#[track_caller]
pub fn periodic_update<T: Tree>(
    new: &T,
    old: &T,
    steps: &Array,
    update_period: impl IntoArray,
) -> T {
    let due = steps.remainder(update_period).eq(0);
    cond(
        due,
        |s: (T, T)| s.0,
        |s| s.1,
        (tree::copy(new), tree::copy(old)),
    )
}
