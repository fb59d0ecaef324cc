//! Trees in Orbax's directories: what Orbax wrote is read, and what is written is
//! read again, whatever the options, the devices and the shardings.

mod casts;
mod damage;
mod depth;
mod host_values;
mod ranks;
mod train_state;

use half::bf16;
use ramie_checkpoint::commit::{ItemReader, restore_item, save_item};
use ramie_checkpoint::items::RestoreArgs;
use ramie_checkpoint::pytree::*;
use ramie_core::sharding::Sharding;
use ramie_core::tree;
use ramie_core::*;
use ramie_derive::Tree;
use ramie_testing::cpu_devices;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use train_state::Train;

fn golden(name: &str) -> PathBuf {
    ramie_testing::golden::path("orbax").join(name)
}

fn devices_8() -> Mesh {
    cpu_devices(8);
    make_mesh(&[4, 2], &["x", "y"]).unwrap()
}

fn ramp(shape: &[usize], dtype: DType) -> Array {
    train_state::ramp(shape, 0.0).astype(dtype)
}

fn same(a: &Array, b: &Array) -> bool {
    a.aval().strong().to_string() == b.aval().strong().to_string()
        && a.try_to_bytes().unwrap() == b.try_to_bytes().unwrap()
}

fn text<T>(result: ramie_checkpoint::Result<T>) -> String {
    result.err().expect("an error").to_string()
}

