//! The floors of crates: a file uses only files of its own floor and of those below.
//!
//! The test counts *arrows*: pairs of files of which one names an item that the other defines.
//! Names are followed through re-exports to the file that defines them, and rows of macros count
//! for the module that they are looked up in. Methods are not seen.

use crate::expect_none;
use crate::names::Names;
use std::collections::{BTreeMap, BTreeSet};

/// The folders of `core/src` from the lowest floor. `lib.rs` is above all of them.
pub const FLOORS: [&str; 10] = [
    "base",
    "types",
    "program",
    "passes",
    "prim",
    "transform",
    "functions",
    "client",
    "execution",
    "services",
];

/// The modules of `cpu/src` from the lowest floor.
const CPU_FLOORS: [&str; 12] = [
    "error",
    "types",
    "text",
    "memory",
    "host",
    "sharding",
    "kernels",
    "graph",
    "ops",
    "propagate",
    "partition",
    "program",
];

/// The modules of `pjrt/src` from the lowest floor, several on each.
const PJRT_FLOORS: [&str; 8] = [
    "sys aligned compiler_thread elf features heap signals",
    "error client_options compile_options element_type buffer_type exit host_calls key_value memory value",
    "event launches registry under_way",
    "library linked no_library plugin profiler",
    "client device",
    "buffer host host_view",
    "analysis target topology unloaded",
    "callback executable execute launch shardings",
];

/// The modules of `checkpoint/src` from the lowest floor, several on each.
const CHECKPOINT_FLOORS: [&str; 8] = [
    "cast natural_sort optimizer size warning zstandard",
    "error",
    "atomic file nodes preemption replace",
    "commit index",
    "gguf ocdbt safetensors serialization",
    "checkpoints pytorch pytree",
    "format items",
    "manager",
];

/// The modules of `data/src` from the lowest floor, several on each.
const DATA_FLOORS: [&str; 9] = [
    "error generator one_hot panic permutation progress read_options seed shard",
    "batch buckets pool rows sample standardizer transform",
    "augment collate packed",
    "source",
    "device resumable stacks",
    "stream",
    "pipeline",
    "loader",
    "audio digits mnist readers synthetic testing",
];

/// The modules of `nn/src` from the lowest floor, several on each.
const NN_FLOORS: [&str; 8] = [
    "__private metadata module quantity setters shared_fn table variable variable_operators wide",
    "init metrics rngs sharding",
    "model",
    "accumulate optimizer value_and_grad",
    "linen",
    "vars",
    "layers",
    "nnx training",
];

/// The modules of `optim/src` from the lowest floor, several on each.
const OPTIM_FLOORS: [&str; 5] = [
    "assignment base schedules second_order tree",
    "transforms",
    "alias microbatching perturbations projections",
    "contrib",
    "losses",
];

/// The modules of `models/src` from the lowest floor, several on each.
const MODELS_FLOORS: [&str; 3] = [
    "activation generate layers pretrained",
    "bert gpt2 llama mlp mobilenet_v2 resnet vit whisper",
    "albert efficientnet_lite speaker_encoder",
];

/// Number of files in the largest circle of arrows: in the core one of the programs, in `pjrt` the
/// clients and their devices, in `checkpoint` pairs such as a list and its iterator, in `data`
/// batches with a position, in `nn` modules of Linen, in `optim` none, and in `models` a model's configuration. It may only fall.
const LARGEST_CIRCLES: [(&str, usize); 7] = [
    ("core/src/", 16),
    ("pjrt/src/", 2),
    ("checkpoint/src/", 2),
    ("data/src/", 3),
    ("nn/src/", 5),
    ("optim/src/", 0),
    ("models/src/", 3),
];

/// The index of a file's floor.
fn floor(floors: &[&str], file: &str) -> usize {
    if file == "lib.rs" {
        return floors.len();
    }
    let module = file.split('/').next().expect("a path");
    let module = module.trim_end_matches(".rs");
    let has = |floor: &&str| floor.split(' ').any(|name| name == module);
    let at = floors.iter().position(has);
    at.unwrap_or_else(|| panic!("{module} of {file} is in no list of tests/house/floors.rs"))
}

/// The circles of files: sets in which every file reaches every other.
fn circles<'a>(arrows: impl Iterator<Item = (&'a str, &'a str)>) -> BTreeSet<BTreeSet<&'a str>> {
    let mut uses: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (from, to) in arrows {
        uses.entry(from).or_default().push(to);
    }
    let reachable = |from: &str| {
        let mut seen = BTreeSet::new();
        let mut open = uses.get(from).cloned().unwrap_or_default();
        while let Some(file) = open.pop() {
            if seen.insert(file) {
                open.extend(uses.get(file).into_iter().flatten());
            }
        }
        seen
    };
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        uses.keys().map(|&file| (file, reachable(file))).collect();
    let mut found: BTreeSet<BTreeSet<&str>> = BTreeSet::new();
    for (file, others) in &reached {
        let back = |other: &&str| reached.get(other).is_some_and(|r| r.contains(file));
        let circle: BTreeSet<&str> = others.iter().copied().filter(back).collect();
        if !circle.is_empty() {
            found.insert(circle);
        }
    }
    found
}

#[test]
fn files_use_only_lower_floors() {
    let mut upward = Vec::new();
    for (folder, floors, least) in [
        ("core/src/", &FLOORS[..], 2000),
        ("cpu/src/", &CPU_FLOORS, 50),
        ("pjrt/src/", &PJRT_FLOORS, 100),
        ("checkpoint/src/", &CHECKPOINT_FLOORS, 400),
        ("data/src/", &DATA_FLOORS, 350),
        ("nn/src/", &NN_FLOORS, 500),
        ("optim/src/", &OPTIM_FLOORS, 400),
        ("models/src/", &MODELS_FLOORS, 100),
    ] {
        let names = Names::of(folder);
        let arrows = names.arrows.len();
        assert!(arrows > least, "{folder} has only {arrows} arrows");
        for ((from, to), items) in &names.arrows {
            if floor(floors, to) > floor(floors, from) {
                let items: Vec<&str> = items.iter().map(|item| &**item).collect();
                upward.push(format!("{folder}{from} → {to}: {}", items.join(", ")));
            }
        }
    }
    let rule = "a file uses files of its own floor and of those below: move the item down, or its \
                user up";
    expect_none(rule, upward);
}

#[test]
fn circles_of_files_are_small() {
    for (folder, expected) in LARGEST_CIRCLES {
        let names = Names::of(folder);
        let arrows = names.arrows.keys().map(|(from, to)| (&**from, &**to));
        let largest = circles(arrows)
            .into_iter()
            .max_by_key(BTreeSet::len)
            .unwrap_or_default();
        assert!(
            largest.len() == expected,
            "the largest circle of {folder} has {} files instead of {expected}; if it shrank, write \
             the number into tests/house/floors.rs:\n  {largest:?}",
            largest.len()
        );
    }
}
