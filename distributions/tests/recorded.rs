//! Values, divergences, samples and derivatives recorded from Distrax and TensorFlow Probability;
//! `tests/golden/distributions.py` describes them.

use ramie_core::dtypes::Scalar;
use ramie_core::{Array, DType, grad, jit, random, vmap};
use ramie_distributions::*;
use ramie_testing::{golden, numbers, panic_message};
use serde_json::Value;

/// The largest difference from a recorded number, relative to numbers of magnitude 1 and more.
const TOLERANCE: f64 = 2e-5;

fn sizes(of: &Value) -> Vec<usize> {
    let sizes = of.as_array().expect("a shape").iter();
    sizes
        .map(|n| n.as_u64().expect("a size") as usize)
        .collect()
}

/// A recorded array.
fn array(of: &Value) -> Array {
    let name = of["dtype"].as_str().expect("a type");
    let dtype = DType::ALL.into_iter().find(|d| d.numpy_name() == name);
    let dtype = dtype.expect("a type");
    let bytes = of["values"]
        .as_array()
        .expect("values")
        .iter()
        .flat_map(|v| {
            let number = match v.as_str() {
                Some(text) => text.parse().expect("a number that is not finite"),
                None => v.as_f64().expect("a number"),
            };
            Scalar::Float(number).to_bytes(dtype)
        });
    let bytes: Vec<u8> = bytes.collect();
    Array::try_from_bytes(&bytes, &sizes(&of["shape"]), dtype).expect("an array")
}

fn arrays(of: &Value) -> Vec<Array> {
    of.as_array().expect("arrays").iter().map(array).collect()
}

/// Compares with a recorded array. Returns the largest difference.
#[track_caller]
fn assert_close(label: &str, got: &Array, want: &Value) -> f64 {
    let want = array(want);
    assert_eq!(got.shape(), want.shape(), "{label}");
    assert_eq!(got.dtype(), want.dtype(), "{label}");
    let mut largest = 0.0f64;
    for (g, w) in numbers::to_f64(got).into_iter().zip(numbers::to_f64(&want)) {
        let apart = if g == w || g.is_nan() && w.is_nan() {
            0.0
        } else {
            (g - w).abs() / w.abs().max(1.0)
        };
        assert!(apart <= TOLERANCE, "{label}: is {got}, expected {want}");
        largest = largest.max(apart);
    }
    largest
}

/// Compares everything that is recorded of a distribution, which `make` creates. Returns the largest
/// difference.
fn check<D: KlDivergence>(row: &Value, make: impl Fn(&[Array]) -> D + Copy + Send + Sync) -> f64 {
    let label = |what: &str| format!("{} {}: {what}", row["op"], row["seed"]);
    let mut largest = without_divergence(row, make);
    if !row["kl"].is_null() {
        let divergence = |(p, q): (Vec<Array>, Vec<Array>)| make(&p).kl_divergence(&make(&q));
        let got = jit(divergence)((arrays(&row["inputs"]), arrays(&row["other"])));
        largest = largest.max(assert_close(&label("kl"), &got, &row["kl"]));
    }
    largest
}

/// Same as [`check`], for distributions without divergences.
fn without_divergence<D: Distribution>(
    row: &Value,
    make: impl Fn(&[Array]) -> D + Copy + Send + Sync,
) -> f64 {
    let label = |what: &str| format!("{} {}: {what}", row["op"], row["seed"]);
    let (inputs, value) = (arrays(&row["inputs"]), array(&row["value"]));
    let (key, shape) = (
        random::key(row["seed"].as_u64().expect("a seed")),
        sizes(&row["shape"]),
    );
    let methods: [(&str, fn(&D) -> Array); 5] = [
        ("entropy", D::entropy),
        ("mean", D::mean),
        ("mode", D::mode),
        ("variance", D::variance),
        ("stddev", D::stddev),
    ];
    let recorded = |(name, _): &&(&str, fn(&D) -> Array)| !row[*name].is_null();
    // A traced distribution is a result of one compiled function and an argument of another.
    let d = jit(|inputs: Vec<Array>| make(&inputs))(inputs.clone());
    let (results, sample, with_sample) = jit(|(d, value, key): (D, Array, random::Key)| {
        let own = methods
            .iter()
            .filter(recorded)
            .map(|(_, method)| method(&d));
        let results: Vec<Array> = std::iter::once(d.log_prob(&value)).chain(own).collect();
        (
            results,
            d.sample(&key, &shape),
            d.sample_and_log_prob(&key, &shape),
        )
    })((d.clone(), value.clone(), key.clone()));
    let names = std::iter::once("log_prob").chain(methods.iter().filter(recorded).map(|m| m.0));
    let mut largest = 0.0f64;
    let mut compare = |what: &str, got: &Array, want: &Value| {
        largest = largest.max(assert_close(&label(what), got, want));
    };
    for (name, got) in names.zip(&results) {
        compare(name, got, &row[name]);
    }
    compare("sample", &sample, &row["sample"]);
    compare("sample of both", &with_sample.0, &row["sample"]);
    compare(
        "log_prob_of_sample",
        &with_sample.1,
        &row["log_prob_of_sample"],
    );
    assert_eq!(
        [shape.clone(), d.batch_shape(), d.event_shape()].concat(),
        sample.shape()
    );
    assert_eq!(d.dtype(), sample.dtype(), "{}", label("dtype"));
    let total = |inputs: Vec<Array>| make(&inputs).log_prob(&value).sum();
    let drawn = |inputs: Vec<Array>| make(&inputs).sample(&key, &shape).cos().sum();
    if !row["d_log_prob"].is_null() {
        let got = jit(grad(total))(inputs.clone());
        for (got, want) in got
            .iter()
            .zip(row["d_log_prob"].as_array().expect("arrays"))
        {
            compare("d_log_prob", got, want);
        }
    }
    if !row["d_sample"].is_null() {
        let got = jit(grad(drawn))(inputs.clone());
        for (got, want) in got.iter().zip(row["d_sample"].as_array().expect("arrays")) {
            compare("d_sample", got, want);
        }
    }
    for (name, method) in methods.iter().filter(|method| !recorded(method)) {
        let message = panic_message(|| method(&d));
        assert!(
            message.contains(d.name()) && message.contains("help: "),
            "{name}: {message}"
        );
    }
    largest
}

