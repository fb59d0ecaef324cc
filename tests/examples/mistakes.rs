//! Mistakes in the options of examples and in the files that they get.

use super::{run, said};
use ramie_testing::examples::example;
use std::path::Path;
use std::process::Command;

#[test]
fn xor_says_what_is_wrong_with_its_arguments() {
    let xor = example("xor");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    std::fs::write(&file, "in the way").expect("write");
    let output = run(
        &xor,
        &["--epochs", "1", "--out", file.to_str().expect("text")],
        folder.path(),
    );
    assert!(!output.status.success());
    let text = said(&output.stderr);
    assert!(text.contains("file"), "{text}");
    let output = Command::new(&xor)
        .current_dir(folder.path())
        .arg("--no-plots")
        .env("RAMIE_PJRT_PLUGIN", folder.path().join("nothing.so"))
        .output()
        .expect("the example starts");
    assert_eq!(output.status.code(), Some(1));
    let text = said(&output.stderr);
    assert!(
        text.starts_with("error: ") && text.contains("nothing.so"),
        "{text}"
    );
    let output = run(&xor, &["--platform", "abacus"], folder.path());
    assert!(!output.status.success());
    let text = said(&output.stderr);
    assert!(text.contains("abacus") && text.contains("cpu"), "{text}");
}

/// Runs an example in a folder, where it fails. Returns its message and the remedies below it.
fn refused(folder: &Path, name: &str, arguments: &str) -> (String, usize) {
    let arguments: Vec<&str> = arguments.split(' ').collect();
    let output = run(&example(name), &arguments, &folder.join("cache"));
    let said = said(&output.stderr);
    let code = output.status.code();
    assert_eq!(code, Some(1), "{name} {arguments:?}: {said}");
    let mut lines = said.strip_prefix("error: ").unwrap_or_default().lines();
    let first = lines.next().unwrap_or_default().to_owned();
    let remedies = lines.clone().count();
    let good = lines.all(|line| line.starts_with("  help: "));
    assert!(good, "{name} {arguments:?}: {said}");
    (first, remedies)
}

/// A missing or damaged file is named, with one remedy.
#[test]
fn files_that_cannot_be_read_are_explained() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    for name in ["a.safetensors", "a.gguf", "a.bin", "a.wav"] {
        std::fs::write(at.join(name), "not what it says").expect("a file");
    }
    std::fs::write(at.join("a.txt"), [0xff]).expect("a file");
    let mut all = vec![
        ("transformer --task text --text missing.txt", "missing.txt:"),
        ("cnn --data nowhere", "nowhere/train-images-idx3-ubyte.gz:"),
        ("lora --base missing.safetensors", "missing.safetensors:"),
        ("lora --base a.safetensors", "a.safetensors:"),
        ("export_and_run --run --file missing.bin", "missing.bin:"),
        ("export_and_run --run --file a.bin", "a.bin:"),
        ("chat --prompt x --file missing.gguf", "missing.gguf:"),
        ("chat --prompt x --file a.gguf", "a.gguf:"),
        ("finetune_llama --text missing.txt", "missing.txt:"),
        ("finetune_llama --text a.txt", "a.txt:"),
    ];
    if cfg!(feature = "tokenizers") {
        all.push(("transcribe missing.wav", "missing.wav:"));
        all.push(("transcribe a.wav", "a.wav:"));
    }
    for (command, file) in all {
        let (name, arguments) = command.split_once(' ').expect("arguments");
        let (message, remedies) = refused(at, name, arguments);
        assert!(message.contains(file), "{command}: {message}");
        assert_eq!(remedies, 1, "{command}: {message}");
    }
}

/// A mistake with an option is a line that names it, and the exit code 1.
#[test]
fn mistakes_with_options_are_explained() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let text = |name: &str, text: &str| std::fs::write(at.join(name), text).expect("a file");
    text("file", "in the way");
    text("short.txt", "too short for a batch");
    text("long.txt", &"all work and no play ".repeat(200));
    let weights = ramie::State::from_iter([
        (
            "linear1.kernel",
            ramie::Array::zeros(&[64, 32], ramie::DType::F32),
        ),
        (
            "linear1.bias",
            ramie::Array::zeros(&[32], ramie::DType::F32),
        ),
    ]);
    ramie::checkpoint::save(at.join("small.safetensors"), &weights).expect("a file");
    for (name, arguments, parts) in [
        ("transformer", "--task text --text short.txt", "--length"),
        (
            "transformer",
            "--task text --text long.txt --length 8 --batch-size 4 --prompt é",
            "--prompt:",
        ),
        (
            "lora",
            "--steps 1 --base small.safetensors",
            "`linear1.kernel` is f32[64,32], expected f32[64,256]",
        ),
        ("xor", "--epochs 1 --steps-per-call 0", "--steps-per-call"),
        (
            "xor",
            "--epochs 1 --out file",
            "file: the directory cannot be created",
        ),
        (
            "custom_primitive",
            "--out file/in/it",
            "file/in/it: the directory cannot be created",
        ),
        (
            "transformations",
            "--out /proc/nothing",
            "/proc/nothing: the directory cannot be created",
        ),
        ("moe", "--experts 9", "--tokens and --experts"),
        ("collective_matmul", "--width 20", "--width"),
    ] {
        let (message, remedies) = refused(at, name, arguments);
        assert!(message.contains(parts), "{name} {arguments}: {message}");
        if parts.ends_with("cannot be created") {
            assert_eq!(remedies, 1, "{name} {arguments}: {message}");
        }
    }
}

#[test]
fn an_example_without_a_step_has_none_to_compile() {
    let folder = tempfile::tempdir().expect("a folder");
    let arguments = ["--aot", "cuda:h200"];
    let out = run(&example("arrays"), &arguments, &folder.path().join("cache"));
    assert_eq!(out.status.code(), Some(1));
    let err = said(&out.stderr);
    assert_eq!(err, "error: --aot: this example has no step to compile\n");
    let arguments = ["--aot", "cuda:h2000"];
    let out = run(&example("arrays"), &arguments, &folder.path().join("cache"));
    assert_eq!(out.status.code(), Some(2));
    assert!(said(&out.stderr).contains("the GPU `h2000` is unknown"));
}
