//! Distributions of counts: Poisson, binomial and multinomial.

use super::approximate::{self, SamplingMethod};
use super::uniform::between;
use super::{Key, draw, expect_fits, expect_float, float_parameter, real_parameter};
use crate::lax::{scan, while_loop};
use crate::{Array, DType, IntoArray, where_};

/// Maximum number of loop iterations, as in JAX.
const MOST: i32 = i32::MAX;

/// Draws Poisson counts with mean `lam`, which broadcasts to the shape, as integers of `dtype`
/// (`jax.random.poisson`). Pass `lam.shape()` to draw one count for each mean. Uses Knuth's
/// products of uniform floats for `lam` below 10 and Hörmann's transformed rejection above, in
/// `f32`.
///
/// ```no_run
/// use ramie_core::{DType, random};
/// let x = random::poisson(&random::key(0), 4.0, &[100], DType::I32);
/// assert!(x.to_vec::<i32>().iter().all(|v| *v >= 0));
/// ```
///
/// # Panics
/// Panics if `dtype` is not an integer dtype, if `lam` does not broadcast to the shape, or if
/// `key` is an array of keys.
#[track_caller]
pub fn poisson(key: &Key, lam: impl IntoArray, shape: &[usize], dtype: DType) -> Array {
    poisson_with(key, lam, shape, dtype, SamplingMethod::Exact)
}

/// Same as [`poisson`], with the given algorithm (`method=` in JAX). `Approximate` draws in `f64` if
/// `lam` is `f64` or `dtype` has 64 bits; its total variation distance from the distribution is
/// below 1e-4.
///
/// ```no_run
/// use ramie_core::{DType, random};
/// let method = random::SamplingMethod::Approximate;
/// let x = random::poisson_with(&random::key(0), 400.0, &[100], DType::I32, method);
/// assert!(x.to_vec::<i32>().iter().all(|v| *v > 200));
/// ```
///
/// # Panics
/// Panics in the same cases as [`poisson`].
#[track_caller]
pub fn poisson_with(
    key: &Key,
    lam: impl IntoArray,
    shape: &[usize],
    dtype: DType,
    method: SamplingMethod,
) -> Array {
    assert!(
        dtype.is_integer(),
        "poisson: expects an integer dtype, got {dtype}\n  help: draw I32 and convert"
    );
    let lam = lam.into_array();
    let float = match method {
        SamplingMethod::Approximate if lam.dtype() == DType::F64 => DType::F64,
        _ => DType::F32,
    };
    let lam = real_parameter("poisson", lam, float);
    expect_fits("poisson", shape, &[("lam", &lam)]);
    draw(
        "_poisson",
        key,
        (shape, dtype, method),
        &[&lam],
        |key, p| {
            if method == SamplingMethod::Approximate {
                return approximate::poisson(key, &p[0], shape, dtype);
            }
            let lam = p[0].broadcast_to(shape);
            let small = lam.is_nan().bitwise_or(lam.lt(10.0));
            let counted = poisson_knuth(key, &where_(&small, &lam, 0.0), shape);
            let accepted = poisson_rejection(key, &where_(&small, 1e5, &lam), shape);
            let drawn = where_(&small, counted.astype(dtype), accepted.astype(dtype));
            where_(lam.eq(0.0), 0, drawn)
        },
    )
}

/// Counts how many uniform floats can be multiplied until their product is below `e^-lam`.
fn poisson_knuth(key: &Key, lam: &Array, shape: &[usize]) -> Array {
    let goal = -lam;
    let more = |(i, _, _, product): (Array, Array, Key, Array)| {
        product.gt(&goal).any().bitwise_and(i.lt(MOST))
    };
    let step = |(i, count, key, product): (Array, Array, Key, Array)| {
        let [key, sub] = key.split_into();
        let count = where_(product.gt(&goal), &count + 1, &count);
        let u = between(&sub, shape, DType::F32, 0.0, 1.0);
        (i + 1, count, key, product + u.log())
    };
    let zero = Array::scalar(0, DType::I32);
    let none = Array::zeros(shape, DType::I32);
    let one = Array::zeros(shape, DType::F32);
    while_loop(more, step, (zero, none, key.clone(), one)).1 - 1
}

