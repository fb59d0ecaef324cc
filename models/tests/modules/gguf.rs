//! Models in GGUF files.

use crate::models::agrees;
use ramie_checkpoint::gguf::GgufFile;
use ramie_models::{Llama, LlamaConfig, LlamaFamily, PretrainedConfig, PretrainedError};
use ramie_nn::RotaryScaling;
use std::path::{Path, PathBuf};

fn golden(name: &str) -> PathBuf {
    ramie_testing::golden::path(name)
}

fn recorded() -> Vec<u8> {
    std::fs::read(golden("gguf/llama.gguf")).expect("the recording")
}

/// Calls `f` with a file of these bytes.
fn with_file<T>(name: &str, bytes: &[u8], f: impl FnOnce(&GgufFile) -> T) -> T {
    let file = format!("ramie-gguf-{name}-{}.gguf", std::process::id());
    let path = std::env::temp_dir().join(file);
    std::fs::write(&path, bytes).expect("written");
    let result = f(&GgufFile::open(&path).expect("a file"));
    std::fs::remove_file(&path).expect("removed");
    result
}

#[test]
fn llama_is_that_of_the_reference() {
    let file = GgufFile::open(golden("gguf/llama.gguf")).expect("a file");
    agrees("llama", Llama::from_gguf(&file).expect("loads"));
}

/// The converter stores queries and keys of these models in another order.
#[test]
fn qwen_is_that_of_the_reference() {
    for (name, family) in [("qwen2", LlamaFamily::Qwen2), ("qwen3", LlamaFamily::Qwen3)] {
        let file = GgufFile::open(golden(&format!("gguf/{name}.gguf"))).expect("a file");
        let config = LlamaConfig::from_gguf(&file).expect("a configuration");
        assert_eq!(config.model_type, family);
        agrees(name, Llama::from_gguf(&file).expect("loads"));
    }
}

#[test]
fn the_configuration_is_in_the_metadata() {
    let file = GgufFile::open(golden("gguf/llama.gguf")).expect("a file");
    let config = LlamaConfig::from_gguf(&file).expect("a configuration");
    let published = LlamaConfig::from_json(golden("hf_llama/config.json")).expect("read");
    let sizes = |c: &LlamaConfig| {
        (
            [
                c.vocab_size,
                c.hidden_size,
                c.intermediate_size,
                c.num_hidden_layers,
            ],
            [c.num_attention_heads, c.max_position_embeddings],
            (
                c.num_key_value_heads,
                c.tie_word_embeddings,
                c.attention_bias,
            ),
            (c.rms_norm_eps, c.rope_theta, c.rope_scaling),
        )
    };
    assert_eq!(sizes(&config), sizes(&published));
}

/// The error of loading the recorded file with other bytes after the first occurrence of a text.
fn refused(name: &str, text: &str, skipped: usize, bytes: &[u8]) -> String {
    let mut file = recorded();
    let mut windows = file.windows(text.len());
    let at = windows
        .position(|w| w == text.as_bytes())
        .expect("the text")
        + text.len()
        + skipped;
    file[at..at + bytes.len()].copy_from_slice(bytes);
    with_file(name, &file, |file| {
        let error = Llama::from_gguf(file).expect_err("it is refused");
        assert!(!matches!(error, PretrainedError::Checkpoint(_)), "{error}");
        let text = error.to_string();
        let path = file.path().display().to_string();
        text.strip_prefix(&path).expect("the path").to_owned()
    })
}

