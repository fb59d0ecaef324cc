//! Decaying means, which many optimizers keep. They are in at least `f32`: in `bf16` a decay rate of
//! 0.999 is 1.

use crate::base::wide::wide;
use crate::tree::abs_sq;
use crate::{Hyperparam, safe_increment};
use ramie_core::{Array, State};

/// Computes the decaying mean `(1 - decay) · gᵒʳᵈᵉʳ + decay · m` in at least `f32`.
///
/// # Panics
/// Panics if the states have different paths.
#[track_caller]
pub fn update_moment(
    updates: &State,
    moments: &State,
    decay: impl Into<Hyperparam>,
    order: i32,
) -> State {
    decaying_mean(updates, moments, decay.into(), |g| raised(g, order))
}

#[track_caller]
fn decaying_mean(
    updates: &State,
    moments: &State,
    decay: Hyperparam,
    of: impl Fn(&Array) -> Array,
) -> State {
    let rest = decay.rest();
    updates.zip(moments, |g, m| of(&wide(g)) * &rest + &*wide(m) * &decay)
}

fn raised(g: &Array, order: i32) -> Array {
    match order {
        1 => g.clone(),
        2 => g.square(),
        n => g.integer_pow(n),
    }
}

/// Computes [`update_moment`] with the real number `|g|ᵒʳᵈᵉʳ` in place of `gᵒʳᵈᵉʳ` for complex
/// numbers. For these, an odd order is rounded down to the next even one.
///
/// # Panics
/// Panics if the states have different paths.
#[track_caller]
pub fn update_moment_per_elem_norm(
    updates: &State,
    moments: &State,
    decay: impl Into<Hyperparam>,
    order: i32,
) -> State {
    decaying_mean(updates, moments, decay.into(), |g| {
        if g.dtype().is_complex() {
            raised(&abs_sq(g), order / 2)
        } else {
            raised(g, order)
        }
    })
}

/// Computes the decaying maximum magnitude, `max(|g| + eps, decay · m)`, in at least
/// `f32`.
///
/// # Panics
/// Panics if the states have different paths.
#[track_caller]
pub fn update_infinity_moment(
    updates: &State,
    moments: &State,
    decay: impl Into<Hyperparam>,
    eps: impl Into<Hyperparam>,
) -> State {
    let (decay, eps) = (decay.into(), eps.into());
    updates.zip(moments, |g, m| {
        (wide(g).abs() + &eps).maximum(&*wide(m) * &decay)
    })
}

/// Divides a decaying mean that started at zero by the sum of its weights, `1 - decayᶜᵒᵘⁿᵗ`, in at
/// least `f32`.
#[track_caller]
pub fn bias_correction(moment: &State, decay: impl Into<Hyperparam>, count: &Array) -> State {
    let weight = 1.0_f64 - decay.into().power(count);
    moment.map(|m| {
        let m = wide(m);
        &*m / weight.astype(m.dtype())
    })
}

/// Returns the bias-corrected mean if there is a count, otherwise the mean itself.
pub(crate) fn corrected(moment: &State, decay: &Hyperparam, count: Option<&Array>) -> State {
    match count {
        Some(count) => bias_correction(moment, decay, count),
        None => moment.clone(),
    }
}

/// Returns the bias-corrected mean after `count` steps. With `nesterov`, returns the mean of the
/// next step, `decay · m + (1 - decay) · g`.
pub(crate) fn corrected_mean(
    updates: &State,
    mu: &State,
    decay: &Hyperparam,
    count: &Array,
    nesterov: bool,
) -> State {
    if !nesterov {
        return bias_correction(mu, decay, count);
    }
    let ahead = bias_correction(mu, decay, &safe_increment(count));
    let now = bias_correction(updates, decay, count);
    let rest = decay.rest();
    ahead.zip(&now, |m, g| m * decay + g * &rest)
}
