//! BERT: published checkpoints give the features of the reference.

use ramie_core::options::Reduction;
use ramie_core::{Array, DType, State, jit};
use ramie_models::{Bert, BertConfig, Pretrained, PretrainedConfig, PretrainedError, mean_pooling};
use ramie_nn::Rngs;
use ramie_testing::panic_message;
use std::path::PathBuf;

fn folder() -> PathBuf {
    ramie_testing::golden::path("hf_bert")
}

fn reference() -> State {
    ramie_checkpoint::load_state(folder().join("reference.safetensors")).expect("the recording")
}

fn published() -> State {
    ramie_checkpoint::load_state(folder().join("model.safetensors")).expect("the weights")
}

fn config() -> BertConfig {
    BertConfig::from_json(folder().join("config.json")).expect("a configuration")
}

#[track_caller]
fn close(what: &str, got: &Array, expected: &Array) {
    assert_eq!(got.shape(), expected.shape(), "{what}");
    let pairs = got
        .to_vec::<f32>()
        .into_iter()
        .zip(expected.to_vec::<f32>());
    let difference = pairs.fold(0.0f32, |m, (a, b)| m.max((a - b).abs()));
    println!("{what}: difference {difference:e}");
    assert!(difference < 1e-5, "{what}: {difference}");
}

/// The model of a state has the reference's features, and its embeddings if sentences are single.
#[track_caller]
fn agrees(model: &mut Bert) {
    let recorded = reference();
    let [tokens, mask, segments] = ["tokens", "mask", "segments"].map(|n| recorded[n].clone());
    let run = jit(
        |model: &mut Bert, (tokens, mask, segments): (Array, Array, Array)| {
            let features = model.forward_segments(&tokens, &mask, &segments);
            let mean = mean_pooling(&features, &mask);
            (features, mean)
        },
    );
    // Padding of other tokens, and as a boolean mask.
    let other = where_padded(&tokens, &mask, 7);
    for (tokens, mask) in [(tokens, mask.clone()), (other, mask.astype(DType::Bool))] {
        let (features, mean) = run(model, (tokens, mask.clone(), segments.clone()));
        let kept = mask.astype(DType::F32).expand_dims(&[2]);
        close("features", &(&features * kept), &recorded["hidden"]);
        if model.pooler.is_some() {
            close("pooled", &model.pool(&features), &recorded["pooled"]);
        }
        let norm = mean.square().sum_over(Reduction::over(1).keepdims()).sqrt();
        close("embeddings", &(mean / norm), &recorded["embeddings"]);
    }
}

/// Replaces the tokens of the padding.
fn where_padded(tokens: &Array, mask: &Array, token: i32) -> Array {
    tokens * mask + (1 - mask) * token
}

#[test]
fn features_are_those_of_the_reference() {
    let mut model = Bert::from_pretrained(folder()).expect("loads");
    agrees(&mut model);
    // Without segments.
    let recorded = reference();
    let (tokens, mask) = (&recorded["tokens"], &recorded["mask"]);
    let zeros = tokens.zeros_like();
    let features = model.forward_segments(tokens, mask, &zeros);
    close("one segment", &model.forward(tokens, mask), &features);
    let embeddings = model.embed(tokens, mask);
    let norms = embeddings.square().sum_over(1);
    close("norms", &norms, &Array::ones(&[3], DType::F32));
}

/// Saves a state in a new directory, with the recorded configuration.
fn saved(name: &str, state: &State) -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    ramie_checkpoint::save(directory.path().join(name), state).expect("saved");
    std::fs::copy(
        folder().join("config.json"),
        directory.path().join("config.json"),
    )
    .expect("copied");
    directory
}

