//! `ramie ckpt` and `ramie inspect`, run as a user runs them.

mod convert;
mod gguf;
mod onnx;
mod pytorch;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use ramie::checkpoint::commit::save_item;
use ramie::checkpoint::items::{Composite, JsonSave};
use ramie::checkpoint::manager::{
    CheckpointManager, CheckpointManagerOptions, Metrics, StepOptions,
};
use ramie::checkpoint::pytree::StandardSave;
use ramie::checkpoint::safetensors;
use ramie::{Array, DType, State};
use tempfile::TempDir;

/// Runs `ramie`; the exit code, stdout and stderr.
fn run(command: &mut Command) -> (i32, String, String) {
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let code = output.status.code().unwrap();
    (code, text(output.stdout), text(output.stderr))
}

/// `ramie` where no plugin can be found.
fn bare(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ramie"));
    command.env_clear().env("HOME", home).env("PATH", home);
    command
}

/// Runs `ramie` where no plugin can be found.
fn look(arguments: &[&str]) -> (i32, String, String) {
    let home = tempfile::tempdir().unwrap();
    run(bare(home.path()).args(arguments))
}

/// Runs `ramie` with the plugin of these tests.
fn compute(arguments: &[&str]) -> (i32, String, String) {
    run(Command::new(env!("CARGO_BIN_EXE_ramie")).args(arguments))
}

fn golden(name: &str) -> String {
    shown(&ramie_testing::golden::path(name))
}

fn shown(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

fn weights(value: f32) -> State {
    State::from_iter([
        ("dense.bias", Array::zeros(&[3], DType::BF16)),
        ("dense.kernel", Array::full(&[64, 3], value, DType::F32)),
    ])
}

/// A run with the steps 10 and 20, each with arrays, settings and metrics; a save that was
/// broken off, and a folder with the name of a step and nothing in it.
fn a_run() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let options = CheckpointManagerOptions::new().best_fn(|m| -m.get("loss").unwrap());
    let manager = CheckpointManager::new(&path, options).unwrap();
    for step in [10, 20] {
        let (weights, settings) = (weights(step as f32), "narrow");
        let items = Composite::new()
            .item("state", StandardSave::new(&weights))
            .item("settings", JsonSave::new(settings));
        let metrics = Metrics::from([("loss", 1.0 / step as f64)]);
        let options = StepOptions::new().metrics(metrics);
        manager.save_with(step, &items, options).unwrap();
    }
    manager.close().unwrap();
    let half = path.join("30.orbax-checkpoint-tmp");
    fs::create_dir_all(half.join("state")).unwrap();
    fs::write(half.join("state/_METADATA"), "{").unwrap();
    fs::create_dir(path.join("40")).unwrap();
    (folder, path)
}

/// The largest file below a folder.
fn largest(folder: &Path) -> PathBuf {
    let mut all = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path)
            } else {
                all.push(path)
            }
        }
    }
    all.sort_by_key(|path| fs::metadata(path).unwrap().len());
    all.pop().unwrap()
}

fn has_all(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no {part:?} in:\n{text}");
    }
}

/// The lines of a text, with one space for several.
fn lines(text: &str) -> Vec<String> {
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    text.lines().map(words).collect()
}

#[test]
fn ls_lists_steps_with_metrics_and_those_that_are_unfinished() {
    let (_folder, path) = a_run();
    let (code, out, err) = look(&["ckpt", "ls", &shown(&path)]);
    assert_eq!((code, err.as_str()), (0, ""));
    let lines = lines(&out);
    assert_eq!(lines.len(), 5, "{out}");
    assert!(lines[0].starts_with("STEP SIZE SAVED"), "{out}");
    assert!(
        lines[1].starts_with("10 ") && lines[1].ends_with("committed loss=0.1"),
        "{out}"
    );
    assert!(
        lines[2].starts_with("20 ") && lines[2].ends_with("committed loss=0.05"),
        "{out}"
    );
    assert!(
        lines[3].starts_with("30 ") && lines[3].ends_with("unfinished"),
        "{out}"
    );
    assert!(
        lines[4].starts_with("40 0 B ") && lines[4].ends_with("unfinished"),
        "{out}"
    );

    let (code, out, _) = look(&["ckpt", "ls", &golden("orbax_run")]);
    assert_eq!(code, 0);
    assert!(out.contains("loss=0.25"), "{out}");
}

