//! EfficientNet-Lite: published checkpoints give the logits of the reference.

use crate::models::same_tensors;
use ramie_core::{Array, DType, State, jit};
use ramie_models::{EfficientNetLite, EfficientNetLiteConfig, Pretrained, PretrainedError};
use ramie_nn::{Module, Param, Rngs, nnx};
use std::path::{Path, PathBuf};

fn golden(name: &str) -> PathBuf {
    ramie_testing::golden::path("efficientnet_lite").join(name)
}

fn load(path: &Path) -> State {
    ramie_checkpoint::load_state(path).expect("the recording")
}

/// The configuration of the recorded model.
fn config() -> EfficientNetLiteConfig {
    EfficientNetLiteConfig {
        features: 4,
        stages: vec![[1, 6, 1, 1, 3], [3, 8, 2, 2, 5], [2, 8, 1, 1, 3]],
        last_features: 12,
        classes: 5,
        ..EfficientNetLiteConfig::default()
    }
}

#[test]
fn logits_are_those_of_the_reference() {
    let published = golden("model.safetensors");
    let mut model = EfficientNetLite::from_weights(&published, &config()).expect("loads");
    let recorded = load(&golden("reference.safetensors"));
    let run = jit(|model: &mut EfficientNetLite, images: Array| model.forward(&images));
    let logits = run(&mut model, recorded["images"].clone());
    let difference = (logits - &recorded["logits"]).abs().max().item::<f32>();
    println!("logits: difference {difference:e}");
    assert!(difference < 1e-5, "{difference}");
    // Saved again under the same names.
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("saved.safetensors");
    model.save_weights(&path).expect("saved");
    same_tensors(&path, &published);
    // In training mode, the running statistics change.
    let mean = |model: &EfficientNetLite| model.stem.norm.mean.to_vec::<f32>();
    let before = mean(&model);
    model.train();
    let images = Array::ones(&[2, 8, 8, 3], DType::F32);
    assert_eq!(model.forward(&images).shape(), [2, 5]);
    assert_ne!(mean(&model), before);
}

#[test]
fn a_missing_tensor_is_named() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("model.safetensors");
    let mut state = load(&golden("model.safetensors"));
    state.insert("_bn0.num_batches_tracked", Array::from(3i32));
    state.remove("_blocks.1._bn2.running_var");
    ramie_checkpoint::save(&path, &state).expect("saved");
    let result = EfficientNetLite::from_weights(&path, &config()).map(|_| ());
    assert!(
        matches!(&result, Err(PretrainedError::Missing { tensor, .. })
        if tensor == "_blocks.1._bn2.running_var"),
        "{result:?}"
    );
}

#[test]
fn the_default_has_the_size_of_the_published_model() {
    let model = EfficientNetLite::new(&EfficientNetLiteConfig::default(), &mut Rngs::new(0));
    let parameters = nnx::state(&model, nnx::of_type::<Param>());
    let count: usize = parameters.arrays().iter().map(Array::size).sum();
    assert_eq!((model.blocks.len(), count), (16, 4_652_008));
}
