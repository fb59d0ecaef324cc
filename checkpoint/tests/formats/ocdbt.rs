//! Databases that TensorStore wrote, our own, and those of several processes.

use proptest::prelude::*;
use ramie_checkpoint::commit::{ItemReader, ItemWriter, Process, save_item};
use ramie_checkpoint::items::{SaveArgs, Snapshot};
use ramie_checkpoint::ocdbt::{self, Compression, Database, Options, Writer};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

type Content = BTreeMap<Vec<u8>, Vec<u8>>;

fn golden(case: &str) -> PathBuf {
    ramie_testing::golden::path("ocdbt").join(case)
}

/// The keys and values of `tests/golden/ocdbt.py`.
fn key(i: usize) -> Vec<u8> {
    format!("layer_{}/kernel/{}.0", i / 8, i % 8).into()
}

fn value(i: usize, length: usize) -> Vec<u8> {
    (0..length)
        .map(|j| ((i * 7 + j * 13) % 251) as u8)
        .collect()
}

/// All of a database, in the order of its keys.
fn content(database: &Database) -> Content {
    let keys: Vec<Vec<u8>> = database.keys("").collect::<Result<_, _>>().unwrap();
    assert!(keys.is_sorted());
    assert_eq!(keys.len() as u64, database.len());
    let get = |key: Vec<u8>| {
        let value = database.get(&key).unwrap().expect("a listed key is there");
        assert_eq!(database.size(&key).unwrap(), Some(value.len() as u64));
        (key, value)
    };
    keys.into_iter().map(get).collect()
}

#[test]
fn what_tensorstore_wrote_is_read() {
    let several = |n: usize, length: fn(usize) -> usize| -> Content {
        (0..n).map(|i| (key(i), value(i, length(i)))).collect()
    };
    let binary = [
        &b""[..],
        b"\x00",
        b"\x00\xff",
        b"\xff",
        &b"\xff\xff".repeat(100),
    ];
    let binary = (0..5).map(|i| (binary[i].to_vec(), value(i, 3)));
    let cases = [
        ("inline", several(10, |i| i)),
        ("raw", several(10, |i| i)),
        ("outside", several(6, |_| 300)),
        ("tall", several(64, |_| 8)),
        ("tall_raw", several(64, |_| 8)),
        ("empty", Content::new()),
        ("binary", binary.collect()),
        ("merged", several(12, |i| if i < 6 { 50 } else { 200 })),
    ];
    for (case, expected) in cases {
        let database = Database::open(golden(case)).unwrap();
        assert_eq!(content(&database), expected, "{case}");
        assert_eq!(database.is_empty(), expected.is_empty(), "{case}");
        for missing in ["", "layer_0/kernel/", "layer_3/kernel/9.0", "zzz"] {
            let there = expected.contains_key(missing.as_bytes());
            assert_eq!(database.get(missing).unwrap().is_some(), there, "{case}");
        }
    }
}

#[test]
fn every_version_is_read() {
    for (case, versions) in [("versions", 11), ("numbered", 3)] {
        let newest = Database::open(golden(case)).unwrap();
        let all = newest.versions().unwrap();
        let generations: Vec<u64> = all.iter().map(|v| v.generation).collect();
        assert_eq!(generations, (1..=versions).collect::<Vec<_>>(), "{case}");
        assert!(all.is_sorted_by(|a, b| a.commit_time < b.commit_time));
        assert_eq!(newest.version().unwrap(), all[versions as usize - 1]);
        for version in &all {
            let g = version.generation as usize;
            let database = Database::open_version(golden(case), version.generation).unwrap();
            let expected = (0..g).map(|i| (key(i), value(i + g - 1, 4)));
            assert_eq!(content(&database), expected.collect(), "{case} {g}");
            assert_eq!(version.keys, g as u64);
        }
        let error = Database::open_version(golden(case), 99).unwrap_err();
        let error = error.to_string();
        assert!(error.contains("the database has no version 99"), "{error}");
    }
}

