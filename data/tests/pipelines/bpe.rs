//! Byte-level BPE: tokens equal those of the reference, and what is said of files without a
//! tokenizer.

use crate::common::{gguf_tokenizer, golden_tokenizer};
use ramie_data::readers::bpe::{ByteLevelBpe, PreTokenizer};
use serde::Deserialize;
use std::path::Path;

#[derive(Deserialize)]
struct Row {
    text: String,
    tokens: Vec<i32>,
}

#[derive(Deserialize)]
struct Recorded {
    smollm: Vec<Row>,
    #[serde(rename = "gpt-2")]
    gpt2: Vec<Row>,
}

fn recorded() -> Recorded {
    let text = std::fs::read(golden_tokenizer("tokenizer.json")).unwrap();
    serde_json::from_slice(&text).unwrap()
}

/// The recorded file with one text in place of another of the same length.
fn with(old: &str, new: &str) -> Result<ByteLevelBpe, String> {
    assert_eq!(old.len(), new.len());
    let mut bytes = gguf_tokenizer();
    let mut windows = bytes.windows(old.len());
    let at = windows.position(|w| w == old.as_bytes()).expect("the text");
    bytes[at..at + old.len()].copy_from_slice(new.as_bytes());
    load(&bytes)
}

fn load(bytes: &[u8]) -> Result<ByteLevelBpe, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.gguf");
    std::fs::write(&path, bytes).unwrap();
    let name = format!("{}: ", path.display());
    ByteLevelBpe::load(&path).map_err(|e| e.to_string().strip_prefix(&name).unwrap().to_owned())
}

fn agrees(tokenizer: &ByteLevelBpe, rows: &[Row]) {
    for Row { text, tokens } in rows {
        assert_eq!(tokenizer.encode(text), *tokens, "{text:?}");
        let plain = text.replace("<|im_start|>", "").replace("<|im_end|>", "");
        assert_eq!(tokenizer.decode(tokens).unwrap(), plain);
        let mut stream = tokenizer.stream();
        let mut parts: String = tokens.iter().map(|t| stream.push(*t).unwrap()).collect();
        parts.push_str(&stream.finish());
        assert_eq!(parts, plain);
    }
}

#[test]
fn tokens_equal_those_of_the_reference() {
    let tokenizer = ByteLevelBpe::load(golden_tokenizer("tokenizer.gguf")).unwrap();
    let recorded = recorded();
    agrees(&tokenizer, &recorded.smollm);
    // The file's other words, under a name of the same length.
    let mut bytes = gguf_tokenizer();
    let at = bytes.windows(6).position(|w| w == b"smollm").unwrap();
    bytes.splice(
        at - 8..at + 6,
        [5, 0, 0, 0, 0, 0, 0, 0, b'g', b'p', b't', b'-', b'2'],
    );
    agrees(&load(&bytes).unwrap(), &recorded.gpt2);
    assert!(recorded.gpt2.len() > 10);
}

#[test]
fn a_tokenizer_has_special_tokens_and_a_template() {
    let tokenizer = ByteLevelBpe::load(golden_tokenizer("tokenizer.gguf")).unwrap();
    assert_eq!((tokenizer.len(), tokenizer.is_empty()), (420, false));
    assert_eq!(
        (tokenizer.bos_token_id(), tokenizer.eos_token_id()),
        (Some(1), Some(2))
    );
    assert_eq!(tokenizer.text_of(2).as_deref(), Some("<|im_end|>"));
    assert_eq!(
        (tokenizer.text_of(-1), tokenizer.text_of(420)),
        (None, None)
    );
    assert!(
        tokenizer
            .chat_template()
            .unwrap()
            .starts_with("{% for message in messages %}")
    );
    let error = tokenizer.decode(&[0, 420]).unwrap_err().to_string();
    assert_eq!(
        error,
        "the token is 420, expected less than 420\n  help: pass tokens of this tokenizer, or of a model \
         with its vocabulary"
    );
}

#[test]
fn a_stream_waits_for_whole_characters() {
    let tokenizer = ByteLevelBpe::load(golden_tokenizer("tokenizer.gguf")).unwrap();
    let tokens = tokenizer.encode("🦀");
    assert_eq!(tokens.len(), 4, "a token for each byte");
    let mut stream = tokenizer.stream();
    let parts: Vec<String> = tokens.iter().map(|t| stream.push(*t).unwrap()).collect();
    assert_eq!(parts, ["", "", "", "🦀"]);
    // An incomplete character, and bytes that none begins with.
    assert_eq!(stream.push(tokens[0]).unwrap(), "");
    assert_eq!(stream.push(tokens[0]).unwrap(), "\u{fffd}");
    assert_eq!(stream.push(2).unwrap(), "", "a special token");
    assert_eq!(stream.finish(), "\u{fffd}");
}