/// Draws by rejection: Hörmann, "The transformed rejection method for generating Poisson random
/// variables" (1993).
fn poisson_rejection(key: &Key, lam: &Array, shape: &[usize]) -> Array {
    let log_lam = lam.log();
    let b = 0.931 + 2.53 * lam.sqrt();
    let a = -0.059 + 0.02483 * &b;
    let inverse = 1.1239 + 1.1328 / (&b - 3.4);
    let squeeze = 0.9277 - 3.6224 / (&b - 2.0);
    let more = |(i, _, accepted, _): (Array, Array, Array, Key)| {
        accepted.logical_not().any().bitwise_and(i.lt(MOST))
    };
    let step = |(i, out, accepted, key): (Array, Array, Array, Key)| {
        let [key, first, second] = key.split_into();
        let u = between(&first, shape, DType::F32, 0.0, 1.0) - 0.5;
        let v = between(&second, shape, DType::F32, 0.0, 1.0);
        let us = 0.5 - u.abs();
        let slope = 2.0 * &a / &us + &b;
        let k = (slope * &u + lam + 0.43).floor();
        let s = (&v * &inverse / (&a / (&us * &us) + &b)).log();
        let t = -lam + &k * &log_lam - (&k + 1.0).lgamma();
        let inside = us.ge(0.07).bitwise_and(v.le(&squeeze));
        let outside = k.lt(0.0).bitwise_or(us.lt(0.013).bitwise_and(v.gt(&us)));
        let accept = inside.bitwise_or(outside.logical_not().bitwise_and(s.le(t)));
        let out = where_(&accept, k, out);
        (i + 1, out, accepted.bitwise_or(accept), key)
    };
    let zero = Array::scalar(0, DType::I32);
    let none = Array::full(shape, -1.0, DType::F32);
    let nowhere = Array::full(shape, false, DType::Bool);
    while_loop(more, step, (zero, none, nowhere, key.clone())).1
}

/// Draws binomial counts, as floats: the number of successes of `n` trials with probability
/// `p`. Both broadcast to the shape (`jax.random.binomial`). The result is NaN where `n` is
/// negative or `p` is not a probability. Uses inversion if at most ten successes are expected,
/// and Hörmann's transformed rejection otherwise.
///
/// ```no_run
/// use ramie_core::{DType, random};
/// let heads = random::binomial(&random::key(0), 10.0, 0.5, &[100], DType::F32);
/// assert!(heads.to_vec::<f32>().iter().all(|v| (0.0..=10.0).contains(v)));
/// ```
///
/// # Panics
/// Panics if `dtype` is not a floating-point dtype, if a parameter does not broadcast to the
/// shape, or if `key` is an array of keys.
#[track_caller]
pub fn binomial(
    key: &Key,
    n: impl IntoArray,
    p: impl IntoArray,
    shape: &[usize],
    dtype: DType,
) -> Array {
    expect_float("binomial", dtype);
    let p = probabilities("binomial", p);
    let n = real_parameter("binomial", n, p.dtype());
    expect_fits("binomial", shape, &[("n", &n), ("p", &p)]);
    draw("_binomial", key, (shape, dtype), &[&n, &p], |key, args| {
        binomial_counts(key, &args[0], &args[1], shape).astype(dtype)
    })
}

/// Converts probabilities to a dtype that can represent counts. With narrow floats, the samplers'
/// loops would not terminate.
#[track_caller]
fn probabilities(operation: &str, p: impl IntoArray) -> Array {
    let p = float_parameter(operation, p);
    if p.dtype().is_narrow() {
        p.astype(DType::F32)
    } else {
        p
    }
}