#[test]
fn show_tells_shapes_without_a_plugin() {
    let (_folder, path) = a_run();
    let (code, out, err) = look(&["ckpt", "show", &shown(&path)]);
    assert_eq!((code, err.as_str()), (0, ""));
    let all = lines(&out);
    for line in [
        "state.dense.bias bf16[3] 6 B",
        "state.dense.kernel f32[64,3] 768 B",
    ] {
        assert!(all.iter().any(|l| l.starts_with(line)), "{line}: {out}");
    }
    has_all(
        &out,
        &["step 20", "narrow", "2 arrays, 195 elements, 774 B"],
    );

    let state = [
        "ckpt",
        "show",
        &shown(&path),
        "--step",
        "10",
        "--item",
        "state",
    ];
    let (code, out, _) = look(&state);
    assert_eq!(code, 0);
    assert!(
        lines(&out)
            .iter()
            .any(|l| l.starts_with("dense.bias bf16[3]")),
        "{out}"
    );
    has_all(&out, &["step 10"]);
}

#[test]
fn show_reads_what_others_wrote() {
    for (name, parts) in [
        (
            "orbax/sharded_zarr2",
            vec!["P(None, y) on x=4, y=2", "columns", "Orbax"],
        ),
        ("orbax/sharded_ocdbt", vec!["P(x, y) on x=4, y=2"]),
        ("orbax/train_state_zarr3", vec!["params"]),
        ("orbax/train_state_ocdbt", vec!["params"]),
        ("orbax/manager", vec!["step 2"]),
        ("orbax_run/step_10", vec!["settings", "metrics"]),
        ("flax_model.msgpack", vec!["Flax msgpack", "kernel"]),
        ("digits.safetensors", vec!["safetensors"]),
    ] {
        let (code, out, err) = look(&["ckpt", "show", &golden(name)]);
        assert_eq!((code, err.as_str()), (0, ""), "{name}");
        has_all(&out, &parts);
    }
}

#[test]
fn show_prints_values() {
    let (_folder, path) = a_run();
    let (code, out, err) = compute(&[
        "ckpt",
        "show",
        &shown(&path),
        "--values",
        "state.dense.bias",
    ]);
    assert_eq!((code, out.as_str()), (0, "[0 0 0]\n"), "{err}");
    let (code, _, err) = compute(&["ckpt", "show", &shown(&path), "--values", "nothing"]);
    assert_eq!(code, 1);
    has_all(&err, &["has no part `nothing`"]);
}

#[test]
fn verify_names_the_damaged_file() {
    let (_folder, path) = a_run();
    let (code, out, err) = look(&["ckpt", "verify", &shown(&path)]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    has_all(
        &out,
        &[
            "step 10: checksums of",
            "step 20: checksums of",
            "step 40: unfinished",
        ],
    );

    let file = largest(&path.join("10/state"));
    let mut bytes = fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&file, bytes).unwrap();
    let (code, out, err) = look(&["ckpt", "verify", &shown(&path)]);
    assert_eq!(code, 1);
    has_all(
        &out,
        &["step 10: DAMAGED", &shown(&file), "step 20: checksums"],
    );
    has_all(&err, &["1 of 2 steps damaged"]);
    let (code, _, err) = look(&["ckpt", "verify", &shown(&path), "--step", "10"]);
    assert_eq!(code, 1);
    has_all(&err, &[&shown(&file)]);
    let (code, ..) = look(&["ckpt", "verify", &shown(&path), "--step", "20"]);
    assert_eq!(code, 0);

    fs::remove_file(largest(&path.join("20/state"))).unwrap();
    let (code, _, err) = look(&["ckpt", "verify", &shown(&path), "--step", "20"]);
    assert_eq!(code, 1);
    has_all(&err, &["the file is missing"]);
}

