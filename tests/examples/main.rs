//! The examples as programs: what they print and write.

mod mistakes;

use ramie_testing::examples::example;
use ramie_testing::is_linked;
use ramie_testing::targets::installed;
use std::path::Path;
use std::process::{Command, Output};

fn run(program: &Path, arguments: &[&str], cache: &Path) -> Output {
    Command::new(program)
        .args(arguments)
        // What it writes by default goes there, too.
        .current_dir(cache.parent().unwrap_or(cache))
        .env("RAMIE_COMPILATION_CACHE", cache)
        .output()
        .expect("the example starts")
}

fn said(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// `C` and `N` of a line `Test accuracy: C/N correct (P%)`.
fn accuracy(line: &str) -> (usize, usize) {
    counts(line, "Test accuracy: ", " correct (")
}

fn counts(line: &str, before: &str, after: &str) -> (usize, usize) {
    let counts = line
        .strip_prefix(before)
        .and_then(|l| l.split_once(after))
        .unwrap_or_else(|| panic!("the line is {line:?}"));
    let (correct, total) = counts.0.split_once('/').expect("C/N");
    let count = |text: &str| text.parse().expect("a count");
    (count(correct), count(total))
}

fn is_picture(path: &Path) -> bool {
    let bytes = std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    bytes.get(1..4) == Some(b"PNG")
}

/// Returns the number of stored programs. The linked backend stores none: compiling a program takes little
/// longer than reading it.
fn compiled(cache: &Path) -> usize {
    if is_linked() {
        return 0;
    }
    std::fs::read_dir(cache).expect("the cache").count()
}

/// The example's lines, if it ended well. It runs in a folder of its own.
fn checked_in(folder: &Path, name: &str, arguments: &[&str]) -> Vec<String> {
    let output = run(&example(name), arguments, &folder.join("cache"));
    let text = said(&output.stdout);
    let errors = said(&output.stderr);
    assert!(output.status.success(), "{text}{errors}");
    text.lines().map(String::from).collect()
}

fn checked(name: &str, arguments: &[&str]) -> Vec<String> {
    checked_in(
        tempfile::tempdir().expect("a folder").path(),
        name,
        arguments,
    )
}

#[test]
fn arrays_prints_what_jax_computes() {
    let text = checked("arrays", &["--size", "10"]).join("\n");
    for part in [
        "b.at(0).set(1) is [1 1 2 3 4 5], b is still [0 1 2 3 4 5]",
        "normal: -0.028304616, and again: -0.028304616",
        "value: 12.666667",
        "\n    c:f32[3] = integer_pow[y=2] b\n",
        "gradient: [1.3333334 2.        2.6666667]",
        "5 calls, traced 1 time",
        "compiled 2 times",
    ] {
        assert!(text.contains(part), "{part}\nin\n{text}");
    }
}

#[test]
fn the_program_of_the_readme_learns_and_its_second_run_compiles_nothing() {
    let readme = include_str!("../../README.md");
    let program = include_str!("../../examples/digits/main.rs");
    let (_, program) = program.split_once("(unsafe_code)]\n\n").expect("its head");
    assert!(readme.contains(&format!("```rust,no_run\n{program}```\n")));
    let folder = tempfile::tempdir().expect("a folder");
    let cache = folder.path().join("cache");
    let lines = checked_in(folder.path(), "digits", &[]);
    let accuracies = lines.iter().find_map(|l| l.strip_prefix("val_accuracy"));
    let last = accuracies.and_then(|l| l.split_whitespace().next()?.parse::<f32>().ok());
    assert!(last.is_some_and(|last| last > 0.95), "{}", lines.join("\n"));
    let before = compiled(&cache);
    assert!(is_linked() || before > 0);
    let again = checked_in(folder.path(), "digits", &[]);
    assert!(again[0].starts_with("Moved the earlier run to "));
    assert_eq!(again[1..], lines);
    assert_eq!(compiled(&cache), before);
    for run in ["digits", "digits.1"] {
        let metrics = folder.path().join("out").join(run).join("metrics.jsonl");
        assert!(metrics.exists(), "{run}");
    }
}

/// It fails itself where gradients of examples are not those of a loop, or many
/// devices do not learn what one learns.
#[test]
fn transformations_compose() {
    let folder = tempfile::tempdir().expect("a folder");
    let lines = checked_in(folder.path(), "transformations", &["--steps", "60"]);
    assert!(is_picture(
        &folder.path().join("out/transformations/tanh.png")
    ));
    let text = lines.join("\n");
    assert!(text.contains("second: -0.72686195\n"), "{text}");
    let learned = lines
        .iter()
        .find_map(|l| l.strip_prefix("after 60 steps: w ["));
    let weights: Vec<f32> = learned
        .and_then(|l| l.split_once(']'))
        .map(|(w, _)| {
            w.split_whitespace()
                .map(|w| w.parse().expect("a number"))
                .collect()
        })
        .unwrap_or_else(|| panic!("{text}"));
    for (weight, truth) in weights.iter().zip([1.0, -2.0, 0.5]) {
        assert!((weight - truth).abs() < 0.05, "{weights:?}");
    }
}

/// Epochs at once, and as many that were begun by a shorter run.
#[test]
fn xor_goes_on_where_it_stopped() {
    let folder = tempfile::tempdir().expect("a folder");
    let xor = |arguments: &str| -> Vec<String> {
        let arguments: Vec<&str> = arguments.split_whitespace().collect();
        checked_in(folder.path(), "xor", &arguments)
    };
    let lines = xor("--epochs 30 --out whole --checkpoint-every 77");
    assert_eq!(accuracy(lines.last().expect("a line")), (500, 500));
    xor("--epochs 12 --out parts");
    let lines = xor("--epochs 30 --out parts --resume --workers 2");
    assert!(
        lines.iter().any(|l| l == "Resumed after step 240"),
        "{lines:?}"
    );
    assert_eq!(accuracy(lines.last().expect("a line")), (500, 500));
    let metrics = |run: &str| {
        let path = folder.path().join(run).join("metrics.jsonl");
        std::fs::read_to_string(path).expect("metrics")
    };
    assert_eq!(metrics("whole").lines().count(), 600);
    assert_eq!(metrics("whole"), metrics("parts"), "the same steps");
    // Many steps in one program, also from where others stopped.
    xor("--epochs 12 --out many --steps-per-call 7");
    let lines = xor("--epochs 30 --out many --resume --steps-per-call 50");
    assert_eq!(accuracy(lines.last().expect("a line")), (500, 500));
    // A compiler may round otherwise in a loop.
    let losses = |run: &str| -> Vec<f64> {
        let of = |line: &str| {
            let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
            line["loss"].as_f64().expect("a loss")
        };
        metrics(run).lines().map(of).collect()
    };
    let (whole, many) = (losses("whole"), losses("many"));
    assert_eq!(many.len(), 600);
    let apart = whole.iter().zip(&many).map(|(a, b)| (a - b).abs());
    assert!(apart.fold(0.0, f64::max) < 1e-4, "the same steps");
    for run in ["whole", "parts", "many"] {
        assert!(is_picture(&folder.path().join(run).join("loss.png")));
        assert!(folder.path().join(run).join("tensorboard").is_dir());
    }
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
    let sizes = "--tokens 64 --experts 8 --width 8 --chunk 4";
    let sizes: Vec<&str> = sizes.split(' ').collect();
    let folder = tempfile::tempdir().expect("a folder");
    let lines = checked_in(folder.path(), "moe", &sizes);
    assert_eq!(lines.len(), 8, "{lines:?}");
    // Two experts for each of 64 tokens, among 8.
    let load = lines[0].strip_prefix("Tokens per expert: ");
    assert!(
        load.is_some_and(|l| l.ends_with(", 16 on average")),
        "{lines:?}"
    );
    assert!(is_picture(&folder.path().join("out/moe/load.png")));
}

#[test]
fn a_sharded_decoder_learns_as_on_one_device() {
    let folder = tempfile::tempdir().expect("a folder");
    let fsdp = |options: &str| -> Vec<String> {
        let options: Vec<&str> = options.split(' ').collect();
        checked_in(folder.path(), "fsdp", &options)
    };
    let lines = fsdp("--steps 2 --layers 1 --batch 8");
    let numbers = lines[0]
        .split_whitespace()
        .filter_map(|w| w.parse::<usize>().ok());
    let numbers: Vec<usize> = numbers.collect();
    assert_eq!(numbers[0], 8 * numbers[1], "{lines:?}");
    let steps = |lines: &[String]| lines.iter().filter(|l| l.starts_with("Step ")).count();
    assert_eq!(steps(&lines), 2, "{lines:?}");
    // The state that is restored is sharded as the one that was saved.
    let lines = fsdp("--steps 3 --layers 1 --batch 8 --resume");
    assert_eq!(steps(&lines), 1, "{lines:?}");
}

#[test]
fn a_transformer_learns_to_add() {
    let options = "--digits 2 --held-out 500 --steps 400 --batch-size 128 --learning-rate 0.005";
    let options: Vec<&str> = options.split(' ').collect();
    let lines = checked("transformer", &options);
    let (correct, total) = counts(lines.last().expect("a line"), "Exact match: ", " (");
    assert!(correct * 100 >= total * 98 && total == 500, "{lines:?}");
}

/// It needs fewer bits than one who knows how often each character occurs, but
/// not which ones came before.
#[test]
fn a_transformer_learns_from_what_came_before() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/decisions.md");
    let text = std::fs::read_to_string(&file).expect("a text");
    let mut counts = std::collections::HashMap::new();
    for c in text.chars() {
        *counts.entry(c).or_insert(0.0) += 1.0;
    }
    let total: f64 = counts.values().sum();
    let entropy: f64 = counts
        .values()
        .map(|n| -n / total * f64::log2(n / total))
        .sum();

    let options = "--task text --steps 200 --width 48 --heads 2 --layers 1 --length 32 \
                   --batch-size 16 --learning-rate 0.006 --sample 20 --prompt is --text";
    let mut options: Vec<&str> = options.split_whitespace().collect();
    options.push(file.to_str().expect("text"));
    let lines = checked("transformer", &options);
    let last = lines.last().expect("a line");
    let bits = last.strip_prefix("Bits per character: ");
    let bits: f64 = bits
        .and_then(|b| b.parse().ok())
        .unwrap_or_else(|| panic!("{lines:?}"));
    assert!(
        bits < entropy - 0.5,
        "{bits} bits, and {entropy} for each character alone"
    );
    let sample = lines.join("\n");
    let sample = sample.split("--\n").nth(1).expect("a sample");
    assert!(
        sample.starts_with("is") && sample.chars().count() >= 22,
        "{sample:?}"
    );
}

