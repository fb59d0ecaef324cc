//! Distributions with parameters and the device's generators, against JAX.

use ramie_core::prim::random::{RngAlgorithm, rng_bit_generator};
use ramie_core::random::{self, Key, KeyImpl};
use ramie_core::{Array, DType, concatenate, grad, jit, vmap};
use ramie_testing::draws::{Golden, distance, dtype_of, relative_to_largest, shape_of};
use serde_json::Value;
use std::collections::BTreeMap;

/// A parameter: a number, or nested lists of numbers.
fn parameter(value: &Value, dtype: DType) -> Array {
    fn flatten(value: &Value, into: &mut Vec<f64>) -> Vec<usize> {
        match value {
            Value::Array(items) => {
                let inner = items.iter().map(|v| flatten(v, into)).last();
                let inner = inner.unwrap_or_default();
                std::iter::once(items.len()).chain(inner).collect()
            }
            Value::String(text) => {
                into.push(text.parse().expect("a number"));
                Vec::new()
            }
            number => {
                into.push(number.as_f64().expect("a number"));
                Vec::new()
            }
        }
    }
    let mut values = Vec::new();
    let shape = flatten(value, &mut values);
    Array::from(values).reshape(&shape).astype(dtype)
}

fn generator(row: &Value) -> KeyImpl {
    let name = row["impl"].as_str().expect("a name");
    let named = KeyImpl::ALL.into_iter().find(|g| g.name() == name);
    named.expect("a generator")
}

fn key_of(row: &Value) -> Key {
    let words = row["key"].as_array().expect("a key").iter();
    let words: Vec<u32> = words.map(|w| w.as_u64().expect("a word") as u32).collect();
    random::wrap_key_data_with(Array::from(words), generator(row))
}

fn word_of(value: &Value) -> usize {
    value.as_f64().expect("a number") as usize
}

/// The draw of a row.
fn draw(row: &Value) -> Array {
    let key = key_of(row);
    let (shape, dtype) = (shape_of(row), dtype_of(row));
    let p = |i: usize| parameter(&row["args"][i], dtype);
    let word = |i: usize| row["args"][i].as_u64().expect("a word") as u32;
    let data = |key: &Key| random::key_data(key).clone();
    match row["fn"].as_str().expect("a name") {
        "wald" => random::wald(&key, p(0), &shape, dtype),
        "double_sided_maxwell" => random::double_sided_maxwell(&key, p(0), p(1), &shape, dtype),
        "gamma" => random::gamma(&key, p(0), &shape, dtype),
        "loggamma" => random::loggamma(&key, p(0), &shape, dtype),
        "beta" => random::beta(&key, p(0), p(1), &shape, dtype),
        "dirichlet" => random::dirichlet(&key, p(0), &shape, dtype),
        "chisquare" => random::chisquare(&key, p(0), &shape, dtype),
        "t" => random::t(&key, p(0), &shape, dtype),
        "f" => random::f(&key, p(0), p(1), &shape, dtype),
        "generalized_normal" => random::generalized_normal(&key, p(0), &shape, dtype),
        "ball" => random::ball(&key, word_of(&row["args"][0]), p(1), &shape, dtype),
        "binomial" => random::binomial(&key, p(0), p(1), &shape, dtype),
        "multinomial" => random::multinomial(&key, p(0), p(1), dtype),
        "poisson" => {
            let lam = parameter(&row["args"][0], DType::F32);
            random::poisson(&key, lam, &shape, dtype)
        }
        "key" => data(&random::key_with(word(0), generator(row))),
        "split" => data(&key.split_array(&shape)),
        "fold_in" => data(&key.fold_in(word(0))),
        "bits" => random::bits(&key, &shape, dtype),
        "normal" => random::normal(&key, &shape, dtype),
        "bits_of_each" => {
            let keys = key.split_array(&[3]);
            vmap(|k: Key| random::bits(&k, &shape, DType::U32))(keys)
        }
        "rng_bit_generator" => {
            let algorithm = match row["args"][0].as_str() {
                Some("THREE_FRY") => RngAlgorithm::ThreeFry,
                Some("PHILOX") => RngAlgorithm::Philox,
                _ => RngAlgorithm::Default,
            };
            let (after, bits) = rng_bit_generator(random::key_data(&key), &shape, dtype, algorithm);
            concatenate(&[&after, &bits], 0)
        }
        other => panic!("no sampler {other}"),
    }
}