#[test]
fn other_models_and_damaged_sizes_are_explained() {
    // After a key: the type of the value, and for strings their length.
    let number = |key: &str, value: u32| refused(key, key, 4, &value.to_le_bytes());
    let starts = |text: String, start: &str| assert!(text.starts_with(start), "{text}");
    starts(
        refused("arch", "general.architecture", 12, b"gemma"),
        ": `general.architecture` is gemma, expected llama, qwen2 or qwen3\n  help: ",
    );
    starts(
        refused("family", "general.architecture", 12, b"qwen3"),
        ": the metadata `qwen3.attention.head_count` is missing\n  help: ",
    );
    starts(
        number("llama.attention.head_count_kv", 3),
        ": `llama.attention.head_count_kv` is 3, expected a positive divisor of the number of query ",
    );
    starts(
        number("llama.block_count", 4_000_000),
        ": `llama.block_count` is 4000000, expected at most the number of tensors\n  help: ",
    );
    starts(
        number("llama.feed_forward_length", u32::MAX),
        ": `llama.feed_forward_length` is u32 4294967295, expected an integer of at most 2^24\n",
    );
    starts(
        number("llama.rope.dimension_count", 4),
        ": `llama.rope.dimension_count` is 4, expected the size of a head, which must be even\n",
    );
    starts(
        number("llama.rope.freq_base", 0),
        ": `llama.rope.freq_base` is f32 0.0, expected a positive number\n",
    );
    // Other keys and names of the same length.
    starts(
        refused("context", "llama.context_lengt", 0, b"x"),
        ": the metadata `llama.context_length` is missing\n  help: ",
    );
    starts(
        refused("blocks", "llama.block_count", 4, &3u32.to_le_bytes()),
        ": the tensor `model.layers.2.input_layernorm.weight` is missing; ",
    );
    starts(
        refused("size", "llama.feed_forward_length", 4, &44u32.to_le_bytes()),
        ": the tensor `model.layers.0.mlp.gate_proj.weight` has shape [40, 24], expected [44, 24]\n",
    );
    starts(
        refused("name", "output_norm.weigh", 0, b"s"),
        ": the tensor `model.norm.weight` is missing; ",
    );
    let file = Path::new("../tests/golden/data/gguf/tokenizer.gguf");
    let file = GgufFile::open(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).expect("a file");
    let text = LlamaConfig::from_gguf(&file)
        .expect_err("no model")
        .to_string();
    assert!(
        text.contains("the metadata `llama.attention.head_count` is missing"),
        "{text}"
    );
}

/// The recorded file with more metadata: pairs of a key and its value with its type. A further key fills
/// the length up to a multiple of 32, so that the tensors keep their places.
fn recorded_with(pairs: &[(&str, &[u8])]) -> Vec<u8> {
    let text = |text: &str| [&(text.len() as u64).to_le_bytes(), text.as_bytes()].concat();
    let mut more: Vec<u8> = Vec::new();
    for (key, value) in pairs {
        more.extend([text(key), value.to_vec()].concat());
    }
    // A key of one letter, the type of strings, and a string.
    let fill = (32 - (more.len() + 8 + 1 + 4 + 8) % 32) % 32;
    more.extend(
        [
            text("x"),
            8u32.to_le_bytes().to_vec(),
            text(&" ".repeat(fill)),
        ]
        .concat(),
    );
    let mut file = recorded();
    // The header: magic number, version, number of tensors, number of keys.
    let keys = u64::from_le_bytes(std::array::from_fn(|i| file[16 + i]));
    file[16..24].copy_from_slice(&(keys + pairs.len() as u64 + 1).to_le_bytes());
    file.splice(24..24, more);
    file
}

#[test]
fn scaled_rotary_embeddings_are_read_as_llama_cpp_does() {
    let factor = [&6u32.to_le_bytes()[..], &4f32.to_le_bytes()].concat();
    let scaling = |name: &str, pairs: &[(&str, &[u8])]| {
        with_file(name, &recorded_with(pairs), |file| {
            let config = LlamaConfig::from_gguf(file);
            config.map(|c| c.rope_scaling).map_err(|e| e.to_string())
        })
    };
    let linear = Ok(Some(RotaryScaling::Linear { factor: 4.0 }));
    assert_eq!(scaling("none", &[]), Ok(None));
    assert_eq!(
        scaling("factor", &[("llama.rope.scaling.factor", &factor)]),
        linear
    );
    assert_eq!(
        scaling("older", &[("llama.rope.scale_linear", &factor)]),
        linear
    );
    let number = [&4u32.to_le_bytes()[..], &2u32.to_le_bytes()].concat();
    let text = scaling("type", &[("llama.rope.scaling.type", &number)]).expect_err("no text");
    assert!(
        text.contains("`llama.rope.scaling.type` is u32 2, expected none or linear"),
        "{text}"
    );
}