#[test]
fn keys_are_listed_by_prefix() {
    for case in ["tall", "raw", "merged"] {
        let database = Database::open(golden(case)).unwrap();
        let all: Vec<Vec<u8>> = content(&database).into_keys().collect();
        for prefix in [
            "",
            "l",
            "layer_1",
            "layer_1/",
            "layer_7/kernel/3.0",
            "m",
            "a",
        ] {
            let listed: Vec<_> = database.keys(prefix).map(Result::unwrap).collect();
            let begin = |key: &&Vec<u8>| key.starts_with(prefix.as_bytes());
            let expected: Vec<_> = all.iter().filter(begin).cloned().collect();
            assert_eq!(listed, expected, "{case} {prefix}");
        }
    }
}

#[test]
fn parts_of_values_are_read() {
    for (case, i, length) in [("outside", 3, 300), ("tall", 3, 8)] {
        let database = Database::open(golden(case)).unwrap();
        let whole = value(i, length);
        let part = |range| database.get_range(key(i), range).unwrap().unwrap();
        assert_eq!(part(2..5), whole[2..5]);
        assert_eq!(part(2..5000), whole[2..]);
        assert_eq!(part(5000..6000), b"");
        let mut bytes = [0; 1000];
        let read = |offset, bytes: &mut [u8]| database.read_into(key(i), offset, bytes).unwrap();
        assert_eq!(read(1, &mut bytes[..4]), Some(4));
        assert_eq!(bytes[..4], whole[1..5]);
        assert_eq!(read(3, &mut bytes), Some(length - 3));
        assert_eq!(bytes[..length - 3], whole[3..]);
        assert_eq!(read(9999, &mut bytes), Some(0));
        assert_eq!(database.read_into("no", 0, &mut bytes).unwrap(), None);
    }
}

/// The options of a property test.
fn options() -> impl Strategy<Value = Options> {
    let compression = prop_oneof![
        Just(Compression::None),
        (0..5i32).prop_map(|level| Compression::Zstd { level })
    ];
    let nodes = prop_oneof![Just(0), 1..400u32, Just(100_000_000)];
    let target = prop_oneof![Just(0), 200..10_000u64];
    let all = (0..80u32, nodes, compression, target);
    all.prop_map(|(inline, nodes, compression, target)| Options {
        max_inline_value_bytes: inline,
        max_decoded_node_bytes: nodes,
        compression,
        ocdbt_target_data_file_size: target,
    })
}

fn contents() -> impl Strategy<Value = Content> {
    let bytes = |most| prop::collection::vec(any::<u8>(), 0..most);
    // Few letters, so that keys have beginnings in common.
    let letters = prop::collection::vec(prop::sample::select(&b"ab/"[..]), 0..12);
    let key = prop_oneof![letters, bytes(4)];
    prop::collection::btree_map(key, bytes(200), 0..60)
}

fn write(folder: &Path, options: &Options, content: &Content) {
    let writer = Writer::create(folder, options).unwrap();
    for (key, value) in content {
        writer.put(key, value).unwrap();
    }
    writer.finish().unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn databases_are_read_as_written(options in options(), expected in contents()) {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &options, &expected);
        let database = Database::open(folder.path()).unwrap();
        prop_assert_eq!(&content(&database), &expected);
        for (key, value) in &expected {
            let half = value.len() as u64 / 2;
            let part = database.get_range(key, half..).unwrap();
            prop_assert_eq!(part.as_deref(), Some(&value[half as usize..]));
            let mut other = key.clone();
            other.push(b'a');
            let there = database.get(&other).unwrap();
            prop_assert_eq!(there.as_ref(), expected.get(&other));
            let listed = database.keys(key).map(Result::unwrap);
            let begin = expected.keys().filter(|k| k.starts_with(key));
            prop_assert!(listed.eq(begin.cloned()));
        }
    }

    #[test]
    fn processes_make_one_database(
        options in options(),
        first in contents(),
        second in contents(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut expected = second;
        // A key of both has the same value in both.
        for (key, value) in &first {
            if let Some(shared) = expected.get_mut(key) {
                *shared = value.clone();
            }
        }
        write(&folder.path().join(ocdbt::process_folder(0)), &options, &first);
        write(&folder.path().join(ocdbt::process_folder(10)), &options, &expected);
        prop_assert_eq!(ocdbt::merge(folder.path(), &options).unwrap(), 2);
        expected.extend(first);
        let database = Database::open(folder.path()).unwrap();
        prop_assert_eq!(content(&database), expected);
    }
}