/// The largest difference of two arrays of floats, relative to the second;
/// not-a-numbers and infinities must be the same.
fn relative(got: &Array, want: &Array) -> f64 {
    let numbers = |x: &Array| x.astype(DType::F64).to_vec::<f64>();
    let pairs = numbers(got).into_iter().zip(numbers(want));
    pairs
        .map(|(a, b)| {
            if a == b || (a.is_nan() && b.is_nan()) {
                0.0
            } else {
                (a - b).abs() / b.abs().max(1e-30)
            }
        })
        .fold(0.0, |far, d| {
            if d.is_nan() {
                f64::INFINITY
            } else {
                d.max(far)
            }
        })
}

#[test]
fn draws_are_those_of_jax() {
    let golden = Golden::open("samplers");
    let mut failures = Vec::new();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for row in &golden.rows {
        let got = draw(row);
        let want = golden.array(&row["output"]);
        *counts
            .entry(row["fn"].as_str().expect("a name"))
            .or_default() += 1;
        if (got.dtype(), got.shape()) != (want.dtype(), want.shape()) {
            failures.push(format!("{} instead of {}: {row}", got.aval(), want.aval()));
            continue;
        }
        let bound = match want.dtype() {
            DType::F64 => 1e-13,
            DType::F32 => 2e-5,
            DType::F16 => 4e-3,
            DType::BF16 => 3e-2,
            _ => 0.0,
        };
        let far = match want.dtype() {
            DType::F16 => relative_to_largest(&got, &want),
            dtype if dtype.is_float() => relative(&got, &want),
            _ => distance(&got, &want) as f64,
        };
        if far > bound {
            failures.push(format!("{far} apart: {row}\n  got {got}\n  want {want}"));
        }
    }
    let count = failures.len();
    assert!(
        failures.is_empty(),
        "{count} rows differ\n{}",
        failures.join("\n")
    );
    assert_eq!(counts.get("bits"), Some(&25));
}

#[test]
fn keys_of_every_generator_split_fold_and_map() {
    for generator in KeyImpl::ALL {
        let key = random::key_with(3, generator);
        assert_eq!(random::key_impl(&key), generator);
        let keys = key.split(3);
        assert!(keys.iter().all(|k| random::key_impl(k) == generator));
        let array = key.split_array(&[3]);
        for (i, k) in keys.iter().enumerate() {
            let apart = random::key_data(k);
            assert_eq!(
                distance(random::key_data(&array.get(i)), apart),
                0,
                "{generator}"
            );
        }
        assert_eq!(array.reshape(&[1, 3]).shape(), [1, 3]);
        assert_eq!(key.split_array(&[0]).shape(), [0]);
        let compiled = jit(|k: Key| random::bits(&k.fold_in(7), &[5], DType::U32))(key.clone());
        let eager = random::bits(&random::clone(&key).fold_in(7), &[5], DType::U32);
        assert_eq!(distance(&compiled, &eager), 0, "{generator}");
        let traced = jit(move |_: Array| random::key_with(3, generator))(Array::from(0.0f32));
        assert_eq!(
            distance(random::key_data(&traced), random::key_data(&key)),
            0
        );
        assert_ne!(
            random::key_data(&keys[0]).to_vec::<u32>(),
            random::key_data(&keys[1]).to_vec::<u32>()
        );
    }
}

/// How far the empirical distribution of draws is from a cumulative one (the
/// statistic of Kolmogorov and Smirnov).
fn kolmogorov(draws: &Array, cumulative: impl Fn(f64) -> f64) -> f64 {
    let mut x = draws.astype(DType::F64).to_vec::<f64>();
    x.sort_by(f64::total_cmp);
    let n = x.len() as f64;
    let gaps = x.iter().enumerate().map(|(i, v)| {
        let c = cumulative(*v);
        (c - i as f64 / n).abs().max((c - (i + 1) as f64 / n).abs())
    });
    gaps.fold(0.0, f64::max)
}

