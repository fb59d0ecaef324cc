//! The training run of the digits classifier that `tests/golden/digits.py`
//! recorded.

use ramie::{Array, State};
use serde_json::Value;
use std::path::Path;

fn golden(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/data");
    std::fs::read(folder.join(name)).expect("the file is in the repository")
}

/// Losses, logits and norms of gradients.
pub fn recorded() -> Value {
    serde_json::from_slice(&golden("digits.json")).expect("valid JSON")
}

/// The recorded initial parameters, under the model's paths.
pub fn initial() -> State {
    let bytes = golden("digits.safetensors");
    let file = safetensors::SafeTensors::deserialize(&bytes).expect("a safetensors file");
    let tensors = file.iter().map(|(name, tensor)| {
        let elements = tensor.data().chunks_exact(4);
        let elements: Vec<f32> = elements
            .map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]))
            .collect();
        let array = Array::from_slice(&elements, tensor.shape());
        (name.replace('/', "."), array)
    });
    tensors.collect()
}

#[track_caller]
pub fn close(what: &str, got: f32, expected: &Value, tolerance: f64) {
    let expected = expected.as_f64().expect("a number");
    let distance = (f64::from(got) - expected).abs() / expected.abs();
    assert!(distance <= tolerance, "{what}: {got} instead of {expected}");
}
