//! Samplers of bits, booleans and integers.

use super::continuous::halves;
use super::uniform::{between, random_bits};
use super::{Key, draw, expect_fits, float_parameter, parameter, with_front};
use crate::dtypes::{IntInfo, finfo, iinfo, promote_types};
use crate::{Array, DType, IntoArray, where_};

/// Draws uniform random bits as unsigned integers (`jax.random.bits`).
///
/// ```no_run
/// use ramie_core::{DType, random};
/// let x = random::bits(&random::key(0), &[4], DType::U8);
/// assert_eq!(x.dtype(), DType::U8);
/// ```
///
/// # Panics
/// Panics if `dtype` is not an unsigned integer dtype, or if `key` is an array of keys.
#[track_caller]
pub fn bits(key: &Key, shape: &[usize], dtype: DType) -> Array {
    assert!(
        dtype.is_unsigned(),
        "bits: expects an unsigned integer dtype, got {dtype}\n  help: use U8, U16, U32 or U64"
    );
    key.single("bits");
    random_bits(key, shape, dtype)
}

/// Precision of Bernoulli samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum BernoulliMode {
    /// One uniform float of the probability's dtype, of at least 32 bits.
    #[default]
    Low,
    /// Two uniform floats, which are also accurate for probabilities below the resolution of the
    /// dtype.
    High,
}

/// Draws booleans that are `true` with probability `p`, which broadcasts to the shape. A scalar
/// literal is compared in `f32`.
///
/// ```no_run
/// use ramie_core::{Array, random};
/// let keep = random::bernoulli(&random::key(0), 0.9, &[128, 64]);
/// assert_eq!(keep.shape(), [128, 64]);
/// // One draw for each probability, as in JAX without a shape.
/// let rates = Array::from([0.1f32, 0.9]);
/// let spikes = random::bernoulli(&random::key(1), &rates, rates.shape());
/// assert_eq!(spikes.shape(), [2]);
/// ```
///
/// # Panics
/// Panics if `p` does not broadcast to the shape, or `key` is an array of keys.
#[track_caller]
pub fn bernoulli(key: &Key, p: impl IntoArray, shape: &[usize]) -> Array {
    bernoulli_with(key, p, shape, BernoulliMode::default())
}

/// Draws [`bernoulli`] booleans with the given precision.
///
/// # Panics
/// Panics in the same cases as [`bernoulli`].
#[track_caller]
pub fn bernoulli_with(key: &Key, p: impl IntoArray, shape: &[usize], mode: BernoulliMode) -> Array {
    let p = float_parameter("bernoulli", p);
    let p = match mode {
        // A uniform float of a narrow dtype is too coarse for probabilities near 0.
        BernoulliMode::Low => p.astype(promote_types(p.dtype(), DType::F32)),
        BernoulliMode::High => p,
    };
    let dtype = p.dtype();
    expect_fits("bernoulli", shape, &[("p", &p)]);
    draw(
        "_bernoulli",
        key,
        (shape, mode),
        &[&p],
        |key, p| match mode {
            BernoulliMode::Low => between(key, shape, dtype, 0.0, 1.0).lt(&p[0]),
            BernoulliMode::High => {
                let pair = between(key, &with_front(2, shape), dtype, 0.0, 1.0);
                let (first, second) = halves(&pair, shape);
                (second * finfo(dtype).eps).lt(&p[0] - first)
            }
        },
    )
}

/// Draws `-1` or `1`, each with probability one half, in any signed or complex dtype.
///
/// # Panics
/// Panics if `dtype` cannot represent -1, or if `key` is an array of keys.
#[track_caller]
pub fn rademacher(key: &Key, shape: &[usize], dtype: DType) -> Array {
    assert!(
        dtype.is_signed() || dtype.is_complex(),
        "rademacher: expects a signed dtype, got {dtype}\n  help: use I32 or a float"
    );
    draw("_rademacher", key, (shape, dtype), &[], |key, _| {
        let heads = between(key, shape, DType::F32, 0.0, 1.0).lt(0.5);
        heads.astype(dtype) * 2 - 1
    })
}

/// Draws the number of trials up to the first success, 1, 2, …, each with success probability
/// `p`, which broadcasts to the shape.
///
/// # Panics
/// Panics if `dtype` is `Bool`, `p` does not broadcast to the shape, or `key` is an array of
/// keys.
#[track_caller]
pub fn geometric(key: &Key, p: impl IntoArray, shape: &[usize], dtype: DType) -> Array {
    assert!(
        dtype != DType::Bool,
        "geometric: expects a numeric dtype, got bool\n  help: use I32"
    );
    let p = float_parameter("geometric", p);
    let float = p.dtype();
    expect_fits("geometric", shape, &[("p", &p)]);
    draw("_geometric", key, (shape, dtype), &[&p], |key, p| {
        let u = between(key, shape, float, 0.0, 1.0);
        let u = where_(u.eq(0.0), 1.0, &u);
        let failure = (-parameter(&p[0], shape, float)).log1p();
        ((u.log() / failure).floor() + 1.0).astype(dtype)
    })
}

