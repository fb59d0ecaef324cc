//! Uniform floats, the basis of the other samplers of floats.

use super::{Key, draw, expect_fits, expect_float, real_parameter};
use crate::dtypes::{Scalar, finfo};
use crate::{Array, DType, IntoArray};

/// Returns the unsigned dtype with the same number of bits as a float.
fn word_of(dtype: DType) -> DType {
    match dtype.bits() {
        64 => DType::U64,
        32 => DType::U32,
        16 => DType::U16,
        _ => DType::U8,
    }
}

/// Returns the bits of the number 1.
fn bits_of_one(dtype: DType) -> u64 {
    let bytes = Scalar::Float(1.0).to_bytes(dtype);
    let bytes = bytes.iter().rev();
    bytes.fold(0, |bits, byte| (bits << 8) | u64::from(*byte))
}

/// Generates random bits as elements of an unsigned dtype from a single key.
pub(super) fn random_bits(key: &Key, shape: &[usize], dtype: DType) -> Array {
    key.kind().bits(super::key_data(key), shape, dtype)
}

/// Draws floats in `[lo, hi)` within a sampler's program: random numbers between 1 and 2,
/// shifted and scaled.
pub(super) fn between(
    key: &Key,
    shape: &[usize],
    dtype: DType,
    lo: impl IntoArray,
    hi: impl IntoArray,
) -> Array {
    let (word, fraction_bits) = (word_of(dtype), finfo(dtype).fraction_bits as usize);
    let (lo, hi) = (
        real_parameter("None", lo, dtype),
        real_parameter("None", hi, dtype),
    );
    // A format with few fraction bits needs only one byte.
    let drawn = if fraction_bits < 8 { DType::U8 } else { word };
    let bits = random_bits(key, shape, drawn).astype(word);
    let fraction = bits.right_shift_logical(drawn.bits() - fraction_bits);
    let above_one = fraction
        .bitwise_or(Array::scalar(bits_of_one(dtype), word))
        .bitcast_convert_type(dtype);
    let unit = above_one - 1.0;
    lo.maximum(unit * (&hi - &lo) + &lo)
}

/// Draws floats in `[0, 1)` (`jax.random.uniform`).
///
/// ```no_run
/// use ramie_core::{DType, random};
/// let x = random::uniform(&random::key(0), &[2, 3], DType::F32);
/// assert_eq!(x.shape(), [2, 3]);
/// ```
///
/// # Panics
/// Panics if `dtype` is not a floating-point dtype, or if `key` is an array of keys.
#[track_caller]
pub fn uniform(key: &Key, shape: &[usize], dtype: DType) -> Array {
    expect_float("uniform", dtype);
    draw("_uniform", key, (shape, dtype), &[], |key, _| {
        between(key, shape, dtype, 0.0, 1.0)
    })
}

/// Draws floats in `[minval, maxval)`; the bounds broadcast to the shape. Rounding can produce
/// `maxval` itself.
///
/// # Panics
/// Panics if `dtype` is not a floating-point dtype, if the bounds do not broadcast to the shape,
/// or if `key` is an array of keys.
#[track_caller]
pub fn uniform_range(
    key: &Key,
    shape: &[usize],
    dtype: DType,
    minval: impl IntoArray,
    maxval: impl IntoArray,
) -> Array {
    expect_float("uniform", dtype);
    let (lo, hi) = (
        real_parameter("uniform_range", minval, dtype),
        real_parameter("uniform_range", maxval, dtype),
    );
    expect_fits("uniform", shape, &[("minval", &lo), ("maxval", &hi)]);
    draw(
        "_uniform",
        key,
        (shape, dtype),
        &[&lo, &hi],
        |key, bounds| between(key, shape, dtype, &bounds[0], &bounds[1]),
    )
}
