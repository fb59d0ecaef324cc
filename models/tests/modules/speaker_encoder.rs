//! The speaker encoder: published checkpoints give the embeddings of the reference.

use crate::models::same_tensors;
use ramie_core::{Array, DType, State, jit, s, stack};
use ramie_models::{Pretrained, PretrainedError, SpeakerEncoder, SpeakerEncoderConfig};
use ramie_nn::{Param, Rngs, nnx, value_and_grad};
use ramie_testing::panic_message;
use std::path::PathBuf;

fn golden(name: &str) -> PathBuf {
    ramie_testing::golden::path("speaker_encoder").join(name)
}

fn load(name: &str) -> State {
    ramie_checkpoint::load_state(golden(name)).expect("the recording")
}

/// The configuration of the recorded model.
fn config() -> SpeakerEncoderConfig {
    SpeakerEncoderConfig {
        bands: 5,
        features: 6,
        layers: 2,
        embedding_features: 7,
    }
}

#[track_caller]
fn close(what: &str, got: &Array, expected: &Array) {
    assert_eq!(got.shape(), expected.shape(), "{what}");
    let difference = (got - expected).abs().max().item::<f32>();
    println!("{what}: difference {difference:e}");
    assert!(difference < 1e-6, "{what}: {difference}");
}

#[test]
fn embeddings_are_those_of_the_reference() {
    let recorded = load("reference.safetensors");
    let mut model = SpeakerEncoder::from_weights(golden("model.pt"), &config()).expect("loads");
    let run = jit(|model: &mut SpeakerEncoder, x: Array| model.forward(&x));
    let embeddings = run(&mut model, recorded["spectrograms"].clone());
    close("embeddings", &embeddings, &recorded["embeddings"]);
    // One window that silence continues, one of 197 frames, two, and three.
    let run = jit(|model: &mut SpeakerEncoder, x: Array| model.embed_utterance(&x));
    let utterance = &recorded["utterance"];
    let lengths = [100, 197, 198, 281].map(|n| run(&mut model, utterance.index(s(..n))));
    close("utterances", &stack(&lengths, 0), &recorded["utterances"]);

    // Saved again: the same weights, without the optimizer and the loss.
    let directory = tempfile::tempdir().expect("a directory");
    let [saved, published] =
        ["saved.safetensors", "published.safetensors"].map(|name| directory.path().join(name));
    model.save_weights(&saved).expect("saved");
    let mut state = load("model.pt").subtree("model_state");
    for name in ["similarity_weight", "similarity_bias"] {
        state.remove(name).expect("a parameter of the loss");
    }
    ramie_checkpoint::save(&published, &state).expect("saved");
    same_tensors(&saved, &published);
    assert!(SpeakerEncoder::from_weights(&saved, &config()).is_ok());
}

#[test]
fn gradients_are_finite_even_if_the_embedding_is_zero() {
    let mut model = SpeakerEncoder::new(&config(), &mut Rngs::new(0));
    let grads = |model: &mut SpeakerEncoder| {
        let x = Array::ones(&[2, 4, 5], DType::F32);
        let run = jit(move |model: &mut SpeakerEncoder, x: Array| {
            value_and_grad(model, |model| model.forward(&x).index((.., 0)).sum()).1
        });
        run(model, x)
    };
    for (path, grad) in grads(&mut model).iter() {
        assert!(grad.ne(0).any().item::<bool>(), "{path}");
    }
    model.linear.bias = Some(Param::new(Array::full(&[7], -1e3, DType::F32)));
    for (path, grad) in grads(&mut model).iter() {
        assert!(grad.eq(0).all().item::<bool>(), "{path}");
    }
}

#[test]
fn the_default_has_the_size_of_the_published_model() {
    let config = SpeakerEncoderConfig::default();
    let model = ramie_core::eval_shape(|()| SpeakerEncoder::new(&config, &mut Rngs::new(0)), ());
    let parameters = nnx::state(&model, nnx::of_type::<Param>());
    let count: usize = parameters.arrays().iter().map(Array::size).sum();
    assert_eq!(count, 1_423_616);
}

#[test]
fn mistakes_are_named() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("model.safetensors");
    let error = |state: &State| {
        ramie_checkpoint::save(&path, state).expect("saved");
        SpeakerEncoder::from_weights(&path, &config()).expect_err("it does not fit")
    };
    let mut state = load("model.pt");
    state.insert("model_state.lstm.weight_ih_l2", Array::from(0.0f32));
    let text = error(&state).to_string();
    assert!(
        text.contains("no parameters for `model_state.lstm.weight_ih_l2`"),
        "{text}"
    );
    state.insert("model_state.lstm.weight_hh_l1", Array::from(0.0f32));
    let result = error(&state);
    assert!(
        matches!(&result, PretrainedError::Shape { tensor, expected, .. }
        if tensor == "model_state.lstm.weight_hh_l1" && *expected == [24, 6]),
        "{result}"
    );
    state.remove("model_state.lstm.bias_hh_l0");
    let result = error(&state);
    assert!(
        matches!(&result, PretrainedError::Missing { tensor, .. }
        if tensor == "model_state.lstm.bias_hh_l0"),
        "{result}"
    );

    let mut model = SpeakerEncoder::new(&config(), &mut Rngs::new(0));
    let text = panic_message(|| drop(model.embed_utterance(&Array::zeros(&[9, 4], DType::F32))));
    assert!(
        text.contains("the spectrogram is f32[9,4], expected [frames, 5]")
            && text.contains("n_mels: 5"),
        "{text}"
    );
    let text = panic_message(|| drop(model.forward(&Array::zeros(&[1, 0, 5], DType::F32))));
    assert!(text.contains("expected [batch, frames, 5]"), "{text}");
    let none = SpeakerEncoderConfig {
        layers: 0,
        ..config()
    };
    let text = panic_message(|| drop(SpeakerEncoder::new(&none, &mut Rngs::new(0))));
    assert!(text.contains("help: use 3 layers"), "{text}");
}
