//! GGUF files.

use super::{compute, golden, has_all, lines, look, shown};
use ramie::DType;
use ramie::checkpoint::safetensors;
use std::fs;

#[test]
fn gguf_files_are_shown_and_converted() {
    let path = golden("gguf/chat.gguf");
    let (code, out, err) = look(&["inspect", &path, "--largest", "1"]);
    assert_eq!((code, err.as_str()), (0, ""));
    let all = lines(&out);
    for line in [
        "format GGUF",
        "version 3",
        "parameters 22,752 in 11 arrays",
        "memory 20.4 kB",
        "METADATA TYPE VALUE",
        "general.name string 'tiny model'",
        "tokenizer.ggml.token_type i32[420] [3, 3, 3, 1, 1, 1, and 414 more]",
        "llama.attention.layer_norm_rms_epsilon f32 0.00001",
        "Q8_0 1 13,440 14.3 kB",
        "token_embd.weight Q8_0[420,32] 14.3 kB",
    ] {
        assert!(all.iter().any(|l| l == line), "{line}: {out}");
    }
    let (code, out, _) = look(&["ckpt", "show", &path, "--values", "general.name"]);
    assert_eq!((code, out.as_str()), (0, "tiny model\n"));
    let (code, out, _) = look(&["ckpt", "verify", &path]);
    assert_eq!(code, 0);
    assert!(out.contains(": readable, "), "{out}");
    let norm = ["ckpt", "show", &path, "--values", "output_norm.weight"];
    let (code, out, err) = compute(&norm);
    assert_eq!((code, err.as_str()), (0, ""));
    assert_eq!(
        out.split_whitespace()
            .filter(|word| word.contains('.'))
            .count(),
        32,
        "{out}"
    );

    let folder = tempfile::tempdir().unwrap();
    let to = shown(&folder.path().join("model.safetensors"));
    let (code, out, err) = compute(&["ckpt", "convert", &path, &to]);
    assert_eq!(
        (code, out.as_str()),
        (0, format!("{to}: 11 arrays\n").as_str()),
        "{err}"
    );
    has_all(
        &err,
        &["`general.name` is omitted: safetensors does not support 'tiny model'"],
    );
    let embedding = &safetensors::load_state(&to).unwrap()["token_embd.weight"];
    assert_eq!(
        (embedding.dtype(), embedding.shape()),
        (DType::F32, &[420, 32][..])
    );
    let back = shown(&folder.path().join("model.gguf"));
    let (code, _, err) = compute(&["ckpt", "convert", &to, &back]);
    assert_eq!(code, 1);
    has_all(&err, &["Ramie reads GGUF files, but does not write them"]);
    // Cut short, it is named.
    let half = folder.path().join("half.gguf");
    let bytes = fs::read(&path).unwrap();
    fs::write(&half, &bytes[..bytes.len() / 2]).unwrap();
    let (code, _, err) = look(&["inspect", &shown(&half)]);
    assert_eq!(code, 1);
    has_all(&err, &[&shown(&half), "truncated", "\n  help: "]);
}