/// Shape, type and elements of the arrays of the train state, by name.
fn train_state() -> BTreeMap<String, (String, Vec<usize>, String)> {
    let text = std::fs::read_to_string(golden("train_state.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn check_train_state(state: &State) {
    let expected = train_state();
    assert_eq!(state.len(), expected.len());
    for (name, (dtype, shape, elements)) in expected {
        let array = &state[&name];
        assert_eq!(array.dtype().numpy_name(), dtype, "{name}");
        assert_eq!(array.shape(), shape, "{name}");
        let bytes = array.try_to_bytes().unwrap();
        let hex: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
        assert_eq!(hex, elements, "{name}");
    }
}

const TRAIN_STATES: [&str; 4] = [
    "train_state_zarr2",
    "train_state_zarr3",
    "train_state_ocdbt",
    "train_state_ocdbt_zarr3",
];

#[test]
fn train_states_of_orbax_are_read() {
    devices_8();
    for name in TRAIN_STATES {
        let state = restore_item(golden(name), StandardRestore::state()).unwrap();
        check_train_state(&state);
    }
}

fn train(dtype: DType) -> Train {
    let array = |shape: &[usize]| Array::shape_dtype_struct(shape, dtype);
    let params = || train_state::params(array, array);
    train_state::train(0, params(), params(), &params())
}

#[test]
fn structs_are_targets() {
    devices_8();
    for name in TRAIN_STATES {
        let target = train(DType::F32);
        let restored = restore_item(golden(name), StandardRestore::new(&target)).unwrap();
        assert_eq!(restored.step.item::<i32>(), 1);
        assert_eq!(restored.name, "run");
        let expected = restore_item(golden(name), StandardRestore::state()).unwrap();
        for (path, array) in State::of(&restored).iter() {
            if path != "step" {
                assert!(same(array, &expected[path]), "{path}");
            }
        }
        // And in another element type.
        let target = train(DType::BF16);
        let rounded = StandardRestore::new(&target).allow_lossy_casts(true);
        let half = restore_item(golden(name), rounded).unwrap();
        let kernel = &expected["params.hid.kernel"];
        assert!(same(&half.params.hid.kernel, &kernel.astype(DType::BF16)));
    }
}

#[test]
fn every_element_type_of_orbax_is_read() {
    devices_8();
    for name in ["dtypes_zarr2", "dtypes_zarr3"] {
        let state = restore_item(golden(name), StandardRestore::state()).unwrap();
        assert_eq!(state.len(), DType::ALL.len() - 2, "all but u4 and u2");
        for (path, array) in state.iter() {
            assert_eq!(array.dtype().numpy_name(), path);
            if path == "uint64" {
                assert_eq!(array.to_vec::<u64>(), [1, 0, u64::MAX]);
                continue;
            }
            if path == "int64" {
                assert_eq!(array.to_vec::<i64>(), [1, 0, i64::MIN]);
                continue;
            }
            let least = match path {
                "bool" => 1.0,
                "int4" => -8.0,
                "int2" => -2.0,
                p if p.starts_with("uint") => 0.0,
                p if p.starts_with("int") => -(2f64.powi(p[3..].parse::<i32>().unwrap() - 1)),
                _ => -1.5,
            };
            let expected = match path {
                "float8_e8m0fnu" => vec![1.0, 2.0, 0.5],
                _ => vec![1.0, 0.0, least],
            };
            let real = if array.dtype().is_complex() {
                array.real()
            } else {
                array.clone()
            };
            assert_eq!(real.astype(DType::F64).to_vec::<f64>(), expected, "{path}");
        }
    }
}

#[test]
fn sharded_arrays_of_orbax_go_to_any_devices() {
    let mesh = devices_8();
    let whole = [
        ("both", ramp(&[8, 6], DType::F32)),
        ("rows", ramp(&[8, 2], DType::I32)),
        ("columns", ramp(&[3, 4], DType::F32)),
        ("whole", ramp(&[4], DType::F32)),
        ("one", ramp(&[5], DType::F32)),
    ];
    for name in ["sharded_zarr2", "sharded_ocdbt"] {
        // Where they were.
        let state = restore_item(golden(name), StandardRestore::state()).unwrap();
        let spec = |name: &str| {
            state[name]
                .sharding()
                .unwrap()
                .named()
                .map(|n| n.spec().clone())
        };
        assert_eq!(spec("both"), Some(P!["x", "y"]));
        assert_eq!(spec("rows"), Some(P![("x", "y")]));
        assert_eq!(spec("columns"), Some(P![None, "y"]));
        assert_eq!(spec("whole"), Some(P![]));
        assert_eq!(spec("one"), None);
        for (name, array) in &whole {
            assert!(same(&state[name], array), "{name}");
        }
        // On other meshes.
        let line = make_mesh(&[2], &["z"]).unwrap();
        for sharding in [
            Sharding::from(devices()[3]),
            NamedSharding::new(mesh, P!["y"]).into(),
            NamedSharding::new(line, P![None, "z"]).into(),
        ] {
            let args = PyTreeRestore::state().place(|name, shape| {
                let fits = sharding.addressable_parts(shape).is_ok();
                (fits && name != "one").then_some(sharding)
            });
            let state = restore_item(golden(name), args).unwrap();
            assert_eq!(state["both"].sharding(), Some(sharding));
            for (name, array) in &whole {
                assert!(same(&state[name], array), "{name}");
            }
        }
    }
}

#[test]
fn metadata_says_what_is_there() {
    devices_8();
    let metadata = metadata(golden("leaves")).unwrap();
    assert!(!metadata.use_ocdbt && !metadata.use_zarr3);
    let kind = |name: &str| metadata.get(name).unwrap().kind.clone();
    assert_eq!(kind("none"), ValueKind::None);
    assert_eq!(kind("dict"), ValueKind::Dict);
    assert_eq!(kind("list"), ValueKind::List);
    assert_eq!(kind("tuple"), ValueKind::Tuple);
    assert_eq!(kind("integer"), ValueKind::Scalar);
    assert_eq!(kind("numpy"), ValueKind::Numpy);
    let text = metadata.get("text").unwrap();
    assert_eq!(
        (text.kind.clone(), text.text.as_deref()),
        (ValueKind::String, Some("hello"))
    );
    let nested = &metadata.get("nested.0").unwrap().path;
    assert_eq!(nested.as_python(), "('nested', '0')");
    assert_eq!(nested.parts()[1], KeyPart::Index(0));
    let key = metadata.get("keys").unwrap().array.as_ref().unwrap();
    assert_eq!(key.random_key_impl.as_deref(), Some("rbg"));
    assert_eq!((key.shape.as_slice(), key.dtype), (&[2, 4][..], DType::U32));
    let state = restore_item(golden("leaves"), PyTreeRestore::state()).unwrap();
    assert_eq!(state["dot.ted"].item::<i64>(), 2);
    assert_eq!(state["float"].item::<f64>(), 2.5);
    assert_eq!(state["nested.2.a"].item::<i64>(), 1);
    assert_eq!(state["key"].to_vec::<u32>(), [0, 3]);
    let divided = restore_item(golden("divided_zarr3"), PyTreeRestore::state()).unwrap();
    assert!(same(&divided["x"], &ramp(&[6, 8], DType::F32)));
}

#[test]
fn steps_of_managers_of_orbax_are_read() {
    devices_8();
    for step in [1, 2] {
        let reader = ItemReader::open(golden("manager").join(step.to_string())).unwrap();
        let item = reader.subfolder("default").unwrap();
        let state = StandardRestore::state().restore(&item).unwrap();
        assert_eq!(state["step"].item::<i32>(), step);
        assert!(same(
            &state["w"],
            &(ramp(&[2, 3], DType::F32) + step as f32)
        ));
    }
}

/// All element types and some shapes.
fn everything() -> State {
    let mut state = State::new();
    for dtype in DType::ALL {
        if !matches!(dtype, DType::U4 | DType::U2) {
            let x = ramp(&[4, 3], DType::F32) % 2.0;
            state.insert(&format!("types.{dtype}"), x.astype(dtype));
        }
    }
    state.insert("signs.i4", Array::from([-8i8, -1, 0, 7]).astype(DType::I4));
    state.insert("empty", Array::zeros(&[0, 3], DType::F32));
    state.insert("scalar", Array::from(0.5f32));
    state.insert("literal", Array::scalar(3, DType::I32));
    state.insert("a/b", ramp(&[7], DType::F32));
    state.insert("cube", ramp(&[2, 6, 5], DType::F64));
    state
}

#[test]
fn what_is_written_is_read_whatever_the_options() {
    devices_8();
    let state = everything();
    let folder = tempfile::tempdir().unwrap();
    let mut count = 0;
    for zarr in [Zarr::V2, Zarr::V3] {
        for compression in [Compression::None, Compression::Zstd { level: 1 }] {
            for use_ocdbt in [false, true] {
                for chunk_byte_size in [None, Some(16)] {
                    let path = folder.path().join(count.to_string());
                    count += 1;
                    let mut save = PyTreeSave::new(&state)
                        .zarr(zarr)
                        .compression(compression)
                        .use_ocdbt(use_ocdbt);
                    if let Some(bytes) = chunk_byte_size {
                        save = save.chunk_byte_size(bytes);
                    }
                    save_item(&path, &save).unwrap();
                    let all = restore_item(&path, PyTreeRestore::state()).unwrap();
                    assert_eq!(all.len(), state.len());
                    let like = restore_item(&path, StandardRestore::new(&state)).unwrap();
                    for (name, array) in state.iter() {
                        assert!(same(array, &all[name]), "{path:?} {name}");
                        assert!(same(array, &like[name]), "{path:?} {name}");
                    }
                }
            }
        }
    }
}

#[test]
fn structs_come_back() {
    devices_8();
    let folder = tempfile::tempdir().unwrap();
    let target = train(DType::F32);
    let full = tree::map(&target, |a| {
        (ramp(a.shape(), DType::F32) + 1.0).astype(a.dtype())
    });
    let path = folder.path().join("struct");
    save_item(&path, &StandardSave::new(&full)).unwrap();
    let names: Vec<String> = metadata(&path)
        .unwrap()
        .parts
        .iter()
        .map(|part| format!("{} {}", part.path.as_python(), part.kind.name()))
        .collect();
    let orbax: Vec<String> = metadata(golden("train_state_zarr2"))
        .unwrap()
        .parts
        .iter()
        .map(|part| format!("{} {}", part.path.as_python(), part.kind.name()))
        .collect();
    let sorted = |mut names: Vec<String>| {
        names.sort();
        names.join("\n").replace("scalar", "jax.Array")
    };
    assert_eq!(sorted(names), sorted(orbax));
    let back = restore_item(&path, StandardRestore::new(&target)).unwrap();
    for (a, b) in tree::leaves(&full).iter().zip(tree::leaves(&back)) {
        assert!(same(a, &b));
    }
}

#[test]
fn parts_are_written_once_and_go_anywhere() {
    let mesh = devices_8();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sharded");
    let x = ramp(&[8, 4], DType::F32);
    let specs = [
        P!["x", "y"],
        P!["y"],
        P![],
        P![None, ("x", "y")],
        P![("y", "x")],
    ];
    let specs: Vec<PartitionSpec> = specs
        .into_iter()
        .filter(|s| s != &P![None, ("x", "y")])
        .collect();
    let mut state = State::new();
    for (i, spec) in specs.iter().enumerate() {
        let placed = device_put(&x, NamedSharding::new(mesh, spec.clone()));
        state.insert(&i.to_string(), placed);
    }
    save_item(&path, &StandardSave::new(&state)).unwrap();
    let files = |name: &str| std::fs::read_dir(path.join(name)).unwrap().count() - 1;
    assert_eq!(
        [files("0"), files("1"), files("2"), files("3")],
        [8, 2, 1, 8]
    );
    let back = restore_item(&path, StandardRestore::state()).unwrap();
    for (name, array) in state.iter() {
        assert_eq!(back[name].sharding(), array.sharding(), "{name}");
        assert!(same(&back[name], &x));
    }
    for spec in &specs {
        let to = NamedSharding::new(mesh, spec.clone());
        let target = state.map(|a| Array::shape_dtype_struct_with(a.shape(), DType::BF16, to));
        let rounded = StandardRestore::new(&target).allow_lossy_casts(true);
        let back = restore_item(&path, rounded).unwrap();
        for (name, array) in back.iter() {
            assert_eq!(array.sharding(), Some(to.into()));
            assert!(same(array, &x.astype(DType::BF16)), "{name}");
        }
    }
    // A sharding that does not fit is an error that names the array.
    let line = make_mesh(&[3], &["z"]).unwrap();
    let uneven =
        PyTreeRestore::state().place(|_, _| Some(NamedSharding::new(line, P!["z"]).into()));
    let error = text(restore_item(&path, uneven));
    assert!(error.contains("tensor `0`: cannot be placed"), "{error}");
}

fn saved(folder: &Path) -> (PathBuf, State) {
    let path = folder.join("saved");
    let state = State::from_iter([
        ("enc.w", ramp(&[4, 3], DType::F32)),
        ("enc.b", ramp(&[3], DType::F32)),
        ("head.w", ramp(&[3, 2], DType::F32)),
    ]);
    save_item(&path, &PyTreeSave::new(&state)).unwrap();
    (path, state)
}

#[test]
fn transforms_rename_change_and_leave() {
    devices_8();
    let folder = tempfile::tempdir().unwrap();
    let (path, state) = saved(folder.path());
    let target = State::from_iter([
        ("encoder.w", Array::shape_dtype_struct(&[3, 4], DType::F32)),
        ("encoder.b", Array::shape_dtype_struct(&[3], DType::BF16)),
        ("head.w", Array::full(&[3, 2], 7.0, DType::F32)),
        ("sum", Array::shape_dtype_struct(&[3], DType::F32)),
        ("new.bias", Array::full(&[2], 5.0, DType::F32)),
    ]);
    let args = PyTreeRestore::new(&target)
        .transform("encoder.w", Transform::original("enc.w").map(|w| w.t()))
        .transform("encoder", Transform::original("enc"))
        .transform("new", Transform::fallback())
        .transform(
            "sum",
            Transform::several(["enc.w", "enc.b"], |a| a[0].sum_over(0) + &a[1]),
        )
        .placeholder("head")
        .allow_lossy_casts(true);
    let new = restore_item(&path, args).unwrap();
    assert!(same(&new["encoder.w"], &state["enc.w"].t()));
    assert_eq!(
        new["encoder.b"].to_vec::<bf16>(),
        [0.0, 1.0, 2.0].map(bf16::from_f32)
    );
    assert_eq!(new["head.w"].to_vec::<f32>(), [7.0; 6]);
    assert_eq!(new["sum"].to_vec::<f32>(), [18.0, 23.0, 28.0]);
    assert_eq!(new["new.bias"].to_vec::<f32>(), [5.0, 5.0]);
    // Only what has a transform.
    let target = State::from_iter([
        ("enc.w", Array::zeros(&[4, 3], DType::F32)),
        ("head.w", Array::zeros(&[3, 2], DType::F32)),
    ]);
    let args = PyTreeRestore::new(&target)
        .transform("head", Transform::original("head"))
        .transforms_default_to_original(false);
    let new = restore_item(&path, args).unwrap();
    assert_eq!(new["enc.w"].to_vec::<f32>(), [0.0; 12]);
    assert!(same(&new["head.w"], &state["head.w"]));
    let wrong =
        PyTreeRestore::new(&target).transform("enc", Transform::original("enc").map(|a| a.t()));
    let error = text(restore_item(&path, wrong));
    assert!(
        error.contains("`enc.w`: the transform returned f32[3,4], but the tree has f32[4,3]"),
        "{error}"
    );
}

#[test]
fn parts_of_trees_and_other_shapes() {
    devices_8();
    let folder = tempfile::tempdir().unwrap();
    let (path, state) = saved(folder.path());
    let target = State::from_iter([("enc.b", Array::zeros(&[3], DType::F32))]);
    let args = PyTreeRestore::new(&target).partial_restore(true);
    assert!(same(
        &restore_item(&path, args).unwrap()["enc.b"],
        &state["enc.b"]
    ));
    let target = State::from_iter([
        ("enc.w", Array::zeros(&[2, 5], DType::F32)),
        ("enc.b", Array::zeros(&[4], DType::F32)),
        ("head.w", Array::zeros(&[3, 1], DType::F32)),
    ]);
    let new = restore_item(&path, StandardRestore::new(&target).strict(false)).unwrap();
    assert_eq!(
        new["enc.w"].to_vec::<f32>(),
        [0.0, 1.0, 2.0, 0.0, 0.0, 3.0, 4.0, 5.0, 0.0, 0.0]
    );
    assert_eq!(new["enc.b"].to_vec::<f32>(), [0.0, 1.0, 2.0, 0.0]);
    assert_eq!(new["head.w"].to_vec::<f32>(), [0.0, 2.0, 4.0]);
}

#[test]
fn keys_texts_and_single_arrays_are_saved() {
    devices_8();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys");
    #[derive(Tree)]
    struct Keys {
        key: random::Key,
        w: Array,
    }
    let tree = Keys {
        key: random::key_with(3, random::KeyImpl::Rbg),
        w: ramp(&[2], DType::F32),
    };
    let save = PyTreeSave::new(&tree)
        .string("note", "a note")
        .custom_metadata(serde_json::json!({"run": 7}))
        .leaves(|name, _| LeafSave {
            dtype: (name == "w").then_some(DType::F16),
            ..LeafSave::default()
        });
    save_item(&path, &save).unwrap();
    let found = metadata(&path).unwrap();
    assert_eq!(found.custom_metadata["run"], 7);
    assert_eq!(found.get("note").unwrap().text.as_deref(), Some("a note"));
    let key = found.get("key").unwrap().array.as_ref().unwrap();
    assert_eq!(key.random_key_impl.as_deref(), Some("rbg"));
    let w = found.get("w").unwrap().array.as_ref().unwrap();
    assert_eq!(w.dtype, DType::F16);
    assert_eq!(w.sharding.as_ref().unwrap()["device_str"], "cpu:0");
    let back = restore_item(&path, PyTreeRestore::new(&tree)).unwrap();
    assert_eq!(random::key_data(&back.key).to_vec::<u32>(), [0, 3, 0, 3]);
    assert!(same(&back.w, &tree.w));

    let path = folder.path().join("array");
    let x = ramp(&[4, 2], DType::F32);
    save_item(&path, &ArraySave::new(&x)).unwrap();
    assert!(same(&restore_item(&path, ArrayRestore::new()).unwrap(), &x));
    let like = Array::shape_dtype_struct(&[4, 2], DType::I32);
    let like = ArrayRestore::like(&like).allow_lossy_casts(true);
    let restored = restore_item(&path, like.sharding(devices()[5])).unwrap();
    assert!(same(&restored, &x.astype(DType::I32)));
    assert_eq!(restored.devices(), [devices()[5]]);

    let error = text(save_item(
        folder.path().join("u4"),
        &StandardSave::new(&(x.astype(DType::U4),)),
    ));
    assert!(
        error.contains("`0`: the zarr format does not support u4"),
        "{error}"
    );
    let error = text(save_item(
        folder.path().join("bare"),
        &StandardSave::new(&x),
    ));
    assert!(error.contains("is an array, which has no name"), "{error}");
    assert!(!folder.path().join("u4").exists());
}

#[test]
fn a_snapshot_is_not_changed_by_later_steps() {
    use ramie_checkpoint::commit::Process;
    use ramie_checkpoint::items::SaveArgs;
    devices_8();
    let step = jit(|x: &mut Array| *x = &*x + 1.0);
    let mut x = ramp(&[1000], DType::F32);
    step(&mut x);
    let before = x.to_vec::<f32>();
    let tree = State::from_iter([("x", x.clone())]);
    let snapshot = StandardSave::new(&tree).snapshot(Process::alone()).unwrap();
    drop(tree);
    step(&mut x);
    assert_ne!(x.to_vec::<f32>(), before);
    drop(snapshot);
}
