//! LoRA adapters in the files of `peft`: models compute as there, and files are written as there.

use ramie_checkpoint::load_state;
use ramie_core::{Array, DType, State};
use ramie_models::{Bert, Gpt2, Llama, Pretrained, PretrainedError};
use ramie_nn::nnx::{self, of_type};
use ramie_nn::{LoraOptions, LoraParam, Module, Rngs, apply_lora, apply_lora_with, merge_lora};
use ramie_testing::{golden, panic_message};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn recorded(name: &str) -> PathBuf {
    golden::path("peft").join(name)
}

fn base(name: &str) -> PathBuf {
    golden::path(&format!("hf_{name}"))
}

fn config(folder: &Path) -> Value {
    let text = fs::read(folder.join("adapter_config.json")).expect("read");
    serde_json::from_slice(&text).expect("JSON")
}

fn tensors(folder: &Path) -> State {
    load_state(folder.join("adapter_model.safetensors")).expect("tensors")
}

/// A model with its functions.
struct Adapted<M> {
    name: &'static str,
    model: M,
    forward: fn(&mut M, &Array) -> Array,
    load: fn(&mut M, &Path) -> Result<(), PretrainedError>,
    save: fn(&M, &Path) -> Result<(), PretrainedError>,
}

impl<M: Module + Clone> Adapted<M> {
    /// Asserts that the model computes as with the recorded adapter.
    fn computes_as_recorded(&self, model: &mut M) {
        let reference = load_state(recorded(self.name).join("reference.safetensors"));
        let reference = reference.expect("the recording");
        let expected = &reference["output"];
        let output = (self.forward)(model, &reference["tokens"]);
        let difference = (&output - expected).abs().max().item::<f32>();
        let scale = expected.abs().max().item::<f32>();
        println!("{}: {difference:e} of {scale}", self.name);
        assert!(difference < 3e-6 * scale, "{}: {difference}", self.name);
    }

    /// Loads the recorded adapter, saves it, and loads it again.
    fn there_and_back(mut self) {
        let mut again = self.model.clone();
        (self.load)(&mut self.model, &recorded(self.name)).expect("loads");
        self.computes_as_recorded(&mut self.model.clone());
        let folder = tempfile::tempdir().expect("a folder");
        (self.save)(&self.model, folder.path()).expect("saved");
        (self.load)(&mut again, folder.path()).expect("loads");
        self.computes_as_recorded(&mut again);
        merge_lora(&mut again);
        self.computes_as_recorded(&mut again);
        // Python, if there is one, computes the same with the saved files.
        if let Some(python) = std::env::var_os("RAMIE_PEFT_PYTHON") {
            let script = golden::path("../peft_adapters.py");
            let folder = folder.path().to_str().expect("text");
            let checked = Command::new(python)
                .arg(script)
                .args(["--check", self.name, folder])
                .status();
            assert!(checked.expect("it starts").success());
        }
        // GPT-2 has separate layers for one matrix, whose adapters are joined.
        if self.name != "gpt2" {
            let (before, after) = (
                tensors(&recorded(self.name)),
                tensors(Path::new(folder.path())),
            );
            assert_eq!(before.len(), after.len());
            for (name, array) in before.iter() {
                assert_eq!(array.to_vec::<f32>(), after[name].to_vec::<f32>(), "{name}");
            }
        }
    }
}

fn llama() -> Adapted<Llama> {
    Adapted {
        name: "llama",
        model: Llama::from_pretrained(base("llama")).expect("loads"),
        forward: |model, tokens| model.forward(tokens),
        load: |model, folder| model.load_adapter(folder),
        save: |model, folder| model.save_adapter(folder),
    }
}

#[test]
fn llama_computes_as_in_peft() {
    llama().there_and_back();
}

#[test]
fn gpt2_computes_as_in_peft() {
    Adapted {
        name: "gpt2",
        model: Gpt2::from_pretrained(base("gpt2")).expect("loads"),
        forward: |model, tokens| model.forward(tokens),
        load: |model, folder| model.load_adapter(folder),
        save: |model, folder| model.save_adapter(folder),
    }
    .there_and_back();
}

#[test]
fn bert_computes_as_in_peft() {
    Adapted {
        name: "bert",
        model: Bert::from_pretrained(base("bert")).expect("loads"),
        forward: |model, tokens| model.forward(tokens, &tokens.ones_like()),
        load: |model, folder| model.load_adapter(folder),
        save: |model, folder| model.save_adapter(folder),
    }
    .there_and_back();
}