/// Compares a row. Returns the largest difference.
fn compare(row: &Value) -> f64 {
    let affine = || ScalarAffine::new(0.5, -2.0);
    match row["op"].as_str().expect("a name") {
        "Normal" => check(row, |p| Normal::new(&p[0], &p[1])),
        "Laplace" => check(row, |p| Laplace::new(&p[0], &p[1])),
        "LogNormal" => check(row, |p| LogNormal::new(&p[0], &p[1])),
        "Uniform" => check(row, |p| Uniform::new(&p[0], &p[1])),
        "Bernoulli.logits" => check(row, |p| Bernoulli::from_logits(&p[0])),
        "Bernoulli.probs" => check(row, |p| Bernoulli::from_probs(&p[0])),
        "Categorical.logits" => check(row, |p| Categorical::from_logits(&p[0])),
        "Categorical.probs" => check(row, |p| Categorical::from_probs(&p[0])),
        "OneHotCategorical.logits" => check(row, |p| OneHotCategorical::from_logits(&p[0])),
        "OneHotCategorical.probs" => check(row, |p| OneHotCategorical::from_probs(&p[0])),
        "Beta" => check(row, |p| Beta::new(&p[0], &p[1])),
        "Gamma" => check(row, |p| Gamma::new(&p[0], &p[1])),
        "Dirichlet" => check(row, |p| Dirichlet::new(&p[0])),
        "Exponential" => check(row, |p| Exponential::new(&p[0])),
        "Poisson" => check(row, |p| Poisson::new(&p[0])),
        "MultivariateNormalDiag" => check(row, |p| MultivariateNormalDiag::new(&p[0], &p[1])),
        "MultivariateNormalTri" => check(row, |p| MultivariateNormalTri::new(&p[0], &p[1])),
        "Independent" => check(row, |p| Independent::new(Normal::new(&p[0], &p[1]), 1)),
        "Transformed.affine" => without_divergence(row, |p| {
            Transformed::new(Normal::new(&p[0], &p[1]), affine())
        }),
        "Transformed.tanh" => check(row, |p| Transformed::new(Normal::new(&p[0], &p[1]), Tanh)),
        "Transformed.sigmoid" => check(row, |p| {
            Transformed::new(Normal::new(&p[0], &p[1]), Sigmoid)
        }),
        "Transformed.wider" => without_divergence(row, |p| {
            Transformed::new(Normal::new(0.0, 1.0), ScalarAffine::new(&p[0], &p[1]))
        }),
        "Transformed.block" => without_divergence(row, |p| {
            let squash = Chain::new(ScalarAffine::new(1.0, 3.0), Tanh);
            let normal = MultivariateNormalDiag::new(&p[0], &p[1]);
            Transformed::new(normal, Block::new(squash, 1))
        }),
        "MixtureSameFamily" => without_divergence(row, |p| {
            let mixture = Categorical::from_logits(&p[0]);
            MixtureSameFamily::new(mixture, Normal::new(&p[1], &p[2]))
        }),
        other => panic!("{other} is unknown"),
    }
}

#[test]
fn distributions_agree_with_distrax() {
    let index: Value = golden::json("distributions.json");
    let rows = index["rows"].as_array().expect("rows");
    assert!(rows.len() > 100, "only {} rows", rows.len());
    let mut largest = std::collections::BTreeMap::<&str, f64>::new();
    for row in rows {
        let entry = largest
            .entry(row["op"].as_str().expect("a name"))
            .or_default();
        *entry = entry.max(compare(row));
    }
    println!("{largest:?}");
}

#[test]
fn a_batch_equals_single_distributions() {
    let (loc, scale) = (
        Array::from([[0.0f32, 1.0], [2.0, 3.0]]),
        Array::from([1.0f32, 2.0]),
    );
    let made = vmap(|(loc, scale): (Array, Array)| Normal::new(loc, scale))((loc.clone(), scale));
    // Parameters have the batch shape, so that a mapped axis comes first in all of them.
    assert_eq!(made.batch_shape(), [2, 2]);
    let values = vmap(|d: Normal| d.log_prob(&Array::from(0.5f32)))(made.clone());
    let singly = Normal::new(&loc, Array::from([[1.0f32], [2.0]])).log_prob(&Array::from(0.5f32));
    assert_eq!(values.to_vec::<f32>(), singly.to_vec::<f32>());
}