#[test]
fn decoding_keeps_tokens_that_a_user_has_added() {
    let mut bytes = gguf_tokenizer();
    let key = b"tokenizer.ggml.token_type";
    let at = bytes.windows(key.len()).position(|w| w == key).unwrap();
    // After the key: the types of the value and its items, their number, and the item of token 0.
    let at = at + key.len() + 4 + 4 + 8 + 4;
    assert_eq!(bytes[at], 3, "`<|im_start|>` is a control token");
    bytes[at] = 4;
    let tokenizer = load(&bytes).unwrap();
    let tokens = tokenizer.encode("<|im_start|>user<|im_end|>");
    assert_eq!((tokens.first(), tokens.last()), (Some(&1), Some(&2)));
    assert_eq!(tokenizer.decode(&tokens).unwrap(), "<|im_start|>user");
    let mut stream = tokenizer.stream();
    let parts: String = tokens.iter().map(|t| stream.push(*t).unwrap()).collect();
    assert_eq!(parts + &stream.finish(), "<|im_start|>user");
}

#[test]
fn a_long_word_takes_little_time() {
    let tokenizer = ByteLevelBpe::load(golden_tokenizer("tokenizer.gguf")).unwrap();
    let text = "ab".repeat(200_000);
    let tokens = tokenizer.encode(&text);
    assert_eq!(tokenizer.decode(&tokens).unwrap(), text);
}

#[test]
fn files_without_a_tokenizer_are_explained() {
    let error = with("gpt2", "rwkv").unwrap_err();
    assert!(
        error.starts_with("has `tokenizer.ggml.model` `rwkv`, expected `gpt2`\n  help: load the "),
        "{error}"
    );
    let error = with("smollm", "falcon").unwrap_err();
    assert!(
        error.starts_with("has `tokenizer.ggml.pre` `falcon`, expected `gpt-2` or `smollm`\n"),
        "{error}"
    );
    let error = with("tokenizer.ggml.merges", "tokenizer.ggml.merger").unwrap_err();
    assert!(
        error.starts_with("has no metadata `tokenizer.ggml.merges`, so it "),
        "{error}"
    );
    let error = with("i n", "i~n").unwrap_err();
    assert!(
        error.contains("`i~n`, expected two tokens with a space between them"),
        "{error}"
    );
    let llama = golden_tokenizer("llama.gguf");
    let error = ByteLevelBpe::load(&llama).unwrap_err().to_string();
    assert!(
        error.contains("has no metadata `tokenizer.ggml.model`"),
        "{error}"
    );
    let error = ByteLevelBpe::load(Path::new("nowhere.gguf"))
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("nowhere.gguf: cannot be read: "),
        "{error}"
    );
    let half = &gguf_tokenizer()[..4000];
    assert!(
        load(half)
            .unwrap_err()
            .starts_with("is damaged or truncated: ")
    );
}

/// A GGUF file without tensors, with a tokenizer of digits.
fn digits(architecture: Option<&str>, pre: Option<&str>) -> Vec<u8> {
    fn text(text: &str) -> Vec<u8> {
        [&(text.len() as u64).to_le_bytes(), text.as_bytes()].concat()
    }
    let string =
        |key: &str, value: &str| [text(key), 8u32.to_le_bytes().into(), text(value)].concat();
    let strings = |key: &str, values: &[&str]| {
        let count = (values.len() as u64).to_le_bytes().to_vec();
        let types = [9u32.to_le_bytes(), 8u32.to_le_bytes()].concat();
        let values = values.iter().flat_map(|value| text(value)).collect();
        [text(key), types, count, values].concat()
    };
    let entries = [
        architecture.map(|name| string("general.architecture", name)),
        Some(string("tokenizer.ggml.model", "gpt2")),
        pre.map(|name| string("tokenizer.ggml.pre", name)),
        Some(strings("tokenizer.ggml.tokens", &["1", "2", "12"])),
        Some(strings("tokenizer.ggml.merges", &["1 2"])),
    ];
    let entries: Vec<Vec<u8>> = entries.into_iter().flatten().collect();
    let mut bytes = b"GGUF".to_vec();
    bytes.extend(3u32.to_le_bytes());
    bytes.extend(0u64.to_le_bytes());
    bytes.extend((entries.len() as u64).to_le_bytes());
    bytes.extend(entries.concat());
    bytes
}

/// ggml-org/llama.cpp#7476: files of Llama without the rule for words got that of GPT-2.
#[test]
fn the_rule_for_words_is_not_guessed() {
    for pre in [None, Some("gpt-2")] {
        assert_eq!(load(&digits(Some("gpt2"), pre)).unwrap().encode("12"), [2]);
    }
    let refused = |architecture, model: &str| {
        let error = load(&digits(architecture, None)).unwrap_err();
        let expected =
            format!("has no metadata `tokenizer.ggml.pre`, and {model} does not determine");
        assert!(error.starts_with(&expected), "{error}");
        assert!(
            error.contains("help: ") && error.contains("`ByteLevelBpe::load_with`"),
            "{error}"
        );
    };
    refused(Some("llama"), "the architecture `llama`");
    refused(None, "a missing `general.architecture`");
    // With a rule, also another than that of the file.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.gguf");
    for pre in [None, Some("llama-bpe")] {
        std::fs::write(&path, digits(Some("llama"), pre)).unwrap();
        let encoded = |words| ByteLevelBpe::load_with(&path, words).unwrap().encode("12");
        assert_eq!(encoded(PreTokenizer::Gpt2), [2]);
        assert_eq!(encoded(PreTokenizer::SmolLm), [0, 1]);
    }
}
