//! From a published checkpoint to a tuned one: adapters by path, prompts of
//! different lengths, and saving under the published names.

use ramie_core::{Array, DType, jit, random, tree};
use ramie_models::{
    Generator, Gpt2, Gpt2Config, LanguageModel, Llama, LlamaConfig, Pretrained, PretrainedConfig,
    PretrainedError, Sampling,
};
use ramie_nn::nnx::{self, of_type};
use ramie_nn::{
    Linear, LinearGeneral, LoraOptions, LoraParam, Module, Optimizer, Param, Rngs, apply_lora,
    apply_lora_with, merge_lora, value_and_grad_wrt,
};
use ramie_optim::adam;
use ramie_testing::panic_message;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

fn published(name: &str) -> PathBuf {
    ramie_testing::golden::path(&format!("hf_{name}"))
}

/// A directory of its own, which is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("ramie-{name}-{}", std::process::id()));
        drop(fs::remove_dir_all(&path));
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

fn json(folder: &Path) -> Value {
    serde_json::from_slice(&fs::read(folder.join("config.json")).unwrap()).unwrap()
}

/// The tensors of a published checkpoint, of one file or several.
fn tensors(folder: &Path) -> Vec<(String, Vec<usize>, Vec<f32>)> {
    let index = folder.join("model.safetensors.index.json");
    let file = if index.exists() {
        index
    } else {
        folder.join("model.safetensors")
    };
    let state = ramie_checkpoint::load_state(file).expect("loads");
    let all = state.iter();
    let mut all: Vec<_> = all
        .map(|(name, a)| (name.to_owned(), a.shape().to_vec(), a.to_vec::<f32>()))
        .collect();
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
}

/// A saved checkpoint has the tensors and the entries of the published one.
fn saves<M>(
    name: &str,
    load: impl Fn(&Path) -> M,
    save: impl Fn(&M, &Path) -> Result<(), PretrainedError>,
) {
    let (from, to) = (published(name), Folder::new(&format!("saved-{name}")));
    let model = load(&from);
    fs::create_dir_all(&to.0).unwrap();
    // The index of an older checkpoint is removed, so that the new file is read.
    fs::write(to.0.join("model.safetensors.index.json"), "{}").unwrap();
    save(&model, &to.0).expect("saved");
    assert!(tensors(&from) == tensors(&to.0), "{name}");
    let metadata = ramie_checkpoint::load_metadata(to.0.join("model.safetensors")).unwrap();
    assert_eq!(metadata["format"], "pt");
    let (before, after) = (json(&from), json(&to.0));
    for (entry, value) in before.as_object().unwrap() {
        // What is null or missing has the default. All layers are alike.
        let kept = after.get(entry) == Some(value) || value.is_null() || entry == "layer_types";
        assert!(kept, "{name}: {entry} {value} {:?}", after.get(entry));
    }
    // Again, from the saved one.
    let again = Folder::new(&format!("again-{name}"));
    save(&load(&to.0), &again.0).expect("saved");
    assert_eq!(json(&again.0), after);
}

#[test]
fn saved_models_are_as_published() {
    let config = |folder: &Path| folder.join("config.json");
    saves(
        "gpt2",
        |folder| {
            let config = Gpt2Config::from_json(config(folder)).unwrap();
            (Gpt2::from_pretrained(folder).unwrap(), config)
        },
        |(model, config), to| model.save_pretrained(to, config),
    );
    for name in ["llama", "llama_tied", "mistral", "qwen2", "qwen3"] {
        saves(
            name,
            |folder| {
                let config = LlamaConfig::from_json(config(folder)).unwrap();
                (Llama::from_pretrained(folder).unwrap(), config)
            },
            |(model, config), to| model.save_pretrained(to, config),
        );
    }
}

#[test]
fn what_cannot_be_saved_is_named() {
    let folder = Folder::new("refused");
    let from = published("gpt2");
    let mut config = Gpt2Config::from_json(from.join("config.json")).unwrap();
    let mut model = Gpt2::from_pretrained(&from).unwrap();
    config.n_layer = 1;
    let text = panic_message(|| model.save_pretrained(&folder.0, &config));
    assert!(
        text.contains("`h.1.attn.key.bias` is f32[4,6] in the model, but none"),
        "{text}"
    );
    config.n_layer = 2;
    apply_lora(
        &mut model,
        2,
        |path| path.ends_with("c_fc"),
        &mut Rngs::new(0),
    );
    let text = panic_message(|| model.save_pretrained(&folder.0, &config));
    assert!(
        text.contains("such as `h.0.mlp.c_fc.lora.lora_a`") && text.contains("help: merge"),
        "{text}"
    );
    assert!(!folder.0.exists());
    merge_lora(&mut model);
    fs::write(&folder.0, "a file").unwrap();
    let error = model.save_pretrained(&folder.0, &config).unwrap_err();
    let message = error.to_string();
    assert!(
        message.contains(": cannot be created: ")
            && message.ends_with("\n  help: choose another path, or remove the existing file"),
        "{message}"
    );
    fs::remove_file(&folder.0).unwrap();
}

