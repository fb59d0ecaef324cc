//! Randomly damaged files: readers neither panic nor allocate memory for bytes that a file only claims
//! to have.
//!
//! `RAMIE_FUZZ_INPUTS=1000000` reads more inputs than the few hundred of a usual run, and
//! `RAMIE_FUZZ_READERS=npy,csv` selects readers. A test that uses this must be the only one of its
//! program, because the peak of memory is that of the process.

use super::chance::{Generator, read_many};
use std::fmt::Display;
use std::fs;
use std::path::Path;

/// Bytes that numbers in files go wrong at.
const EDGES: [u8; 8] = [0, 1, 0x7f, 0x80, 0xff, b'"', b',', b'\n'];

/// A sound file with a few things wrong, or something else altogether.
fn damaged(sound: &[u8], generator: &mut Generator) -> Vec<u8> {
    let mut bytes = match generator.below(20) {
        0 => (0..generator.below(80))
            .map(|_| generator.next_u64() as u8)
            .collect(),
        _ => sound.to_vec(),
    };
    for _ in 0..=generator.below(4) {
        if bytes.is_empty() {
            return bytes;
        }
        // Heads and tails of files matter more than what is between.
        let near = generator.below(bytes.len().min(160));
        let at = match generator.below(4) {
            0 | 1 => near,
            2 => bytes.len() - 1 - near,
            _ => generator.below(bytes.len()),
        };
        match generator.below(8) {
            0 => bytes[at] ^= 1 << generator.below(8),
            1 => bytes[at] = EDGES[generator.below(EDGES.len())],
            2 => bytes[at] = generator.next_u64() as u8,
            3 => bytes.truncate(at),
            4 => {
                let end = (at + 1 + generator.below(8)).min(bytes.len());
                bytes[at..end].fill(EDGES[generator.below(5)]);
            }
            5 => {
                let end = (at + 1 + generator.below(16)).min(bytes.len());
                let part = bytes[at..end].to_vec();
                bytes.splice(at..at, part);
            }
            6 => {
                let end = (at + 1 + generator.below(4)).min(bytes.len());
                bytes.drain(at..end);
            }
            // A length, far too large.
            _ => {
                let number = 1u64 << (16 + generator.below(47));
                let end = (at + [4, 8][generator.below(2)]).min(bytes.len());
                bytes[at..end].copy_from_slice(&number.to_le_bytes()[..end - at]);
            }
        }
    }
    bytes
}

/// Returns whether a file was read.
///
/// # Panics
/// If the error names no remedy.
pub fn is_read<T>(result: Result<T, impl Display>) -> bool {
    let Err(error) = result else { return true };
    let error = error.to_string();
    if !error.contains("\n  help: ") {
        // `fuzz` does not print the messages of panics.
        eprintln!("this error names no remedy: {error}");
        panic!("an error names no remedy");
    }
    false
}

/// Reads many damaged files, made from intact ones.
pub fn fuzz(name: &str, sound: &[Vec<u8>], mut read: impl FnMut(&[u8]) -> bool) {
    if let Ok(readers) = std::env::var("RAMIE_FUZZ_READERS")
        && !readers.split(',').any(|r| r == name)
    {
        return;
    }
    for bytes in sound {
        assert!(read(bytes), "{name}: a sound file is read");
    }
    let from = |i: usize, generator: &mut Generator| damaged(&sound[i % sound.len()], generator);
    read_many(name, 400, 600, from, |bytes| {
        // Decoders of other crates panic, and readers catch it; the hook would print it.
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(|_| {}));
        let readable = read(bytes);
        std::panic::set_hook(hook);
        readable
    });
}

/// Reads many damaged files through a reader that takes a path.
pub fn at_path(name: &str, sound: &[Vec<u8>], mut read: impl FnMut(&Path) -> bool) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    fuzz(name, sound, |bytes| {
        // Some systems wait for a file that is cut and written again.
        let _ = fs::remove_file(&path);
        fs::write(&path, bytes).unwrap();
        read(&path)
    });
}
