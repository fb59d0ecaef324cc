//! Samplers of floats, each a transformation of uniform floats.

use super::uniform::{between, random_bits};
use super::{
    Key, draw, expect_fits, expect_float, expect_inexact, parameter, real_parameter, with_front,
};
use crate::dtypes::{finfo, promote_types};
use crate::numpy::complex;
use crate::prim::operands;
use crate::typing::Dims;
use crate::{Array, DType, IntoArray, where_};
use std::f64::consts::{PI, SQRT_2};

/// Draws standard normal numbers within a sampler's program.
pub(super) fn gauss(key: &Key, shape: &[usize], dtype: DType) -> Array {
    if dtype.is_complex() {
        let parts = key.split_into::<2>();
        let [re, im] = parts.map(|key| gauss(&key, shape, dtype.real()));
        return complex(re, im) / Array::scalar(SQRT_2, dtype);
    }
    // The next number after -1 towards 0, so that erf_inv stays finite.
    let lo = -1.0 + finfo(dtype).eps / 2.0;
    between(key, shape, dtype, lo, 1.0).erf_inv() * SQRT_2
}

/// Draws normal numbers with mean 0 and standard deviation 1 (`jax.random.normal`). The real
/// and imaginary parts of complex numbers are independent, each with variance one half.
///
/// ```no_run
/// use ramie_core::{DType, random};
/// let x = random::normal(&random::key(42), &[], DType::F32);
/// assert_eq!(x.item::<f32>(), -0.028304616);
/// ```
///
/// # Panics
/// Panics if `dtype` is neither a floating-point nor a complex dtype, or if `key` is an array of
/// keys.
#[track_caller]
pub fn normal(key: &Key, shape: &[usize], dtype: DType) -> Array {
    expect_inexact("normal", dtype);
    draw("_normal", key, (shape, dtype), &[], |key, _| {
        gauss(key, shape, dtype)
    })
}