/// A run that lost what it did after a checkpoint does it again in the same way:
/// with the same images, shifted as they were, and the same dropped features.
#[test]
fn a_convolutional_network_learns_and_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = "--epochs 6 --checkpoint-every 84 --out run";
    let options: Vec<&str> = options.split(' ').collect();
    let lines = checked_in(folder.path(), "cnn", &options);
    let last = lines.last().expect("a line");
    let (correct, total) = accuracy(last);
    assert!(correct >= 433 && total == 450, "{lines:?}");
    let run = folder.path().join("run");
    for name in ["loss.png", "predictions.png", "confusion.png"] {
        assert!(is_picture(&run.join(name)));
    }
    let metrics = || std::fs::read_to_string(run.join("metrics.jsonl")).expect("metrics");
    let whole = metrics();

    // It has 126 steps.
    std::fs::remove_dir_all(run.join("checkpoints/126")).expect("the last checkpoint");
    let lines = checked_in(
        folder.path(),
        "cnn",
        &[&options[..], &["--resume"]].concat(),
    );
    assert!(
        lines.iter().any(|l| l == "Resumed after step 84"),
        "{lines:?}"
    );
    assert_eq!(lines.last(), Some(last));
    assert_eq!(metrics(), whole);

    // A finished run evaluates again, and has written its metrics already.
    let lines = checked_in(
        folder.path(),
        "cnn",
        &[&options[..], &["--resume"]].concat(),
    );
    let tests = lines.iter().filter(|l| l.starts_with("Test accuracy: "));
    assert_eq!((tests.count(), lines.last()), (1, Some(last)));
    assert_eq!(metrics(), whole);
}

