//! Damaged ONNX files by chance.
//!
//! `RAMIE_FUZZ_INPUTS=1000000 cargo test --release -p ramie-onnx --test fuzz -- --nocapture` is a
//! long run.

#[allow(dead_code)]
mod common;

use ramie_onnx::{OnnxFile, tensor_from_bytes};
use ramie_testing::fuzz::{fuzz, is_read};
use ramie_testing::golden;

/// Models with nested graphs, tensors of several types and many attributes.
const MODELS: [&str; 6] = [
    "test_if",
    "test_lstm_with_peepholes",
    "test_constant",
    "test_range_int32_type_negative_delta_expanded",
    "test_layer_normalization_2d_axis0_expanded",
    "test_dequantizelinear_int4",
];

#[test]
fn damaged_files_are_refused() {
    let tests = common::node_tests();
    let named = MODELS.map(|name| tests.iter().find(|t| t.name == name).expect("a test"));
    let mut models = vec![golden::bytes("onnx/dense.onnx")];
    models.extend(named.iter().map(|test| test.model.clone()));
    fuzz("onnx", &models, |bytes| {
        is_read(OnnxFile::from_bytes(bytes).map(|file| {
            let _ = file.tensors().count();
            let unsupported = file.unsupported();
            is_read(file.into_model().map(|model| {
                assert!(unsupported.is_empty());
                drop(model.abstract_weights());
                is_read(model.weights());
            }));
        }))
    });
    let tensors: Vec<Vec<u8>> = named.iter().flat_map(|test| test.inputs.clone()).collect();
    fuzz("onnx_tensor", &tensors, |bytes| {
        is_read(tensor_from_bytes(bytes))
    });
}
