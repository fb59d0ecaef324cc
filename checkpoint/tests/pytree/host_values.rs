//! Numbers, booleans and strings: saved as Orbax saves Python's, and restored into their types.

use super::{devices_8, same, text};
use ramie_checkpoint::commit::{restore_item, save_item};
use ramie_checkpoint::pytree::*;
use ramie_checkpoint::serialization::{from_bytes, to_bytes};
use ramie_core::*;
use ramie_derive::{Module, Tree};
use std::path::{Path, PathBuf};

/// The tree of `ports_checkpoints.py`.
#[derive(Clone, Debug, Tree)]
struct Named {
    name: String,
    run: Run,
}

#[derive(Clone, Debug, Tree)]
struct Run {
    done: bool,
    losses: Vec<f64>,
    lr: f32,
    seed: u64,
    step: i16,
    w: Array,
}

fn empty() -> Named {
    let run = Run {
        done: false,
        losses: vec![0.0, 0.0],
        lr: 0.0,
        seed: 0,
        step: 0,
        w: Array::zeros(&[2], DType::F32),
    };
    Named {
        name: String::new(),
        run,
    }
}

fn full() -> Named {
    let run = Run {
        done: true,
        losses: vec![1.5, 2.25],
        lr: 0.1,
        seed: 1 << 63,
        step: -7,
        w: Array::from([1.0f32, 2.0]),
    };
    Named {
        name: "größe".into(),
        run,
    }
}

fn check(got: &Run, expected: &Run) {
    assert!(same(&got.w, &expected.w));
    let values = |run: &Run| (run.done, run.losses.clone(), run.lr, run.seed, run.step);
    assert_eq!(values(got), values(expected));
}

fn recorded(name: &str) -> PathBuf {
    ramie_testing::golden::path("ports_checkpoints").join(name)
}

#[test]
fn numbers_and_strings_that_orbax_saved_are_restored() {
    devices_8();
    let named = restore_item(recorded("pytree"), PyTreeRestore::new(&empty())).unwrap();
    assert_eq!(named.name, "größe");
    check(&named.run, &full().run);
    let target = (empty().run,);
    let renamed = StandardRestore::new(&target);
    assert!(text(restore_item(recorded("standard"), renamed)).contains("`0.seed`"));
    let args = PyTreeRestore::new(&target).transform("0", Transform::original("run"));
    check(
        &restore_item(recorded("standard"), args).unwrap().0,
        &full().run,
    );
}

#[test]
fn the_metadata_of_numbers_and_strings_is_orbaxs() {
    devices_8();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tree");
    save_item(&path, &StandardSave::new(&full())).unwrap();
    let json = |folder: &Path, file: &str| -> serde_json::Value {
        serde_json::from_slice(&std::fs::read(folder.join(file)).unwrap()).unwrap()
    };
    for file in ["_METADATA", "_strings.json"] {
        assert_eq!(json(&path, file), json(&recorded("pytree"), file), "{file}");
    }
    let (ours, orbaxs) = (
        metadata(&path).unwrap(),
        metadata(recorded("pytree")).unwrap(),
    );
    for part in &orbaxs.parts {
        let name = part.path.to_string();
        let array = |metadata: &TreeMetadata| {
            let array = metadata.get(&name).unwrap().array.clone();
            array.map(|array| (array.dtype, array.shape))
        };
        if name == "run.lr" {
            // An f32, rounded to f64 here.
            assert_eq!(array(&ours), Some((DType::F64, vec![])));
        }
        assert_eq!(array(&ours), array(&orbaxs), "{name}");
    }
    let named = restore_item(&path, StandardRestore::new(&empty())).unwrap();
    assert_eq!(named.name, "größe");
    check(&named.run, &full().run);
    let state = restore_item(&path, StandardRestore::state()).unwrap();
    assert_eq!(state["run.step"].item::<i64>(), -7);
}

#[test]
fn flaxs_msgpack_has_numbers_and_strings() {
    let recorded = std::fs::read(recorded("tree.msgpack")).unwrap();
    let mut named = empty();
    from_bytes(&mut named, &recorded).unwrap();
    assert_eq!(named.name, "größe");
    check(&named.run, &full().run);
    // Only the f32 has other bytes in f64.
    let ours = to_bytes(&full()).unwrap();
    let differing = recorded.iter().zip(&ours).filter(|(a, b)| a != b);
    assert_eq!((ours.len(), differing.count()), (recorded.len(), 4));

    let mut narrow = (String::new(), 0u8);
    let bytes = to_bytes(&("a".to_owned(), 300u16)).unwrap();
    let error = from_bytes(&mut narrow, &bytes).unwrap_err().to_string();
    assert!(
        error.contains("the tree has a number (u8), the state dict has the number 300"),
        "{error}"
    );
    let bytes = to_bytes(&("a".to_owned(), ())).unwrap();
    let error = from_bytes(&mut narrow, &bytes).unwrap_err().to_string();
    assert!(
        error.contains("the tree has a number (u8), the state dict has nothing"),
        "{error}"
    );
    assert_eq!(narrow, (String::new(), 0));
}

