//! Projections of parameters onto sets (`optax.projections`). They are computed in at least `f32` and
//! have the dtypes of the parameters.

use crate::base::wide::{wide_state, widely};
use crate::transforms::flatten::apart;
use crate::{Hyperparam, tree};
use ramie_core::lax::cond;
use ramie_core::options::Descending;
use ramie_core::{Array, IntoArray, State, concatenate, where_};

/// Projects onto the states without negative elements.
#[track_caller]
pub fn projection_non_negative(x: &State) -> State {
    x.map(|a| a.relu())
}

/// Projects onto the states between `lower` and `upper`.
///
/// # Panics
/// Panics if the states have different paths.
#[track_caller]
pub fn projection_box(x: &State, lower: &State, upper: &State) -> State {
    let above = x.zip(lower, |a, lo| a.maximum(lo));
    above.zip(upper, |a, hi| a.minimum(hi))
}

/// Projects onto the states whose elements are between 0 and `scale`.
#[track_caller]
pub fn projection_hypercube(x: &State, scale: impl Into<Hyperparam>) -> State {
    let scale = scale.into();
    widely(x, |x| tree::clip(x, 0.0, &scale))
}

/// Projects a vector onto the vectors without negative elements whose sum is 1. Derivatives treat
/// the set of nonzero elements as constant, like those of a maximum.
pub(crate) fn unit_simplex(values: &Array) -> Array {
    let n = values.size();
    let fixed = values.stop_gradient();
    let sorted = fixed.sort_with(0, Descending);
    let sums = sorted.cumsum(0);
    let place = (Array::iota(&[n], 0, ramie_core::DType::I32) + 1).astype(values.dtype());
    let reached = (1.0_f64 / &place + (&sorted - &sums / &place)).gt(0.0);
    let count = reached.astype(values.dtype()).sum();
    let chosen = place.eq(&count);
    let sum = where_(&chosen, &sums, sums.zeros_like()).sum();
    let threshold = (&sum - 1.0) / &count;
    let support = fixed.gt(&threshold);
    let kept = where_(&support, values, values.zeros_like());
    let shift = (kept.sum() - 1.0) / support.astype(values.dtype()).sum();
    where_(&support, values - shift, values.zeros_like())
}

/// Projects onto the states without negative elements whose sum is `scale`.
///
/// ```no_run
/// use ramie_core::{Array, State};
/// use ramie_optim::projections::projection_simplex;
/// let x = State::from_iter([("p", Array::from([2.0f32, 0.5, -1.0]))]);
/// let p = projection_simplex(&x, 1.0);
/// assert_eq!(p.arrays()[0].to_vec::<f32>(), [1.0, 0.0, 0.0]);
/// ```
///
/// # Panics
/// Panics if the state has no arrays.
#[track_caller]
pub fn projection_simplex(x: &State, scale: impl Into<Hyperparam>) -> State {
    let scale = scale.into();
    assert!(!x.is_empty(), "projection_simplex: the state has no arrays");
    widely(x, |x| {
        let flat: Vec<Array> = x.arrays().iter().map(|a| a.ravel() / &scale).collect();
        let projected = unit_simplex(&concatenate(&flat, 0)) * &scale;
        apart(&projected, x)
    })
}

/// Projects onto the states whose magnitudes sum to `scale`.
#[track_caller]
pub fn projection_l1_sphere(x: &State, scale: impl Into<Hyperparam>) -> State {
    widely(x, |x| {
        let magnitudes = projection_simplex(&x.map(|a| a.abs()), scale);
        x.zip(&magnitudes, |a, m| a.sign() * m)
    })
}

/// Projects onto the states whose magnitudes sum to at most `scale`.
#[track_caller]
pub fn projection_l1_ball(x: &State, scale: impl Into<Hyperparam>) -> State {
    let scale = scale.into();
    let inside = tree::l1_norm(x).le(&scale);
    cond(
        inside,
        |x| x,
        |x: State| projection_l1_sphere(&x, &scale),
        x.clone(),
    )
}

/// Projects onto the states with the norm `scale`.
#[track_caller]
pub fn projection_l2_sphere(x: &State, scale: impl Into<Hyperparam>) -> State {
    widely(x, |x| {
        tree::scale(scale.into().into_array() / tree::norm(x), x)
    })
}

/// Projects onto the states with a norm of at most `scale`.
#[track_caller]
pub fn projection_l2_ball(x: &State, scale: impl Into<Hyperparam>) -> State {
    let scale = scale.into();
    widely(x, |x| {
        let squared = tree::squared_norm(x).maximum(scale.times(&scale));
        tree::scale((&scale).into_array() / squared.sqrt(), x)
    })
}

/// Projects onto the states whose elements are between `-scale` and `scale`.
#[track_caller]
pub fn projection_linf_ball(x: &State, scale: impl Into<Hyperparam>) -> State {
    let scale = scale.into();
    widely(x, |x| tree::clip(x, scale.negative(), &scale))
}

/// Projects onto the multiples of `a`.
///
/// # Panics
/// Panics if the states have different paths.
#[track_caller]
pub fn projection_vector(x: &State, a: &State) -> State {
    let factor = tree::vdot(x, a) / tree::vdot(a, a);
    widely(x, |_| tree::scale(factor, &*wide_state(a)))
}

/// Projects onto the states whose inner product with `a` is `b`.
///
/// # Panics
/// Panics if the states have different paths.
#[track_caller]
pub fn projection_hyperplane(x: &State, a: &State, b: impl IntoArray) -> State {
    let scalar = (b.into_array() - tree::vdot(x, a)) / tree::vdot(a, a);
    widely(x, |x| tree::add_scale(x, scalar, &*wide_state(a)))
}

/// Projects onto the states whose inner product with `a` is at most `b`.
///
/// # Panics
/// Panics if the states have different paths.
#[track_caller]
pub fn projection_halfspace(x: &State, a: &State, b: impl IntoArray) -> State {
    let scalar = (b.into_array() - tree::vdot(x, a)) / tree::vdot(a, a);
    widely(x, |x| {
        tree::add_scale(x, scalar.minimum(0.0), &*wide_state(a))
    })
}