#[test]
fn verify_reads_what_has_no_checksums() {
    let (code, out, err) = compute(&["ckpt", "verify", &golden("orbax/train_state_ocdbt")]);
    assert_eq!(code, 0, "{err}");
    has_all(&out, &["readable", "no file checksums"]);
    let folder = tempfile::tempdir().unwrap();
    for name in ["digits.safetensors", "flax_model.msgpack"] {
        assert_eq!(look(&["ckpt", "verify", &golden(name)]).0, 0);
        let cut = folder.path().join(name);
        let bytes = fs::read(golden(name)).unwrap();
        fs::write(&cut, &bytes[..bytes.len() - 1]).unwrap();
        let (code, _, err) = look(&["ckpt", "verify", &shown(&cut)]);
        assert_eq!(code, 1);
        has_all(&err, &[name, "truncated"]);
    }
}

#[test]
fn diff_tells_structure_types_and_values() {
    let (folder, path) = a_run();
    let run = shown(&path);
    let (code, out, err) = compute(&["ckpt", "diff", &run, &run]);
    assert_eq!((code, out.as_str()), (0, "equal: 2 arrays\n"), "{err}");

    let steps = [
        "ckpt",
        "diff",
        &run,
        &run,
        "--step",
        "10",
        "--to-step",
        "20",
    ];
    let (code, out, _) = compute(&steps);
    assert_eq!(code, 1);
    has_all(
        &out,
        &[
            "~ state.dense.kernel: max abs difference 1e1, 192 of 192 elements differ",
            "~ metrics.metrics: ",
            "2 differences",
        ],
    );

    let other = folder.path().join("other.safetensors");
    let state = State::from_iter([
        ("dense.bias", Array::zeros(&[3], DType::F32)),
        ("head", Array::zeros(&[2], DType::I32)),
    ]);
    safetensors::save(&other, &state).unwrap();
    let (code, out, _) = look(&["ckpt", "diff", &run, &shown(&other), "--item", "state"]);
    // A file has no items.
    assert_eq!((code, out.as_str()), (2, ""));
    let step = shown(&path.join("20/state"));
    let (code, out, _) = look(&["ckpt", "diff", &step, &shown(&other)]);
    assert_eq!(code, 1);
    assert_eq!(
        out,
        "~ dense.bias: bf16[3] in A, f32[3] in B\n\
         - dense.kernel: f32[64,3], only in A\n\
         + head: i32[2], only in B\n\
         3 differences\n"
    );
    assert_eq!(look(&["ckpt", "diff", &run, "nowhere"]).0, 2);
}

#[test]
fn convert_goes_round_and_changes_nothing() {
    let (folder, path) = a_run();
    let at = |name: &str| shown(&folder.path().join(name));
    let names = [
        shown(&path.join("20/state")),
        at("w.safetensors"),
        at("w.msgpack"),
        at("orbax"),
        at("w.safetensors.index.json"),
    ];
    for pair in names.windows(2) {
        let (code, out, err) = compute(&["ckpt", "convert", &pair[0], &pair[1]]);
        assert_eq!((code, err.as_str()), (0, ""));
        assert_eq!(out, format!("{}: 2 arrays\n", pair[1]));
        let (code, out, _) = compute(&["ckpt", "diff", &names[0], &pair[1]]);
        assert_eq!((code, out.as_str()), (0, "equal: 2 arrays\n"));
    }
    let (code, _, err) = compute(&["ckpt", "convert", &names[0], &names[1]]);
    assert_eq!(code, 1);
    has_all(&err, &["w.safetensors: already exists"]);

    // What is no array is said to be left out; the format may be named.
    let run = shown(&path);
    let (code, _, err) = compute(&["ckpt", "convert", &run, &at("all"), "--to", "msgpack"]);
    assert_eq!(code, 0);
    has_all(&err, &["is omitted"]);
    assert!(folder.path().join("all").is_file());
    let (code, _, err) = look(&["ckpt", "convert", &run, &at("x"), "--to", "zip"]);
    assert_eq!(code, 2);
    has_all(
        &err,
        &["expected `safetensors`, `msgpack`, `orbax`, `gguf` or `pytorch`"],
    );

    let flat = folder.path().join("flat.safetensors");
    let state = State::from_iter([("a", Array::from(1.0f32)), ("a.b", Array::from(2.0f32))]);
    safetensors::save(&flat, &state).unwrap();
    let (code, _, err) = compute(&["ckpt", "convert", &shown(&flat), &at("tree")]);
    assert_eq!(code, 1);
    has_all(&err, &["`a.b` is below `a`"]);
}