#[test]
fn names_of_other_programs_load() {
    // The encoder of a model for masked tokens: a prefix, a head, no pooler, and the names of
    // normalizations in TensorFlow.
    let mut state: State = published()
        .iter()
        .filter(|(name, _)| !name.starts_with("pooler."))
        .map(|(name, array)| {
            let name = name.replace("LayerNorm.weight", "LayerNorm.gamma");
            let name = name.replace("LayerNorm.bias", "LayerNorm.beta");
            (format!("bert.{name}"), array.clone())
        })
        .collect();
    state.insert("cls.predictions.bias", Array::zeros(&[53], DType::F32));
    state.insert(
        "bert.embeddings.position_ids",
        Array::arange(16).expand_dims(&[0]),
    );
    let directory = saved("pytorch_model.bin", &state);
    let mut model = Bert::from_pretrained(directory.path()).expect("loads");
    assert!(model.pooler.is_none());
    agrees(&mut model);
    let text = panic_message(|| drop(model.pool(&Array::zeros(&[1, 2, 24], DType::F32))));
    assert!(
        text.contains("the checkpoint of the model has no pooler"),
        "{text}"
    );

    // Saved again, and loaded.
    let directory = tempfile::tempdir().expect("a directory");
    model
        .save_pretrained(directory.path(), &config())
        .expect("saved");
    let mut again = Bert::from_pretrained(directory.path()).expect("loads");
    agrees(&mut again);
    let names = |path: PathBuf| -> Vec<String> {
        let state = ramie_checkpoint::load_state(path).expect("read");
        state.paths().map(str::to_owned).collect()
    };
    let mut expected = names(folder().join("model.safetensors"));
    expected.retain(|name| !name.starts_with("pooler."));
    assert_eq!(names(directory.path().join("model.safetensors")), expected);
}

#[test]
fn what_does_not_load_is_named() {
    let load = |state: &State| {
        let directory = saved("model.safetensors", state);
        Bert::from_pretrained(directory.path()).expect_err("it does not fit")
    };
    let mut state = published();
    state.remove("encoder.layer.1.attention.self.key.bias");
    let error = load(&state);
    assert!(
        matches!(&error, PretrainedError::Missing { tensor, .. }
        if tensor == "encoder.layer.1.attention.self.key.bias"),
        "{error}"
    );
    let mut state = published();
    state.insert("classifier.weight", Array::zeros(&[2, 24], DType::F32));
    let text = load(&state).to_string();
    assert!(
        text.contains("the model has no parameters for `classifier.weight`"),
        "{text}"
    );

    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("config.json");
    for (option, shown) in [
        (
            r#""position_embedding_type": "relative_key""#,
            "`position_embedding_type` is \"relative_key\"",
        ),
        (r#""is_decoder": true"#, "`is_decoder` is true"),
        (
            r#""hidden_act": "quick_gelu""#,
            "`hidden_act` is \"quick_gelu\"",
        ),
    ] {
        std::fs::write(&path, format!("{{{option}}}")).expect("written");
        let text = BertConfig::from_json(&path)
            .expect_err("it is refused")
            .to_string();
        assert!(
            text.contains(&format!("{shown}, which this model does not support")),
            "{text}"
        );
    }
}

#[test]
fn shapes_are_checked() {
    let mut model = Bert::new(&config(), &mut Rngs::new(0));
    let said = |model: &mut Bert, tokens: &[usize], mask: &[usize]| {
        let (tokens, mask) = (
            Array::zeros(tokens, DType::I32),
            Array::ones(mask, DType::Bool),
        );
        let mut model = model.clone();
        panic_message(move || drop(model.forward(&tokens, &mask)))
    };
    let text = said(&mut model, &[2, 17], &[2, 17]);
    assert!(
        text.contains(
            "Bert: the tokens are i32[2,17], expected [batch, length] with a length of 16 or less"
        ),
        "{text}"
    );
    let text = said(&mut model, &[2, 5], &[5]);
    assert!(
        text.contains("Bert: the mask is bool[5], expected the shape of the tokens, [2, 5]"),
        "{text}"
    );
}

#[test]
fn padding_that_is_nan_is_not_pooled() {
    let features = Array::from([[[1.0f32, 2.0], [3.0, 4.0], [f32::NAN, f32::INFINITY]]]);
    let mask = Array::from([[true, true, false]]);
    assert_eq!(mean_pooling(&features, &mask).to_vec::<f32>(), [2.0, 3.0]);
    let none = Array::from([[false, false, false]]);
    assert_eq!(mean_pooling(&features, &none).to_vec::<f32>(), [0.0, 0.0]);
    let many = Array::ones(&[1, 301, 1], DType::BF16);
    let all = Array::ones(&[1, 301], DType::I32);
    assert_eq!(
        mean_pooling(&many, &all).astype(DType::F32).to_vec::<f32>(),
        [1.0]
    );
}
