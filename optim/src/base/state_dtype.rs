//! `state_dtype`: the state of an optimizer in a narrower dtype.

use crate::{ExtraArgs, GradientTransformation, OptState};
use ramie_core::{Array, DType, tree};
use ramie_derive::Tree;

/// The state of [`state_dtype`].
#[derive(Tree)]
pub struct StateDtypeState {
    /// The state of the inner transformation, with arrays in the narrow dtype.
    pub inner_state: OptState,
    /// The dtypes in which the inner transformation computes, one for each array of its state.
    #[tree(fixed)]
    pub dtypes: Vec<DType>,
}

/// Stores the state of a transformation in `dtype` between steps, which saves memory: in `bf16` the
/// moments of Adam take 4 bytes for each parameter instead of 8.
///
/// It applies to the floating-point arrays of more than one element that have a wider dtype. Steps
/// are computed in the dtypes of the transformation, which are at least `f32`. Counts,
/// hyperparameters and other numbers keep their dtypes.
///
/// Each step rounds the state. A mean stops changing when its change is smaller than half a unit
/// in the last place, so a mean in `bf16` needs a decay rate of at most about 0.99: the mean of
/// squares of [`adam`](crate::adam()) with the default decay rate of 0.999 never decreases. To store
/// the mean of gradients alone in `bf16`, use an option such as
/// [`mu_dtype`](crate::ScaleByAdam::mu_dtype). Squares in `f16` underflow.
///
/// ```
/// use ramie_core::{Array, DType, State};
/// use ramie_optim::{adam, state_dtype, tree};
/// let tx = state_dtype(adam(1e-3).b2(0.98), DType::BF16);
/// let params = State::from_iter([("w", Array::ones(&[2], DType::F32))]);
/// let moment = tree::get(&tx.init(&params), "nu.w").expect("a moment");
/// assert_eq!(moment.dtype(), DType::BF16);
/// ```
///
/// # Panics
/// Panics if `dtype` is not a floating-point dtype.
#[track_caller]
pub fn state_dtype(
    inner: impl Into<GradientTransformation>,
    dtype: DType,
) -> GradientTransformation {
    assert!(
        dtype.is_float(),
        "state_dtype: {dtype} is not a floating-point dtype\n  help: use DType::BF16"
    );
    let inner = inner.into();
    let first = inner.clone();
    GradientTransformation::passing_on(
        move |params| stored(&first.init(params), dtype),
        move |updates, state: StateDtypeState, params, extra: &ExtraArgs<'_>| {
            let leaves = tree::leaves(&state.inner_state);
            let wide = leaves.iter().zip(&state.dtypes).map(|(a, d)| cast(a, *d));
            let wide = tree::with_leaves(&state.inner_state, wide);
            let (updates, next) = inner.update_with(updates, wide, params, extra);
            (updates, stored(&next, dtype))
        },
    )
}

fn stored(state: &OptState, dtype: DType) -> StateDtypeState {
    StateDtypeState {
        inner_state: tree::map(state, |a| {
            let narrower = a.dtype().is_float() && a.dtype().bits() > dtype.bits();
            if narrower && a.size() > 1 {
                a.astype(dtype)
            } else {
                a.clone()
            }
        }),
        dtypes: tree::leaves(state).iter().map(Array::dtype).collect(),
    }
}

fn cast(a: &Array, dtype: DType) -> Array {
    if a.dtype() == dtype {
        a.clone()
    } else {
        a.astype(dtype)
    }
}