#[test]
fn what_is_no_checkpoint_is_refused() {
    let (folder, path) = a_run();
    let foreign = folder.path().join("foreign");
    fs::create_dir(&foreign).unwrap();
    fs::write(foreign.join("notes.txt"), "hello").unwrap();
    let text = shown(&foreign.join("notes.txt"));
    let half = shown(&path.join("30.orbax-checkpoint-tmp"));
    let (run, foreign) = (shown(&path), shown(&foreign));
    for command in ["show", "verify"] {
        for (arguments, message) in [
            (vec!["nowhere"], "nowhere: cannot be read: "),
            (vec![foreign.as_str()], "is not a checkpoint directory"),
            (
                vec![text.as_str()],
                "is not a safetensors, GGUF, PyTorch or Flax msgpack file",
            ),
            (vec![half.as_str()], "is an interrupted save"),
            (
                vec![run.as_str(), "--step", "30"],
                "step 30 is not committed",
            ),
            (
                vec![run.as_str(), "--step", "20", "--item", "optimizer"],
                "no item optimizer",
            ),
        ] {
            let mut all = vec!["ckpt", command];
            all.extend(arguments);
            let (code, out, err) = look(&all);
            assert_eq!((code, out.as_str()), (1, ""), "{all:?}");
            assert!(err.starts_with("error: "), "{err}");
            has_all(&err, &[message]);
        }
    }
    let (code, _, err) = look(&["ckpt", "ls", &golden("digits.safetensors")]);
    assert_eq!(code, 1);
    has_all(&err, &["is a single checkpoint"]);
    let (code, _, err) = look(&["ckpt", "ls", &foreign]);
    assert_eq!(code, 1);
    has_all(&err, &["is not a checkpoint directory"]);
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_ends_the_tool_quietly() {
    use std::os::unix::process::ExitStatusExt;
    const SIGPIPE: i32 = 13;
    let home = tempfile::tempdir().unwrap();
    for arguments in [["ckpt", "show"], ["ckpt", "ls"]] {
        let mut command = bare(home.path());
        command.args(arguments).arg(golden("orbax/manager"));
        // Closed before the tool starts, which may write at once.
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = command.stdout(writer).output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.signal(), err.as_str()), (Some(SIGPIPE), ""));
    }
}

#[test]
fn inspect_sums_up() {
    let (_folder, path) = a_run();
    let (code, out, err) = look(&["inspect", &shown(&path), "--largest", "1"]);
    assert_eq!((code, err.as_str()), (0, ""));
    let all = lines(&out);
    for line in [
        "format Orbax",
        "step 20",
        "items metrics, settings, state",
        "checksums of every file",
        "parameters 195 in 2 arrays",
        "memory 774 B",
        "f32 1 192 768 B",
        "bf16 1 3 6 B",
        "state.dense.kernel f32[64,3] 768 B",
    ] {
        assert!(all.iter().any(|l| l == line), "{line}: {out}");
    }
    assert!(!out.contains("state.dense.bias"), "{out}");
}

/// Copies a folder.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let to = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &to)
        } else {
            fs::copy(&path, &to).unwrap();
        }
    }
}

#[test]
fn verify_and_convert_refuse_what_has_lost_its_metadata() {
    let folder = tempfile::tempdir().unwrap();
    let to = shown(&folder.path().join("out.msgpack"));
    let refused = |path: &str, what: &str| {
        for command in [
            vec!["verify", path],
            vec!["convert", path, &to],
            vec!["show", path],
        ] {
            let mut all = vec!["ckpt"];
            all.extend(&command);
            let (code, _, err) = compute(&all);
            assert_eq!(code, 1, "{all:?}");
            has_all(&err, &[what]);
        }
    };
    for name in [
        "orbax/train_state_ocdbt",
        "orbax/train_state_zarr2",
        "convert/orbax",
    ] {
        let path = folder.path().join(name);
        copy(Path::new(&golden(name)), &path);
        fs::remove_file(path.join("_METADATA")).unwrap();
        refused(
            &shown(&path),
            "_METADATA, which lists the arrays, is missing",
        );
    }
    // An item of a step with invalid JSON.
    let step = folder.path().join("step");
    copy(Path::new(&golden("orbax_run/step_10")), &step);
    let json = step.join("settings/metadata");
    fs::write(&json, "{\"width\": ").unwrap();
    refused(&shown(&step), "settings/metadata: is not JSON");
    fs::remove_file(json).unwrap();
    refused(
        &shown(&step),
        "contains neither a tree of arrays nor another item",
    );
}

