//! What does not fit, and what is not whole.

use super::{devices_8, golden, saved, text};
use ramie_checkpoint::commit::restore_item;
use ramie_checkpoint::pytree::*;
use ramie_core::*;
use std::path::{Path, PathBuf};

#[test]
fn differences_are_listed_with_both_sides() {
    devices_8();
    let folder = tempfile::tempdir().unwrap();
    let (path, _) = saved(folder.path());
    let target = State::from_iter([
        ("enc.w", Array::zeros(&[4, 5], DType::F32)),
        ("enc.c", Array::zeros(&[3], DType::F32)),
        ("head.w", Array::zeros(&[3, 2], DType::F32)),
    ]);
    let error = text(restore_item(&path, StandardRestore::new(&target)));
    let expected = format!(
        "{}: the checkpoint does not match the tree
  `enc.w`: the tree has f32[4,5], the checkpoint has f32[4,3]
  `enc.c`: the tree has f32[3], the checkpoint has nothing
  `enc.b`: the tree has nothing, the checkpoint has f32[3]
  help: use `partial_restore(true)` to ignore arrays that the tree does not have, or `transform` \
         to read arrays from other names or keep the tree's; use `strict(false)` to truncate \
         arrays or pad them with zeros",
        path.display()
    );
    assert_eq!(error, expected);
    let renamed = PyTreeRestore::new(&target).transform("enc", Transform::original("encoder"));
    let error = text(restore_item(&path, renamed));
    let expected = "`enc.c`: the tree has f32[3], the checkpoint has nothing at `encoder.c`";
    assert!(error.contains(expected), "{error}");
}

/// A copy of what Orbax wrote.
fn copied(name: &str, to: &Path) -> PathBuf {
    fn copy(from: &Path, to: &Path) {
        std::fs::create_dir_all(to).unwrap();
        for entry in std::fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            let to = to.join(entry.file_name());
            if entry.file_type().unwrap().is_dir() {
                copy(&entry.path(), &to)
            } else {
                std::fs::copy(entry.path(), to).unwrap();
            }
        }
    }
    let to = to.join(name);
    copy(&golden(name), &to);
    to
}

#[test]
fn damage_is_an_error_that_names_the_file() {
    devices_8();
    let folder = tempfile::tempdir().unwrap();
    let path = copied("train_state_zarr2", folder.path());
    let error = |path: &Path| text(restore_item(path, StandardRestore::state()));
    let chunk = path.join("params.hid.kernel/0.0");
    let good = std::fs::read(&chunk).unwrap();
    std::fs::write(&chunk, &good[..good.len() - 3]).unwrap();
    let cut = error(&path);
    assert!(
        cut.contains("params.hid.kernel/0.0: cannot be decompressed"),
        "{cut}"
    );
    std::fs::write(&chunk, zstd::bulk::compress(&[0; 12], 1).unwrap()).unwrap();
    let short = error(&path);
    assert!(
        short.contains("kernel/0.0: has 12 bytes, but the chunk has 48"),
        "{short}"
    );
    std::fs::write(&chunk, zstd::bulk::compress(&[0; 1 << 20], 1).unwrap()).unwrap();
    assert!(error(&path).contains("params.hid.kernel/0.0: cannot be decompressed"));
    std::fs::remove_file(&chunk).unwrap();
    assert!(error(&path).contains("params.hid.kernel/0.0: is missing"));
    std::fs::write(&chunk, &good).unwrap();
    let array = path.join("step/.zarray");
    let metadata = std::fs::read_to_string(&array).unwrap();
    for (from, to, message) in [
        (
            "<i8",
            "<x8",
            "step/.zarray: is not valid array metadata: the dtype `<x8`",
        ),
        (
            "zstd",
            "lzma",
            "step/.zarray: is not valid array metadata: the compressor `lzma`",
        ),
        (
            "\"C\"",
            "\"F\"",
            "step/.zarray: is not valid array metadata: the element order",
        ),
        (
            "\"shape\":[]",
            "\"shape\":[3]",
            "step/.zarray: the array has 1 dimensions, but its chunks have 0",
        ),
        (
            "\"zarr_format\":2",
            "",
            "step/.zarray: is not valid array metadata",
        ),
    ] {
        assert!(metadata.contains(from));
        std::fs::write(&array, metadata.replace(from, to)).unwrap();
        let error = error(&path);
        assert!(error.contains(message), "{error}");
    }
    std::fs::remove_file(&array).unwrap();
    assert!(error(&path).contains("step/.zarray: is missing"));
    std::fs::write(path.join("_METADATA"), "{}").unwrap();
    assert!(error(&path).contains("_METADATA: is not valid tree metadata"));
    std::fs::remove_file(path.join("_METADATA")).unwrap();
    assert!(error(&path).contains("_METADATA: is missing"));

    // What Ramie wrote has checksums of everything.
    let (path, _) = saved(folder.path());
    let chunk = path.join("enc.w/0.0");
    let mut bytes = std::fs::read(&chunk).unwrap();
    assert_eq!(bytes.len(), 48, "elements are written as they are");
    bytes[7] ^= 1;
    std::fs::write(&chunk, &bytes).unwrap();
    let flipped = error(&path);
    assert!(
        flipped.contains("enc.w/0.0") && flipped.contains("checksum"),
        "{flipped}"
    );
    std::fs::write(&chunk, &bytes[..47]).unwrap();
    assert!(error(&path).contains("enc.w/0.0"), "{}", error(&path));
    std::fs::remove_file(&chunk).unwrap();
    assert!(error(&path).contains("enc.w/0.0"), "{}", error(&path));
}

#[test]
fn shards_of_a_damaged_index_are_refused() {
    devices_8();
    let folder = tempfile::tempdir().unwrap();
    let path = copied("divided_zarr3", folder.path());
    let chunk = path.join("x/c/0/0");
    let good = std::fs::read(&chunk).unwrap();
    let read = || restore_item(&path, StandardRestore::state());
    read().unwrap();
    let mut bytes = good.clone();
    let end = bytes.len();
    bytes[end - 1] ^= 1;
    std::fs::write(&chunk, &bytes).unwrap();
    let error = text(read());
    assert!(error.contains("x/c/0/0: has a damaged index"), "{error}");
    // An index whose own checksum is right.
    for (offset, length) in [(u64::MAX - 1, 5), (0, u64::MAX), (1 << 40, 1), (0, 1 << 20)] {
        let mut bytes = good[..end - 20].to_vec();
        let index = [offset, length].map(u64::to_le_bytes).concat();
        bytes.extend(&index);
        bytes.extend(crc32c::crc32c(&index).to_le_bytes());
        std::fs::write(&chunk, &bytes).unwrap();
        let error = text(read());
        assert!(
            error.contains("x/c/0/0: has ") && error.contains("a part of"),
            "{error}"
        );
    }
    std::fs::write(&chunk, &good[..10]).unwrap();
    let error = text(read());
    assert!(
        error.contains("x/c/0/0: has 10 bytes, too few for the index"),
        "{error}"
    );
}

#[test]
fn a_string_that_is_missing_is_named() {
    devices_8();
    let folder = tempfile::tempdir().unwrap();
    // Orbax writes no sizes of files, which Ramie's own checkpoints have.
    let path = copied("../ports_checkpoints/pytree", &folder.path().join("orbax"));
    std::fs::write(path.join("_strings.json"), "{}").unwrap();
    let error = text(restore_item(&path, DictRestore));
    assert!(
        error.contains("_strings.json: the string `name` is missing"),
        "{error}"
    );
}
