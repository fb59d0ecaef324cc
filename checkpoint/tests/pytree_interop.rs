//! Orbax itself restores what is written here, and what it writes is restored here.
//!
//! Runs where `RAMIE_ORBAX_PYTHON` names a Python that has Orbax 0.12.8, Flax and
//! Optax; elsewhere it says that it does not.

use ramie_checkpoint::commit::{restore_item, save_item};
use ramie_checkpoint::items::RestoreArgs;
use ramie_checkpoint::manager::{CheckpointManager, CheckpointManagerOptions};
use ramie_checkpoint::pytree::*;
use ramie_core::*;
use ramie_derive::Tree;
use std::path::Path;
use std::process::Command;

#[derive(Tree)]
struct Layer {
    kernel: Array,
    bias: Array,
}

#[derive(Tree)]
struct Params {
    hid: Layer,
    out: Layer,
}

#[derive(Tree)]
struct Adam {
    count: Array,
    mu: Params,
    nu: State,
}

/// The tree of Flax's `TrainState` with Optax's Adam.
#[derive(Tree)]
struct Train {
    step: Array,
    params: Params,
    opt_state: (Adam, ()),
    extra: (),
}

fn ramp(shape: &[usize], start: f32) -> Array {
    let n: usize = shape.iter().product();
    Array::from_vec((0..n).map(|i| i as f32 + start).collect(), shape)
}

fn params(start: f32) -> Params {
    let layer = |n: usize, m: usize, start| Layer {
        kernel: ramp(&[n, m], start),
        bias: ramp(&[m], start),
    };
    Params {
        hid: layer(4, 3, start),
        out: layer(3, 2, start + 100.0),
    }
}

fn train() -> Train {
    Train {
        step: Array::scalar(7, DType::I32),
        params: params(1.0),
        opt_state: (
            Adam {
                count: Array::scalar(7, DType::I32),
                mu: params(2.0),
                nu: State::of(&params(3.0)),
            },
            (),
        ),
        extra: (),
    }
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
    let Some(python) = std::env::var_os("RAMIE_ORBAX_PYTHON") else {
        println!("skipped: RAMIE_ORBAX_PYTHON does not name a Python with Orbax 0.12.8");
        return;
    };
    let options = RuntimeOptions {
        cpu_devices: Some(8),
        ..RuntimeOptions::default()
    };
    configure(options).unwrap();
    let mesh = make_mesh(&[4, 2], &["x", "y"]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, mesh).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/golden/orbax_interop.py");
    for what in ["check", "write"] {
        let run = Command::new(&python)
            .arg(&script)
            .arg(what)
            .arg(folder)
            .env("JAX_PLATFORMS", "cpu")
            .output()
            .expect("Python starts");
        let errors = String::from_utf8_lossy(&run.stderr);
        let last: Vec<&str> = errors.lines().rev().take(30).collect();
        let last: Vec<&str> = last.into_iter().rev().collect();
        assert!(run.status.success(), "{what}: {}", last.join("\n"));
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
