//! GPT-2 and Llama: published checkpoints give the logits of `transformers`, and
//! generation with caches what computation of whole sequences gives.

use ramie_core::{Array, DType, State, concatenate, jit, random, tree};
use ramie_models::{
    Generator, Gpt2, Gpt2Config, LanguageModel, Llama, LlamaConfig, Mlp, MlpConfig, Pretrained,
    PretrainedConfig, PretrainedError, ResNet, ResNetConfig, Sampling,
};
use ramie_nn::nnx::{self, Not, of_type};
use ramie_nn::{AttentionFn, BatchStat, Module, Optimizer, Param, Rngs, value_and_grad};
use ramie_optim::adam;
use ramie_testing::panic_message;
use std::fs;
use std::path::{Path, PathBuf};

fn folder(name: &str) -> PathBuf {
    ramie_testing::golden::path(&format!("hf_{name}"))
}

/// Tokens, logits and their greedy continuation by the reference.
fn reference(name: &str) -> [Array; 3] {
    let path = folder(name).join("reference.safetensors");
    let state = ramie_checkpoint::load_state(path).expect("the recording");
    ["tokens", "logits", "greedy"].map(|n| state.get(n).expect("recorded").clone())
}

#[track_caller]
fn close(what: &str, got: &Array, expected: &Array, tolerance: f32) {
    assert_eq!(got.shape(), expected.shape(), "{what}");
    let numbers = |x: &Array| x.astype(DType::F32).to_vec::<f32>();
    let expected = numbers(expected);
    let greatest = expected.iter().fold(0.0f32, |m, e| m.max(e.abs()));
    for (g, e) in numbers(got).iter().zip(&expected) {
        assert!((g - e).abs() <= tolerance * greatest, "{what}: {g} and {e}");
    }
}

/// Numbers are those of the reference, up to 1e-5 of the greatest.
#[track_caller]
pub fn same_numbers(what: &str, got: &Array, expected: &Array) {
    assert_eq!(got.shape(), expected.shape(), "{what}");
    let difference = (got - expected).abs().max().item::<f32>();
    let scale = expected.abs().max().item::<f32>();
    println!(
        "{what}: difference {:e} of the greatest",
        difference / scale
    );
    assert!(difference < 1e-5 * scale, "{what}: {difference}");
}

/// A saved file has the names and the values of the published one.
#[track_caller]
pub fn same_tensors(saved: &Path, published: &Path) {
    let load = |path| ramie_checkpoint::load_state(path).expect("a file of tensors");
    let (written, expected) = (load(saved), load(published));
    assert_eq!(
        written.paths().collect::<Vec<_>>(),
        expected.paths().collect::<Vec<_>>()
    );
    for (name, array) in expected.iter() {
        assert!(written[name].eq(array).all().item::<bool>(), "{name}");
    }
}

/// The likeliest next tokens, each from the whole sequence: with zeros after it,
/// which causal attention does not see.
fn greedy<M: LanguageModel>(model: &mut M, tokens: &Array, new: usize) -> Array {
    let run = jit(|model: &mut M, tokens: Array| model.logits(&tokens).argmax(-1));
    let length = tokens.shape()[1];
    let mut tokens = tokens.pad(&[(0, 0), (0, new)], 0);
    for i in length..length + new {
        let likeliest = run(model, tokens.clone()).astype(DType::I32);
        let next = likeliest.slice_in_dim(i - 1, i, 1, 1);
        tokens = tokens.dynamic_update_slice_in_dim(&next, i as i32, 1);
    }
    tokens
}

