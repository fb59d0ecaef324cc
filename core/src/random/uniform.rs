//! Uniform floats, from which the other samplers of floats are made.

use super::{Key, draw, expect_fits, expect_float};
use crate::narrow::NarrowFloat;
use crate::{Array, DType, IntoArray};

/// Facts of a floating-point format.
pub(super) struct Format {
    /// Bits of the stored fraction.
    pub mantissa: i32,
    /// The exponent of the smallest normal number.
    pub min_exponent: i32,
    /// The unsigned type of the same width.
    pub word: DType,
    /// The bits of 1.
    pub one: u64,
}

impl Format {
    pub(super) fn of(dtype: DType) -> Format {
        if let Some(narrow) = NarrowFloat::of(dtype) {
            return Format {
                mantissa: narrow.fraction_bits(),
                min_exponent: narrow.min_exponent(),
                word: DType::U8,
                one: narrow.encode(1.0).into(),
            };
        }
        let (mantissa, min_exponent, word) = match dtype {
            DType::F64 => (52, -1022, DType::U64),
            DType::F32 => (23, -126, DType::U32),
            DType::F16 => (10, -14, DType::U16),
            _ => (7, -126, DType::U16),
        };
        Format {
            mantissa,
            min_exponent,
            word,
            // The exponent's bias is that of 1.
            one: ((1 - min_exponent) as u64) << mantissa,
        }
    }

    /// The distance from 1 to the next number.
    pub(super) fn epsilon(&self) -> f64 {
        f64::from(-self.mantissa).exp2()
    }

    /// The smallest normal number.
    pub(super) fn tiny(&self) -> f64 {
        f64::from(self.min_exponent).exp2()
    }
}

/// Bits of an element of an unsigned type, drawn from a single key.
pub(super) fn random_bits(key: &Key, shape: &[usize], dtype: DType) -> Array {
    key.kind().bits(super::key_data(key), shape, dtype)
}

/// Floats in `[lo, hi)`: random fractions of a number between 1 and 2, moved
/// and scaled, for use within a sampler's program.
pub(super) fn between(
    key: &Key,
    shape: &[usize],
    dtype: DType,
    lo: impl IntoArray,
    hi: impl IntoArray,
) -> Array {
    let format = Format::of(dtype);
    let (lo, hi) = (lo.into_array().astype(dtype), hi.into_array().astype(dtype));
    // A format with few fraction bits needs no more than a byte.
    let drawn = if format.mantissa < 8 {
        DType::U8
    } else {
        format.word
    };
    let bits = random_bits(key, shape, drawn).astype(format.word);
    let fraction = bits.right_shift_logical(drawn.bits() - format.mantissa as usize);
    let above_one = fraction
        .bitwise_or(Array::scalar(format.one, format.word))
        .bitcast_convert_type(dtype);
    let unit = above_one - 1.0;
    lo.maximum(unit * (&hi - &lo) + &lo)
}

/// Floats in `[0, 1)` (`jax.random.uniform`).
///
/// ```no_run
/// use ramie_core::{DType, random};
/// let x = random::uniform(&random::key(0), &[2, 3], DType::F32);
/// assert_eq!(x.shape(), [2, 3]);
/// ```
///
/// # Panics
/// If `dtype` is not a floating-point type, or `key` is an array of keys.
#[track_caller]
pub fn uniform(key: &Key, shape: &[usize], dtype: DType) -> Array {
    expect_float("uniform", dtype);
    draw("_uniform", key, (shape, dtype), &[], |key, _| {
        between(key, shape, dtype, 0.0, 1.0)
    })
}

/// Floats in `[minval, maxval)`; the bounds broadcast to the shape. Rounding
/// can give `maxval` itself.
///
/// # Panics
/// If `dtype` is not a floating-point type, the bounds do not broadcast to the
/// shape, or `key` is an array of keys.
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
        minval.into_array().astype(dtype),
        maxval.into_array().astype(dtype),
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
