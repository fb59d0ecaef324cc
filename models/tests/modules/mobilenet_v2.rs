//! MobileNetV2: published checkpoints give the logits of the reference.

use crate::models::same_tensors;
use ramie_core::{Array, DType, State, jit};
use ramie_models::{MobileNetV2, MobileNetV2Config, Pretrained, PretrainedError};
use ramie_nn::{Module, Param, Rngs, nnx};
use std::path::{Path, PathBuf};

fn golden(name: &str) -> PathBuf {
    ramie_testing::golden::path("mobilenet_v2").join(name)
}

fn load(path: &Path) -> State {
    ramie_checkpoint::load_state(path).expect("the recording")
}

/// The configuration of the recorded model.
fn config() -> MobileNetV2Config {
    MobileNetV2Config {
        features: 4,
        stages: vec![[1, 6, 1, 1], [3, 8, 2, 2], [2, 8, 1, 1]],
        last_features: 12,
        classes: 5,
        ..MobileNetV2Config::default()
    }
}

#[track_caller]
fn agrees(model: &mut MobileNetV2) {
    let recorded = load(&golden("reference.safetensors"));
    let run = jit(|model: &mut MobileNetV2, images: Array| model.forward(&images));
    let logits = run(model, recorded["images"].clone());
    let difference = (logits - &recorded["logits"]).abs().max().item::<f32>();
    println!("logits: difference {difference:e}");
    assert!(difference < 1e-5, "{difference}");
}

#[test]
fn logits_are_those_of_the_reference() {
    let published = golden("model.safetensors");
    let mut model = MobileNetV2::from_weights(&published, &config()).expect("loads");
    agrees(&mut model);
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("saved.safetensors");
    model.save_weights(&path).expect("saved");
    same_tensors(&path, &published);
    // In training mode, the statistics of the batch count, and the running ones change.
    let mean = |model: &MobileNetV2| model.stem.norm.mean.to_vec::<f32>();
    let before = mean(&model);
    model.train();
    let images = Array::ones(&[2, 8, 8, 3], DType::F32);
    assert_eq!(model.forward(&images).shape(), [2, 5]);
    assert_ne!(mean(&model), before);
}

#[test]
fn what_does_not_load_is_named() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("model.safetensors");
    let error = |state: &State| {
        ramie_checkpoint::save(&path, state).expect("saved");
        MobileNetV2::from_weights(&path, &config()).map(|_| ())
    };
    let mut state = load(&golden("model.safetensors"));
    // Numbers of steps, which PyTorch also saves.
    state.insert("features.0.1.num_batches_tracked", Array::from(3i32));
    assert!(error(&state).is_ok());
    state.insert("features.5.0.weight", Array::from(0.0f32));
    let result = error(&state);
    assert!(
        matches!(&result, Err(PretrainedError::Shape { tensor, expected, .. })
        if tensor == "features.5.0.weight" && *expected == [12, 8, 1, 1]),
        "{result:?}"
    );
    state.remove("features.2.conv.1.1.running_var");
    let result = error(&state);
    assert!(
        matches!(&result, Err(PretrainedError::Missing { tensor, .. })
        if tensor == "features.2.conv.1.1.running_var"),
        "{result:?}"
    );
}

#[test]
fn the_default_has_the_shape_of_the_paper() {
    let model = MobileNetV2::new(&MobileNetV2Config::default(), &mut Rngs::new(0));
    assert_eq!(model.blocks.len(), 17);
    let parameters = nnx::state(&model, nnx::of_type::<Param>());
    let count: usize = parameters.arrays().iter().map(Array::size).sum();
    assert_eq!(count, 3_504_872);
    assert_eq!(
        model.blocks.iter().filter(|block| block.residual).count(),
        10
    );
}