/// The model has the reference's logits, at once and step by step, and continues
/// as the reference does.
pub fn agrees<M: LanguageModel>(name: &str, mut model: M) {
    let [tokens, logits, continued] = reference(name);
    let run = jit(|model: &mut M, tokens: Array| model.logits(&tokens));
    same_numbers(name, &run(&mut model, tokens.clone()), &logits);
    // Three tokens, then one at a time.
    let length = tokens.shape()[1];
    model.start_decoding(2, length);
    let mut part = |from: usize, to: usize| run(&mut model, tokens.slice_in_dim(from, to, 1, 1));
    let mut parts = vec![part(0, 3)];
    parts.extend((3..length).map(|i| part(i, i + 1)));
    let cached = concatenate(&parts, 1);
    same_numbers(&format!("{name} with a cache"), &cached, &logits);
    model.stop_decoding();

    let new = continued.shape()[1] - length;
    let generator = Generator::new(Sampling::greedy(), new);
    let generated = generator.generate(&model, &tokens, &random::key(0));
    assert_eq!(
        generated.to_vec::<i32>(),
        continued.to_vec::<i32>(),
        "{name}"
    );
    let again = greedy(&mut model, &tokens, new);
    assert_eq!(generated.to_vec::<i32>(), again.to_vec::<i32>(), "{name}");
}

#[test]
fn gpt2_is_that_of_the_reference() {
    agrees(
        "gpt2",
        Gpt2::from_pretrained(folder("gpt2")).expect("loads"),
    );
}

#[test]
fn llama_in_shards_is_that_of_the_reference() {
    agrees(
        "llama",
        Llama::from_pretrained(folder("llama")).expect("loads"),
    );
}

#[test]
fn llama_tied_and_scaled_is_that_of_the_reference() {
    let model = Llama::from_pretrained(folder("llama_tied")).expect("loads");
    assert!(model.lm_head.is_none());
    agrees("llama_tied", model);
}

/// A small model.
fn small() -> Gpt2 {
    Gpt2::from_pretrained(folder("gpt2")).expect("loads")
}

#[test]
fn names_without_what_heads_put_before_load() {
    let state = ramie_checkpoint::load_state(folder("gpt2").join("model.safetensors")).unwrap();
    let bare: State = state
        .iter()
        .map(|(n, a)| (n.strip_prefix("transformer.").expect("a prefix"), a.clone()))
        .chain([("h.0.attn.bias", Array::ones(&[1, 1, 24, 24], DType::F32))])
        .collect();
    let path = std::env::temp_dir().join(format!("ramie-bare-{}.safetensors", std::process::id()));
    ramie_checkpoint::save(&path, &bare).expect("saved");
    let config = Gpt2Config::from_json(folder("gpt2").join("config.json")).expect("read");
    let mut model = Gpt2::new(&config, &mut Rngs::new(0));
    model.load_pretrained(&path).expect("loads");
    fs::remove_file(&path).expect("removed");
    model.eval();
    let [tokens, logits, _] = reference("gpt2");
    let run = jit(|model: &mut Gpt2, tokens: Array| model.forward(&tokens));
    close("bare names", &run(&mut model, tokens), &logits, 1e-5);
}

#[test]
fn what_does_not_load_is_named() {
    let path = folder("gpt2").join("model.safetensors");
    let config = Gpt2Config::from_json(folder("gpt2").join("config.json")).expect("read");
    let load = |config: &Gpt2Config| {
        let mut model = Gpt2::new(config, &mut Rngs::new(0));
        model.load_pretrained(&path).expect_err("it does not fit")
    };
    let mut deeper = config.clone();
    deeper.n_layer = 3;
    let error = load(&deeper);
    let missing = matches!(&error, PretrainedError::Missing { tensor, .. }
        if tensor == "transformer.h.2.ln_1.weight");
    assert!(missing, "{error}");
    assert!(error.to_string().contains("help: "), "{error}");
    let mut flatter = config.clone();
    flatter.n_layer = 1;
    let message = load(&flatter).to_string();
    assert!(
        message.contains("no parameters for `transformer.h.1."),
        "{message}"
    );
    let mut wider = config.clone();
    wider.n_inner = Some(50);
    let message = load(&wider).to_string();
    let expected = "`transformer.h.0.mlp.c_fc.weight` has shape [24, 96], expected [24, 50]";
    assert!(message.contains(expected), "{message}");
    let message = Gpt2::from_pretrained("nowhere").unwrap_err().to_string();
    assert!(
        message.contains("config.json") && message.contains("help: "),
        "{message}"
    );
    // Untied, without a last layer in the file.
    let mut config = LlamaConfig::from_json(folder("llama_tied").join("config.json")).unwrap();
    assert_eq!((config.rope_theta, config.head_dim), (500.0, Some(8)));
    config.tie_word_embeddings = false;
    let mut model = Llama::new(&config, &mut Rngs::new(0));
    let error = model.load_pretrained(folder("llama_tied").join("model.safetensors"));
    let message = error.unwrap_err().to_string();
    assert!(
        message.contains("the tensor `lm_head.weight` is missing"),
        "{message}"
    );
}

