//! Formats found out from what a path contains.

use ramie_checkpoint::format::{OrbaxFolder, Source};
use ramie_checkpoint::items::{Composite, JsonSave};
use ramie_checkpoint::manager::{CheckpointManager, CheckpointManagerOptions};
use ramie_checkpoint::pytree::StandardSave;
use ramie_checkpoint::serialization::StateDict;
use ramie_checkpoint::{
    Error, Format, commit, load_into, load_state, save_checkpoint, serialization,
};
use ramie_core::{Array, DType, State};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

const ALL: [Format; 3] = [Format::Safetensors, Format::Msgpack, Format::Orbax];

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn weights(x: f32) -> State {
    State::from_iter([
        ("dense.bias", Array::from([x, x])),
        ("dense.kernel", Array::full(&[3, 2], x, DType::F32)),
    ])
}

fn value(state: &State) -> f32 {
    assert_eq!(
        state.paths().collect::<Vec<_>>(),
        ["dense.bias", "dense.kernel"]
    );
    state["dense.bias"].to_vec::<f32>()[1]
}

/// What both loading functions get.
fn loaded(path: &Path) -> f32 {
    let mut into = weights(0.0);
    load_into(path, &mut into).unwrap();
    assert_eq!(value(&into), value(&load_state(path).unwrap()));
    value(&into)
}

#[test]
fn each_format_is_detected_under_any_name() {
    for format in ALL {
        let folder = folder();
        // A safetensors file may have the name of another format, but not the reverse.
        for name in ["weights", "checkpoint_3", "w.bin"] {
            let path = folder.path().join(name);
            format.save(&path, &weights(2.0)).unwrap();
            assert_eq!(Format::detect(&path).unwrap(), format, "{name}");
            assert_eq!(loaded(&path), 2.0, "{format} {name}");
        }
    }
}

#[test]
fn names_have_formats() {
    for (name, format) in [
        ("a/model.safetensors", Some(Format::Safetensors)),
        ("model.safetensors.index.json", Some(Format::Safetensors)),
        ("model.msgpack", Some(Format::Msgpack)),
        ("model.gguf", Some(Format::Gguf)),
        ("a/model.pt", Some(Format::PyTorch)),
        ("resnet18-5c106cde.pth", Some(Format::PyTorch)),
        ("pytorch_model.bin.index.json", Some(Format::PyTorch)),
        ("checkpoint_3", None),
        ("a/3", None),
        ("..", None),
    ] {
        assert_eq!(Format::of_name(name), format, "{name}");
    }
    for (name, format) in ["safetensors", "msgpack", "orbax"].into_iter().zip(ALL) {
        assert_eq!(name.parse(), Ok(format));
    }
    let error = "zip".parse::<Format>().unwrap_err().to_string();
    assert!(
        error.ends_with("expected `safetensors`, `msgpack`, `orbax`, `gguf` or `pytorch`"),
        "{error}"
    );
}

#[test]
fn a_folder_leads_to_its_file() {
    let folder = folder();
    let file = folder.path().join("model.safetensors.index.json");
    Format::Safetensors.save(&file, &weights(1.0)).unwrap();
    let found = Source::open(folder.path())
        .unwrap()
        .checkpoint(None)
        .unwrap();
    assert_eq!((found.format, found.path), (Format::Safetensors, file));
    assert_eq!(loaded(folder.path()), 1.0);
}

#[test]
fn the_last_committed_step_of_a_run_is_loaded() {
    let folder = folder();
    let (orbax, flax) = (folder.path().join("orbax"), folder.path().join("flax"));
    let manager = CheckpointManager::new(&orbax, CheckpointManagerOptions::new()).unwrap();
    for step in [9, 10] {
        let weights = weights(step as f32);
        manager.save(step, &StandardSave::new(&weights)).unwrap();
        serialization::save(flax_file(&flax, step), &weights).unwrap();
    }
    manager.close().unwrap();
    fs::create_dir(orbax.join("11")).unwrap();
    for (run, format) in [(&orbax, Format::Orbax), (&flax, Format::Msgpack)] {
        assert_eq!(Format::detect(run).unwrap(), format);
        assert_eq!(loaded(run), 10.0);
        let source = Source::open(run).unwrap();
        assert_eq!(source.checkpoint(Some(9)).unwrap().step, Some(9));
        let error = source.checkpoint(Some(12)).unwrap_err().to_string();
        assert!(error.contains("step 12 is not committed"), "{error}");
    }
    let source = Source::open(&orbax).unwrap();
    let error = source.checkpoint(Some(11)).unwrap_err().to_string();
    assert!(error.contains("step 11 is not committed"), "{error}");
    let error = Source::open(orbax.join("9")).unwrap().checkpoint(Some(9));
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("is a single checkpoint and has no step 9"),
        "{error}"
    );
    // A step whose save was interrupted at its last moment.
    fs::remove_file(orbax.join("10/commit_success.txt")).unwrap();
    let source = Source::open(&orbax).unwrap();
    let damaged = source.checkpoint(Some(10)).unwrap_err();
    assert!(matches!(damaged, Error::Damaged { .. }), "{damaged}");
    assert_eq!(source.checkpoint(None).unwrap().step, Some(9));
}