#[test]
fn configurations_select_the_adapted_modules() {
    let folder = tempfile::tempdir().expect("a folder");
    let rngs = &mut Rngs::new(0);
    let mut model = llama().model;
    let options = |rank, alpha| LoraOptions {
        rank,
        alpha: Some(alpha),
        param_dtype: DType::F32,
    };
    apply_lora_with(&mut model, &options(4, 8.0), |p| p.ends_with("query"), rngs);
    let selected = |path: &str| path == "layers.1.mlp.up_proj";
    apply_lora_with(&mut model, &options(2, 1.5), selected, rngs);
    model.save_adapter(folder.path()).expect("saved");
    let config = config(folder.path());
    let name = "model.layers.1.mlp.up_proj";
    for (entry, value) in [
        ("peft_type", json!("LORA")),
        ("target_modules", json!(["q_proj", name])),
        ("r", json!(4)),
        ("lora_alpha", json!(8)),
        ("rank_pattern", json!({ name: 2 })),
        ("alpha_pattern", json!({ name: 1.5 })),
        ("fan_in_fan_out", json!(false)),
    ] {
        assert_eq!(config[entry], value, "{entry}");
    }
    // Each entry is one that `peft` writes.
    let known = self::config(&recorded("llama"));
    for entry in config.as_object().expect("entries").keys() {
        assert!(known.get(entry).is_some(), "{entry}");
    }
    let mut again = llama().model;
    again.load_adapter(folder.path()).expect("loads");
    let up = again.layers[1]
        .mlp
        .up_proj
        .lora
        .as_ref()
        .expect("an adapter");
    assert_eq!((up.lora_a.shape(), up.scale), (&[24, 2][..], 0.75));
    assert_eq!(
        nnx::state(&again, of_type::<LoraParam>()).len(),
        nnx::state(&model, of_type::<LoraParam>()).len()
    );
}

#[test]
fn names_of_models_with_a_head_are_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let renamed = |name: &str| name.replace("model.encoder.", "model.bert.encoder.");
    let all = tensors(&recorded("bert"));
    let all: State = all.iter().map(|(n, a)| (renamed(n), a.clone())).collect();
    ramie_checkpoint::save(folder.path().join("adapter_model.safetensors"), &all).expect("saved");
    let config = recorded("bert").join("adapter_config.json");
    fs::copy(config, folder.path().join("adapter_config.json")).expect("copied");
    let mut model = Bert::from_pretrained(base("bert")).expect("loads");
    model.load_adapter(folder.path()).expect("loads");
    assert!(model.layers[1].attention.value.lora.is_some());
    assert!(model.layers[1].attention.key.lora.is_none());
}

#[test]
fn adapters_that_do_not_fit_are_named() {
    let mut gpt2 = Gpt2::from_pretrained(base("gpt2")).expect("loads");
    let error = |e: Result<(), PretrainedError>| e.expect_err("it is refused").to_string();
    let text = error(gpt2.load_adapter(recorded("llama")));
    assert!(
        text.contains(
            "adapter_model.safetensors: the model has no parameters for `model.layers.0."
        ),
        "{text}"
    );
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let mut model = llama().model;
    let text = error(model.load_adapter(folder.path()));
    assert!(
        text.contains("adapter_config.json: cannot be read"),
        "{text}"
    );
    let all = tensors(&recorded("llama"));
    let name = "base_model.model.model.layers.0.self_attn.q_proj.lora_B.weight";
    let short = |n: &str, a: &Array| {
        if n == name {
            a.slice_in_dim(0, 12, 1, 0)
        } else {
            a.clone()
        }
    };
    let all: State = all
        .iter()
        .map(|(n, a)| (n.to_owned(), short(n, a)))
        .collect();
    ramie_checkpoint::save(at("adapter_model.safetensors"), &all).expect("saved");
    fs::write(at("adapter_config.json"), "{}").expect("written");
    let text = error(model.load_adapter(folder.path()));
    assert!(
        text.contains("q_proj.lora_B.weight` has shape [12, 4], expected [24, 4]"),
        "{text}"
    );
    let config = "{\"alpha_pattern\": {\"(q|k)_proj\": 3}}";
    fs::write(at("adapter_config.json"), config).expect("written");
    let text = error(model.load_adapter(folder.path()));
    assert!(text.contains("`alpha_pattern` is \"(q|k)_proj\""), "{text}");
    let text = panic_message(|| gpt2.save_adapter(folder.path()));
    assert!(
        text.contains("Gpt2::save_adapter: the model has no LoRA adapters\n  help: "),
        "{text}"
    );
    apply_lora(
        &mut gpt2,
        2,
        |path| path == "h.0.attn.value",
        &mut Rngs::new(0),
    );
    gpt2.save_adapter(folder.path()).expect("saved");
    let saved = tensors(folder.path());
    let b = &saved["base_model.model.transformer.h.0.attn.c_attn.lora_B.weight"];
    assert_eq!(b.shape(), [72, 2]);
}