#[test]
fn variants_that_are_not_there_are_refused() {
    let path = std::env::temp_dir().join(format!("ramie-config-{}.json", std::process::id()));
    let refused = |text: &str, what: &str, llama: bool| {
        fs::write(&path, text).expect("written");
        let message = if llama {
            LlamaConfig::from_json(&path).unwrap_err().to_string()
        } else {
            Gpt2Config::from_json(&path).unwrap_err().to_string()
        };
        assert!(
            message.contains(what) && message.contains("help: "),
            "{message}"
        );
    };
    refused(
        "{\"scale_attn_weights\": false}",
        "`scale_attn_weights` is false",
        false,
    );
    refused(
        "{\"activation_function\": \"mish\"}",
        "`activation_function` is \"mish\"",
        false,
    );
    refused(
        "{\"n_layer\": \"many\"}",
        "is not a configuration of this model",
        false,
    );
    refused(
        "{\"model_type\": \"gemma\"}",
        "`model_type` is \"gemma\"",
        true,
    );
    let yarn = "{\"rope_scaling\": {\"type\": \"yarn\", \"factor\": 2.0}}";
    refused(yarn, "`rope_type` is \"yarn\"", true);
    fs::write(&path, "{\"rope_theta\": 5e5, \"rope_scaling\": null}").expect("written");
    let config = LlamaConfig::from_json(&path).expect("read");
    assert_eq!((config.rope_theta, config.rope_scaling), (5e5, None));
    fs::remove_file(&path).expect("removed");
}

#[test]
fn tokens_are_drawn_from_what_is_kept() {
    let logits = Array::from([[0.0f32, 3.0, 1.0, 2.0], [2.0, 1.0, 0.0, -1.0]]);
    let kept = |sampling: Sampling| -> Vec<bool> {
        let limited = sampling.limited(&logits).to_vec::<f32>();
        limited.iter().map(|l| l.is_finite()).collect()
    };
    let (yes, no) = (true, false);
    assert_eq!(
        kept(Sampling::greedy().top_k(2)),
        [no, yes, no, yes, yes, yes, no, no]
    );
    // Probabilities 0.03, 0.64, 0.09, 0.24 and the same in another order.
    assert_eq!(
        kept(Sampling::greedy().top_p(0.6)),
        [no, yes, no, no, yes, no, no, no]
    );
    assert_eq!(
        kept(Sampling::greedy().top_p(0.9)),
        [no, yes, yes, yes, yes, yes, yes, no]
    );
    assert_eq!(kept(Sampling::greedy().top_k(9).top_p(1.0)), [yes; 8]);
    let hot = Sampling::greedy().temperature(2.0).limited(&logits);
    close("temperature", &hot, &(&logits / 2.0), 1e-6);
    assert_eq!(
        Sampling::greedy()
            .choose(&random::key(0), &logits)
            .to_vec::<i32>(),
        [1, 0]
    );
    // Of many draws all are among those kept, and as often as they are likely.
    let many = logits.slice_in_dim(0, 1, 1, 0).broadcast_to(&[4000, 4]);
    let drawn = Sampling::greedy()
        .top_k(2)
        .choose(&random::key(1), &many)
        .to_vec::<i32>();
    let count = |t: i32| drawn.iter().filter(|&&d| d == t).count();
    assert_eq!(count(1) + count(3), 4000);
    assert!(
        (count(1) as f64 / 4000.0 - 0.7311).abs() < 0.03,
        "{}",
        count(1)
    );
}

