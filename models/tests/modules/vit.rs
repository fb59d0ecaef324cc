//! Vision transformers: published checkpoints give the features of the reference.

use crate::models::{same_numbers, same_tensors};
use ramie_core::{Array, DType, State, jit, random};
use ramie_models::{Pretrained, PretrainedConfig, PretrainedError, Vit, VitConfig, VitFamily};
use ramie_nn::nnx::{self, of_type};
use ramie_nn::{Linear, LoraParam, Module, Param, Rngs, apply_lora, value_and_grad};
use ramie_testing::panic_message;
use std::path::{Path, PathBuf};

/// The folders of the recorded models.
const FAMILIES: [&str; 2] = ["hf_vit", "hf_dinov2"];

fn golden(family: &str, name: &str) -> PathBuf {
    ramie_testing::golden::path(family).join(name)
}

fn load(path: impl AsRef<Path>) -> State {
    ramie_checkpoint::load_state(path).expect("the recording")
}

fn config(family: &str) -> VitConfig {
    VitConfig::from_json(golden(family, "config.json")).expect("a configuration")
}

#[track_caller]
fn agrees(family: &str, model: &mut Vit) {
    let recorded = load(golden(family, "reference.safetensors"));
    let run = jit(|model: &mut Vit, images: Array| {
        let features = model.forward(&images);
        let logits = model
            .classifier
            .is_some()
            .then(|| model.classify(&features));
        let pooled = model.pool(&features);
        (features, pooled, logits)
    });
    let (features, pooled, logits) = run(model, recorded["images"].clone());
    same_numbers(family, &features, &recorded["hidden"]);
    same_numbers(family, &pooled, &recorded["pooled"]);
    assert_eq!(logits.is_some(), family == "hf_dinov2");
    if let Some(logits) = logits {
        same_numbers(family, &logits, &recorded["logits"]);
    }
}

#[test]
fn features_are_those_of_the_reference() {
    for (family, file) in FAMILIES
        .into_iter()
        .zip(["model.safetensors", "pytorch_model.bin"])
    {
        let folder = ramie_testing::golden::path(family);
        let mut model = Vit::from_pretrained(&folder).expect("loads");
        assert_eq!(model.pooler.is_some(), family == "hf_vit");
        agrees(family, &mut model);
        // Saved again, and loaded: the same names, shapes and values.
        let directory = tempfile::tempdir().expect("a directory");
        let [saved, published] =
            ["model.safetensors", "published.safetensors"].map(|name| directory.path().join(name));
        let saving = model.save_pretrained(directory.path(), &config(family));
        saving.expect("saved");
        let state = load(golden(family, file));
        ramie_checkpoint::save(&published, &state).expect("saved");
        same_tensors(&saved, &published);
        agrees(
            family,
            &mut Vit::from_pretrained(directory.path()).expect("loads"),
        );
    }
}

#[test]
fn images_of_other_sizes_and_masked_patches_are_those_of_the_reference() {
    let folder = ramie_testing::golden::path("hf_dinov2");
    let mut model = Vit::from_pretrained(folder).expect("loads");
    let recorded = load(golden("hf_dinov2", "sizes.safetensors"));
    for name in ["tall", "wide", "small"] {
        let run = jit(|model: &mut Vit, images: Array| model.forward(&images));
        let features = run(&mut model, recorded[&format!("{name}.images")].clone());
        same_numbers(name, &features, &recorded[&format!("{name}.hidden")]);
    }
    let images = &load(golden("hf_dinov2", "reference.safetensors"))["images"];
    let (masked, hidden) = (&recorded["masked"], &recorded["masked.hidden"]);
    let run =
        jit(|model: &mut Vit, images: Array, masked: Array| model.forward_masked(&images, &masked));
    let features = run(&mut model, images.clone(), masked.clone());
    same_numbers("masked", &features, hidden);
    // A file without the embedding of masked patches, loaded and saved.
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("model.safetensors");
    let mut state = load(golden("hf_dinov2", "pytorch_model.bin"));
    let token = state.remove("dinov2.embeddings.mask_token");
    assert_eq!(token.expect("the embedding").shape(), [1, 16]);
    ramie_checkpoint::save(&path, &state).expect("saved");
    model.load_pretrained(&path).expect("loads");
    assert!(model.embeddings.mask_token.is_none());
    let saving = model.save_pretrained(directory.path(), &config("hf_dinov2"));
    saving.expect("saved");
    assert_eq!(load(&path).len(), state.len());
    let text = panic_message(|| drop(model.forward_masked(images, masked)));
    assert!(
        text.contains(
            "the model has no embedding of masked patches\n  help: load a checkpoint of DINOv2"
        ),
        "{text}"
    );
}

