//! Damaged files by chance: readers neither panic, nor take memory that files
//! claim without having the bytes.
//!
//! `RAMIE_FUZZ_INPUTS=1000000 cargo test -p ramie-data --all-features --test fuzz`
//! runs more inputs for each reader than the few hundred of a usual run;
//! `RAMIE_FUZZ_READERS=npy,csv` runs these alone.

mod common;

use common::{CSV, EXAMPLE, JSON_LINES, cifar10, gzip, idx, matrix, npz, safetensors, tfrecord};
use ramie_data::readers::cifar::{self, Classes};
use ramie_data::readers::jsonl::JsonLines;
use ramie_data::readers::safetensors::Safetensors;
use ramie_data::readers::text::Lines;
use ramie_data::readers::tfrecord::{Example, TfRecords};
use ramie_data::readers::tokens::{TokenFile, TokenType};
use ramie_data::readers::{csv, idx as idx_files, npy};
use ramie_data::{Generator, Source};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::time::Instant;

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

/// The most memory that this process has had, in MB.
fn peak_mb() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmPeak:"));
    let kb = line.and_then(|l| l.split_whitespace().next()?.parse::<u64>().ok());
    kb.unwrap_or(0) / 1024
}

/// Reads many damaged files of each kind. How many were still sound is told, to see
/// that not all fail at their first byte.
fn fuzz(name: &str, sound: &[Vec<u8>], mut read: impl FnMut(&[u8]) -> bool) {
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
        let mut generator = Generator::new(i as u64);
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

fn at_path(name: &str, sound: &[Vec<u8>], mut read: impl FnMut(&Path) -> bool) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    fuzz(name, sound, |bytes| {
        fs::write(&path, bytes).unwrap();
        read(&path)
    });
}

/// One test: the peak of memory is that of the process.
#[test]
fn damaged_files_are_refused() {
    fuzz("idx", &[idx(), gzip(&idx())], |b| {
        idx_files::parse("f", b).is_ok()
    });
    fuzz("cifar", &[cifar10()[..3073].to_vec()], |b| {
        let hundred = cifar::parse("f", b, Classes::Hundred).is_ok();
        cifar::parse("f", b, Classes::Ten).is_ok() || hundred
    });
    fuzz("csv", &[CSV.into()], |b| {
        let table = csv::parse("f", b, &csv::Options::default());
        table.is_ok_and(|t| {
            let names = t.names().to_vec();
            names
                .iter()
                .for_each(|n| drop((t.column::<f32>(n), t.classes(n))));
            true
        })
    });
    fuzz("npy", &[npy::to_bytes(&matrix()).unwrap()], |b| {
        npy::parse("f", b).is_ok()
    });
    fuzz("npz", &[npz()], |b| npy::parse_npz("f", b).is_ok());
    at_path("jsonl", &[JSON_LINES.into()], |path| {
        let lines: JsonLines<serde_json::Value> = JsonLines::open(path).unwrap();
        lines.iter().all(|l| l.is_ok())
    });
    at_path(
        "lines",
        &[b"one\ntwo\r\n\nthree".to_vec(), "\u{e9}\n".into()],
        |path| Lines::open(path).unwrap().iter().all(|l| l.is_ok()),
    );
    at_path("tokens", &[(0..64).collect()], |path| {
        let file = TokenFile::open(path, TokenType::U32);
        file.is_ok_and(|f| f.next_token_windows(3).iter().all(|w| w.is_ok()))
    });
    at_path("tfrecord", &[tfrecord()], |path| {
        let records = TfRecords::open(path);
        records.is_ok_and(|r| r.iter().all(|r| r.is_ok()))
    });
    fuzz("example", &[EXAMPLE.into()], |b| Example::parse(b).is_ok());
    at_path("safetensors", &[safetensors()], |path| {
        let file = Safetensors::open(path);
        file.is_ok_and(|f| {
            f.names().all(|n| {
                let rows = f.rows(n).map(|r| r.iter().take(100).count());
                f.get(n).is_ok() | rows.is_ok()
            })
        })
    });
    #[cfg(feature = "images")]
    fuzz("images", &common::images(), |b| {
        ramie_data::readers::images::decode("f", b).is_ok()
    });
    #[cfg(feature = "parquet")]
    at_path("parquet", &common::parquet_and_arrow(), |path| {
        let table = ramie_data::readers::parquet::load(path);
        table.is_ok_and(|t| {
            let names: Vec<String> = t.names().map(String::from).collect();
            names.iter().for_each(|n| drop((t.column(n), t.texts(n))));
            true
        })
    });
    #[cfg(feature = "tokenizers")]
    fuzz("tokenizers", &[common::TOKENIZER.into()], |b| {
        let tokenizer = ramie_data::readers::tokenizers::Tokenizer::parse("f", b);
        tokenizer.is_ok_and(|t| t.encode("hello world").is_ok())
    });
}