#[test]
fn a_step_with_a_damaged_marker_is_damaged() {
    let (_folder, path) = a_run();
    let marker = path.join("20/commit_success.txt");
    let text = fs::read(&marker).unwrap();
    fs::write(&marker, &text[..text.len() - 1]).unwrap();
    let run = shown(&path);
    let (code, out, err) = look(&["ckpt", "verify", &run]);
    assert_eq!(code, 1);
    has_all(
        &out,
        &[
            "step 10: checksums",
            "step 20: DAMAGED: commit_success.txt is incomplete",
        ],
    );
    has_all(&err, &["1 of 2 steps damaged"]);
    let (code, out, _) = look(&["ckpt", "ls", &run]);
    assert_eq!(code, 0);
    assert!(lines(&out)[2].contains(" damaged "), "{out}");
    let (code, _, err) = look(&["ckpt", "show", &run, "--step", "20"]);
    assert_eq!(code, 1);
    has_all(
        &err,
        &["20: the step is damaged: commit_success.txt is incomplete"],
    );
}

#[test]
fn show_abbreviates_and_prints_one_part_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("step");
    let (weights, long) = (weights(1.0), (0..100).collect::<Vec<usize>>());
    let items = Composite::new()
        .item("state", StandardSave::new(&weights))
        .item("places", JsonSave::new(&long));
    save_item(&path, &items).unwrap();
    let path = shown(&path);
    let (code, out, _) = look(&["ckpt", "show", &path]);
    assert_eq!(code, 0);
    has_all(
        &out,
        &["places.metadata", "JSON [0,1,2,3,", " …", "f32[64,3]"],
    );
    assert!(!out.contains(",99"), "{out}");
    let (code, out, _) = look(&["ckpt", "show", &path, "--values", "places.metadata"]);
    assert_eq!(code, 0);
    assert!(out.ends_with("98,99]\n"), "{out}");

    let orbax = golden("convert/orbax");
    let (code, out, _) = look(&["ckpt", "show", &orbax]);
    assert_eq!(code, 0);
    let all = lines(&out);
    for line in [
        "empty empty dictionary",
        "note 'a text'",
        "opt.0 none",
        "lr f64[] 8 B",
    ] {
        assert!(all.iter().any(|l| l.starts_with(line)), "{line}: {out}");
    }
    let (_, out, _) = look(&["ckpt", "show", &orbax, "--values", "note"]);
    assert_eq!(out, "a text\n");
    let (_, out, _) = look(&["ckpt", "show", &golden("convert/state.msgpack")]);
    let all = lines(&out);
    for line in ["empty empty dictionary", "lr 0.1", "step 7"] {
        assert!(all.iter().any(|l| l == line), "{line}: {out}");
    }
}

#[cfg(unix)]
#[test]
fn pipes_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe.msgpack");
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let out = shown(&folder.path().join("out"));
    for path in [shown(&pipe), "/dev/zero".to_owned()] {
        for arguments in [
            vec!["ckpt", "show", &path],
            vec!["ckpt", "verify", &path],
            vec!["ckpt", "ls", &path],
            vec!["ckpt", "diff", &path, &path],
            vec!["ckpt", "convert", &path, &out],
            vec!["inspect", &path],
            vec!["aot", "--target", "tpu:v5e:2x4", &path],
        ] {
            let (code, _, err) = look(&arguments);
            assert_ne!(code, 0, "{arguments:?}");
            has_all(&err, &["only regular files are supported"]);
        }
    }
}