/// `head -1` closes the pipe that an example writes to.
#[cfg(unix)]
#[test]
fn examples_end_quietly_when_the_reader_has_gone() {
    use std::os::unix::process::ExitStatusExt;
    const SIGPIPE: i32 = 13;
    let folder = tempfile::tempdir().expect("a folder");
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let output = Command::new(example("arrays"))
        .current_dir(folder.path())
        .env("RAMIE_COMPILATION_CACHE", folder.path().join("cache"))
        .stdout(writer)
        .output()
        .expect("the example starts");
    let errors = said(&output.stderr);
    assert_eq!(
        (output.status.signal(), errors.as_str()),
        (Some(SIGPIPE), "")
    );
    // All of them begin in the function that sees to it, but for the README's program.
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/examples")).unwrap() {
        let main = entry.unwrap().path().join("main.rs");
        if main.ends_with("digits/main.rs") {
            continue;
        }
        if let Ok(text) = std::fs::read_to_string(&main) {
            assert!(
                text.contains("    ramie_examples::main(run)\n"),
                "{}",
                main.display()
            );
        }
    }
}

/// Two classes that a mean tells apart, as files of MNIST's kind.
#[test]
fn a_convolutional_network_learns_from_idx_files() {
    let folder = tempfile::tempdir().expect("a folder");
    for split in ["train", "t10k"] {
        let labels: Vec<u8> = (0..64).map(|i| i % 2).collect();
        let header = |kind: u8, sizes: &[u8]| -> Vec<u8> {
            let sizes = sizes.iter().flat_map(|n| [0, 0, 0, *n]);
            [0, 0, 8, kind].into_iter().chain(sizes).collect()
        };
        let pixels = labels
            .iter()
            .flat_map(|l| (0..35).map(move |i| l * 180 + i));
        let images = header(3, &[64, 5, 7])
            .into_iter()
            .chain(pixels)
            .collect::<Vec<u8>>();
        let labels = [header(1, &[64]), labels.clone()].concat();
        for (name, bytes) in [("images-idx3", images), ("labels-idx1", labels)] {
            let path = folder.path().join(format!("{split}-{name}-ubyte"));
            std::fs::write(path, bytes).expect("written");
        }
    }
    let options = "--data . --epochs 10 --width 4 --batch-size 16 --rotation 0 --shift 0 --learning-rate 0.03";
    let options: Vec<&str> = options.split(' ').collect();
    let lines = checked_in(folder.path(), "cnn", &options);
    assert_eq!(
        accuracy(lines.last().expect("a line")),
        (64, 64),
        "{lines:?}"
    );
}

