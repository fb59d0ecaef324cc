//! Damaged files by chance: readers neither panic, nor take memory that files
//! claim without having the bytes.
//!
//! `RAMIE_FUZZ_INPUTS=1000000` gives more inputs for each reader than the few hundred
//! of a usual run, `RAMIE_FUZZ_READERS=npy,csv` chooses readers. Whoever uses this is
//! the only test of its program: the peak of memory is that of the process.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::time::Instant;

/// Random numbers of a seed: SplitMix64.
struct Generator(u64);

impl Generator {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below another, which is small.
    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

/// Bytes that numbers in files go wrong at.
const EDGES: [u8; 8] = [0, 1, 0x7f, 0x80, 0xff, b'"', b',', b'\n'];

/// A sound file with a few things wrong, or something else altogether.
fn damaged(sound: &[u8], generator: &mut Generator) -> Vec<u8> {
    let mut bytes = match generator.below(20) {
        0 => (0..generator.below(80))
            .map(|_| generator.next() as u8)
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
            2 => bytes[at] = generator.next() as u8,
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

/// The most memory that this process has had, in MB.
fn peak_mb() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmPeak:"));
    let kb = line.and_then(|l| l.split_whitespace().next()?.parse::<u64>().ok());
    kb.unwrap_or(0) / 1024
}

/// Reads many damaged files of each kind. How many were still sound is told, to see
/// that not all fail at their first byte.
pub fn fuzz(name: &str, sound: &[Vec<u8>], mut read: impl FnMut(&[u8]) -> bool) {
    if let Ok(readers) = std::env::var("RAMIE_FUZZ_READERS")
        && !readers.split(',').any(|r| r == name)
    {
        return;
    }
    let inputs = std::env::var("RAMIE_FUZZ_INPUTS").ok();
    let inputs: usize = inputs.map_or(400, |n| n.parse().expect("a number of inputs"));
    for bytes in sound {
        assert!(read(bytes), "{name}: a sound file is read");
    }
    let before = peak_mb();
    let (start, mut readable) = (Instant::now(), 0);
    // Decoders of others panic, which readers catch; nobody wants to read of it here.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    for i in 0..inputs {
        let mut generator = Generator(i as u64);
        let bytes = damaged(&sound[i % sound.len()], &mut generator);
        let seen = catch_unwind(AssertUnwindSafe(|| read(&bytes)));
        readable += usize::from(seen.unwrap_or_else(|panic| {
            eprintln!("{name}: input {i} of {inputs} panics: {bytes:?}");
            resume_unwind(panic)
        }));
    }
    std::panic::set_hook(hook);
    let seconds = start.elapsed().as_secs_f64();
    println!("{name}: {inputs} inputs, {readable} of them readable, {seconds:.0} s");
    assert!(readable < inputs, "{name}: no input was damaged");
    let more = peak_mb() - before;
    assert!(more < 600, "{name}: took {more} MB");
}

/// The same of a reader that takes a path.
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