/// A right sampler exceeds the bound once in ten thousand seeds; one with
/// another parameter, or without its last correction, by far.
#[test]
fn distributions_are_what_they_are_called() {
    const N: usize = 4000;
    let bound = 2.23 / (N as f64).sqrt();
    let key = random::key(31);
    let f = DType::F64;
    let erf = |x: f64| Array::from(x).erf().item::<f64>();
    let normal = |x: f64| 0.5 * (1.0 + erf(x / 2f64.sqrt()));
    let within = |name: &str, far: f64| assert!(far < bound, "{name}: {far} above {bound}");
    within(
        "gamma(1)",
        kolmogorov(&random::gamma(&key, 1.0, &[N], f), |x| 1.0 - (-x).exp()),
    );
    within(
        "gamma(2)",
        kolmogorov(&random::gamma(&key, 2.0, &[N], f), |x| {
            1.0 - (1.0 + x) * (-x).exp()
        }),
    );
    within(
        "gamma(1/2)",
        kolmogorov(&random::gamma(&key, 0.5, &[N], f), |x| erf(x.sqrt())),
    );
    within(
        "beta(2, 1)",
        kolmogorov(&random::beta(&key, 2.0, 1.0, &[N], f), |x| x * x),
    );
    within(
        "chisquare(2)",
        kolmogorov(&random::chisquare(&key, 2.0, &[N], f), |x| {
            1.0 - (-x / 2.0).exp()
        }),
    );
    within(
        "t(2)",
        kolmogorov(&random::t(&key, 2.0, &[N], f), |x| {
            0.5 + x / (2.0 * (2.0 + x * x).sqrt())
        }),
    );
    within(
        "f(2, 4)",
        kolmogorov(&random::f(&key, 2.0, 4.0, &[N], f), |x| {
            1.0 - (1.0 + x / 2.0).powi(-2)
        }),
    );
    within(
        "normal by 2",
        kolmogorov(&random::generalized_normal(&key, 2.0, &[N], f), |x| {
            normal(x * 2f64.sqrt())
        }),
    );
    let inverse_gauss = |x: f64| {
        let r = (1.0 / x).sqrt();
        normal(r * (x - 1.0)) + 2f64.exp() * normal(-r * (x + 1.0))
    };
    within(
        "wald(1)",
        kolmogorov(&random::wald(&key, 1.0, &[N], f), inverse_gauss),
    );
    let disc = random::ball(&key, 2, 2.0, &[N], f);
    within("disc", kolmogorov(&disc.square().sum_over(-1), |r| r));
    // Counts: mean and variance, within five standard errors of the mean.
    for (name, x, mean, variance) in [
        (
            "poisson(4)",
            random::poisson(&key, 4.0, &[N], DType::I32),
            4.0,
            4.0,
        ),
        (
            "poisson(50)",
            random::poisson(&key, 50.0, &[N], DType::I32),
            50.0,
            50.0,
        ),
        (
            "binomial(20, 0.2)",
            random::binomial(&key, 20.0, 0.2, &[N], DType::F32),
            4.0,
            3.2,
        ),
        (
            "binomial(200, 0.7)",
            random::binomial(&key, 200.0, 0.7, &[N], DType::F32),
            140.0,
            42.0,
        ),
    ] {
        let x = x.astype(f);
        let got = x.mean().item::<f64>();
        let spread = (&x - got).square().mean().item::<f64>();
        let error = 5.0 * f64::sqrt(variance / N as f64);
        assert!((got - mean).abs() < error, "{name}: mean {got}");
        assert!(
            (spread / variance - 1.0).abs() < 0.12,
            "{name}: variance {spread}"
        );
    }
}

#[test]
fn samples_move_with_their_parameter() {
    // The cumulative distribution of gamma(1) is 1 - e^-x; sums of derivatives
    // are that of the mean, which is the parameter itself.
    let key = random::key(8);
    let mean = |a: Array| random::gamma(&random::key(8), a, &[4000], DType::F64).mean();
    let slope = grad(mean)(Array::from(3.0f64)).item::<f64>();
    assert!((slope - 1.0).abs() < 0.05, "{slope}");
    let logs = move |a: Array| random::loggamma(&key, a, &[4000], DType::F64).mean();
    let slope = grad(logs)(Array::from(3.0f64)).item::<f64>();
    let known = Array::from(1.0f64)
        .polygamma(Array::from(3.0f64))
        .item::<f64>();
    assert!((slope - known).abs() < 0.05, "{slope} {known}");
}

#[test]
fn keys_are_shown_as_in_jax() {
    let key = random::key_with(42, KeyImpl::Rbg);
    assert_eq!(
        key.to_string(),
        "Array((), dtype=key<rbg>) overlaying:\n[ 0 42  0 42]"
    );
    let keys = random::key(0).split_array(&[2]);
    assert_eq!(
        keys.to_string(),
        "Array((2,), dtype=key<fry>) overlaying:\n[[1797259609 2579123966]\n [ 928981903 3453687069]]"
    );
    assert_eq!(random::key_dtype(KeyImpl::UnsafeRbg), "key<urbg>");
}

#[test]
#[should_panic(expected = "expects key data u32[...,4] of rbg, got u32[2]")]
fn key_data_of_another_generator_is_refused() {
    random::wrap_key_data_with(Array::from([0u32, 1]), KeyImpl::Rbg);
}