#[test]
fn adapters_learn_what_the_model_of_a_file_does_not_know() {
    let folder = tempfile::tempdir().expect("a folder");
    let lines = checked_in(folder.path(), "lora", &["--steps", "200", "--out", "run"]);
    let before = |what: &str| {
        let line = lines.iter().find_map(|l| l.strip_prefix(what));
        counts(
            line.unwrap_or_else(|| panic!("{lines:?}")),
            "",
            " correct (",
        )
        .0
    };
    assert!(before("Before, upright: ") >= 430, "{lines:?}");
    assert!(before("Before, rotated: ") < 150, "{lines:?}");
    let (correct, total) = accuracy(lines.last().expect("a line"));
    assert!(correct >= 425 && total == 450, "{lines:?}");

    let run = folder.path().join("run");
    let size = |name: &str| std::fs::metadata(run.join(name)).expect("a file").len();
    assert!(size("adapters.safetensors") < size("base.safetensors") / 8);
    // What was fine-tuned is a classifier like the one of the base: a base itself.
    let options = ["--steps", "0", "--base", "run/merged.safetensors"];
    let lines = checked_in(folder.path(), "lora", &options);
    assert_eq!(accuracy(lines.last().expect("a line")), (correct, total));
}

/// It checks its derivatives itself.
#[test]
fn a_primitive_of_ones_own_fits_a_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let lines = checked_in(folder.path(), "custom_primitive", &["--steps", "400"]);
    let text = lines.join("\n");
    assert!(text.contains("b:f32[5] = log_cosh a\n"), "{text}");
    assert!(text.contains("gradient: [-1. "), "{text}");
    // The width of a column depends on the last bits of the other elements.
    let mut composed = lines.iter().filter_map(|l| l.strip_prefix("composed: ["));
    assert!(
        composed.any(|l| l.trim_start().starts_with("nan ")),
        "{text}"
    );
    let slope = |what: &str| -> f32 {
        let line = lines.iter().find_map(|l| l.strip_prefix(what));
        let number = line.and_then(|l| l.split(',').next());
        number
            .and_then(|n| n.parse().ok())
            .unwrap_or_else(|| panic!("{text}"))
    };
    assert!((slope("least squares: slope ") - 2.0).abs() > 1.0, "{text}");
    assert!((slope("Slope: ") - 2.0).abs() < 0.05, "{text}");
    assert!(is_picture(
        &folder.path().join("out/custom_primitive/fit.png")
    ));
}

