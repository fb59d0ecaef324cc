//! Element types that a restore converts: one rule for all formats.

use super::{devices_8, golden};
use ramie_checkpoint::commit::{restore_item, save_item};
use ramie_checkpoint::pytree::*;
use ramie_checkpoint::{safetensors, serialization};
use ramie_core::*;
use std::collections::BTreeMap;
use std::path::Path;

/// The types that have every number of each type, as ml_dtypes converts them.
fn lossless() -> BTreeMap<String, Vec<String>> {
    ramie_testing::golden::json("casts.json")
}

/// The types of a target that a restore refused, by what the error says.
fn refused(error: &ramie_checkpoint::Error) -> Vec<DType> {
    let text = error.to_string();
    let named = |dtype: &DType| match error {
        ramie_checkpoint::Error::Mismatch { mismatch, .. } => {
            let mut paths = mismatch.mistyped.iter();
            paths.any(|(path, ..)| *path == dtype.to_string())
        }
        _ => text.contains(&format!("`{dtype}`: the tree has {dtype}[")),
    };
    DType::ALL.into_iter().filter(named).collect()
}

type Load = Box<dyn Fn(State) -> ramie_checkpoint::Result<State>>;

/// Saves a state in each format that has its type; functions that restore it.
fn saved(folder: &Path, state: &State) -> Vec<(&'static str, Load)> {
    let at = |format: &str| folder.join(format);
    let mut all: Vec<(&'static str, Load)> = Vec::new();
    serialization::save(at("msgpack"), state).unwrap();
    let path = at("msgpack");
    let load = move |mut tree| serialization::load_into(&path, &mut tree).map(|()| tree);
    all.push(("msgpack", Box::new(load)));
    if safetensors::save(at("safetensors"), state).is_ok() {
        let path = at("safetensors");
        let load = move |mut tree| safetensors::load_into(&path, &mut tree).map(|()| tree);
        all.push(("safetensors", Box::new(load)));
    }
    if save_item(at("orbax"), &StandardSave::new(state)).is_ok() {
        let path = at("orbax");
        let load = move |tree| restore_item(&path, StandardRestore::new(&tree));
        all.push(("orbax", Box::new(load)));
    }
    all
}

#[test]
fn every_format_converts_what_no_value_is_lost_by_and_refuses_the_rest() {
    devices_8();
    let lossless = lossless();
    for from in DType::ALL {
        let one = Array::ones(&[1], DType::F32).astype(from);
        let keeps = |to: &DType| {
            lossless[from.numpy_name()]
                .iter()
                .any(|n| n == to.numpy_name())
        };
        // An array for each type that it is restored as, under its name.
        let (keep, lose): (Vec<DType>, Vec<DType>) = DType::ALL.into_iter().partition(keeps);
        let copies = |types: &[DType]| -> State {
            types
                .iter()
                .map(|to| (to.to_string(), one.clone()))
                .collect()
        };
        let target = |types: &[DType]| -> State {
            let like = |to: &DType| Array::shape_dtype_struct(&[1], *to);
            types.iter().map(|to| (to.to_string(), like(to))).collect()
        };
        let folder = tempfile::tempdir().unwrap();
        for (format, load) in saved(folder.path(), &copies(&keep)) {
            let restored = load(target(&keep)).unwrap_or_else(|e| panic!("{format} {from}: {e}"));
            for to in &keep {
                let array = &restored[&*to.to_string()];
                assert_eq!(array.dtype(), *to, "{format} {from}");
                let value = array.astype(DType::F32).to_vec::<f32>();
                assert_eq!(value, [1.0], "{format}: {from} to {to}");
            }
        }
        let folder = tempfile::tempdir().unwrap();
        for (format, load) in saved(folder.path(), &copies(&lose)) {
            let error = load(target(&lose)).expect_err(format);
            assert_eq!(refused(&error), lose, "{format} {from}");
        }
    }
}

#[test]
fn lossy_conversions_are_asked_for() {
    devices_8();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let saved = State::from_iter([("x", Array::from([1.7f32, -2.3]))]);
    save_item(&path, &StandardSave::new(&saved)).unwrap();
    let target = State::from_iter([("x", Array::shape_dtype_struct(&[2], DType::I32))]);
    let error = restore_item(&path, StandardRestore::new(&target))
        .unwrap_err()
        .to_string();
    for part in [
        "`x`: the tree has i32[2], the checkpoint has f32[2], which cannot be converted without loss",
        "`allow_lossy_casts(true)`",
    ] {
        assert!(error.contains(part), "{error}");
    }
    let allowed = StandardRestore::new(&target).allow_lossy_casts(true);
    let restored = restore_item(&path, allowed).unwrap();
    // As Orbax does it.
    assert_eq!(restored["x"].to_vec::<i32>(), [1, -2]);
    let cast = PyTreeRestore::new(&saved).cast(|_, _| DType::I32);
    let restored = restore_item(&path, cast).unwrap();
    assert_eq!(restored["x"].to_vec::<i32>(), [1, -2]);
    // A function that leaves the type as it is asks for nothing.
    let cast = PyTreeRestore::new(&target).cast(|_, dtype| dtype);
    assert!(restore_item(&path, cast).is_err());
    let transform =
        || PyTreeRestore::new(&target).transform("x", Transform::original("x").map(|x| x * 2.0));
    let error = restore_item(&path, transform()).unwrap_err().to_string();
    assert!(
        error.contains("the transform returned f32[2], which cannot be converted to i32[2]"),
        "{error}"
    );
    let restored = restore_item(&path, transform().allow_lossy_casts(true)).unwrap();
    assert_eq!(restored["x"].to_vec::<i32>(), [3, -4]);

    let array = folder.path().join("array");
    save_item(&array, &ArraySave::new(&saved["x"])).unwrap();
    let like = ArrayRestore::like(&target["x"]);
    assert!(restore_item(&array, like).is_err());
    let like = ArrayRestore::like(&target["x"]).allow_lossy_casts(true);
    assert_eq!(restore_item(&array, like).unwrap().to_vec::<i32>(), [1, -2]);
}

/// The step of a Flax train state is a number of Python, of 64 bits in the file.
#[test]
fn numbers_of_python_take_the_type_of_the_target() {
    devices_8();
    let restore = |dtype: DType| {
        let target = State::from_iter([("step", Array::shape_dtype_struct(&[], dtype))]);
        let restore = PyTreeRestore::new(&target).partial_restore(true);
        restore_item(golden("train_state_zarr3"), restore)
    };
    for dtype in [DType::I8, DType::I32, DType::U64, DType::F32] {
        let step = restore(dtype).unwrap()["step"].astype(DType::I32);
        assert_eq!(step.item::<i32>(), 1, "{dtype}");
    }
    let error = restore(DType::Bool).unwrap_err().to_string();
    assert!(
        error.contains("`step`: the tree has bool, the checkpoint has the number"),
        "{error}"
    );
}
