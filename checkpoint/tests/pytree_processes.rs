//! Trees that several processes save together, and restore in another number.
//!
//! Each test starts this program several times. Every process has two devices, and on
//! CPUs these are all that it knows of: what is on them all processes have, and the
//! primary one writes it.

use ramie_checkpoint::commit::{restore_item, save_item};
use ramie_checkpoint::pytree::{PyTreeSave, StandardRestore};
use ramie_core::distributed;
use ramie_core::sharding::make_array_from_callback;
use ramie_core::*;
use ramie_testing::cpu_devices;
use ramie_testing::processes::{Program, joining, say, variable};
use std::path::Path;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

/// A tree over all devices: sharded by rows, by columns, whole, and a number.
fn tree(value: impl Fn(usize) -> f32) -> State {
    let devices = devices().len();
    let mesh = make_mesh(&[devices], &["x"]).expect("a mesh");
    let array = |spec: PartitionSpec| {
        let sharding = NamedSharding::new(mesh, spec);
        make_array_from_callback(&[8, 4], sharding, |index| {
            let row = |i: usize| index[1].clone().map(move |j| i * 4 + j);
            let elements = index[0].clone().flat_map(row);
            elements.map(&value).collect::<Vec<f32>>()
        })
        .expect("an array")
    };
    State::from_iter([
        ("rows", array(P!["x"])),
        ("columns", array(P![None, "x"])),
        ("whole", array(P![])),
        ("step", Array::scalar(value(3), DType::F32)),
    ])
}

/// What the processes of these tests run; alone it does nothing.
#[test]
fn child() {
    let Ok(case) = std::env::var("RAMIE_TEST_PART") else {
        return;
    };
    cpu_devices(2);
    distributed::initialize_with(&joining(120 * SECOND)).expect("all join");
    // The CPU plugin's devices are those of one process.
    assert_eq!(devices().len(), 2);
    let folder = variable("RAMIE_TEST_FOLDER");
    let expected = tree(|i| i as f32);
    for kind in ["files", "database"] {
        let path = Path::new(&folder).join(kind);
        if case == "save" {
            let save = PyTreeSave::new(&expected).use_ocdbt(kind == "database");
            save_item(&path, &save).expect("saved");
        }
        let restored = restore_item(&path, StandardRestore::new(&tree(|_| 0.0)));
        let restored = restored.expect("restored");
        for (name, array) in expected.iter() {
            let got = restored[name].addressable_shards();
            for (a, b) in array.addressable_shards().iter().zip(got) {
                assert_eq!(a.index(), b.index(), "{name}");
                let (a, b) = (a.data().to_vec::<f32>(), b.data().to_vec::<f32>());
                assert_eq!(a, b, "{name}");
            }
        }
    }
    distributed::shutdown().expect("all leave");
    say("done");
}

fn run(case: &str, count: usize, folder: &Path) {
    let folder = folder.to_str().expect("text");
    let says = Program::of(case, count, &[("RAMIE_TEST_FOLDER", folder)]).says();
    assert_eq!(says, vec!["done"; count], "{case} in {count}");
}

#[test]
fn processes_write_one_checkpoint_and_any_number_reads_it() {
    let folder = tempfile::tempdir().expect("a folder");
    run("save", 2, folder.path());
    let count = |name: &str| {
        let files = std::fs::read_dir(folder.path().join("files").join(name));
        files.expect("an array").count() - 1
    };
    // A chunk for each device, or one for all.
    assert_eq!([count("rows"), count("columns"), count("whole")], [2, 2, 1]);
    for process in ["array_metadatas/process_0", "array_metadatas/process_1"] {
        assert!(folder.path().join("files").join(process).is_file());
    }
    run("restore", 1, folder.path());
    run("restore", 2, folder.path());
}
