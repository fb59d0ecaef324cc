//! Sine and cosine of single precision, computed in double precision without branches.

use super::single::{ROUND, polynomial};
use crate::kernels::unary_wide;
use std::f64::consts::{FRAC_2_PI, FRAC_PI_2};

/// The difference of π/2 and its double.
const FRAC_PI_2_REST: f64 = 6.123_233_995_736_766e-17;
/// Numbers that the reduction serves: up to here, its relative error is below 1e-10.
const LIMIT: f32 = 1_073_741_824.0;

/// Returns the sine of `x` plus some quarters of a turn, for `|x| <= LIMIT`.
#[inline(always)]
fn wave(x: f32, quarters: u64) -> f32 {
    let x = f64::from(x);
    let shifted = x.mul_add(FRAC_2_PI, ROUND);
    let n = shifted - ROUND;
    // Each step rounds once, so that no digits cancel.
    let r = n.mul_add(-FRAC_PI_2_REST, n.mul_add(-FRAC_PI_2, x));
    let z = r * r;
    let sine = [
        -1.0 / 39_916_800.0,
        1.0 / 362_880.0,
        -1.0 / 5_040.0,
        1.0 / 120.0,
        -1.0 / 6.0,
        1.0,
    ];
    let cosine = [
        1.0 / 479_001_600.0,
        -1.0 / 3_628_800.0,
        1.0 / 40_320.0,
        -1.0 / 720.0,
        1.0 / 24.0,
        -0.5,
        1.0,
    ];
    let (sine, cosine) = (r * polynomial(z, sine), polynomial(z, cosine));
    let quadrant = shifted.to_bits().wrapping_add(quarters);
    let y = if quadrant & 1 == 0 { sine } else { cosine };
    f64::from_bits(y.to_bits() ^ (quadrant & 2) << 62) as f32
}

/// Computes a tile, where `far` serves the numbers beyond the limit.
fn tile(inputs: &[&[u8]], output: &mut [u8], near: impl Fn(f32) -> f32, far: fn(f64) -> f64) {
    unary_wide(inputs, output, near);
    let x: &[f32] = bytemuck::cast_slice(inputs[0]);
    // Bits of positive numbers have the order of the numbers, and their maximum is a vector instruction.
    let magnitude = |x: &f32| x.to_bits() & (u32::MAX >> 1);
    if x.iter().map(magnitude).fold(0, u32::max) <= LIMIT.to_bits() {
        return;
    }
    let y: &mut [f32] = bytemuck::cast_slice_mut(output);
    for (y, x) in y.iter_mut().zip(x).filter(|(_, x)| x.abs() > LIMIT) {
        *y = far(f64::from(*x)) as f32;
    }
}

/// Computes a tile of sines.
pub fn sine(inputs: &[&[u8]], output: &mut [u8]) {
    tile(inputs, output, |x| wave(x, 0), f64::sin);
}

/// Computes a tile of cosines.
pub fn cosine(inputs: &[&[u8]], output: &mut [u8]) {
    tile(inputs, output, |x| wave(x, 1), f64::cos);
}