/// Draws [`binomial`] counts within a sampler's program, in the dtype of the probabilities.
fn binomial_counts(key: &Key, n: &Array, p: &Array, shape: &[usize]) -> Array {
    let (n, p) = (n.broadcast_to(shape), p.broadcast_to(shape));
    let rare = p.lt(0.5);
    let q = where_(&rare, &p, 1.0 - &p);
    let no_count = n.is_nan().bitwise_or(n.lt(0.0));
    let endless = n.is_inf();
    let (no_number, negative) = (q.is_nan(), q.lt(0.0));
    let invalid_q = no_number.bitwise_or(&negative);
    let q = where_(&invalid_q, 0.01, q);
    // Rejection never accepts infinite trials, whose result is known anyway.
    let few = no_count.bitwise_or(&endless).bitwise_or((&n * &q).le(10.0));
    let n = n.floor();

    let trials = where_(few.bitwise_and(endless.logical_not()), &n, 0.0);
    let by_inversion = inversion(key, &trials, &q, shape);
    let many = (where_(&few, 1e4, &n), where_(&few, 0.5, &q));
    let by_rejection = rejection(key, &many.0, &many.1, shape);
    let drawn = where_(&few, by_inversion, by_rejection);

    let invalid = invalid_q.bitwise_or(&no_count);
    let drawn = where_(&invalid, f64::NAN, drawn);
    let unbounded = endless.bitwise_and(invalid.logical_not());
    let drawn = where_(&unbounded, f64::INFINITY, drawn);
    let as_it_is = rare
        .bitwise_or(no_count)
        .bitwise_or(no_number)
        .bitwise_or(endless);
    where_(&as_it_is, &drawn, &n - &drawn)
}

/// Counts how many geometric waiting times fit into `n` trials.
fn inversion(key: &Key, n: &Array, p: &Array, shape: &[usize]) -> Array {
    let failure = (-p).log1p();
    let more = |(_, waited, _): (Array, Array, Key)| waited.le(n).any();
    let step = |(count, waited, key): (Array, Array, Key)| {
        let [sub, key] = key.split_into();
        let count = where_(waited.le(n), &count + 1.0, &count);
        let u = between(&sub, shape, p.dtype(), 0.0, 1.0);
        // If `p` is -0.0, `failure` is +0.0 instead of -0.0.
        let wait = (u.log() / &failure).abs().ceil();
        (count, waited + wait, key)
    };
    let zero = Array::zeros(shape, p.dtype());
    while_loop(more, step, (zero.clone(), zero, key.clone())).0 - 1.0
}

/// Draws by rejection: Hörmann, "The generation of binomial random variates" (1993), algorithm
/// BTRS.
fn rejection(key: &Key, n: &Array, p: &Array, shape: &[usize]) -> Array {
    let deviation = (n * p * (1.0 - p)).sqrt();
    let b = 1.15 + 2.53 * &deviation;
    let a = -0.0873 + 0.0248 * &b + 0.01 * p;
    let c = n * p + 0.5;
    let squeeze = 0.92 - 4.2 / &b;
    let r = p / (1.0 - p);
    let alpha = (2.83 + 5.1 / &b) * &deviation;
    let m = ((n + 1.0) * p).floor();
    let more = |(_, accepted, _): (Array, Array, Key)| accepted.logical_not().any();
    let step = |(out, accepted, key): (Array, Array, Key)| {
        let [key, first, second] = key.split_into();
        let u = between(&first, shape, p.dtype(), 0.0, 1.0) - 0.5;
        let v = between(&second, shape, p.dtype(), 0.0, 1.0);
        let us = 0.5 - u.abs();
        let inside = us.ge(0.07).bitwise_and(v.le(&squeeze));
        let slope = 2.0 * &a / &us + &b;
        let k = (slope * &u + &c).floor();
        let outside = k.lt(0.0).bitwise_or(k.gt(n));
        let v = (v * &alpha / (&a / (&us * &us) + &b)).log();
        let bound = (&m + 0.5) * ((&m + 1.0) / (&r * (n - &m + 1.0))).log()
            + (n + 1.0) * ((n - &m + 1.0) / (n - &k + 1.0)).log()
            + (&k + 0.5) * (&r * (n - &k + 1.0) / (&k + 1.0)).log()
            + stirling_tail(&m)
            + stirling_tail(&(n - &m))
            - stirling_tail(&k)
            - stirling_tail(&(n - &k));
        let accept = inside.bitwise_or(outside.logical_not().bitwise_and(v.le(bound)));
        let out = where_(&accept, k, out);
        (out, accepted.bitwise_or(accept), key)
    };
    let none = Array::full(shape, -1.0, p.dtype());
    let nowhere = Array::full(shape, false, DType::Bool);
    while_loop(more, step, (none, nowhere, key.clone())).0
}

