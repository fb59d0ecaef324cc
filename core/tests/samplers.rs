//! Distributions with parameters and the device's generators, against JAX.

#[path = "../../tests/common/draws.rs"]
mod draws;

use draws::{Golden, distance, dtype_of, shape_of};
use ramie_core::prim::random::{RngAlgorithm, rng_bit_generator};
use ramie_core::random::{self, Key, KeyImpl};
use ramie_core::{Array, DType, concatenate, jit, vmap};
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

/// The draw of a row.
fn draw(row: &Value) -> Option<Array> {
    let key = key_of(row);
    let (shape, dtype) = (shape_of(row), dtype_of(row));
    let p = |i: usize| parameter(&row["args"][i], dtype);
    let word = |i: usize| row["args"][i].as_u64().expect("a word") as u32;
    let data = |key: &Key| random::key_data(key).clone();
    Some(match row["fn"].as_str().expect("a name") {
        "wald" => random::wald(&key, p(0), &shape, dtype),
        "double_sided_maxwell" => random::double_sided_maxwell(&key, p(0), p(1), &shape, dtype),
        "key" => data(&random::key_with(word(0), generator(row))),
        "split" => data(&key.split_array(&shape)),
        "fold_in" => data(&key.fold_in(word(0))),
        "bits" => random::bits(&key, &shape, dtype),
        "normal" => random::normal(&key, &shape, dtype),
        "bits_of_each" => {
            let keys = key.split_array(&[3]);
            vmap(|k: Key| random::bits(&k, &[4], DType::U32))(keys)
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
        _ => return None,
    })
}

/// The largest difference of two arrays of floats, relative to the second;
/// not-a-numbers and infinities must be the same.
fn relative(got: &Array, want: &Array) -> f64 {
    let numbers = |x: &Array| x.astype(DType::F64).to_vec::<f64>();
    let pairs = numbers(got).into_iter().zip(numbers(want));
    pairs
        .map(|(a, b)| match a == b || (a.is_nan() && b.is_nan()) {
            true => 0.0,
            false => (a - b).abs() / b.abs().max(1e-30),
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
        let Some(got) = draw(row) else { continue };
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
        let far = match want.dtype().is_float() {
            true => relative(&got, &want),
            false => distance(&got, &want) as f64,
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