#[test]
fn keys_decide_what_is_generated() {
    let model = small();
    let tokens = reference("gpt2")[0].clone();
    let generator = Generator::new(Sampling::greedy().temperature(1.5), 6);
    let draw = |seed: u64| {
        generator
            .generate(&model, &tokens, &random::key(seed))
            .to_vec::<i32>()
    };
    assert_eq!(draw(0), draw(0));
    assert_ne!(draw(0), draw(1));
    // Each sequence for itself.
    let one = tokens.slice_in_dim(1, 2, 1, 0);
    let both = Generator::new(Sampling::greedy(), 4).generate(&model, &tokens, &random::key(0));
    let alone = Generator::new(Sampling::greedy(), 4).generate(&model, &one, &random::key(0));
    assert_eq!(
        both.slice_in_dim(1, 2, 1, 0).to_vec::<i32>(),
        alone.to_vec::<i32>()
    );
}

#[test]
fn generation_ends() {
    let model = small();
    let [tokens, _, greedy] = reference("gpt2");
    let one = tokens.slice_in_dim(0, 1, 1, 0);
    let continued = greedy.slice_in_dim(0, 1, 1, 0).to_vec::<i32>();
    let length = one.shape()[1];
    // The third new token ends the sequence, if it did not come before.
    let eos = continued[length + 2];
    let first = continued[length..]
        .iter()
        .position(|&t| t == eos)
        .expect("it is there");
    let generator = Generator::new(Sampling::greedy(), 8).eos_token_id(eos);
    let ended = generator.generate(&model, &one, &random::key(0));
    assert_eq!(ended.to_vec::<i32>(), continued[..=length + first]);
    // With another sequence, which goes on, there is padding.
    let generator = generator.pad_token_id(52);
    let both = generator.generate(&model, &tokens, &random::key(0));
    let row = both.slice_in_dim(0, 1, 1, 0).to_vec::<i32>();
    assert!(
        row[length + first + 1..].iter().all(|&t| t == 52),
        "{row:?}"
    );
    // Nothing more.
    let none = Generator::new(Sampling::greedy(), 0).generate(&model, &one, &random::key(0));
    assert_eq!(none.shape(), one.shape());
    // There is room for 24 tokens.
    let too_many = Generator::new(Sampling::greedy(), 16);
    let message = panic_message(|| too_many.generate(&model, &one, &random::key(0)));
    assert!(message.contains("9 tokens and 16 more are 25, but the model supports at most 24"));
}

#[test]
fn narrow_types_are_converted() {
    let mut config = LlamaConfig::from_json(folder("llama").join("config.json")).expect("read");
    config.param_dtype = DType::BF16;
    let mut model = Llama::new(&config, &mut Rngs::new(0));
    let index = folder("llama").join("model.safetensors.index.json");
    model.load_pretrained(index).expect("loads");
    assert!(
        tree::leaves(&model)
            .iter()
            .all(|a| a.dtype() == DType::BF16)
    );
    let [tokens, logits, _] = reference("llama");
    let run = jit(|model: &mut Llama, tokens: Array| model.forward(&tokens));
    let got = run(&mut model, tokens);
    assert_eq!(got.dtype(), DType::BF16);
    // Eight bits of mantissa, through two layers.
    close("bf16", &got, &logits, 6e-2);
}

