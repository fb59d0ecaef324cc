//! Steps of a run in OCDBT databases: Orbax restores those of Ramie, and Ramie those of
//! Orbax, on the same devices and on others.
//!
//! `RAMIE_ORBAX_PYTHON=.../python cargo test -p ramie-checkpoint --test ocdbt_orbax_interop`,
//! with a Python that has the packages of `tests/golden/requirements.txt`.

#[path = "interop/python.rs"]
mod python;

use python::Python;
use ramie_checkpoint::manager::{CheckpointManager, CheckpointManagerOptions};
use ramie_checkpoint::pytree::{Compression, PyTreeRestore, PyTreeSave, StandardRestore, Zarr};
use ramie_core::*;
use ramie_testing::cpu_devices;
use std::path::Path;

/// Runs the script; says whether there is a Python.
fn python(arguments: &[&str]) -> bool {
    let python = Python::with("orbax-checkpoint 0.12.8");
    let ran = python.map(|python| python.run("tests/interop/ocdbt_orbax.py", arguments, b""));
    ran.is_some()
}

/// The arrays of the script, over a mesh of this shape.
fn tree(step: i64, mesh: [usize; 2]) -> State {
    let mesh = make_mesh(&mesh, &["x", "y"]).unwrap();
    let ramp = |shape: &[usize], dtype: DType| {
        let count: usize = shape.iter().product();
        let elements = (0..count).map(|i| (i as i64 + step) as f32).collect();
        Array::from_vec(elements, shape).astype(dtype)
    };
    let put = |shape: &[usize], dtype, spec| {
        device_put(&ramp(shape, dtype), NamedSharding::new(mesh, spec))
    };
    State::from_iter([
        ("both", put(&[8, 4], DType::F32, P!["x", "y"])),
        ("rows", put(&[8, 2], DType::I32, P![("x", "y")])),
        ("nested.whole", put(&[4], DType::BF16, P![])),
        ("nested.large", put(&[64, 200], DType::F32, P!["y"])),
        ("scalar", ramp(&[], DType::I32)),
    ])
}

fn check(restored: &State, expected: &State, placed: bool) {
    assert_eq!(restored.len(), expected.len());
    for (name, array) in expected.iter() {
        let got = &restored[name];
        assert_eq!(got.dtype(), array.dtype(), "{name}");
        assert_eq!(got.shape(), array.shape(), "{name}");
        let (bytes, others) = (got.try_to_bytes().unwrap(), array.try_to_bytes().unwrap());
        assert!(bytes == others, "{name}");
        assert!(!placed || got.sharding() == array.sharding(), "{name}");
    }
}

const VERSIONS: [(&str, Zarr); 2] = [("2", Zarr::V2), ("3", Zarr::V3)];

#[test]
fn ramie_restores_what_orbax_saved() {
    cpu_devices(8);
    let folder = tempfile::tempdir().unwrap();
    for (zarr, _) in VERSIONS {
        for size in ["3000", "2147483648"] {
            let run = folder.path().join(format!("{zarr} {size}"));
            if !python(&["save", run.to_str().unwrap(), zarr, size]) {
                return;
            }
            let manager = CheckpointManager::new(&run, CheckpointManagerOptions::new()).unwrap();
            assert_eq!(manager.all_steps(), [1, 2]);
            for step in [1, 2] {
                let expected = tree(step as i64, [4, 2]);
                let args = PyTreeRestore::state();
                let restored = manager.restore(step, args).unwrap();
                check(&restored, &expected, true);
                // On another mesh.
                let expected = tree(step as i64, [2, 4]);
                let args = StandardRestore::new(&expected);
                let restored = manager.restore(step, args).unwrap();
                check(&restored, &expected, true);
            }
        }
    }
}

#[test]
fn orbax_restores_what_ramie_saved() {
    cpu_devices(8);
    let folder = tempfile::tempdir().unwrap();
    for (name, zarr) in VERSIONS {
        for compression in [Compression::None, Compression::Zstd { level: 1 }] {
            for size in [3000, 1 << 31] {
                let run = folder.path().join(format!("{name} {compression:?} {size}"));
                let options = CheckpointManagerOptions::new();
                let manager = CheckpointManager::new(&run, options).unwrap();
                for step in [1, 2] {
                    let state = tree(step as i64, [4, 2]);
                    let args = PyTreeSave::new(&state)
                        .zarr(zarr)
                        .compression(compression)
                        .use_ocdbt(true)
                        .ocdbt_target_data_file_size(size);
                    assert!(manager.save(step, &args).unwrap());
                }
                manager.close().unwrap();
                if !python(&["restore", run.to_str().unwrap(), name]) {
                    return;
                }
                // What is small when it is compressed is in nodes, which may be larger.
                if compression == Compression::None {
                    check_data_files(&run, size);
                }
            }
        }
    }
}

/// That no data file is larger than it should be.
fn check_data_files(run: &Path, size: u64) {
    let data = run.join("2/default/ocdbt.process_0/d");
    for file in std::fs::read_dir(data).unwrap() {
        let length = file.unwrap().metadata().unwrap().len();
        assert!(length <= size, "{length} bytes in a file, more than {size}");
    }
}
