//! The digits classifier as pure functions of variables follows JAX's training
//! run from the same initial parameters; `tests/golden/digits.py` recorded it.

#[path = "../examples/digits_linen/model.rs"]
mod model;

use model::{Classifier, evaluate, train_step, trainer};
use ramie::data::digits;
use ramie::nn::linen::Module;
use ramie::{Array, State, jit, random};
use std::path::Path;

fn golden(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/data");
    std::fs::read(folder.join(name)).expect("the file is in the repository")
}

/// The recorded initial parameters: Linen's paths are those of the struct.
fn initial() -> State {
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
fn close(what: &str, got: f32, expected: &serde_json::Value, tolerance: f64) {
    let expected = expected.as_f64().expect("a number");
    let distance = (f64::from(got) - expected).abs() / expected.abs();
    assert!(distance <= tolerance, "{what}: {got} instead of {expected}");
}

#[test]
fn training_follows_jax() {
    let golden: serde_json::Value =
        serde_json::from_slice(&golden("digits.json")).expect("valid JSON");
    let digits = digits::load().expect("the data is in the program");
    let (images, labels) = (digits.train.pixel_array(), digits.train.label_array());
    let made = Classifier::default().init(random::key(0), images.clone());
    let mut params = made.params();
    initial().apply_to(&mut params).expect("the same paths");
    let mut state = trainer(params, 0.05);
    let step = jit(train_step);
    for made in 0..=500 {
        if made == 100 || made == 500 {
            let test = (digits.test.pixel_array(), digits.test.label_array());
            let (loss, predicted) = jit(evaluate)(state.params.clone(), test.0, test.1.clone());
            let correct = predicted.eq(&test.1).count_nonzero().item::<i32>();
            let expected = &golden[format!("test_after_{made}")];
            close("test loss", loss.item(), &expected["loss"], 1e-3);
            assert_eq!(
                Some(i64::from(correct)),
                expected["correct"].as_i64(),
                "after {made} updates"
            );
        }
        let loss = step(&mut state, images.clone(), labels.clone());
        if let Some(expected) = golden["loss"].get(made.to_string()) {
            let what = format!("loss after {made} updates");
            close(&what, loss.item(), expected, 2e-4);
        }
    }
    assert_eq!(step.compilations(), 1);
}