#[test]
fn classifiers_are_loaded_and_saved() {
    let mut model = Vit::from_pretrained(ramie_testing::golden::path("hf_vit")).expect("loads");
    model.pooler = None;
    model.classifier = Some(Linear::new(16, 3, &mut Rngs::new(1)));
    let recorded = load(golden("hf_vit", "reference.safetensors"));
    let (images, hidden) = (&recorded["images"], &recorded["hidden"]);
    let class = hidden.index_in_dim(0, 1).squeeze(&[1]);
    same_numbers("class", &model.pool(hidden), &class);
    let directory = tempfile::tempdir().expect("a directory");
    let saving = model.save_pretrained(directory.path(), &config("hf_vit"));
    saving.expect("saved");
    let text = std::fs::read_to_string(directory.path().join("config.json")).expect("read");
    assert!(
        text.contains("ViTForImageClassification") && text.contains("\"num_labels\": 3"),
        "{text}"
    );
    let saved = load(directory.path().join("model.safetensors"));
    assert!(
        saved
            .paths()
            .all(|name| name.starts_with("vit.") || name.starts_with("classifier."))
    );
    let mut again = Vit::from_pretrained(directory.path()).expect("loads");
    assert!(again.pooler.is_none());
    let features = again.forward(images);
    same_numbers("features", &features, hidden);
    let head = model.classifier.as_ref().expect("a classifier");
    same_numbers("logits", &again.classify(&features), &head.forward(&class));
}

#[test]
fn gradients_reach_all_parameters() {
    for family in FAMILIES {
        let mut model = Vit::new(&config(family), &mut Rngs::new(0));
        let images = random::normal(&random::key(1), &[2, 14, 14, 3], DType::F32);
        let run = jit(|model: &mut Vit, images: Array| {
            let loss = |model: &mut Vit| {
                let masked = Array::arange(9).lt(3).broadcast_to(&[2, 9]);
                let features = match model.embeddings.mask_token {
                    Some(_) => model.forward_masked(&images, &masked),
                    None => model.forward(&images),
                };
                features.square().mean() + model.pool(&features).sum()
            };
            value_and_grad(model, loss).1
        });
        for (path, grad) in run(&mut model, images).iter() {
            // A bias of the keys changes no attention weight.
            if !path.ends_with("key.bias") {
                assert!(grad.ne(0).any().item::<bool>(), "{family}: {path}");
            }
        }
        // Adapters, in the names of the Python library PEFT.
        let directory = tempfile::tempdir().expect("a directory");
        let adapted = |path: &str| path.ends_with("query");
        apply_lora(&mut model, 2, adapted, &mut Rngs::new(2));
        model.save_adapter(directory.path()).expect("saved");
        let saved = load(directory.path().join("adapter_model.safetensors"));
        let first = saved.paths().next().expect("a tensor");
        assert_eq!(
            first,
            "base_model.model.encoder.layer.0.attention.attention.query.lora_A.weight"
        );
        let mut other = Vit::new(&config(family), &mut Rngs::new(0));
        other.load_adapter(directory.path()).expect("loads");
        let adapters = nnx::state(&other, of_type::<LoraParam>());
        assert_eq!(adapters.paths().count(), 2 * 2);
    }
}

#[test]
fn the_models_have_the_published_sizes() {
    let count = |config: &VitConfig| -> usize {
        let model = ramie_core::eval_shape(|()| Vit::new(config, &mut Rngs::new(0)), ());
        let parameters = nnx::state(&model, of_type::<Param>());
        parameters.arrays().iter().map(Array::size).sum()
    };
    // The base model with its pooler, and DINOv2's small one.
    assert_eq!(count(&VitConfig::default()), 86_389_248);
    let mut small = VitConfig::default();
    (small.model_type, small.image_size, small.patch_size) = (VitFamily::Dinov2, 518, 14);
    (
        small.hidden_size,
        small.num_attention_heads,
        small.intermediate_size,
    ) = (384, 6, 1536);
    assert_eq!(count(&small), 22_056_576);
}