/// Prompts of different lengths are continued as each of them alone.
fn continues<M: LanguageModel>(model: &M) {
    let prompts = [vec![3, 50, 7, 7, 21], vec![9], vec![30, 2, 11]];
    let key = random::key(0);
    let generator = Generator::new(Sampling::greedy(), 6);
    let together = generator.generate_prompts(model, &prompts, &key);
    for (prompt, text) in prompts.iter().zip(&together) {
        let alone = Array::from(prompt.clone()).expand_dims(&[0]);
        let alone = generator.generate(model, &alone, &key).to_vec::<i32>();
        assert_eq!(*text, alone);
    }
    // A sequence ends with the token that ends it.
    let last = &together[1];
    let ends = Generator::new(Sampling::greedy(), 6).eos_token_id(last[2]);
    let ended = ends.generate_prompts(model, &prompts, &key);
    let first = last[1..].iter().position(|t| *t == last[2]).unwrap() + 1;
    assert_eq!(ended[1], last[..=first]);
    for token in [53, -1] {
        let text = panic_message(|| generator.generate_prompts(model, &[vec![1, token]], &key));
        let expected = format!("the token {token} is not in the vocabulary of the model");
        assert!(text.contains(&expected), "{text}");
    }
    assert!(
        panic_message(|| generator.generate_prompts(model, &[vec![1], vec![]], &key))
            .contains("the prompts have the lengths [1, 0]")
    );
}

#[test]
fn prompts_of_different_lengths() {
    continues(&Gpt2::from_pretrained(published("gpt2")).expect("loads"));
    for name in ["llama_tied", "mistral", "qwen3"] {
        continues(&Llama::from_pretrained(published(name)).expect("loads"));
    }
}

/// The families whose attention differs, by a published name each.
const FAMILIES: [&str; 3] = ["llama", "mistral", "qwen3"];

#[track_caller]
fn same_logits(name: &str, got: &Array, expected: &Array) {
    let difference = (got - expected).abs().max().item::<f32>();
    assert!(difference < 1e-5, "{name}: {difference}");
}

#[test]
fn padding_changes_no_logits() {
    for name in FAMILIES {
        let mut model = Llama::from_pretrained(published(name)).expect("loads");
        let alone = model.logits(&Array::from([[5, 6, 7, 30, 2, 41]]));
        let padded = Array::from([[9, 9, 5, 6, 7, 30, 2, 41]]);
        let padded = model.logits_padded(&padded, &Array::from([2]));
        same_logits(name, &padded.slice_in_dim(2, 8, 1, 1), &alone);
    }
}

#[test]
fn packed_sequences_are_those_alone() {
    let (first, second) = ([5, 6, 7], [30, 7, 2, 41, 13, 50]);
    let row: Vec<i32> = first.iter().chain(&second).copied().chain([0]).collect();
    for name in FAMILIES {
        let mut model = Llama::from_pretrained(published(name)).expect("loads");
        let packed = model.forward_packed(
            &Array::from_vec(row.clone(), &[1, 10]),
            &Array::from([[1, 1, 1, 2, 2, 2, 2, 2, 2, 0]]),
            &Array::from([[0, 1, 2, 0, 1, 2, 3, 4, 5, 0]]),
        );
        for (start, alone) in [(0, Array::from([first])), (3, Array::from([second]))] {
            let alone = model.forward(&alone);
            let kept = packed.slice_in_dim(start, start + alone.shape()[1], 1, 1);
            same_logits(name, &kept, &alone);
        }
    }
    let mut model = Llama::from_pretrained(published("llama")).expect("loads");
    let tokens = Array::from([[1, 2]]);
    let message = panic_message(|| model.forward_packed(&tokens, &tokens, &Array::from([1, 2])));
    assert!(
        message
            .contains("the segments i32[1,2] and the positions i32[2], expected [batch, length]"),
        "{message}"
    );
}

