//! The training run of the digits classifier that `tests/golden/digits.py`
//! recorded.

use ramie::State;
use ramie_testing::golden;
use serde_json::Value;

/// Losses, logits and norms of gradients.
pub fn recorded() -> Value {
    golden::json("digits.json")
}

/// The recorded initial parameters, under the model's paths.
pub fn initial() -> State {
    let arrays = golden::arrays("digits.safetensors").into_iter();
    arrays
        .map(|(name, array)| (name.replace('/', "."), array))
        .collect()
}

#[track_caller]
pub fn close(what: &str, got: f32, expected: &Value, tolerance: f64) {
    let expected = expected.as_f64().expect("a number");
    let distance = (f64::from(got) - expected).abs() / expected.abs();
    assert!(distance <= tolerance, "{what}: {got} instead of {expected}");
}