#[test]
fn features_in_bf16_are_close() {
    let mut config = config("hf_dinov2");
    config.compute_dtype = Some(DType::BF16);
    let mut model = Vit::new(&config, &mut Rngs::new(0));
    let path = golden("hf_dinov2", "pytorch_model.bin");
    model.load_pretrained(path).expect("loads");
    model.eval();
    let recorded = load(golden("hf_dinov2", "reference.safetensors"));
    let features = model.forward(&recorded["images"]);
    assert_eq!(features.dtype(), DType::BF16);
    let difference = (features.astype(DType::F32) - &recorded["hidden"]).abs();
    assert!(difference.max().item::<f32>() < 0.1, "{difference}");
}

#[test]
fn mistakes_are_named() {
    let mut model = Vit::new(&config("hf_vit"), &mut Rngs::new(0));
    let text = panic_message(|| drop(model.forward(&Array::zeros(&[1, 16, 16, 3], DType::F32))));
    assert!(
        text.contains("the images are f32[1,16,16,3], expected [batch, 14, 14, 3]")
            && text.contains("help: resize them to 14 × 14 pixels"),
        "{text}"
    );
    let mut dinov2 = Vit::new(&config("hf_dinov2"), &mut Rngs::new(0));
    let text = panic_message(|| drop(dinov2.forward(&Array::zeros(&[1, 16, 3, 3], DType::F32))));
    assert!(
        text.contains("the images are f32[1,16,3,3], expected [batch, height, width, 3]")
            && text.contains("help: pass images of at least 4 × 4 pixels"),
        "{text}"
    );
    let text = panic_message(|| {
        let images = Array::zeros(&[1, 16, 8, 3], DType::F32);
        drop(dinov2.forward_masked(&images, &Array::zeros(&[1, 9], DType::Bool)));
    });
    assert!(
        text.contains(
            "the mask is bool[1,9], expected bool[1, 8]\n  help: pass a boolean for each patch"
        ),
        "{text}"
    );
    let text = panic_message(|| drop(model.classify(&Array::zeros(&[1, 10, 16], DType::F32))));
    assert!(text.contains("the model has no classifier"), "{text}");
    let refused = |change: fn(&mut VitConfig)| {
        let mut config = config("hf_vit");
        change(&mut config);
        panic_message(move || drop(Vit::new(&config, &mut Rngs::new(0))))
    };
    let text = refused(|config| config.patch_size = 15);
    assert!(
        text.contains("the patch_size is 15 for an image_size of 14"),
        "{text}"
    );
    let text = refused(|config| config.hidden_act = "snake".into());
    assert!(text.contains("unknown activation `snake`"), "{text}");
    let other = config("hf_dinov2");
    let directory = tempfile::tempdir().expect("a directory");
    let text = panic_message(|| drop(model.save_pretrained(directory.path(), &other)));
    assert!(
        text.contains("help: pass the configuration that the model was created with"),
        "{text}"
    );

    let path = directory.path().join("config.json");
    for (option, shown) in [
        (r#""use_swiglu_ffn": true"#, "`use_swiglu_ffn` is true"),
        (r#""drop_path_rate": 0.1"#, "`drop_path_rate` is 0.1"),
        (
            r#""hidden_act": "quick_gelu""#,
            "`hidden_act` is \"quick_gelu\"",
        ),
        (
            r#""model_type": "deit""#,
            "unknown variant `deit`, expected `vit` or `dinov2`",
        ),
    ] {
        std::fs::write(&path, format!("{{{option}}}")).expect("written");
        let text = VitConfig::from_json(&path)
            .expect_err("a variant")
            .to_string();
        assert!(text.contains(shown), "{text}");
    }
    // Images of another size have other positions.
    let mut state = load(golden("hf_vit", "model.safetensors"));
    state.insert(
        "embeddings.position_embeddings",
        Array::zeros(&[1, 17, 16], DType::F32),
    );
    let path = directory.path().join("model.safetensors");
    ramie_checkpoint::save(&path, &state).expect("saved");
    let error = model.load_pretrained(&path).expect_err("another image");
    assert!(
        matches!(&error, PretrainedError::Shape { tensor, expected, .. }
        if tensor == "embeddings.position_embeddings" && *expected == [1, 10, 16]),
        "{error}"
    );
}
