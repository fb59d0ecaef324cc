//! What small parts in msgpack take of memory.

use ramie_checkpoint::serialization;
use std::process::Command;

/// Set in the process that measures its memory, to what it reads.
const SMALL_PARTS: &str = "RAMIE_TEST_SMALL_PARTS";

/// The largest memory that this process has had, in bytes.
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap();
    let kilobytes = line.split_whitespace().nth(1).unwrap();
    1024 * kilobytes.parse::<usize>().unwrap()
}

/// 10 MB of the smallest parts of every kind.
fn small_parts(kind: &str) -> Vec<u8> {
    const LENGTH: usize = 10_000_000;
    let list = |part: &[u8]| {
        let count = LENGTH / part.len();
        let head = [0xdd].into_iter().chain((count as u32).to_be_bytes());
        head.chain(part.repeat(count)).collect()
    };
    match kind {
        "nulls" => list(&[0xc0]),
        "empty texts" => list(&[0xa0]),
        "short texts" => list(&[0xa1, b'x']),
        "empty lists" => list(&[0x90]),
        "lists of one" => list(&[0x91, 0xc0]),
        "empty dictionaries" => list(&[0x80]),
        "dictionaries of one" => list(&[0x81, 0xa1, b'a', 0xc0]),
        "bytes" => list(&[0xc4, 0]),
        // Shape [], "int8", one byte.
        "arrays" => list(&[
            0xc7, 10, 1, 0x93, 0x90, 0xa4, b'i', b'n', b't', b'8', 0xc4, 1, 7,
        ]),
        "entries" => {
            let head = [0xdf].into_iter().chain(1_250_000u32.to_be_bytes());
            let entry = |i: u32| {
                let [_, a, b, c] = i.to_be_bytes();
                // A text of six hexadecimal digits.
                let name = format!("{a:02x}{b:02x}{c:02x}");
                [vec![0xa6], name.into_bytes(), vec![0xc0]].concat()
            };
            head.chain((0..1_250_000).flat_map(entry)).collect()
        }
        other => unreachable!("{other}"),
    }
}

/// Ten megabytes of nulls took 625 MB.
#[test]
fn memory_is_bounded_by_the_number_of_bytes() {
    if let Ok(kind) = std::env::var(SMALL_PARTS) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("parts");
        std::fs::write(&path, small_parts(&kind)).unwrap();
        let before = peak();
        let loaded = serialization::load_abstract(&path);
        let taken = peak() - before;
        drop(loaded);
        println!("{taken} bytes");
        return;
    }
    for kind in [
        "nulls",
        "empty texts",
        "short texts",
        "empty lists",
        "lists of one",
        "empty dictionaries",
        "dictionaries of one",
        "bytes",
        "arrays",
        "entries",
    ] {
        let output = Command::new(std::env::current_exe().unwrap())
            .args([
                "serialization::memory::memory_is_bounded_by_the_number_of_bytes",
                "--exact",
                "--nocapture",
            ])
            .env(SMALL_PARTS, kind)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let taken = text.lines().find_map(|line| line.strip_suffix(" bytes"));
        let taken: usize = taken.expect(&text).parse().unwrap();
        println!("{kind}: {} MB", taken / 1_000_000);
        assert!(taken < 200_000_000, "{kind}: {taken} bytes");
    }
}
