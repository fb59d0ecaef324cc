//! The examples as programs: what they print and write.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The program of an example; `cargo test` builds all of them, a run of this
/// test alone does not.
fn example(name: &str) -> PathBuf {
    let this = std::env::current_exe().expect("this program");
    let build = this
        .parent()
        .and_then(Path::parent)
        .expect("the build folder");
    let program = build.join("examples").join(name);
    if !program.exists() {
        let status = Command::new(env!("CARGO"))
            .args(["build", "--example", name, "--target-dir"])
            .arg(build.parent().expect("the target folder"))
            .status()
            .expect("cargo starts");
        assert!(status.success());
    }
    program
}

fn run(program: &Path, arguments: &[&str], cache: &Path) -> Output {
    Command::new(program)
        .args(arguments)
        .env("RAMIE_COMPILATION_CACHE", cache)
        .output()
        .expect("the example starts")
}

fn programs(cache: &Path) -> usize {
    std::fs::read_dir(cache).expect("the cache").count()
}

#[test]
fn digits_learns_and_the_second_run_compiles_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let (cache, out) = (folder.path().join("cache"), folder.path().join("out"));
    let digits = example("digits");
    let output = run(&digits, &["--out", out.to_str().expect("text")], &cache);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{text}{errors}");
    let last = text.lines().last().expect("a line");
    let counts = last
        .strip_prefix("Test accuracy: ")
        .and_then(|l| l.split_once(" correct ("))
        .unwrap_or_else(|| panic!("the last line is {last:?}"));
    let (correct, total) = counts.0.split_once('/').expect("C/N");
    assert_eq!(total, "450");
    assert!(correct.parse::<usize>().expect("a count") >= 433, "{last}");
    let mut pictures = 0;
    for file in std::fs::read_dir(&out).expect("the pictures").flatten() {
        let bytes = std::fs::read(file.path()).expect("a picture");
        assert_eq!(&bytes[1..4], b"PNG", "{}", file.path().display());
        pictures += 1;
    }
    assert_eq!(pictures, 2);

    let before = programs(&cache);
    assert!(before > 0);
    let again = run(&digits, &["--no-plots", "--seed", "1"], &cache);
    assert!(again.status.success());
    assert_eq!(programs(&cache), before, "another seed, the same programs");
}

#[test]
fn digits_says_what_is_wrong_with_its_arguments() {
    let digits = example("digits");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    std::fs::write(&file, "in the way").expect("write");
    let output = run(
        &digits,
        &["--steps", "1", "--out", file.to_str().expect("text")],
        folder.path(),
    );
    assert!(!output.status.success());
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("file"), "{text}");
    let output = Command::new(&digits)
        .arg("--no-plots")
        .env("RAMIE_PJRT_PLUGIN", folder.path().join("nothing.so"))
        .output()
        .expect("the example starts");
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        text.starts_with("error: ") && text.contains("nothing.so"),
        "{text}"
    );
    let output = run(&digits, &["--platform", "abacus"], folder.path());
    assert!(!output.status.success());
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("abacus") && text.contains("cpu"), "{text}");
}

/// The example's lines, if it ended well: each checks its results itself.
fn checked(name: &str, arguments: &[&str]) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let output = run(&example(name), arguments, folder.path());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{text}{errors}");
    text.lines().map(String::from).collect()
}

#[test]
fn products_over_a_ring_are_those_of_the_compiler() {
    let sizes = ["--batch", "16", "--width", "32", "--repeat", "1"];
    let lines = checked("collective_matmul", &sizes);
    assert_eq!(lines.len(), 9, "{lines:?}");
    assert!(lines[3].starts_with("  both ways") && lines[8].starts_with("  ring, both ways"));
}

#[test]
fn experts_on_many_devices_give_what_they_give_on_one() {
    let sizes = [
        "--tokens",
        "64",
        "--experts",
        "8",
        "--width",
        "8",
        "--chunk",
        "4",
    ];
    let lines = checked("moe", &sizes);
    assert_eq!(lines.len(), 5, "{lines:?}");
    let output = run(&example("moe"), &["--experts", "9"], Path::new("cache"));
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.starts_with("error: --tokens and --experts"), "{text}");
}

#[test]
fn a_sharded_decoder_learns_as_on_one_device() {
    let lines = checked("fsdp", &["--steps", "2", "--layers", "1", "--batch", "8"]);
    assert_eq!(lines.len(), 3, "{lines:?}");
    let numbers = lines[0]
        .split_whitespace()
        .filter_map(|w| w.parse::<usize>().ok());
    let numbers: Vec<usize> = numbers.collect();
    assert_eq!(numbers[0], 8 * numbers[1], "{lines:?}");
}