#[test]
fn many_keys_make_a_tree() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options {
        max_decoded_node_bytes: 20_000,
        ..Options::default()
    };
    let writer = Writer::create(folder.path(), &options).unwrap();
    let key = |i: u32| format!("{:05}/0", i * 7919 % 100_000);
    for i in 0..20_000 {
        writer.put(key(i), &i.to_le_bytes()).unwrap();
    }
    writer.finish().unwrap();
    let database = Database::open(folder.path()).unwrap();
    assert_eq!(database.len(), 20_000);
    assert_eq!(database.keys("").count(), 20_000);
    for i in (0..20_000).step_by(97) {
        let value = database.get(key(i)).unwrap();
        assert_eq!(value.as_deref(), Some(&i.to_le_bytes()[..]));
    }
}

#[test]
fn data_files_are_bounded_and_threads_have_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options {
        ocdbt_target_data_file_size: 10_000,
        ..Options::default()
    };
    let writer = Writer::create(folder.path(), &options).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4u8 {
            let writer = &writer;
            scope.spawn(move || {
                for i in 0..20u8 {
                    writer.put([thread, i], &[i; 3000]).unwrap();
                }
            });
        }
    });
    writer.put("large", &[1; 25_000]).unwrap();
    writer.finish().unwrap();
    let mut largest = 0;
    for file in std::fs::read_dir(folder.path().join("d")).unwrap() {
        let length = file.unwrap().metadata().unwrap().len();
        assert!(length <= 10_000 || length == 25_000, "{length}");
        largest = largest.max(length);
    }
    assert_eq!(largest, 25_000);
    let database = Database::open(folder.path()).unwrap();
    assert_eq!(database.len(), 81);
    std::thread::scope(|scope| {
        for thread in 0..4u8 {
            let database = &database;
            scope.spawn(move || {
                for i in 0..20u8 {
                    let value = database.get([thread, i]).unwrap();
                    assert_eq!(value.unwrap(), [i; 3000]);
                }
            });
        }
    });
}

#[test]
fn keys_are_replaced_and_removed_before_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let writer = Writer::create(folder.path(), &Options::default()).unwrap();
    for key in ["a/0", "a/1", "b/0", "c"] {
        writer.put(key, &[1; 2000]).unwrap();
    }
    writer.put_parts("b/0", &[b"one", b"", b"two"]).unwrap();
    assert!(writer.remove("c"));
    assert!(!writer.remove("c"));
    writer.remove_prefix("a/");
    writer.finish().unwrap();
    let database = Database::open(folder.path()).unwrap();
    let expected = Content::from([(b"b/0".to_vec(), b"onetwo".to_vec())]);
    assert_eq!(content(&database), expected);
}

#[test]
fn an_unfinished_writer_leaves_no_database() {
    let folder = tempfile::tempdir().unwrap();
    let writer = Writer::create(folder.path(), &Options::default()).unwrap();
    writer.put("a", &[1; 2000]).unwrap();
    drop(writer);
    let error = Database::open(folder.path()).unwrap_err().to_string();
    assert!(error.contains("manifest.ocdbt: does not exist"), "{error}");
    // A second writer is not hindered; a third would replace a database.
    let writer = Writer::create(folder.path(), &Options::default()).unwrap();
    writer.put("a", &[2; 2000]).unwrap();
    writer.finish().unwrap();
    let error = Writer::create(folder.path(), &Options::default()).unwrap_err();
    let error = error.to_string();
    assert!(error.contains("manifest.ocdbt: already exists"), "{error}");
}

