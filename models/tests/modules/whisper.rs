//! Whisper: published checkpoints give the logits and the texts of the reference.

use crate::models::{same_numbers, same_tensors};
use ramie_core::{Array, DType, State, jit, random, s};
use ramie_models::{
    Decoding, Generator, LanguageModel, Pretrained, PretrainedConfig, PretrainedError, Sampling,
    Whisper, WhisperConfig,
};
use ramie_nn::nnx::{self, of_type};
use ramie_nn::{LoraParam, Module, Param, Rngs, apply_lora, value_and_grad};
use ramie_testing::panic_message;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    ramie_testing::golden::path("hf_whisper")
}

fn load(path: impl AsRef<Path>) -> State {
    ramie_checkpoint::load_state(path).expect("the recording")
}

fn config() -> WhisperConfig {
    WhisperConfig::from_json(folder().join("config.json")).expect("a configuration")
}

#[track_caller]
fn agrees(model: &mut Whisper) {
    let recorded = load(folder().join("reference.safetensors"));
    let run = jit(|model: &mut Whisper, features: Array, tokens: Array| {
        (model.encode(&features), model.forward(&features, &tokens))
    });
    let [features, tokens] = ["features", "tokens"].map(|name| recorded[name].clone());
    let (encoded, logits) = run(model, features, tokens.clone());
    same_numbers("encoded", &encoded, &recorded["encoded"]);
    same_numbers("logits", &logits, &recorded["logits"]);
    // Texts of both sounds, with a cache.
    let greedy = &recorded["greedy"];
    let (length, total) = (tokens.shape()[1], greedy.shape()[1]);
    let mut decoder = model.decoder.clone();
    decoder.listen(&encoded);
    let generator = Generator::new(Sampling::greedy(), total - length);
    let texts = generator.generate(&decoder, &tokens, &random::key(0));
    assert_eq!(texts.to_vec::<i32>(), greedy.to_vec::<i32>());
    // One by one.
    for (row, expected) in greedy.to_vec::<i32>().chunks(total).enumerate() {
        decoder.listen(&encoded.index((s(row..row + 1), ..)));
        let mut decoding = Decoding::new(&decoder, Sampling::greedy(), total).chunk_size(4);
        decoding.set_tokens(&expected[..length]);
        let new: Vec<i32> = decoding.generate(total, &random::key(0)).collect();
        assert_eq!(new, expected[length..]);
    }
}

#[test]
fn logits_and_texts_are_those_of_the_reference() {
    let mut model = Whisper::from_pretrained(folder()).expect("loads");
    agrees(&mut model);
    // Saved again, and loaded: the same names, shapes and values.
    let directory = tempfile::tempdir().expect("a directory");
    model
        .save_pretrained(directory.path(), &config())
        .expect("saved");
    let path = |folder: &Path| folder.join("model.safetensors");
    same_tensors(&path(directory.path()), &path(&folder()));
    let again = WhisperConfig::from_json(directory.path().join("config.json")).expect("read");
    assert_eq!(again.max_source_positions, 10);
}

#[test]
fn padded_prompts_have_the_logits_of_the_bare_ones() {
    let mut model = Whisper::from_pretrained(folder()).expect("loads");
    let recorded = load(folder().join("reference.safetensors"));
    model.decoder.listen(&recorded["encoded"]);
    let padded = Array::from([[0i32, 0, 7, 8], [1, 2, 3, 4]]);
    let logits = model
        .decoder
        .logits_padded(&padded, &Array::from([2i32, 0]));
    let bare = model.decoder.logits(&Array::from([[7i32, 8], [1, 2]]));
    let last = |x: &Array, from: usize| x.index((s(0..1), s(from..), ..));
    same_numbers("padded", &last(&logits, 2), &last(&bare, 0));
}

