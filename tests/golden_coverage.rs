//! Every function that was recorded was recorded at several shapes, an empty and
//! a 0-d one among them, or a line here says why not.
//!
//! The recordings are read, nothing is computed.

#[path = "golden_coverage/complex.rs"]
mod complex;
#[path = "golden_coverage/numpy.rs"]
mod numpy;
#[path = "golden_coverage/others.rs"]
mod others;

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// How many shapes of its arrays a function is recorded at.
const LEAST: usize = 3;

/// What may be missing of a function's recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    /// Arrays of [`LEAST`] shapes.
    Shapes,
    /// An array without elements.
    Empty,
    /// A 0-d array.
    Scalar,
}

/// Why some functions of a recording have a gap.
struct Exemption {
    recording: &'static str,
    gap: Gap,
    reason: &'static str,
    functions: &'static [&'static str],
}

/// Of each recording per function the shapes of its arrays.
type Recordings = BTreeMap<String, BTreeMap<String, BTreeSet<Vec<Vec<usize>>>>>;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/data")
}

/// The shapes of the tensors beside an index, by name.
fn tensors(index: &Path) -> BTreeMap<String, Vec<usize>> {
    let path = index.with_extension("safetensors");
    if !path.exists() {
        return BTreeMap::new();
    }
    let bytes = std::fs::read(&path).expect("tensors");
    let (_, header) = safetensors::SafeTensors::read_metadata(&bytes).expect("a header");
    let all = header.tensors().into_iter();
    all.map(|(name, info)| (name, info.shape.clone())).collect()
}

/// The shape of an array: a tensor by its name, an object with its shape, or a
/// list of elements.
fn shape(array: &Value, tensors: &BTreeMap<String, Vec<usize>>) -> Vec<usize> {
    match array {
        Value::String(name) => tensors[name].clone(),
        Value::Array(elements) => vec![elements.len()],
        Value::Object(fields) => {
            let sizes = fields["shape"].as_array().expect("a shape").iter();
            sizes
                .map(|n| n.as_u64().expect("a size") as usize)
                .collect()
        }
        other => panic!("not an array: {other}"),
    }
}

/// The arrays that a row is told apart by: the operands, or, of what takes none,
/// the results.
fn arrays(row: &Value) -> Vec<&Value> {
    let list = |field: &str| row[field].as_array().filter(|l| !l.is_empty());
    match list("inputs").or_else(|| list("outputs")) {
        Some(list) => list.iter().collect(),
        None => vec![&row["output"]],
    }
}

/// All indices of rows of JAX's functions. Others hold no functions of arrays
/// (programs' text, a training run), or Optax's, which are of samples.
fn recordings() -> Recordings {
    let mut found = Recordings::new();
    for entry in std::fs::read_dir(folder()).expect("the folder of recordings") {
        let path = entry.expect("a file").path();
        if path.extension().is_none_or(|e| e != "json") {
            continue;
        }
        let text = std::fs::read(&path).expect("an index");
        let index: Value = serde_json::from_slice(&text).expect("an index in JSON");
        let Some(rows) = index["rows"].as_array() else {
            continue;
        };
        if !index["optax"].is_null() {
            continue;
        }
        let name = path.file_stem().expect("a name").to_string_lossy();
        if others::WITHOUT_SHAPES
            .iter()
            .any(|(other, _)| *other == name)
        {
            continue;
        }
        let tensors = tensors(&path);
        let functions = found.entry(name.into_owned()).or_default();
        for row in rows {
            let function = row["op"].as_str().or_else(|| row["fn"].as_str());
            let shapes = arrays(row).into_iter().map(|a| shape(a, &tensors));
            functions
                .entry(function.expect("a function's name").to_string())
                .or_default()
                .insert(shapes.collect());
        }
    }
    found
}

/// What is missing of a function that is recorded at these shapes.
fn gaps(shapes: &BTreeSet<Vec<Vec<usize>>>) -> Vec<Gap> {
    let any = |is: fn(&[usize]) -> bool| shapes.iter().flatten().any(|shape| is(shape));
    let there = [
        (Gap::Shapes, shapes.len() >= LEAST),
        (Gap::Empty, any(|shape| shape.contains(&0))),
        (Gap::Scalar, any(<[usize]>::is_empty)),
    ];
    let missing = there.into_iter().filter(|(_, there)| !there);
    missing.map(|(gap, _)| gap).collect()
}

/// All gaps, as recording, function and gap.
fn all_gaps(recordings: &Recordings) -> BTreeSet<(String, String, Gap)> {
    let mut all = BTreeSet::new();
    for (recording, functions) in recordings {
        for (function, shapes) in functions {
            let gaps = gaps(shapes).into_iter();
            all.extend(gaps.map(|gap| (recording.clone(), function.clone(), gap)));
        }
    }
    all
}

fn exemptions() -> BTreeSet<(String, String, Gap)> {
    let mut all = BTreeSet::new();
    let lists = [complex::EXEMPTIONS, numpy::EXEMPTIONS, others::EXEMPTIONS];
    for line in lists.into_iter().flatten() {
        assert!(!line.reason.is_empty(), "{} {:?}", line.recording, line.gap);
        for function in line.functions {
            let named = (line.recording.to_string(), function.to_string(), line.gap);
            assert!(all.insert(named), "{function} {:?}: named twice", line.gap);
        }
    }
    all
}

/// Lists gaps, one to a line.
fn listed<'a>(gaps: impl Iterator<Item = &'a (String, String, Gap)>) -> String {
    let lines = gaps.map(|(recording, function, gap)| format!("{recording} {function}: {gap:?}"));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn functions_are_recorded_at_several_shapes() {
    let recordings = recordings();
    let functions: usize = recordings.values().map(BTreeMap::len).sum();
    assert!(functions > 700, "{functions} functions are recorded");
    let gaps = all_gaps(&recordings);
    let exempt = exemptions();
    let missing = listed(gaps.difference(&exempt));
    assert!(
        missing.is_empty(),
        "record {LEAST} shapes, an empty and a 0-d one among them, or say in \
         tests/golden_coverage why JAX has none:\n{missing}"
    );
    let stale = listed(exempt.difference(&gaps));
    assert!(stale.is_empty(), "nothing to exempt:\n{stale}");
}

#[test]
fn recordings_without_shapes_exist() {
    for (recording, reason) in others::WITHOUT_SHAPES {
        assert!(!reason.is_empty(), "{recording}");
        let index = folder().join(recording).with_extension("json");
        assert!(index.exists(), "{recording}");
    }
}

#[test]
fn gaps_are_found() {
    let shapes = |list: &[&[usize]]| list.iter().map(|s| vec![s.to_vec()]).collect();
    assert_eq!(gaps(&shapes(&[&[2], &[0, 3], &[]])), []);
    assert_eq!(gaps(&shapes(&[&[2], &[2, 3], &[]])), [Gap::Empty]);
    assert_eq!(gaps(&shapes(&[&[2], &[0, 3], &[1]])), [Gap::Scalar]);
    assert_eq!(
        gaps(&shapes(&[&[2], &[2]])),
        [Gap::Shapes, Gap::Empty, Gap::Scalar]
    );
}