/// Returns a 0-d integer of `dtype`, which must be able to represent `value`.
fn integer(value: i128, dtype: DType) -> Array {
    match i64::try_from(value) {
        Ok(v) => Array::scalar(v, dtype),
        Err(_) => Array::scalar(value as u64, dtype),
    }
}

/// Converts integers to `dtype`, clipped to `limits`.
fn convert_and_clip(x: &Array, dtype: DType, limits: IntInfo) -> Array {
    let own = iinfo(x.dtype());
    let bound = |v: i128| integer(v.clamp(own.min, own.max), x.dtype());
    x.clip(bound(limits.min), bound(limits.max)).astype(dtype)
}

/// Draws integers in `[minval, maxval)`; the bounds broadcast to the shape
/// (`jax.random.randint`). If `maxval` is not above `minval`, the result is `minval`. Bounds may
/// exceed the dtype: `randint(key, shape, 0, 256, U8)` samples every byte.
///
/// ```no_run
/// use ramie_core::{DType, random};
/// let dice = random::randint(&random::key(0), &[10], 1, 7, DType::I32);
/// assert!(dice.to_vec::<i32>().iter().all(|v| (1..7).contains(v)));
/// ```
///
/// # Panics
/// Panics if `dtype` or the dtype of a bound is not an integer dtype, if the bounds do not
/// broadcast to the shape, or if `key` is an array of keys.
#[track_caller]
pub fn randint(
    key: &Key,
    shape: &[usize],
    minval: impl IntoArray,
    maxval: impl IntoArray,
    dtype: DType,
) -> Array {
    let (lo, hi) = (minval.into_array(), maxval.into_array());
    for (what, d) in [
        ("dtype", dtype),
        ("minval", lo.dtype()),
        ("maxval", hi.dtype()),
    ] {
        assert!(
            d.is_integer(),
            "randint: expects integers, got {d} as {what}\n  help: for floats use \
             `random::uniform_range`"
        );
    }
    let (lo, hi) = (lo.astype(lo.dtype()), hi.astype(hi.dtype()));
    expect_fits("randint", shape, &[("minval", &lo), ("maxval", &hi)]);
    draw(
        "_randint",
        key,
        (shape, dtype),
        &[&lo, &hi],
        |key, bounds| integers(key, shape, &bounds[0], &bounds[1], dtype),
    )
}

/// Draws [`randint`] integers within a sampler's program.
pub(super) fn integers(
    key: &Key,
    shape: &[usize],
    minval: &Array,
    maxval: &Array,
    dtype: DType,
) -> Array {
    let limits = iinfo(dtype);
    if dtype.bits() < 32 {
        // Narrow dtypes are sampled as i32, whose range includes their bounds.
        let lo = convert_and_clip(minval, DType::I32, limits);
        let past = IntInfo {
            max: limits.max + 1,
            ..limits
        };
        let hi = convert_and_clip(maxval, DType::I32, past);
        return integers(key, shape, &lo, &hi, DType::I32).astype(dtype);
    }
    let word = if dtype.bits() == 64 {
        DType::U64
    } else {
        DType::U32
    };
    let largest = limits.max.min(iinfo(maxval.dtype()).max);
    let over = maxval.gt(integer(largest, maxval.dtype()));
    let minval = convert_and_clip(minval, dtype, limits);
    let maxval = convert_and_clip(maxval, dtype, limits);

    let [first, second] = key.split_into();
    let (higher, lower) = (
        random_bits(&first, shape, word),
        random_bits(&second, shape, word),
    );

    let ordered = maxval.gt(&minval);
    let span = (&maxval - &minval).astype(word);
    let span = where_(&ordered, span, Array::scalar(1, word));
    // The full range of the dtype wraps to a span of 0, and `x % 0` is `x`.
    let span = span + over.bitwise_and(&ordered).astype(word);
    let half = Array::scalar(1u64 << (word.bits() / 2), word);
    let multiplier = half.lax_rem(&span);
    let multiplier = (&multiplier * &multiplier).lax_rem(&span);
    let offset = higher.lax_rem(&span) * multiplier + lower.lax_rem(&span);
    minval + offset.lax_rem(&span).astype(dtype)
}
