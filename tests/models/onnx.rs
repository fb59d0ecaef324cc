//! The example `onnx`: the types of files, and fine-tuned weights.

use ramie_examples::files::MAGIKA;
use ramie_testing::examples::example_with;
use ramie_testing::models::fetched;

/// Asserts that lines begin with these texts.
#[track_caller]
fn has(text: &str, expected: &[&str]) {
    let lines: Vec<&str> = text.lines().collect();
    let same = lines.iter().zip(expected).all(|(l, e)| l.starts_with(e));
    assert!(same && lines.len() == expected.len(), "{text}");
}

/// The published model takes lock files for text.
#[test]
fn onnx_finds_and_learns_the_types_of_files() {
    if fetched([&MAGIKA]).is_none() {
        return;
    }
    let program = example_with("onnx", "onnx");
    let (folder, text) = super::run(&program, &["Cargo.lock", "--learn", "toml"]);
    let learned = [
        "Cargo.lock: txt ",
        "After 20 steps:",
        "Cargo.lock: toml ",
        "Wrote ",
    ];
    has(&text, &learned);
    let tuned = folder.path().join("weights.safetensors");
    let tuned = ["--weights", tuned.to_str().expect("text")];
    let files = ["README.md", "src/lib.rs", "examples/server/Cargo.lock"];
    let (_, text) = super::run(&program, &[&files[..], &tuned].concat());
    let types = [
        "README.md: markdown ",
        "src/lib.rs: rust ",
        "examples/server/Cargo.lock: toml ",
    ];
    has(&text, &types);
}
