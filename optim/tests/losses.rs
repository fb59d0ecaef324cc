//! Losses and their gradients against Optax; `tests/golden/optim.py` made the
//! numbers.

use ramie_core::{Array, grad};
use ramie_optim::*;
use std::path::Path;

fn golden() -> serde_json::Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/golden/data/optim.json");
    let text = std::fs::read_to_string(path).expect("the file is in the repository");
    let mut all: serde_json::Value = serde_json::from_str(&text).expect("valid JSON");
    all["losses"].take()
}

fn numbers(value: &serde_json::Value) -> Vec<f32> {
    match value.as_array() {
        Some(list) => list.iter().flat_map(numbers).collect(),
        None => vec![value.as_f64().expect("a number") as f32],
    }
}

#[track_caller]
fn close(what: &str, got: &Array, expected: &serde_json::Value) {
    let (got, expected) = (got.to_vec::<f32>(), numbers(expected));
    assert_eq!(got.len(), expected.len(), "{what}");
    for (g, e) in got.iter().zip(&expected) {
        assert!(
            (g - e).abs() <= 1e-6 * (1.0 + e.abs()),
            "{what}: {got:?} instead of {expected:?}"
        );
    }
}

#[test]
fn values_and_gradients() {
    type Loss = fn(&Array, &Array) -> Array;
    let golden = golden();
    let array = |name: &str| Array::from_slice(&numbers(&golden[name]), &[3, 4]);
    let (logits, soft) = (array("logits"), array("soft"));
    let hard = Array::from([3i32, 1, 0]);
    let cases: [(&str, Loss, &Array); 5] = [
        ("softmax_cross_entropy", softmax_cross_entropy, &soft),
        (
            "softmax_cross_entropy_with_integer_labels",
            softmax_cross_entropy_with_integer_labels,
            &hard,
        ),
        (
            "sigmoid_binary_cross_entropy",
            sigmoid_binary_cross_entropy,
            &soft,
        ),
        ("squared_error", squared_error, &soft),
        ("l2_loss", l2_loss, &soft),
    ];
    for (name, loss, labels) in cases {
        close(name, &loss(&logits, labels), &golden["values"][name]);
        let gradient = grad(|x: Array| loss(&x, labels).sum())(logits.clone());
        close(name, &gradient, &golden["gradients"][name]);
    }
}

#[test]
fn labels_outside_the_classes() {
    let logits = Array::from([[1.0f32, 2.0], [1.0, 2.0], [1.0, 2.0], [1.0, 2.0]]);
    let labels = Array::from([1i32, -1, 2, -3]);
    let loss = softmax_cross_entropy_with_integer_labels(&logits, &labels).to_vec::<f32>();
    assert_eq!(loss[0], loss[1]);
    assert!(loss[2].is_nan() && loss[3].is_nan());
}

#[test]
#[should_panic(expected = "labels have the shape of the logits without their last axis, [2]")]
fn labels_of_another_shape_are_refused() {
    let logits = Array::from([[1.0f32, 2.0], [1.0, 2.0]]);
    softmax_cross_entropy_with_integer_labels(&logits, &Array::from([1i32, 0, 1]));
}
