//! TensorStore reads what we write, and we what it writes.
//!
//! `RAMIE_ORBAX_PYTHON=.../python cargo test -p ramie-checkpoint --test formats ocdbt_interop`,
//! with a Python that has `tensorstore` 0.1.86.

use crate::python;

use python::Python;
use ramie_checkpoint::ocdbt::{self, Compression, Database, Options, Writer};
use std::collections::BTreeMap;
use std::path::Path;

type Content = BTreeMap<Vec<u8>, Vec<u8>>;

/// Runs the script with `input` and returns its output; `None` without a Python.
fn python(arguments: &[&str], input: &[u8]) -> Option<Vec<u8>> {
    let python = Python::with("tensorstore 0.1.86")?;
    Some(python.run("tests/interop/ocdbt.py", arguments, input))
}

fn to_bytes(content: &Content) -> Vec<u8> {
    let parts = content.iter().flat_map(|(key, value)| [key, value]);
    let with_length = |part: &Vec<u8>| [&(part.len() as u64).to_le_bytes()[..], part].concat();
    parts.flat_map(with_length).collect()
}

fn content(database: &Database) -> Content {
    let keys = database.keys("").map(Result::unwrap);
    keys.map(|key| {
        let value = database.get(&key).unwrap().unwrap();
        (key, value)
    })
    .collect()
}

fn bytes(seed: usize, length: usize) -> Vec<u8> {
    (0..length).map(|i| (seed * 31 + i * i / 7) as u8).collect()
}

/// Contents by what is special about them.
fn contents() -> Vec<(&'static str, Content)> {
    let text = |i: usize| format!("params.layer_{}.kernel/{}.0", i / 10, i % 10).into_bytes();
    let one = [(text(0), bytes(0, 100))];
    let small = (0..300).map(|i| (text(i), bytes(i, i)));
    let many = (0..100_000).map(|i| (text(i), bytes(i, 8)));
    let large = (0..3).map(|i| (text(i), bytes(i, 20_000_000)));
    let binary = (0..700).map(|i| (bytes(i, i % 90), bytes(i, i % 3)));
    vec![
        ("one", one.into()),
        ("empty", (0..5).map(|i| (text(i), Vec::new())).collect()),
        ("small", small.collect()),
        ("many", many.collect()),
        ("large", large.collect()),
        ("binary", binary.collect()),
    ]
}

fn write(folder: &Path, options: &Options, content: &Content) {
    let writer = Writer::create(folder, options).unwrap();
    for (key, value) in content {
        writer.put(key, value).unwrap();
    }
    writer.finish().unwrap();
}

#[test]
fn tensorstore_reads_what_we_write() {
    for (name, expected) in contents() {
        for (nodes, compression) in [
            (100_000_000, Compression::Zstd { level: 0 }),
            (10_000, Compression::None),
            (1000, Compression::Zstd { level: 3 }),
            (0, Compression::None),
        ] {
            let options = Options {
                max_decoded_node_bytes: nodes,
                compression,
                ..Options::default()
            };
            let folder = tempfile::tempdir().unwrap();
            write(folder.path(), &options, &expected);
            let path = folder.path().to_str().unwrap();
            let Some(read) = python(&["read", path], b"") else {
                return;
            };
            assert!(read == to_bytes(&expected), "{name} with {options:?}");
        }
    }
}

#[test]
fn we_read_what_tensorstore_writes() {
    for (name, expected) in contents() {
        let step = |versions: usize| expected.len().div_ceil(versions).to_string();
        for (config, versions) in [
            ("{}", 1),
            (
                r#"{"compression": null, "max_decoded_node_bytes": 5000}"#,
                1,
            ),
            (
                r#"{"version_tree_arity_log2": 1, "max_inline_value_bytes": 1024}"#,
                20,
            ),
            (
                r#"{"manifest_kind": "numbered", "max_decoded_node_bytes": 100000000}"#,
                5,
            ),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().to_str().unwrap();
            let arguments = ["write", path, config, &step(versions)];
            if python(&arguments, &to_bytes(&expected)).is_none() {
                return;
            };
            let database = Database::open(folder.path()).unwrap();
            assert!(content(&database) == expected, "{name} with {config}");
            assert_eq!(
                database.len(),
                expected.len() as u64,
                "{name} with {config}"
            );
            let versions = database.versions().unwrap();
            assert_eq!(versions.len() as u64, versions.last().unwrap().generation);
        }
    }
}

#[test]
fn tensorstore_reads_what_we_merge() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options::default();
    let mut all = Content::new();
    for process in 0..3 {
        let mine = (0..50).map(|i| (format!("{i}/{process}"), bytes(i + process, i * 100)));
        let mine: Content = mine.map(|(key, value)| (key.into(), value)).collect();
        write(
            &folder.path().join(ocdbt::process_folder(process)),
            &options,
            &mine,
        );
        all.extend(mine);
    }
    ocdbt::merge(folder.path(), &options).unwrap();
    let path = folder.path().to_str().unwrap();
    if let Some(read) = python(&["read", path], b"") {
        assert!(read == to_bytes(&all));
    }
}