#[test]
fn gradients_reach_all_parameters_but_the_positions_of_sound() {
    let mut model = Whisper::new(&config(), &mut Rngs::new(0));
    let positions = model.encoder.embed_positions.embedding.to_vec::<f32>();
    assert_eq!((positions[0], positions[12]), (0.0, 1.0));
    let features = random::normal(&random::key(1), &[2, 20, 6], DType::F32);
    let tokens = Array::from([[1i32, 2, 3], [4, 5, 6]]);
    let run = jit(|model: &mut Whisper, features: Array, tokens: Array| {
        let loss = |model: &mut Whisper| model.forward(&features, &tokens).square().mean();
        value_and_grad(model, loss).1
    });
    let grads = run(&mut model, features, tokens);
    for (path, grad) in grads.iter() {
        let zero = grad.eq(0).all().item::<bool>();
        assert_eq!(zero, path.starts_with("encoder.embed_positions"), "{path}");
    }
    // Adapters, in the names of the Python library PEFT.
    let directory = tempfile::tempdir().expect("a directory");
    apply_lora(
        &mut model,
        2,
        |path| path.ends_with("query"),
        &mut Rngs::new(2),
    );
    model.save_adapter(directory.path()).expect("saved");
    let saved = load(directory.path().join("adapter_model.safetensors"));
    let first = saved.paths().next().expect("a tensor");
    assert_eq!(
        first,
        "base_model.model.model.decoder.layers.0.encoder_attn.q_proj.lora_A.weight"
    );
    let mut other = Whisper::new(&config(), &mut Rngs::new(0));
    other.load_adapter(directory.path()).expect("loads");
    let adapters = nnx::state(&other, of_type::<LoraParam>());
    assert_eq!(adapters.paths().count(), 2 * (2 + 2 * 2));
}

#[test]
fn the_default_has_the_size_of_the_paper() {
    let config = WhisperConfig::default();
    let count = ramie_core::eval_shape(|()| Whisper::new(&config, &mut Rngs::new(0)), ());
    let count = nnx::state(&count, of_type::<Param>());
    let sizes = count.arrays().iter().map(Array::size).sum::<usize>();
    assert_eq!(sizes, 37_760_640);
}

#[test]
fn mistakes_are_named() {
    let mut model = Whisper::from_pretrained(folder()).expect("loads");
    model.eval();
    let text = panic_message(|| drop(model.encode(&Array::zeros(&[1, 20, 8], DType::F32))));
    assert!(
        text.contains("expected [batch, 20, 6]") && text.contains("WhisperFeatures::new(6)"),
        "{text}"
    );
    let text = panic_message(|| drop(model.decoder.logits(&Array::from([[1i32]]))));
    assert!(
        text.contains("help: pass it first: model.decoder.listen("),
        "{text}"
    );

    let directory = tempfile::tempdir().expect("a directory");
    let text = std::fs::read_to_string(folder().join("config.json")).expect("read");
    for (from, to, name) in [
        (
            "\"scale_embedding\": false",
            "\"scale_embedding\": true",
            "scale_embedding",
        ),
        (
            "\"activation_dropout\": 0.0",
            "\"activation_dropout\": 0.1",
            "activation_dropout",
        ),
        ("\"gelu\"", "\"snake\"", "activation_function"),
    ] {
        let path = directory.path().join("config.json");
        std::fs::write(&path, text.replace(from, to)).expect("written");
        let error = WhisperConfig::from_json(&path).expect_err("a variant");
        assert!(
            matches!(&error, PretrainedError::Config { message, .. } if message.contains(name)),
            "{error}"
        );
    }
    let mut state = load(folder().join("model.safetensors"));
    state.insert(
        "model.encoder.conv1.weight",
        Array::zeros(&[24, 6, 5], DType::F32),
    );
    let path = directory.path().join("model.safetensors");
    ramie_checkpoint::save(&path, &state).expect("saved");
    let error = model.load_pretrained(&path).expect_err("another window");
    assert!(
        matches!(&error, PretrainedError::Shape { expected, .. } if *expected == [24, 6, 3]),
        "{error}"
    );
}