#[test]
fn merging_refuses_what_it_must() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options::default();
    assert_eq!(ocdbt::merge(folder.path(), &options).unwrap(), 0);
    let process = |i| folder.path().join(ocdbt::process_folder(i));
    for (i, length) in [(0, 10), (1, 2000), (2, 2000)] {
        let content = [(b"x\xff".to_vec(), vec![i as u8; length])];
        write(&process(i), &options, &content.into());
    }
    let error = ocdbt::merge(folder.path(), &options).unwrap_err();
    let error = error.to_string();
    let expected = "ocdbt.process_1: has a different value for `x\\xff` than the database";
    assert!(error.contains(expected), "{error}");
    // One that a process did not finish.
    std::fs::remove_file(process(1).join("manifest.ocdbt")).unwrap();
    let error = ocdbt::merge(folder.path(), &options).unwrap_err();
    let error = error.to_string();
    assert!(
        error.contains("process_1/manifest.ocdbt: does not exist"),
        "{error}"
    );
    assert!(Database::open(folder.path()).is_err());
}

#[test]
#[should_panic(expected = "the key has 65536 bytes, but keys have at most 65535")]
fn too_long_a_key_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let writer = Writer::create(folder.path(), &Options::default()).unwrap();
    let _ = writer.put(vec![b'a'; 65536], b"");
}

/// An item that is a database of two parts.
struct Parts;

impl SaveArgs for Parts {
    fn handler(&self) -> &str {
        "test.Parts"
    }

    fn snapshot(&self, _: Process) -> ramie_checkpoint::Result<Box<dyn Snapshot>> {
        Ok(Box::new(Parts))
    }
}

impl Snapshot for Parts {
    fn write(&mut self, item: &ItemWriter) -> ramie_checkpoint::Result<()> {
        for process in 0..2 {
            let folder = item.subfolder(&ocdbt::process_folder(process))?;
            let writer = Writer::create_in(&folder, &Options::default())?;
            writer.put(key(process), &value(process, 2000 * process))?;
            writer.finish()?;
        }
        Ok(())
    }

    fn finalize(&mut self, item: &ItemWriter) -> ramie_checkpoint::Result<()> {
        assert_eq!(ocdbt::merge_in(item, &Options::default())?, 2);
        Ok(())
    }
}

#[test]
fn a_database_is_an_item_of_a_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    save_item(&path, &Parts).unwrap();
    let reader = ItemReader::open(&path).unwrap();
    reader.verify_all().unwrap();
    let names = reader.names().unwrap();
    let manifests = names.iter().filter(|n| n.ends_with("manifest.ocdbt"));
    assert_eq!(manifests.count(), 3);
    let data: Vec<_> = names.iter().filter(|n| n.contains("d/")).collect();
    assert_eq!(data.len(), 3, "{names:?}");
    let database = Database::open(&path).unwrap();
    let expected = (0..2).map(|i| (key(i), value(i, 2000 * i)));
    assert_eq!(content(&database), expected.collect());
    // What the format has no checksum for, the checkpoint has one for.
    let large = data
        .iter()
        .max_by_key(|n| path.join(n).metadata().unwrap().len());
    let large = path.join(large.unwrap());
    let mut bytes = std::fs::read(&large).unwrap();
    bytes[1000] ^= 1;
    std::fs::write(&large, bytes).unwrap();
    let error = reader.verify_all().unwrap_err().to_string();
    assert!(error.starts_with(large.to_str().unwrap()), "{error}");
    // It is found by whoever read something of the file.
    let database = Database::open_in(&reader).unwrap();
    database.get(key(0)).unwrap();
    database.verify().unwrap();
    database.get_range(key(1), 10..20).unwrap();
    let error = database.verify().unwrap_err().to_string();
    let expected = "the file has changed since it was written: its checksum is wrong";
    assert!(error.starts_with(large.to_str().unwrap()), "{error}");
    assert!(error.contains(expected), "{error}");
    let other = Database::open_in(&reader).unwrap();
    other.get(key(1)).unwrap();
    assert_eq!(other.verify().unwrap_err().to_string(), error);
}

#[test]
fn what_was_read_of_an_item_is_verified() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    save_item(&path, &Parts).unwrap();
    let database = Database::open_in(&ItemReader::open(&path).unwrap()).unwrap();
    for range in [5..7, 0..3, 0..10, 5..600, 1999..2000, 3..9] {
        database.get_range(key(1), range).unwrap();
        database.verify().unwrap();
    }
    assert_eq!(content(&database).len(), 2);
    database.verify().unwrap();
}
