//! Window functions for signal processing.

use crate::{Array, DType};
use std::f64::consts::PI;

/// Applies `f` to the indices `0, 1, …, n - 1`, or returns ones if `n` is at most 1.
#[track_caller]
fn taper(n: usize, f: impl FnOnce(Array) -> Array) -> Array {
    if n <= 1 {
        return Array::ones(&[n], DType::F32);
    }
    f(Array::iota(&[n], 0, DType::F32))
}

impl Array {
    /// Creates a Bartlett (triangular) window of `n` numbers (`f32`).
    #[track_caller]
    pub fn bartlett(n: usize) -> Array {
        let last = n as f64 - 1.0;
        taper(n, |i| 1.0 - (i * 2.0 - last).abs() / last)
    }

    /// Creates a Blackman window of `n` numbers (`f32`).
    #[track_caller]
    pub fn blackman(n: usize) -> Array {
        let turn = 2.0 * PI / (n as f64 - 1.0);
        taper(n, |i| {
            0.42 - (&i * turn).cos() * 0.5 + (&i * (2.0 * turn)).cos() * 0.08
        })
    }

    /// Creates a Hamming window of `n` numbers (`f32`).
    #[track_caller]
    pub fn hamming(n: usize) -> Array {
        taper(n, |i| {
            0.54 - (i * (2.0 * PI / (n as f64 - 1.0))).cos() * 0.46
        })
    }

    /// Creates a Hann window of `n` numbers (`f32`).
    #[track_caller]
    pub fn hanning(n: usize) -> Array {
        taper(n, |i| {
            (1.0 - (i * (2.0 * PI / (n as f64 - 1.0))).cos()) * 0.5
        })
    }

    /// Creates a Kaiser window of `n` numbers (`f32`). A larger `beta` gives a narrower window.
    #[track_caller]
    pub fn kaiser(n: usize, beta: f64) -> Array {
        let half = 0.5 * (n as f64 - 1.0);
        taper(n, |i| {
            let position = (i - half) / half;
            let whole = Array::scalar(beta, DType::F32).i0();
            let bend = 1.0 - position.square();
            (bend.sqrt() * beta).i0() / whole
        })
    }
}