/// The crates that `derive(Module)` refers to, without `ramie-nn`.
mod crates {
    pub use ramie_core::*;
    #[allow(dead_code, reason = "`Layer` implements it")]
    pub trait Module: Tree {}
}

#[derive(Debug, Module, PartialEq)]
#[tree(crate = "crate::host_values::crates")]
struct Layer {
    heads: usize,
    rates: Vec<f64>,
    label: Option<String>,
    absent: Option<bool>,
}

#[derive(Debug, Tree, PartialEq)]
struct Trainer {
    layer: Layer,
    #[tree(fixed)]
    decay: f64,
    #[tree(fixed)]
    limit: Option<f32>,
    #[tree(fixed)]
    name: String,
    epoch: usize,
    best: Option<f64>,
    history: Vec<(u8, String)>,
}

#[test]
fn hyperparameters_are_not_saved() {
    devices_8();
    let trainer = |n: u8| Trainer {
        layer: Layer {
            heads: n.into(),
            rates: vec![n.into()],
            label: Some(n.to_string()),
            absent: None,
        },
        decay: n.into(),
        limit: Some(n.into()),
        name: n.to_string(),
        epoch: n.into(),
        best: Some(n.into()),
        history: vec![(n, n.to_string()), (n, "x".into())],
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trainer");
    save_item(&path, &StandardSave::new(&trainer(3))).unwrap();
    let parts = metadata(&path).unwrap().parts;
    let names: Vec<String> = parts.iter().map(|part| part.path.to_string()).collect();
    let expected = [
        "epoch",
        "best",
        "history.0.0",
        "history.0.1",
        "history.1.0",
        "history.1.1",
    ];
    assert_eq!(names, expected);
    let restored = restore_item(&path, StandardRestore::new(&trainer(5))).unwrap();
    let expected = Trainer {
        epoch: 3,
        best: Some(3.0),
        history: trainer(3).history,
        ..trainer(5)
    };
    assert_eq!(restored, expected);
    let target = trainer(5);
    let keep = PyTreeRestore::new(&target)
        .placeholder("history")
        .placeholder("epoch");
    let expected = Trainer {
        best: Some(3.0),
        ..trainer(5)
    };
    assert_eq!(restore_item(&path, keep).unwrap(), expected);
}

#[test]
fn a_number_takes_the_targets_type_or_is_refused() {
    devices_8();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("numbers");
    let saved = (
        300usize,
        0.5f64,
        Array::from(7i32),
        Array::zeros(&[1], DType::F32),
    );
    save_item(&path, &StandardSave::new(&saved)).unwrap();
    let w = || saved.3.clone();
    let target = (0i64, half::bf16::ZERO, 0u8, w());
    let restored = restore_item(&path, StandardRestore::new(&target)).unwrap();
    assert_eq!((restored.0, restored.1.to_f32(), restored.2), (300, 0.5, 7));
    let target = (Array::from(0i32), Array::from(0.0f32), 0usize, w());
    let restored = restore_item(&path, StandardRestore::new(&target)).unwrap();
    assert_eq!((restored.0.item::<i32>(), restored.2), (300, 7));

    let refused = |error: String, expected: &str| assert!(error.contains(expected), "{error}");
    let target = (0u8, 0.0f64, 0u8, w());
    refused(
        text(restore_item(&path, StandardRestore::new(&target))),
        "`0`: the tree has u8, the checkpoint has the number",
    );
    let lossy = StandardRestore::new(&target).allow_lossy_casts(true);
    assert_eq!(restore_item(&path, lossy).unwrap().0, 44);
    let target = (0usize, 0i32, 0u8, w());
    refused(
        text(restore_item(&path, StandardRestore::new(&target))),
        "`1`: the tree has i32, the checkpoint has the number",
    );
    let target = (String::new(), 0.0f64, true, 0.0f32, 0u8);
    let error = text(restore_item(&path, StandardRestore::new(&target)));
    for line in [
        "`0`: the tree has a string, the checkpoint has a number",
        "`3`: the tree has a number (f32), the checkpoint has f32[1]",
        "`4`: the tree has a number (u8), the checkpoint has nothing",
        "mark a field that checkpoints do not contain with `#[tree(fixed)]`",
    ] {
        refused(error.clone(), line);
    }
    let target = (0usize, 0.0f64, true, w());
    let args =
        PyTreeRestore::new(&target).transform("2", Transform::original("2").map(|x| x.gt(5)));
    assert!(restore_item(&path, args).unwrap().2);
    refused(
        text(save_item(
            folder.path().join("bare"),
            &StandardSave::new(&7),
        )),
        "has no name",
    );
}