macro_rules! standard {
    ($( $(#[$doc:meta])* $f:ident $name:literal |$key:ident, $shape:ident, $dtype:ident| $body:expr; )*) => { $(
        $(#[$doc])*
        ///
        /// # Panics
        /// Panics if `dtype` is not a floating-point dtype, or if `key` is an array of keys.
        #[track_caller]
        pub fn $f(key: &Key, shape: &[usize], dtype: DType) -> Array {
            expect_float(stringify!($f), dtype);
            draw($name, key, (shape, dtype), &[], |$key, _| {
                let ($shape, $dtype) = (shape, dtype);
                $body
            })
        } )*
    };
}

standard! {
    /// Draws exponential numbers with rate 1: density `e⁻ˣ` for `x ≥ 0`.
    exponential "_exponential" |key, shape, dtype| {
        -(-between(key, shape, dtype, 0.0, 1.0)).log1p()
    };

    /// Draws Laplace numbers with location 0 and scale 1: density `e^-|x| / 2`.
    laplace "_laplace" |key, shape, dtype| {
        let lo = -1.0 + finfo(dtype).eps / 2.0;
        let u = between(key, shape, dtype, lo, 1.0);
        u.sign() * (-u.abs()).log1p()
    };

    /// Draws logistic numbers: density `e⁻ˣ / (1 + e⁻ˣ)²`.
    logistic "_logistic" |key, shape, dtype| {
        let u = between(key, shape, dtype, finfo(dtype).smallest_normal, 1.0);
        u.log() - (-u).log1p()
    };

    /// Draws Cauchy numbers: density `1 / (π (1 + x²))`.
    cauchy "_cauchy" |key, shape, dtype| {
        let u = between(key, shape, dtype, finfo(dtype).eps, 1.0);
        ((u - 0.5) * PI).tan()
    };

    /// Draws Maxwell numbers, the lengths of vectors of three normal numbers: density
    /// proportional to `x² e^(-x²/2)`.
    maxwell "_maxwell" |key, shape, dtype| {
        let axis = shape.len() as isize;
        let shape: Vec<usize> = shape.iter().copied().chain([3]).collect();
        gauss(key, &shape, dtype).square().sum_over(axis).sqrt()
    };
}

/// The distance from the mean up to which `erf` does not round to ±1, in dtypes of 16 bits also.
const FAR: f64 = 2.0;

/// Draws normal numbers restricted to the open interval from `lower` to `upper`, which
/// broadcast to the shape. In `f32`, the interval must begin within 12 of the mean, in `f64` within
/// 37; farther away all samples are at its beginning.
///
/// ```no_run
/// use ramie_core::{DType, random};
/// let x = random::truncated_normal(&random::key(0), -2.0, 2.0, &[100], DType::F32);
/// assert!(x.to_vec::<f32>().iter().all(|v| v.abs() < 2.0));
/// ```
///
/// # Panics
/// Panics if `dtype` is not a floating-point dtype, if the bounds do not broadcast to the shape,
/// or if `key` is an array of keys.
#[track_caller]
pub fn truncated_normal(
    key: &Key,
    lower: impl IntoArray,
    upper: impl IntoArray,
    shape: &[usize],
    dtype: DType,
) -> Array {
    expect_float("truncated_normal", dtype);
    let (lower, upper) = (
        real_parameter("truncated_normal", lower, dtype),
        real_parameter("truncated_normal", upper, dtype),
    );
    expect_fits(
        "truncated_normal",
        shape,
        &[("lower", &lower), ("upper", &upper)],
    );
    let within = |bound: &Array| {
        let known = bound.as_literal();
        known.is_some_and(|b| b.value().to_f64().abs() <= FAR)
    };
    let tails = !(within(&lower) && within(&upper));
    draw(
        "_truncated_normal",
        key,
        (shape, dtype, tails),
        &[&lower, &upper],
        |key, bounds| {
            let (lower, upper) = (&bounds[0], &bounds[1]);
            let (a, b) = ((lower / SQRT_2).erf(), (upper / SQRT_2).erf());
            let x = between(key, shape, dtype, a, b).erf_inv() * SQRT_2;
            let x = if !tails {
                x
            } else {
                let tail = |near: &Array, far: &Array| {
                    let (near, far) = (near.ndtr(), far.ndtr());
                    (between(key, shape, dtype, 0.0, 1.0) * (far - &near) + near).ndtri()
                };
                let above = -tail(&-lower, &-upper);
                let x = where_(x.eq(f64::NEG_INFINITY), tail(lower, upper), x);
                where_(x.eq(f64::INFINITY), above, x)
            };
            // Rounding must not produce the bounds themselves.
            x.clip(
                lower.nextafter(f64::INFINITY),
                upper.nextafter(f64::NEG_INFINITY),
            )
        },
    )
}

/// Precision of Gumbel samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum GumbelMode {
    /// One uniform float. Values of large magnitude occur too rarely.
    #[default]
    Low,
    /// Two uniform floats.
    High,
    /// A 64-bit fixed-point number for `f32`; otherwise the same as `High`.
    Highest,
}

/// Draws Gumbel numbers: density `e^-(x + e⁻ˣ)`.
///
/// # Panics
/// Panics if `dtype` is not a floating-point dtype, or if `key` is an array of keys.
#[track_caller]
pub fn gumbel(key: &Key, shape: &[usize], dtype: DType) -> Array {
    gumbel_with(key, shape, dtype, GumbelMode::default())
}

/// Draws [`gumbel`] numbers with the given precision.
///
/// # Panics
/// Panics in the same cases as [`gumbel`].
#[track_caller]
pub fn gumbel_with(key: &Key, shape: &[usize], dtype: DType, mode: GumbelMode) -> Array {
    expect_float("gumbel", dtype);
    draw("_gumbel", key, (shape, dtype, mode), &[], |key, _| {
        gumbel_noise(key, shape, dtype, mode)
    })
}

/// Returns the two parts of an array along its first axis.
pub(super) fn halves(pair: &Array, shape: &[usize]) -> (Array, Array) {
    let part = |i: usize| pair.slice_in_dim(i, i + 1, 1, 0).reshape(shape);
    (part(0), part(1))
}

/// Draws Gumbel numbers within a sampler's program.
pub(super) fn gumbel_noise(key: &Key, shape: &[usize], dtype: DType, mode: GumbelMode) -> Array {
    let info = finfo(dtype);
    match mode {
        GumbelMode::Low => -(-between(key, shape, dtype, info.smallest_normal, 1.0).log()).log(),
        GumbelMode::Highest if dtype == DType::F32 => gumbel_fixed_point(key, shape),
        _ => {
            let pair = between(key, &with_front(2, shape), dtype, 0.0, 1.0);
            let (high, low) = halves(&pair, shape);
            let fine = &high + low * info.eps + info.smallest_normal;
            let x = where_(high.ge(0.5), &high, fine);
            -(-(-x).log1p()).log()
        }
    }
}

/// Computes Gumbel numbers from a 64-bit fixed-point number in `[0, 1)`. Below one half the
/// number is read from its own bits, otherwise from its complement's, so that both tails have
/// full precision.
fn gumbel_fixed_point(key: &Key, shape: &[usize]) -> Array {
    let pair = random_bits(key, &with_front(2, shape), DType::U32);
    let (high, low) = halves(&pair, shape);
    let carry = low.eq(0).astype(DType::U32);
    let below = high.lt(Array::scalar(1u32 << 31, DType::U32));
    let x = fixed_to_float(
        &where_(&below, &high, high.bitwise_not() + carry),
        &where_(&below, &low, low.bitwise_not() + 1),
    );
    let near_zero = -(-(-&x).log1p()).log();
    where_(&below, near_zero, -(-x.log()).log())
}

/// Converts a 64-bit fixed-point number of two words to `f32`, rounded down.
fn fixed_to_float(high: &Array, low: &Array) -> Array {
    let word = |v: u32| Array::scalar(v, DType::U32);
    let (lead, lead_low) = (high.count_leading_zeros(), low.count_leading_zeros());
    let empty = lead.eq(32);
    let rest = where_(
        &empty,
        low.left_shift(&lead_low),
        low.right_shift_logical(word(32) - &lead),
    );
    let digits = high.left_shift(&lead).bitwise_or(rest);
    let mantissa = digits.right_shift_logical(8).bitwise_and(word(0x007F_FFFF));
    let zeros = where_(&empty, word(32) + lead_low, &lead);
    let exponent = (word(126) - zeros)
        .left_shift(23)
        .bitwise_and(word((1 << 30) - (1 << 22)));
    exponent
        .bitwise_or(mantissa)
        .bitcast_convert_type(DType::F32)
}

/// Draws log-normal numbers, which may be complex: the exponentials of normal numbers with
/// standard deviation `sigma`, which broadcasts to the shape.
///
/// # Panics
/// Panics if `dtype` is neither a floating-point nor a complex dtype, if `sigma` is complex or
/// does not broadcast to the shape, or if `key` is an array of keys.
#[track_caller]
pub fn lognormal(key: &Key, sigma: impl IntoArray, shape: &[usize], dtype: DType) -> Array {
    expect_inexact("lognormal", dtype);
    let sigma = real_parameter("lognormal", sigma, dtype);
    expect_fits("lognormal", shape, &[("sigma", &sigma)]);
    draw("_lognormal", key, (shape, dtype), &[&sigma], |key, p| {
        (gauss(key, shape, dtype) * parameter(&p[0], shape, dtype)).exp()
    })
}

/// Draws Pareto numbers: density `b / x^(b+1)` for `x ≥ 1`. `b` broadcasts to the shape.
///
/// # Panics
/// Panics if `dtype` is not a floating-point dtype, if `b` does not broadcast to the shape, or if
/// `key` is an array of keys.
#[track_caller]
pub fn pareto(key: &Key, b: impl IntoArray, shape: &[usize], dtype: DType) -> Array {
    expect_float("pareto", dtype);
    let b = real_parameter("pareto", b, dtype);
    expect_fits("pareto", shape, &[("b", &b)]);
    draw("_pareto", key, (shape, dtype), &[&b], |key, p| {
        let e = -(-between(key, shape, dtype, 0.0, 1.0)).log1p();
        (e / parameter(&p[0], shape, dtype)).exp()
    })
}

/// Draws Rayleigh numbers: density `(x / scale²) e^(-x² / (2 scale²))`. `scale` broadcasts to
/// the shape.
///
/// # Panics
/// Panics if `dtype` is not a floating-point dtype, if `scale` does not broadcast to the shape,
/// or if `key` is an array of keys.
#[track_caller]
pub fn rayleigh(key: &Key, scale: impl IntoArray, shape: &[usize], dtype: DType) -> Array {
    expect_float("rayleigh", dtype);
    let scale = real_parameter("rayleigh", scale, dtype);
    expect_fits("rayleigh", shape, &[("scale", &scale)]);
    draw("_rayleigh", key, (shape, dtype), &[&scale], |key, p| {
        let wide = promote_types(dtype, DType::F32);
        // A number of 0 stands for the numbers up to the next one.
        let u = between(key, shape, wide, 0.0, 1.0).maximum(finfo(wide).eps / 2.0);
        parameter(&p[0], shape, dtype) * (u.log() * -2.0).sqrt().astype(dtype)
    })
}

/// Draws Weibull numbers with the cumulative distribution `1 - e^-((x / scale)^concentration)`.
/// Both parameters broadcast to the shape.
///
/// # Panics
/// Panics if `dtype` is not a floating-point dtype, if a parameter does not broadcast to the
/// shape, or if `key` is an array of keys.
#[track_caller]
pub fn weibull_min(
    key: &Key,
    scale: impl IntoArray,
    concentration: impl IntoArray,
    shape: &[usize],
    dtype: DType,
) -> Array {
    expect_float("weibull_min", dtype);
    let scale = real_parameter("weibull_min", scale, dtype);
    let concentration = real_parameter("weibull_min", concentration, dtype);
    let parameters = [("scale", &scale), ("concentration", &concentration)];
    expect_fits("weibull_min", shape, &parameters);
    draw(
        "_weibull_min",
        key,
        (shape, dtype),
        &[&scale, &concentration],
        |key, p| {
            let e = -(-between(key, shape, dtype, 0.0, 1.0)).log1p();
            e.lax_pow(1.0 / parameter(&p[1], shape, dtype)) * parameter(&p[0], shape, dtype)
        },
    )
}

/// Draws triangular numbers from `left` to `right` with the peak at `mode`. The parameters
/// broadcast to the shape.
///
/// # Panics
/// Panics if `dtype` is not a floating-point dtype, if a parameter does not broadcast to the
/// shape, or if `key` is an array of keys.
#[track_caller]
pub fn triangular(
    key: &Key,
    left: impl IntoArray,
    mode: impl IntoArray,
    right: impl IntoArray,
    shape: &[usize],
    dtype: DType,
) -> Array {
    expect_float("triangular", dtype);
    let left = real_parameter("triangular", left, dtype);
    let mode = real_parameter("triangular", mode, dtype);
    let right = real_parameter("triangular", right, dtype);
    let parameters = [("left", &left), ("mode", &mode), ("right", &right)];
    expect_fits("triangular", shape, &parameters);
    draw(
        "_triangular",
        key,
        (shape, dtype),
        &[&left, &mode, &right],
        |key, p| {
            let at = |i: usize| parameter(&p[i], shape, dtype);
            let (left, mode, right) = (at(0), at(1), at(2));
            let width = &right - &left;
            let u = between(key, shape, dtype, 0.0, 1.0);
            let rising = &left + (&u * &width * (&mode - &left)).sqrt();
            let rest = 1.0 - &u;
            let falling = &right - (rest * &width * (&right - &mode)).sqrt();
            where_(u.lt((&mode - &left) / &width), rising, falling)
        },
    )
}

/// Draws Maxwell numbers of either sign, multiplied by `scale` and shifted by `loc`: density
/// proportional to `((x - loc) / scale)² e^(-((x - loc) / scale)² / 2)`.
///
/// The result has the axes of `shape`, followed by the broadcast axes of `loc` and `scale`, as in
/// JAX. If `shape` is empty, the parameters' axes appear twice.
///
/// # Panics
/// Panics if `dtype` is not a floating-point dtype, if the parameters do not broadcast together,
/// or if `key` is an array of keys.
#[track_caller]
pub fn double_sided_maxwell(
    key: &Key,
    loc: impl IntoArray,
    scale: impl IntoArray,
    shape: &[usize],
    dtype: DType,
) -> Array {
    expect_float("double_sided_maxwell", dtype);
    let (loc, scale) = (
        real_parameter("double_sided_maxwell", loc, dtype),
        real_parameter("double_sided_maxwell", scale, dtype),
    );
    let together = operands::common_shape("double_sided_maxwell", &[&loc, &scale]);
    let front = if shape.is_empty() { &together } else { shape };
    let shape: Dims = front.iter().chain(&together).copied().collect();
    draw(
        "_double_sided_maxwell",
        key,
        (&shape, dtype),
        &[&loc, &scale],
        |key, p| {
            let [lengths, signs] = key.split_into();
            let x = maxwell(&lengths, &shape, dtype);
            super::rademacher(&signs, &shape, dtype) * x * &p[1] + &p[0]
        },
    )
}

/// Draws inverse Gaussian (Wald) numbers with scale 1: density
/// `e^(-(x - mean)² / (2 mean² x)) / √(2 π x³)`. `mean` broadcasts to the shape.
///
/// ```no_run
/// use ramie_core::{DType, random};
/// let x = random::wald(&random::key(0), 2.0, &[100], DType::F32);
/// assert!(x.to_vec::<f32>().iter().all(|v| *v > 0.0));
/// ```
///
/// # Panics
/// Panics if `dtype` is not a floating-point dtype, if `mean` does not broadcast to the shape, or
/// if `key` is an array of keys.
#[track_caller]
pub fn wald(key: &Key, mean: impl IntoArray, shape: &[usize], dtype: DType) -> Array {
    expect_float("wald", dtype);
    let mean = real_parameter("wald", mean, dtype);
    expect_fits("wald", shape, &[("mean", &mean)]);
    draw("_wald", key, (shape, dtype), &[&mean], |key, p| {
        let [first, second] = key.split_into();
        let mean = parameter(&p[0], shape, dtype);
        let y = gauss(&first, shape, dtype).integer_pow(2);
        let z = between(&second, shape, dtype, 0.0, 1.0);
        let squared = mean.integer_pow(2);
        let fourfold = 4.0 * &mean;
        let root = (fourfold * &y + &squared * y.integer_pow(2)).sqrt();
        let x = &mean + &squared * &y / 2.0 - &mean / 2.0 * root;
        where_(z.le(&mean / (&mean + &x)), &x, &squared / &x)
    })
}
