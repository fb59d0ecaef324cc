//! Special functions (`jax.scipy.special`).

mod bessel;
mod gamma;
mod information;
mod normal;

use crate::Array;

/// Evaluates a polynomial with constant coefficients, highest power first.
#[track_caller]
fn polynomial(x: &Array, coefficients: &[f64]) -> Array {
    let mut value = x.zeros_like();
    for &c in coefficients {
        value = value * x + c;
    }
    value
}
