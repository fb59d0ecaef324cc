//! Folders that appear whole or not at all, and damage that is found and named.

use ramie_checkpoint::commit::{ItemReader, StepMetadata, restore_item, save_item};
use ramie_checkpoint::commit::{ItemWriter, Process};
use ramie_checkpoint::items::{JsonRestore, JsonSave, SaveArgs, Snapshot};
use ramie_checkpoint::{Error, Result};
use std::path::{Path, PathBuf};

/// Some files of different kinds.
struct Files;

impl SaveArgs for Files {
    fn handler(&self) -> &str {
        "tests.Files"
    }

    fn snapshot(&self, _: Process) -> Result<Box<dyn Snapshot>> {
        Ok(Box::new(Files))
    }
}

impl Snapshot for Files {
    fn write(&mut self, writer: &ItemWriter) -> Result<()> {
        writer.write("small", b"text")?;
        writer.write("empty", b"")?;
        writer.write("deep/er/down", b"below")?;
        writer.write("large", &vec![7; 3 << 20])?;
        writer.write("dropped", b"not for long")?;
        writer.remove("dropped")?;
        let names = (0..20).map(|i| format!("d/{i}")).collect();
        writer.for_each(names, |name: String| writer.write(&name, name.as_bytes()))?;
        // Past the writer, as a library would that writes its files itself.
        std::fs::write(writer.folder().join("foreign"), b"by others").unwrap();
        Ok(())
    }
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files.extend(files_in(&path)),
            false => files.push(path),
        }
    }
    files
}

#[test]
fn what_was_written_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("files");
    save_item(&path, &Files).unwrap();
    let reader = ItemReader::open(&path).unwrap();
    assert!(reader.is_checked());
    reader.verify_all().unwrap();
    assert_eq!(reader.read("small").unwrap(), b"text");
    assert_eq!(reader.read("empty").unwrap(), b"");
    assert_eq!(reader.read("foreign").unwrap(), b"by others");
    let mut large = vec![0; 3 << 20];
    reader.read_into("large", &mut large).unwrap();
    assert!(large.iter().all(|b| *b == 7));
    let deep = reader.subfolder("deep").unwrap();
    assert_eq!(deep.names().unwrap(), ["er/down"]);
    assert_eq!(deep.read("er/down").unwrap(), b"below");
    assert!(reader.contains("large") && !reader.contains("dropped"));
    let metadata = StepMetadata::of(&path).unwrap().unwrap();
    assert!(metadata.commit_timestamp_nsecs >= metadata.init_timestamp_nsecs);
    // Nothing but the checkpoint is left.
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_change_of_any_file_is_found_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("files");
    save_item(&path, &Files).unwrap();
    let check = || ItemReader::open(&path).and_then(|reader| reader.verify_all());
    check().unwrap();
    let files = files_in(&path);
    assert_eq!(files.len(), 5 + 20 + 3);
    for file in files {
        let whole = std::fs::read(&file).unwrap();
        let expect = |what: &str| {
            let error = check().expect_err(what);
            assert!(matches!(error, Error::Damaged { .. }), "{what}: {error}");
            let text = error.to_string();
            // The marker holds the manifest's checksum, so either may be named.
            let pair = ["_RAMIE_MANIFEST", "commit_success.txt"];
            let name = file.file_name().unwrap().to_str().unwrap();
            let named = text.starts_with(&format!("{}: ", file.display()));
            let marker = pair.contains(&name) && pair.iter().any(|p| text.contains(p));
            assert!(named || marker, "{what} {name}: {text}");
            assert!(text.contains("help: "), "{text}");
        };
        if !whole.is_empty() {
            for at in [0, whole.len() / 2, whole.len() - 1] {
                let mut other = whole.clone();
                other[at] ^= 0x10;
                std::fs::write(&file, other).unwrap();
                expect("a changed byte");
            }
            std::fs::write(&file, &whole[..whole.len() - 1]).unwrap();
            expect("a cut file");
        }
        std::fs::write(&file, [&whole[..], b"x"].concat()).unwrap();
        expect("a longer file");
        std::fs::remove_file(&file).unwrap();
        expect("a missing file");
        std::fs::write(&file, &whole).unwrap();
        check().unwrap();
    }
}

#[test]
fn without_a_manifest_files_are_taken_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("metadata"), b"[1, 2]").unwrap();
    std::fs::write(folder.path().join("commit_success.txt"), b"by Orbax").unwrap();
    let value = restore_item(folder.path(), JsonRestore::<Vec<u32>>::new()).unwrap();
    assert_eq!(value, [1, 2]);
    let reader = ItemReader::open(folder.path()).unwrap();
    assert!(!reader.is_checked());
    assert_eq!(reader.names().unwrap(), ["commit_success.txt", "metadata"]);
}

#[test]
fn a_name_that_is_taken_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("value");
    save_item(&path, &JsonSave::new(&1)).unwrap();
    let error = save_item(&path, &JsonSave::new(&2)).unwrap_err();
    assert!(error.to_string().contains("is there already"), "{error}");
    assert_eq!(restore_item(&path, JsonRestore::<u32>::new()).unwrap(), 1);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn json_that_is_none_names_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("value");
    save_item(&path, &JsonSave::new("text")).unwrap();
    let error = restore_item(&path, JsonRestore::<u32>::new()).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("value/metadata: is not the JSON"), "{text}");
    let missing = restore_item(&path, JsonRestore::<u32>::new().file("other"));
    assert!(missing.unwrap_err().to_string().contains("value/other"));
}
