//! Mistral and Qwen: published checkpoints give the logits of `transformers`.

use crate::models::{agrees, same_numbers};
use ramie_core::{Array, jit};
use ramie_models::{Llama, LlamaConfig, LlamaFamily, Pretrained, PretrainedConfig};
use ramie_nn::{AttentionFn, Module, Rngs};
use ramie_testing::panic_message;
use std::path::PathBuf;

fn folder(name: &str) -> PathBuf {
    ramie_testing::golden::path(&format!("hf_{name}"))
}

fn config(name: &str) -> LlamaConfig {
    LlamaConfig::from_json(folder(name).join("config.json")).expect("a configuration")
}

#[test]
fn families_are_those_of_the_reference() {
    for (name, family) in [
        ("mistral", LlamaFamily::Mistral),
        ("qwen2", LlamaFamily::Qwen2),
        ("qwen3", LlamaFamily::Qwen3),
    ] {
        assert_eq!(config(name).model_type, family);
        agrees(name, Llama::from_pretrained(folder(name)).expect("loads"));
    }
}

/// The tokens and the logits of the reference, and the logits of the recorded weights with another
/// configuration.
fn logits(name: &str, change: impl FnOnce(&mut LlamaConfig)) -> [Array; 3] {
    let mut config = config(name);
    change(&mut config);
    let mut model = Llama::new(&config, &mut Rngs::new(0));
    let load = model.load_pretrained(folder(name).join("model.safetensors"));
    load.expect("loads");
    model.eval();
    let recorded = ramie_checkpoint::load_state(folder(name).join("reference.safetensors"));
    let recorded = recorded.expect("the recording");
    let tokens = recorded["tokens"].clone();
    let run = jit(|model: &mut Llama, tokens: Array| model.forward(&tokens));
    let got = run(&mut model, tokens.clone());
    [tokens, recorded["logits"].clone(), got]
}

#[test]
fn blocks_of_keys_give_the_same() {
    for name in ["mistral", "qwen3"] {
        let [_, expected, got] = logits(name, |config| {
            config.attention_fn = AttentionFn::blockwise(3);
        });
        same_numbers(&format!("{name} in blocks"), &got, &expected);
    }
}

#[test]
fn the_window_matters() {
    assert_eq!(config("mistral").sliding_window, Some(4));
    for size in [None, Some(3), Some(5)] {
        let [_, expected, got] = logits("mistral", |config| config.sliding_window = size);
        let same = |from: usize, to: usize| {
            let part = |x: &Array| x.slice_in_dim(from, to, 1, 1);
            (part(&got) - part(&expected)).abs().max().item::<f32>() < 1e-2
        };
        // The first tokens have few others before them.
        let first = size.unwrap_or(4).min(4);
        assert!(same(0, first) && !same(first, 9), "{size:?}");
    }
}

#[test]
fn variants_of_families_are_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("config.json");
    let read = |text: &str| {
        std::fs::write(&path, text).expect("written");
        LlamaConfig::from_json(&path)
    };
    let refused = |text: &str, what: &str| {
        let message = read(text).expect_err("it is refused").to_string();
        let expected = format!("{what}, which this model does not support\n  help: ");
        assert!(message.contains(&expected), "{message}");
    };
    let windowed = r#"{"model_type": "qwen3", "use_sliding_window": true}"#;
    refused(windowed, "`use_sliding_window` is true");
    let some = r#"{"model_type": "qwen2", "layer_types": ["full_attention", "sliding_attention"]}"#;
    refused(some, "`layer_types` is \"sliding_attention\"");
    let some = some.replace("qwen2", "mistral");
    refused(&some, "`layer_types` is \"full_attention\"");
    let empty = r#"{"model_type": "mistral", "sliding_window": 0}"#;
    refused(empty, "`sliding_window` is 0");
    let biased = r#"{"model_type": "mistral", "attention_bias": true}"#;
    refused(biased, "`attention_bias` is true");
    let biased = r#"{"model_type": "qwen3", "mlp_bias": true}"#;
    refused(biased, "`mlp_bias` is true");
    for name in ["gemma", "qwen3_moe", "qwen2_moe", "mixtral", "ministral"] {
        let text = format!("{{\"model_type\": \"{name}\"}}");
        refused(&text, &format!("`model_type` is \"{name}\""));
    }

    let small = r#"{"model_type": "mistral"}"#;
    assert_eq!(
        read(small).expect("read"),
        LlamaConfig::new(LlamaFamily::Mistral)
    );
    let whole = r#"{"model_type": "mistral", "sliding_window": null, "num_key_value_heads": null}"#;
    let whole = read(whole).expect("read");
    assert_eq!(
        (whole.sliding_window, whole.num_key_value_heads),
        (None, None)
    );
    // Sizes that do not apply.
    let unused = r#"{"model_type": "qwen2", "use_sliding_window": false, "sliding_window": 8,
        "max_window_layers": 1, "attention_bias": false}"#;
    let unused = read(unused).expect("read");
    assert_eq!((unused.sliding_window, unused.attention_bias), (None, true));
    let unused = read(r#"{"sliding_window": 8, "layer_types": null}"#).expect("read");
    assert_eq!(unused.sliding_window, None);
}

#[test]
fn options_of_other_families_are_explained() {
    let text = |family: LlamaFamily, change: fn(&mut LlamaConfig)| {
        let mut config = LlamaConfig::new(family);
        change(&mut config);
        panic_message(|| Llama::new(&config, &mut Rngs::new(0)))
    };
    let message = text(LlamaFamily::Mistral, |c| c.sliding_window = Some(0));
    let expected = "Llama: `sliding_window` is 0, which the family Mistral does not support\n  \
                    help: start with its defaults: LlamaConfig::new(LlamaFamily::Mistral)";
    assert!(message.contains(expected), "{message}");
    let message = text(LlamaFamily::Qwen3, |c| c.sliding_window = Some(4096));
    assert!(
        message.contains("`sliding_window` is 4096, which the family Qwen3"),
        "{message}"
    );
    let message = text(LlamaFamily::Qwen2, |c| c.attention_bias = false);
    assert!(
        message.contains("`attention_bias` is false, which the family Qwen2"),
        "{message}"
    );
    let message = text(LlamaFamily::Mistral, |c| c.mlp_bias = true);
    assert!(
        message.contains("`mlp_bias` is true, which the family Mistral"),
        "{message}"
    );
}