/// Computes the remainder of Stirling's formula for the logarithm of `k!`, from a table up to 9
/// and a series beyond.
fn stirling_tail(k: &Array) -> Array {
    const TAILS: [f64; 10] = [
        0.081_061_466_795_327_2,
        0.041_340_695_955_409_2,
        0.027_677_925_684_998_3,
        0.020_790_672_103_765_09,
        0.016_644_691_189_821_1,
        0.013_876_128_823_070_7,
        0.011_896_709_945_891_7,
        0.010_411_265_261_972,
        0.009_255_462_182_712_73,
        0.008_330_563_433_362_87,
    ];
    let small = k.le(9.0);
    let k = k.clip(0.0, 9.0);
    let square = (&k + 1.0) * (&k + 1.0);
    let second = 1.0 / 360.0 - 1.0 / 1260.0 / &square;
    let first = 1.0 / 12.0 - second / &square;
    let series = first / (&k + 1.0);
    let whole = k.floor();
    let table = TAILS
        .iter()
        .enumerate()
        .fold(series.zeros_like(), |sum, (i, tail)| {
            where_(whole.eq(i as f64), *tail, sum)
        });
    where_(&small, table, series)
}

/// Draws multinomial counts, as floats: the number of `n` trials that fall into each of the
/// categories along the last axis of `p`, which contains the probabilities. `n` broadcasts to the
/// other axes of `p`, which are also axes of the result.
///
/// ```no_run
/// use ramie_core::{Array, DType, random};
/// let p = Array::from([0.2f32, 0.3, 0.5]);
/// let counts = random::multinomial(&random::key(0), 20.0, &p, DType::F32);
/// assert_eq!(counts.sum().item::<f32>(), 20.0);
/// ```
///
/// # Panics
/// Panics if `dtype` is not a floating-point dtype, if `p` is 0-d, if `n` does not broadcast to
/// its other axes, or if `key` is an array of keys.
#[track_caller]
pub fn multinomial(key: &Key, n: impl IntoArray, p: impl IntoArray, dtype: DType) -> Array {
    expect_float("multinomial", dtype);
    let p = probabilities("multinomial", p);
    let n = real_parameter("multinomial", n, p.dtype());
    let Some((&categories, batch)) = p.shape().split_last() else {
        panic!(
            "multinomial: expects probabilities along an axis, got p {}\n  help: pass them as a \
             1-d array",
            p.describe()
        );
    };
    expect_fits("multinomial", batch, &[("n", &n)]);
    draw("_multinomial", key, dtype, &[&n, &p], |key, args| {
        let n = args[0].broadcast_to(batch);
        let p = args[1].move_axis(-1, 0);
        let rest = p.cumsum_reversed(0);
        let ratios = &p / where_(rest.eq(0.0), 1.0, &rest);
        let keys = key.split_array(&[categories]);
        let step = |left: Array, (ratio, key): (Array, Key)| {
            let ratio = ratio.clip(0.0, 1.0);
            let count = binomial_counts(&key, &left, &ratio, batch);
            (left - &count, count)
        };
        let (_, counts) = scan(step, n, (ratios, keys));
        counts.move_axis(0, -1).astype(dtype)
    })
}