/// Each process says what it counts, and the first compares.
#[test]
fn another_process_runs_what_was_exported() {
    let lines = checked("export_and_run", &[]);
    assert_eq!(lines.len(), 4, "{lines:?}");
    assert!(
        lines[2].ends_with("from f32[450,64] to i32[450]"),
        "{lines:?}"
    );
    let (correct, total) = accuracy(&lines[3]);
    assert!(correct >= 425 && total == 450, "{lines:?}");
    let folder = tempfile::tempdir().expect("a folder");
    let program = example("export_and_run");
    let output = run(
        &program,
        &["--run", "--file", "none"],
        &folder.path().join("cache"),
    );
    assert_eq!(output.status.code(), Some(1));
    let error = said(&output.stderr);
    assert!(error.starts_with("error: none: "), "{error}");
}

/// The steps of all examples, compiled for hardware that is not there, where its
/// plugin is.
#[test]
fn steps_compile_ahead_of_time() {
    let targets = installed(&["tpu:v5e:2x4", "cuda:h200"]);
    let targets: Vec<String> = targets.iter().map(ToString::to_string).collect();
    let options: Vec<&str> = targets.iter().flat_map(|t| ["--aot", t]).collect();
    if options.is_empty() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    // How many programs an example compiles, and for how many devices.
    let examples: [(&str, &[&str], usize, usize); 9] = [
        ("xor", &[], 1, 1),
        ("cnn", &[], 1, 1),
        ("transformer", &["--layers", "1"], 1, 1),
        ("lora", &[], 1, 1),
        ("custom_primitive", &[], 1, 1),
        ("export_and_run", &[], 1, 1),
        ("moe", &[], 6, 8),
        ("collective_matmul", &[], 7, 8),
        ("fsdp", &["--steps", "1", "--layers", "1"], 1, 8),
    ];
    for (name, own, programs, devices) in examples {
        let arguments = [own, &options].concat();
        let out = run(&example(name), &arguments, &folder.path().join("cache"));
        let (shown, err) = (said(&out.stdout), said(&out.stderr));
        assert!(out.status.success(), "{name}: {err}");
        let reports = shown.lines().filter(|line| line.contains(", compiled in "));
        let reports: Vec<&str> = reports.collect();
        assert_eq!(
            reports.len(),
            programs * options.len() / 2,
            "{name}: {shown}"
        );
        for report in reports {
            assert!(
                report.contains(&format!(": {devices} × ")),
                "{name}: {report}"
            );
        }
        let sends = shown
            .lines()
            .filter(|line| line.starts_with("  collectives  "));
        for line in sends {
            assert_eq!(line.ends_with(" none"), devices == 1, "{name}: {line}");
        }
    }
}
