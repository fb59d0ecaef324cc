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
    let is_nan = jit(|x: Array| x.is_nan())(Array::from([f32::NAN]));
    println!("is_nan {}", is_nan.to_vec::<bool>()[0]);
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
    counts(&text, &errors)
}

fn counts(text: &str, errors: &str) -> (usize, usize) {
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

/// A folder for a cache. None for the linked backend, whose programs are not stored: compiling them takes
/// little longer than reading a file.
fn cache_folder() -> Option<tempfile::TempDir> {
    (!ramie_testing::is_linked()).then(|| tempfile::tempdir().expect("a folder"))
}

#[test]
fn a_second_process_compiles_nothing() {
    let Some(folder) = cache_folder() else { return };
    let path = folder.path().to_str().expect("text");
    let (compiled, loaded) = run(path);
    assert!(compiled > 0 && loaded == 0, "{compiled} {loaded}");
    assert_eq!(run(path), (0, compiled));
    assert_eq!(run("off"), (compiled, 0));
}

#[test]
fn corrupt_entries_are_replaced() {
    let Some(folder) = cache_folder() else { return };
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
    let Some(folder) = cache_folder() else { return };
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
    let Some(folder) = cache_folder() else { return };
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
    let expected =
        "RAMIE_COMPILATION_CACHE_MB is \"4 GB\"; expected the maximum size of the directory";
    assert!(errors.contains(expected), "{errors}");
}

/// Flags change what the plugin compiles, wherever it reads them from: with fast math
/// a NaN is not recognised.
#[test]
fn flags_of_the_environment_have_programs_of_their_own() {
    let Some(folder) = cache_folder() else { return };
    let path = folder.path().join("cache");
    let path = path.to_str().expect("text");
    let flags = "--xla_cpu_enable_fast_math=true --xla_cpu_fast_math_honor_nans=false";
    let file = folder.path().join("flags");
    std::fs::write(&file, flags).expect("write");
    let file = file.to_str().expect("text");
    let run = |variables: &[(&str, &str)]| {
        let (text, errors) = start(path, variables);
        (counts(&text, &errors), text.contains("is_nan true"))
    };
    let ((all, _), finds_nan) = run(&[("XLA_FLAGS", flags)]);
    assert!(all > 0 && !finds_nan, "fast math ignores NaN");
    assert_eq!(run(&[("XLA_FLAGS", flags)]), ((0, all), false));
    assert_eq!(run(&[]), ((all, 0), true), "nothing is left of the flags");
    assert_eq!(run(&[]), ((0, all), true));
    assert_eq!(run(&[("XLA_FLAGS", file)]), ((all, 0), false), "in a file");
    assert_eq!(run(&[("NPROC", "1")]), ((all, 0), true), "threads");
    let messages = [("TF_CPP_MIN_LOG_LEVEL", "3")];
    assert_eq!(run(&messages), ((0, all), true), "messages alone");
}

#[test]
fn exchanged_entries_are_compiled_anew() {
    let Some(folder) = cache_folder() else { return };
    let path = folder.path().to_str().expect("text");
    let (compiled, _) = run(path);
    let all = entries(folder.path());
    let aside = folder.path().join("aside");
    std::fs::rename(&all[0], &aside).expect("rename");
    std::fs::rename(&all[1], &all[0]).expect("rename");
    std::fs::rename(&aside, &all[1]).expect("rename");
    assert_eq!(run(path), (2, compiled - 2));
    assert_eq!(run(path), (0, compiled), "and replaced");
}

#[cfg(unix)]
#[test]
fn a_folder_that_others_can_change_is_not_used() {
    use std::os::unix::fs::PermissionsExt;
    let Some(folder) = cache_folder() else { return };
    let path = folder.path().to_str().expect("text");
    let (compiled, _) = run(path);
    let exposed = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(folder.path(), exposed).expect("set the rights");
    let (text, errors) = start(path, &[]);
    assert_eq!(counts(&text, &errors), (compiled, 0));
    let expected = format!(
        "ramie: the compilation cache is disabled: `{path}` is writable by its group and \
         all other users (mode 0777)"
    );
    assert_eq!(errors.matches(&expected).count(), 1, "{errors}");
    assert!(
        errors.contains(&format!("help: run `chmod go-w {path}`")),
        "{errors}"
    );
    assert_eq!(entries(folder.path()).len(), compiled, "nothing is written");
}

#[test]
fn settings_that_cannot_be_read_are_errors() {
    for (name, value) in [
        ("RAMIE_NUM_CPU_DEVICES", "many"),
        ("RAMIE_DEBUG_NANS", "maybe"),
        ("RAMIE_CHECK_MEMORY", "2"),
        ("RAMIE_LOG_COMPILES", "x"),
        ("RAMIE_PLATFORM", "gpu"),
        ("RAMIE_PROCESS_ID", "first"),
    ] {
        let (text, errors) = start("off", &[(name, value)]);
        assert!(!text.contains("compiled "), "{text}");
        let expected = format!("{name} is {value:?}; expected ");
        assert!(errors.contains(&expected), "{errors}");
    }
}