fn flax_file(run: &Path, step: u64) -> std::path::PathBuf {
    fs::create_dir_all(run).unwrap();
    run.join(format!("checkpoint_{step}"))
}

#[test]
fn a_step_with_one_tree_has_the_paths_of_the_tree() {
    let folder = folder();
    let path = folder.path().join("step");
    let (weights, other) = (weights(4.0), (Array::from(1.0f32),));
    let items = Composite::new()
        .item("state", StandardSave::new(&weights))
        .item("settings", JsonSave::new("narrow"));
    commit::save_item(&path, &items).unwrap();
    assert_eq!(loaded(&path), 4.0);
    assert_eq!(loaded(&path.join("state")), 4.0);

    let path = folder.path().join("two");
    let items = Composite::new()
        .item("a", StandardSave::new(&weights))
        .item("b", StandardSave::new(&other));
    commit::save_item(&path, &items).unwrap();
    let state = load_state(&path).unwrap();
    assert_eq!(
        state.paths().collect::<Vec<_>>(),
        ["a.dense.bias", "a.dense.kernel", "b.0"]
    );
    let error = load_into(&path, &mut weights.clone())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("contains several trees: a, b\n  help: "),
        "{error}"
    );
    let error = OrbaxFolder::open(&path, Some("c"))
        .err()
        .unwrap()
        .to_string();
    assert!(
        error.contains("has no item c\n  help: use one of these names: a, b"),
        "{error}"
    );
}

#[test]
fn parts_that_a_format_lacks_are_left_out() {
    let folder = folder();
    let dict = StateDict::Dict(vec![
        ("w".into(), StateDict::Array(Array::from([1.0f32]))),
        (
            "step".into(),
            StateDict::Number(ramie_core::dtypes::Scalar::Int(7)),
        ),
        ("note".into(), StateDict::Str("a text".into())),
        ("raw".into(), StateDict::Bytes(vec![1, 2])),
    ]);
    for format in ALL {
        let path = folder.path().join(format.to_string());
        format.save_dict(&path, &dict).unwrap();
        let state = format.load(&path).unwrap();
        let mut paths: Vec<&str> = state.paths().collect();
        paths.sort_unstable();
        assert_eq!(paths, ["step", "w"], "{format}");
    }
}

#[test]
fn what_is_no_checkpoint_is_explained() {
    let folder = folder();
    let says = |path: &Path, expected: &str| {
        let before = weights(1.0);
        let mut tree = before.clone();
        let errors = [
            Format::detect(path).unwrap_err(),
            load_state(path).unwrap_err(),
            load_into(path, &mut tree).unwrap_err(),
        ];
        for error in errors {
            let text = error.to_string();
            assert!(
                text.starts_with(&format!("{}: {expected}", path.display())),
                "{text}"
            );
        }
        assert_eq!(value(&tree), 1.0);
    };
    says(&folder.path().join("nowhere"), "cannot be read: ");
    says(folder.path(), "is not a checkpoint directory: ");
    let file = folder.path().join("notes.txt");
    for bytes in [&b""[..], b"hello", b"hello there"] {
        fs::write(&file, bytes).unwrap();
        says(
            &file,
            "is not a safetensors, GGUF, PyTorch or Flax msgpack file\n  help: ",
        );
    }
    let half = folder.path().join("30.orbax-checkpoint-tmp");
    fs::create_dir(&half).unwrap();
    says(&half, "is an interrupted save");
    fs::create_dir(folder.path().join("40")).unwrap();
    says(folder.path(), "no step is committed\n  help: ");
}

#[test]
fn flax_steps_are_those_of_its_functions() {
    let folder = folder();
    save_checkpoint(folder.path(), &weights(5.0), 3).unwrap();
    assert_eq!(loaded(folder.path()), 5.0);
}
