//! Damaged checkpoints by chance: a restore neither panics, nor takes memory that
//! files claim without having the bytes.
//!
//! `RAMIE_FUZZ_INPUTS=1000000 cargo test -p ramie-checkpoint --test pytree_fuzz` runs
//! more inputs than the thousand of a usual run.

use ramie_checkpoint::commit::{restore_item, save_item};
use ramie_checkpoint::pytree::*;
use ramie_core::*;
use ramie_testing::chance::{Generator, read_many};
use ramie_testing::cpu_devices;
use ramie_testing::fuzz::is_read;
use std::fs;
use std::path::{Path, PathBuf};

/// Texts that go into the place of others in JSON.
const TEXTS: [&str; 16] = [
    "0",
    "1",
    "-1",
    "3",
    "65",
    "4294967296",
    "9223372036854775807",
    "18446744073709551615",
    "1e9",
    "null",
    "true",
    "false",
    "[]",
    "{}",
    "\"\"",
    "\"<f8\"",
];

/// A sound file with a few things wrong.
fn damaged(sound: &[u8], generator: &mut Generator) -> Vec<u8> {
    let mut bytes = sound.to_vec();
    let is_json = sound.first() == Some(&b'{');
    for _ in 0..=generator.below(3) {
        if bytes.is_empty() {
            return bytes;
        }
        let at = generator.below(bytes.len());
        match generator.below(if is_json { 9 } else { 6 }) {
            0 => bytes[at] ^= 1 << generator.below(8),
            1 => bytes[at] = generator.next_u64() as u8,
            2 => bytes.truncate(at),
            3 => {
                let end = (at + 1 + generator.below(16)).min(bytes.len());
                let part = bytes[at..end].to_vec();
                bytes.splice(at..at, part);
            }
            4 => {
                let end = (at + 1 + generator.below(4)).min(bytes.len());
                bytes.drain(at..end);
            }
            // The index of a file of several parts, with a sum that is right.
            5 => {
                let Some(index) = bytes.len().checked_sub(20) else {
                    continue;
                };
                let number = 1u64 << generator.below(64);
                let place = index + 8 * generator.below(2);
                bytes[place..place + 8].copy_from_slice(&number.to_le_bytes());
                let sum = crc32c::crc32c(&bytes[index..index + 16]);
                bytes[index + 16..].copy_from_slice(&sum.to_le_bytes());
            }
            // Another number, or another value.
            _ => {
                let is_part = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'"' | b'<');
                let start = (at..bytes.len())
                    .find(|i| is_part(&bytes[*i]))
                    .unwrap_or(at);
                let length = bytes[start..].iter().take_while(|b| is_part(b)).count();
                let text = TEXTS[generator.below(TEXTS.len())].bytes();
                bytes.splice(start..start + length, text);
            }
        }
    }
    bytes
}

/// The files below a folder.
fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, out)
        } else {
            out.push(path)
        }
    }
}

fn read(path: &Path) -> bool {
    let described = is_read(metadata(path));
    is_read(restore_item(path, PyTreeRestore::state())) && described
}

fn ramp(shape: &[usize], dtype: DType) -> Array {
    let n: usize = shape.iter().product();
    Array::from_vec((0..n).map(|i| i as f32).collect(), shape).astype(dtype)
}

#[test]
fn damaged_checkpoints_are_refused() {
    cpu_devices(2);
    // In memory where there is such a file system: this is not about the disk.
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() {
        tempfile::tempdir_in(memory).unwrap()
    } else {
        tempfile::tempdir().unwrap()
    };
    let mesh = make_mesh(&[2], &["x"]).unwrap();
    let x = ramp(&[4, 3], DType::F32);
    let tree = State::from_iter([
        ("a.0.w", device_put(&x, NamedSharding::new(mesh, P!["x"]))),
        ("a.1", ramp(&[3], DType::I4)),
        ("flag", Array::from([true, false])),
    ]);
    let zstd = Compression::Zstd { level: 1 };
    let mut kinds = Vec::new();
    for (zarr, compression, use_ocdbt, chunk) in [
        (Zarr::V2, Compression::None, false, 1 << 20),
        (Zarr::V2, zstd, false, 8),
        (Zarr::V3, Compression::None, false, 8),
        (Zarr::V3, zstd, false, 1 << 20),
        (Zarr::V2, Compression::None, true, 1 << 20),
    ] {
        let path = folder.path().join(kinds.len().to_string());
        let save = PyTreeSave::new(&tree)
            .zarr(zarr)
            .compression(compression)
            .use_ocdbt(use_ocdbt)
            .chunk_byte_size(chunk)
            .string("note", "text");
        save_item(&path, &save).unwrap();
        // Without the sums that would find everything.
        fs::remove_file(path.join("_RAMIE_MANIFEST")).unwrap();
        fs::remove_file(path.join("commit_success.txt")).unwrap();
        restore_item(&path, PyTreeRestore::state()).unwrap();
        assert!(read(&path));
        let mut found = Vec::new();
        files(&path, &mut found);
        let unread = |p: &PathBuf| {
            let name = p.file_name().unwrap().to_str().unwrap();
            name == "_CHECKPOINT_METADATA"
        };
        found.retain(|p| !unread(p));
        found.sort();
        kinds.push((path, found));
    }
    let from = |i: usize, generator: &mut Generator| {
        let (path, found) = &kinds[i % kinds.len()];
        let file = &found[generator.below(found.len())];
        let bytes = damaged(&fs::read(file).unwrap(), generator);
        (path, file, bytes)
    };
    read_many("checkpoints", 1000, 1000, from, |(path, file, bytes)| {
        let sound = fs::read(file).unwrap();
        fs::write(file, bytes).unwrap();
        let seen = read(path);
        fs::write(file, &sound).unwrap();
        seen
    });
    assert!(kinds.iter().all(|(path, _)| read(path)));
}
