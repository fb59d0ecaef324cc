//! The persistent compilation cache between processes.

use ramie_core::{Array, DType, compilation_stats, jit};
use std::path::Path;
use std::process::Command;

/// What the other processes of these tests run; alone it does nothing.
#[test]
fn child() {
    if std::env::var_os("RAMIE_TEST_CHILD").is_none() {
        return;
    }
    let f = jit(|x: Array| (&x * 3.0).sin());
    f(Array::zeros(&[7], DType::F32).exp()).block_until_ready();
    let stats = compilation_stats();
    println!("compiled {} loaded {}", stats.compiled, stats.loaded);
}

/// A child's standard output and standard error.
fn start(folder: &str, variables: &[(&str, &str)]) -> (String, String) {
    let out = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "child", "--nocapture"])
        .env("RAMIE_TEST_CHILD", "1")
        .env("RAMIE_COMPILATION_CACHE", folder)
        .envs(variables.iter().copied())
        .output()
        .expect("the child starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&out.stdout), text(&out.stderr))
}

/// How many programs a child compiled, and how many it loaded.
fn run(folder: &str) -> (usize, usize) {
    let (text, errors) = start(folder, &[]);
    let line = text
        .lines()
        .find_map(|l| l.split("compiled ").nth(1))
        .unwrap_or_else(|| panic!("no counts in {text}\n{errors}"));
    let words: Vec<&str> = line.split_whitespace().collect();
    (
        words[0].parse().expect("a count"),
        words[2].parse().expect("a count"),
    )
}

fn entries(folder: &Path) -> Vec<std::path::PathBuf> {
    let listing = std::fs::read_dir(folder).expect("the folder");
    listing.flatten().map(|e| e.path()).collect()
}

#[test]
fn a_second_process_compiles_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().to_str().expect("text");
    let (compiled, loaded) = run(path);
    assert!(compiled > 0 && loaded == 0, "{compiled} {loaded}");
    assert_eq!(run(path), (0, compiled));
    assert_eq!(run("off"), (compiled, 0));
}

#[test]
fn corrupt_entries_are_replaced() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().to_str().expect("text");
    let (compiled, _) = run(path);
    for (i, entry) in entries(folder.path()).iter().enumerate() {
        let mut bytes = std::fs::read(entry).expect("the entry");
        if i % 2 == 0 {
            bytes.truncate(bytes.len() / 2);
        } else {
            let middle = bytes.len() / 2;
            bytes[middle] ^= 0x40;
        }
        std::fs::write(entry, bytes).expect("write");
    }
    assert_eq!(
        run(path),
        (compiled, 0),
        "damaged entries are compiled anew"
    );
    assert_eq!(run(path), (0, compiled), "and replaced");
}

#[test]
fn processes_may_start_together() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().to_str().expect("text");
    let counts: Vec<(usize, usize)> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..4).map(|_| scope.spawn(|| run(path))).collect();
        handles
            .into_iter()
            .map(|h| h.join().expect("ran"))
            .collect()
    });
    let total = counts[0].0 + counts[0].1;
    assert!(counts.iter().all(|(c, l)| c + l == total), "{counts:?}");
    assert_eq!(run(path), (0, total));
    assert!(
        entries(folder.path())
            .iter()
            .all(|e| e.file_name().is_some_and(|n| n.len() == 64)),
        "no unfinished file stays"
    );
}

#[test]
fn a_folder_that_cannot_be_written_is_no_failure() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    std::fs::write(&file, "in the way").expect("write");
    let (compiled, loaded) = run(file.to_str().expect("text"));
    assert!(compiled > 0 && loaded == 0);
}

#[test]
fn the_log_tells_compiled_from_loaded() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().to_str().expect("text");
    let log = [("RAMIE_LOG_COMPILES", "1")];
    let (_, first) = start(path, &log);
    assert!(first.contains("ramie: compiled `<lambda>` in "), "{first}");
    let (_, second) = start(path, &log);
    let loaded = "ramie: loaded from the cache: `<lambda>` in ";
    assert!(second.contains(loaded), "{second}");
    assert!(!second.contains("compiled `"), "{second}");
}

#[test]
fn a_limit_that_is_no_number_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().to_str().expect("text");
    let (_, errors) = start(path, &[("RAMIE_COMPILATION_CACHE_MB", "4 GB")]);
    let expected = "RAMIE_COMPILATION_CACHE_MB is \"4 GB\"; expected how many megabytes";
    assert!(errors.contains(expected), "{errors}");
}
