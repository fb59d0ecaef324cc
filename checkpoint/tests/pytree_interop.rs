//! Orbax itself restores what is written here, and what it writes is restored here.
//!
//! Runs where `RAMIE_ORBAX_PYTHON` names a Python that has Orbax 0.12.8, Flax and
//! Optax; elsewhere it says that it does not.

#[path = "interop/python.rs"]
mod python;
#[path = "pytree/train_state.rs"]
mod train_state;

use python::Python;
use ramie_checkpoint::commit::{restore_item, save_item};
use ramie_checkpoint::items::RestoreArgs;
use ramie_checkpoint::manager::{CheckpointManager, CheckpointManagerOptions};
use ramie_checkpoint::pytree::*;
use ramie_core::*;
use ramie_derive::Tree;
use ramie_testing::cpu_devices;
use std::collections::BTreeMap;
use std::path::Path;
use train_state::{Train, ramp};

fn train() -> Train {
    let params = |start: f32| {
        train_state::params(
            move |shape| ramp(shape, start),
            move |shape| ramp(shape, start + 100.0),
        )
    };
    train_state::train(7, params(1.0), params(2.0), &params(3.0))
}

fn write(folder: &Path, mesh: Mesh) -> ramie_checkpoint::Result<()> {
    let train = train();
    for zarr in [Zarr::V2, Zarr::V3] {
        for use_ocdbt in [false, true] {
            for (level, compression) in [Compression::None, Compression::Zstd { level: 3 }]
                .into_iter()
                .enumerate()
            {
                let name = format!("{zarr:?}_{use_ocdbt}_{level}");
                let mut save = PyTreeSave::new(&train)
                    .zarr(zarr)
                    .use_ocdbt(use_ocdbt)
                    .compression(compression);
                if level == 1 {
                    save = save.chunk_byte_size(16);
                }
                save_item(folder.join("trees").join(name), &save)?;
            }
        }
    }
    let mut types = State::new();
    for dtype in DType::ALL {
        if !matches!(dtype, DType::U4 | DType::U2) {
            let x = Array::from([1.0f32, 0.0, 1.0]);
            let x = match dtype {
                DType::F8E8M0Fnu => Array::ones(&[3], DType::F32).astype(dtype),
                dtype => x.astype(dtype),
            };
            types.insert(dtype.numpy_name(), x);
        }
    }
    save_item(folder.join("types"), &StandardSave::new(&types))?;
    let x = ramp(&[8, 6], 0.0);
    let put = |spec: PartitionSpec| device_put(&x, NamedSharding::new(mesh, spec));
    let sharded = State::from_iter([
        ("both", put(P!["x", "y"])),
        ("whole", put(P![])),
        ("rows", put(P![("x", "y")])),
    ]);
    save_item(folder.join("sharded_files"), &StandardSave::new(&sharded))?;
    let database = PyTreeSave::new(&sharded).use_ocdbt(true);
    save_item(folder.join("sharded_database"), &database)?;

    #[derive(Tree)]
    struct Keys {
        key: random::Key,
    }
    let keys = Keys {
        key: random::key(3),
    };
    save_item(folder.join("keys"), &StandardSave::new(&keys))?;
    save_item(folder.join("array"), &ArraySave::new(&ramp(&[5], 0.0)))?;
    #[derive(Tree)]
    struct Odd {
        list: (Array, Option<Array>),
        none: Option<Array>,
    }
    let odd = Odd {
        list: (ramp(&[2], 0.0), None),
        none: None,
    };
    let odd = PyTreeSave::new(&odd).string("note", "a note");
    save_item(folder.join("odd"), &odd)?;

    let numbers = BTreeMap::from([("count", 7i32), ("large", i32::MAX)]);
    let numbers = (numbers, 0.5f32, true);
    save_item(folder.join("numbers"), &StandardSave::new(&numbers))?;
    let texts = (numbers, "a text".to_owned());
    save_item(folder.join("texts"), &StandardSave::new(&texts))?;

    let options = CheckpointManagerOptions::new();
    let manager = CheckpointManager::new(folder.join("manager"), options)?;
    for step in [1, 2] {
        manager.save(step, &StandardSave::new(&train))?;
    }
    manager.close()
}

fn same(a: &Train, b: &Train) {
    let (a, b) = (State::of(a), State::of(b));
    for (path, x) in a.iter() {
        assert_eq!(x.aval().strong(), b[path].aval().strong(), "{path}");
        assert_eq!(
            x.try_to_bytes().unwrap(),
            b[path].try_to_bytes().unwrap(),
            "{path}"
        );
    }
}

#[test]
fn orbax_reads_what_is_written_and_writes_what_is_read() {
    let Some(python) = Python::with("Orbax 0.12.8") else {
        return;
    };
    cpu_devices(8);
    let mesh = make_mesh(&[4, 2], &["x", "y"]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, mesh).unwrap();
    for what in ["check", "write"] {
        let arguments = [what, folder.to_str().unwrap()];
        python.run("../tests/golden/orbax_interop.py", &arguments, b"");
    }
    let expected = train();
    for name in [
        "python_00",
        "python_01",
        "python_10",
        "python_11",
        "python_standard",
    ] {
        let target = StandardRestore::new(&expected);
        same(&restore_item(folder.join(name), target).unwrap(), &expected);
        let state = restore_item(folder.join(name), StandardRestore::state()).unwrap();
        assert_eq!(state.len(), State::of(&expected).len());
    }
    let options = CheckpointManagerOptions::new().read_only(true);
    let manager = CheckpointManager::new(folder.join("python_manager"), options).unwrap();
    assert_eq!(manager.all_steps(), [3]);
    let item = manager.reader(3).unwrap().subfolder("state").unwrap();
    same(
        &StandardRestore::new(&expected).restore(&item).unwrap(),
        &expected,
    );
}