#[test]
fn models_learn() {
    // The next token of a sequence that repeats, by attention in blocks.
    let mut config = LlamaConfig::from_json(folder("llama").join("config.json")).expect("read");
    config.attention_fn = AttentionFn::blockwise(4);
    let model = Llama::new(&config, &mut Rngs::new(0));
    let optimizer = Optimizer::new(&model, adam(1e-2));
    let tokens = Array::from([[7i32, 3, 11, 5, 7, 3, 11, 5, 7, 3, 11, 5]]);
    let step = jit(|state: &mut (Llama, Optimizer), tokens: Array| {
        let (model, optimizer) = state;
        let loss = |model: &mut Llama| {
            let logits = model.forward(&tokens.slice_in_dim(0, 11, 1, 1));
            let next = tokens.slice_in_dim(1, 12, 1, 1).expand_dims(&[2]);
            -logits.log_softmax(-1).take_along_axis(&next, 2).mean()
        };
        let (loss, grads) = value_and_grad(model, loss);
        optimizer.update(model, grads);
        loss
    });
    let mut state = (model, optimizer);
    let losses: Vec<f32> = (0..30)
        .map(|_| step(&mut state, tokens.clone()).item())
        .collect();
    assert!(losses[29] < 0.1 * losses[0], "{losses:?}");
    let model = state.0;
    let generator = Generator::new(Sampling::greedy(), 5);
    let start = tokens.slice_in_dim(0, 5, 1, 1);
    let got = generator
        .generate(&model, &start, &random::key(0))
        .to_vec::<i32>();
    assert_eq!(got, [7, 3, 11, 5, 7, 3, 11, 5, 7, 3]);
}

#[test]
fn perceptrons_and_residual_networks_run() {
    let mut config = MlpConfig::new(&[5, 7, 3]);
    config.dropout_rate = 0.5;
    let mut mlp = Mlp::new(&config, &mut Rngs::new(0));
    let x = random::normal(&random::key(0), &[4, 5], DType::F32);
    assert_ne!(
        mlp.forward(&x).to_vec::<f32>(),
        mlp.forward(&x).to_vec::<f32>()
    );
    mlp.eval();
    let hidden = mlp.layers[0].forward(&x).relu();
    close(
        "mlp",
        &mlp.forward(&x),
        &mlp.layers[1].forward(&hidden),
        1e-6,
    );

    let config = ResNetConfig {
        in_features: 2,
        features: 4,
        stages: vec![1, 2],
        classes: 3,
    };
    let mut model = ResNet::new(&config, &mut Rngs::new(0));
    assert_eq!(model.blocks.len(), 3);
    let images = random::normal(&random::key(1), &[2, 8, 8, 2], DType::F32);
    let before = State::of(&model).of_kind(BatchStat::KIND);
    let run = jit(|model: &mut ResNet, images: Array| model.forward(&images));
    assert_eq!(run(&mut model, images).shape(), [2, 3]);
    let after = State::of(&model).of_kind(BatchStat::KIND);
    assert!(
        before
            .iter()
            .zip(after.iter())
            .all(|(b, a)| b.1.to_vec::<f32>() != a.1.to_vec::<f32>())
    );
    // Half the sides from the second stage on; blocks begin as the identity.
    model.eval();
    let x = random::normal(&random::key(2), &[1, 8, 8, 4], DType::F32).relu();
    close("identity", &model.blocks[0].forward(&x), &x, 1e-6);
    assert_eq!(model.blocks[1].forward(&x).shape(), [1, 4, 4, 8]);
}

/// What is not read from the checkpoint is as in a new model.
#[test]
fn a_loaded_model_drops_what_a_new_one_does() {
    let config = Gpt2Config::from_json(folder("gpt2").join("config.json")).expect("is read");
    let new = Gpt2::new(&config, &mut Rngs::new(0));
    let loaded = Gpt2::from_pretrained(folder("gpt2")).expect("loads");
    let others = |model: &Gpt2| nnx::state(model, Not(of_type::<Param>()));
    let (new, loaded) = (others(&new), others(&loaded));
    assert!(!new.is_empty());
    assert_eq!(new.len(), loaded.len());
    for (path, array) in new.iter() {
        assert_eq!(
            array.to_vec::<u32>(),
            loaded[path].to_vec::<u32>(),
            "{path}"
        );
    }
}
