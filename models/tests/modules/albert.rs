//! ALBERT: published checkpoints give the features and logits of the reference.

use ramie_core::{Array, DType, State, jit};
use ramie_models::{Albert, AlbertConfig, Pretrained, PretrainedConfig, PretrainedError};
use ramie_nn::{LoraParam, Module, Param, Rngs, apply_lora, nnx};
use ramie_testing::panic_message;
use std::path::PathBuf;

fn folder() -> PathBuf {
    ramie_testing::golden::path("hf_albert")
}

fn load(name: &str) -> State {
    ramie_checkpoint::load_state(folder().join(name)).expect("the recording")
}

fn config() -> AlbertConfig {
    AlbertConfig::from_json(folder().join("config.json")).expect("a configuration")
}

#[track_caller]
fn close(what: &str, got: &Array, expected: &Array) {
    assert_eq!(got.shape(), expected.shape(), "{what}");
    let difference = (got - expected).abs().max().item::<f32>();
    println!("{what}: difference {difference:e}");
    assert!(difference < 1e-5, "{what}: {difference}");
}

/// The model has the features of the reference, and what its layers make of them.
#[track_caller]
fn agrees(model: &mut Albert) {
    let recorded = load("reference.safetensors");
    let [tokens, mask, segments] = ["tokens", "mask", "segments"].map(|n| recorded[n].clone());
    let run = jit(
        |model: &mut Albert, (tokens, mask, segments): (Array, Array, Array)| {
            model.forward_segments(&tokens, &mask, &segments)
        },
    );
    let features = run(model, (tokens, mask.clone(), segments));
    let kept = mask.astype(DType::F32).expand_dims(&[2]);
    close("features", &(&features * &kept), &recorded["hidden"]);
    if model.pooler.is_some() {
        close("pooled", &model.pool(&features), &recorded["pooled"]);
    }
    if model.predictions.is_some() {
        let logits = model.predict(&features) * kept;
        close("logits", &logits, &recorded["logits"]);
    }
}

/// Saves a state in a new directory, with the recorded configuration.
fn saved(state: &State) -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name);
    ramie_checkpoint::save(path("model.safetensors"), state).expect("saved");
    std::fs::copy(folder().join("config.json"), path("config.json")).expect("copied");
    directory
}

#[test]
fn values_are_those_of_the_reference() {
    let mut model = Albert::from_pretrained(folder()).expect("loads");
    agrees(&mut model);
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path();
    model.save_pretrained(path, &config()).expect("saved");
    let names = |state: State| state.paths().map(str::to_owned).collect::<Vec<_>>();
    let written = ramie_checkpoint::load_state(path.join("model.safetensors"));
    assert_eq!(
        names(written.expect("weights")),
        names(load("model.safetensors"))
    );
    agrees(&mut Albert::from_pretrained(path).expect("loads"));

    // Another number of layers has the same parameters.
    let mut other = config();
    other.bert.num_hidden_layers = 4;
    let text = panic_message(|| drop(model.save_pretrained(path, &other)));
    assert!(
        text.contains("the model has 3 layers, but the configuration has 4"),
        "{text}"
    );
}

#[test]
fn bare_models_and_repeated_tensors_load() {
    let published = load("model.safetensors");
    let mut bare: State = published
        .iter()
        .filter_map(|(name, array)| Some((name.strip_prefix("albert.")?, array.clone())))
        .collect();
    bare.remove("pooler.weight");
    bare.remove("pooler.bias");
    let mut model = Albert::from_pretrained(saved(&bare).path()).expect("loads");
    assert!(model.pooler.is_none() && model.predictions.is_none());
    agrees(&mut model);
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path();
    model.save_pretrained(path, &config()).expect("saved");
    agrees(&mut Albert::from_pretrained(path).expect("loads"));
    let features = Array::zeros(&[1, 2, 16], DType::F32);
    for (text, expected) in [
        (
            panic_message(|| drop(model.pool(&features))),
            "Albert::pool: the checkpoint of the model has no pooler",
        ),
        (
            panic_message(|| drop(model.predict(&features))),
            "has no layers that predict tokens",
        ),
    ] {
        assert!(text.contains(expected), "{text}");
    }

    let mut whole = published;
    let table = whole["albert.embeddings.word_embeddings.weight"].clone();
    whole.insert("predictions.decoder.weight", table);
    whole.insert(
        "predictions.decoder.bias",
        whole["predictions.bias"].clone(),
    );
    agrees(&mut Albert::from_pretrained(saved(&whole).path()).expect("loads"));
    whole.insert("classifier.weight", Array::zeros(&[2, 16], DType::F32));
    let error = Albert::from_pretrained(saved(&whole).path()).expect_err("it does not fit");
    assert!(
        matches!(&error, PretrainedError::Unexpected { tensors, .. } if tensors == "`classifier.weight`"),
        "{error}"
    );
}

#[test]
fn adapters_are_saved_and_loaded() {
    let mut model = Albert::from_pretrained(folder()).expect("loads");
    let mut again = model.clone();
    apply_lora(
        &mut model,
        2,
        |path| path.ends_with("query") || path.ends_with("dense"),
        &mut Rngs::new(3),
    );
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path();
    model.save_adapter(path).expect("saved");
    let written = ramie_checkpoint::load_state(path.join("adapter_model.safetensors"));
    let written = written.expect("the adapters");
    let at = "base_model.model.albert.encoder.albert_layer_groups";
    let name = format!("{at}.1.albert_layers.0.attention.query.lora_A.weight");
    assert_eq!(written[&name].shape(), [2, 16]);
    let head = &written["base_model.model.predictions.dense.lora_B.weight"];
    assert_eq!((head.shape(), written.len()), (&[8, 2][..], 10));
    again.load_adapter(path).expect("loads");
    let adapters = |model: &Albert| nnx::state(model, nnx::of_type::<LoraParam>());
    for (path, array) in adapters(&model).iter() {
        let equal = adapters(&again)[path].eq(array).all();
        assert!(equal.item::<bool>(), "{path}");
    }
}

#[test]
fn groups_share_their_weights() {
    let mut config = AlbertConfig::default();
    assert_eq!((config.bert.hidden_size, config.embedding_size), (768, 128));
    (config.bert.hidden_size, config.embedding_size) = (8, 4);
    (config.bert.num_attention_heads, config.bert.vocab_size) = (2, 11);
    let count = |config: &AlbertConfig| {
        let mut model = Albert::new(config, &mut Rngs::new(0));
        model.eval();
        let tokens = Array::from([[1i32, 2, 3]]);
        let features = model.forward(&tokens, &tokens.ne(0));
        assert_eq!(model.predict(&features).shape(), [1, 3, 11]);
        nnx::state(&model, nnx::of_type::<Param>()).len()
    };
    config.bert.num_hidden_layers = 2;
    let shared = count(&config);
    config.bert.num_hidden_layers = 6;
    assert_eq!(count(&config), shared);
    config.num_hidden_groups = 2;
    assert_eq!(count(&config), shared + 16);
    let mut model = Albert::new(&config, &mut Rngs::new(0));
    let tokens = Array::zeros(&[2, 513], DType::I32);
    let text = panic_message(|| drop(model.forward(&tokens, &tokens)));
    assert!(text.contains("Albert: the tokens are i32[2,513]"), "{text}");
    config.num_hidden_groups = 0;
    let text = panic_message(|| drop(Albert::new(&config, &mut Rngs::new(0))));
    assert!(text.contains("Albert: num_hidden_groups is 0"), "{text}");
}