#[test]
fn adapters_are_trained_and_merged() {
    let mut model = Gpt2::from_pretrained(published("gpt2")).expect("loads");
    let tokens = Array::from([[3, 50, 7, 7, 21], [1, 2, 3, 4, 5]]);
    let before = model.forward(&tokens);
    let options = LoraOptions {
        rank: 2,
        alpha: Some(8.0),
        ..LoraOptions::default()
    };
    let selected = |path: &str| path.ends_with("attn.query") || path.ends_with("mlp.c_fc");
    let adapted = apply_lora_with(&mut model, &options, selected, &mut Rngs::new(1));
    assert_eq!(
        adapted,
        [
            "h.0.mlp.c_fc",
            "h.1.mlp.c_fc",
            "h.0.attn.query",
            "h.1.attn.query"
        ]
    );
    assert_eq!(
        model.forward(&tokens).to_vec::<f32>(),
        before.to_vec::<f32>()
    );
    let kernels = nnx::state(&model, of_type::<Param>());
    let mut optimizer = Optimizer::wrt(&model, adam(1e-2), of_type::<LoraParam>());
    let step = jit(
        |(model, optimizer): &mut (Gpt2, Optimizer), tokens: Array| {
            let (loss, grads) = value_and_grad_wrt(model, of_type::<LoraParam>(), |m| {
                m.forward(&tokens)
                    .log_softmax(-1)
                    .take(&Array::from([0]), -1)
                    .mean()
                    * -1.0
            });
            assert_eq!(grads.len(), 8);
            optimizer.update(model, grads);
            loss
        },
    );
    let mut both = (model, optimizer.clone());
    let losses: Vec<f32> = (0..5)
        .map(|_| step(&mut both, tokens.clone()).item())
        .collect();
    assert!(losses[4] < losses[0], "{losses:?}");
    (model, optimizer) = both;
    assert_eq!(optimizer.step.item::<u32>(), 5);
    for (path, kernel) in nnx::state(&model, of_type::<Param>()).iter() {
        assert_eq!(
            kernel.to_vec::<f32>(),
            kernels[path].to_vec::<f32>(),
            "{path}"
        );
    }
    let tuned = model.forward(&tokens);
    assert_ne!(tuned.to_vec::<f32>(), before.to_vec::<f32>());
    assert_eq!(merge_lora(&mut model), 4);
    assert_eq!(nnx::state(&model, of_type::<LoraParam>()).len(), 0);
    let merged = model.forward(&tokens);
    for (a, b) in merged.to_vec::<f32>().iter().zip(tuned.to_vec::<f32>()) {
        assert!((a - b).abs() < 1e-4, "{a} {b}");
    }
}

#[test]
fn adapters_of_any_axes() {
    let rngs = &mut Rngs::new(0);
    let mut layer = LinearGeneral::features([4, 5])
        .axis(&[0, 2])
        .build([2, 3], rngs);
    let x = random::normal(&random::key(0), &[2, 7, 3], DType::F32);
    let before = layer.forward(&x);
    apply_lora(&mut layer, 3, |_| true, rngs);
    let b = random::normal(&random::key(1), &[3, 20], DType::F32);
    layer.lora.as_mut().unwrap().lora_b.set(b);
    let with = layer.forward(&x);
    assert_ne!(with.to_vec::<f32>(), before.to_vec::<f32>());
    merge_lora(&mut layer);
    for (a, b) in layer
        .forward(&x)
        .to_vec::<f32>()
        .iter()
        .zip(with.to_vec::<f32>())
    {
        assert!((a - b).abs() < 1e-4, "{a} {b}");
    }
    // Adapters in f32 leave the dtype of the layer as it is.
    let narrow = Linear::features(4)
        .dtype(DType::BF16)
        .param_dtype(DType::BF16);
    let mut narrow = narrow.build(3, rngs);
    apply_lora(&mut narrow, 2, |_| true, rngs);
    assert_eq!(
        narrow.forward(&Array::ones(&[2, 3], DType::BF16)).dtype(),
        DType::BF16
    );
    assert_eq!(
        tree::paths(&narrow),
        ["kernel", "bias", "lora.lora_a", "lora.lora_b"]
    );
    merge_lora(&mut narrow);
    assert_eq!(narrow.kernel.dtype(), DType::BF16);
}

#[test]
fn adapters_that_cannot_be_added() {
    let rngs = &mut Rngs::new(0);
    let mut model = vec![Linear::new(4, 4, rngs), Linear::new(4, 2, rngs)];
    let text = panic_message(|| apply_lora(&mut model, 2, |path| path == "first", rngs));
    assert!(
        text.contains("selects no `Linear`") && text.contains("layers: 0, 1"),
        "{text}"
    );
    assert!(panic_message(|| apply_lora(&mut model, 0, |_| true, rngs)).contains("the rank is 0"));
    apply_lora(&mut model, 2, |path| path == "1", rngs);
    let text = panic_message(|| apply_lora(&mut model, 2, |_| true, rngs));
    assert!(text.contains("`1` has an adapter already"), "{text}");
    let mut batched = LinearGeneral::features(3)
        .axis(&[2])
        .batch_dims(1)
        .build_batched(&[2], 3, rngs);
    let text = panic_message(|| apply_lora(&mut batched, 2, |_| true, rngs));
    assert!(text.contains("a kernel for each batch element"), "{text}");
}

#[test]
fn a_copy_in_evaluation_mode() {
    let config = Gpt2Config::from_json(published("gpt2").join("config.json")).unwrap();
    let mut model = Gpt2::new(&config, &mut Rngs::new(0));
    let mut copy = model.evaluated();
    let tokens = Array::from([[3, 50, 7]]);
    assert_eq!(
        copy.forward(&tokens).to_vec::<f32>(),
        copy.forward(&tokens).to_vec::<f32>()
    );
    assert!(copy.drop.deterministic.0 && !model.drop.deterministic.0);
    assert_ne!(
        model.forward(&tokens).to_vec::<f32>(),
        model.forward(&tokens).to_vec::<f32>()
    );
    assert!(model.wte.embedding.value().same(copy.wte.embedding.value()));
}
