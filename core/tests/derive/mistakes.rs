//! The compiler's messages for each file of `ui/`, compared with the recorded text beside it.

use ramie_core::text::without_modules;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

/// Set to `overwrite`, records the messages instead of comparing them.
const RECORD: &str = "RAMIE_TEST_UI";

/// The newest library in `deps` whose file name starts with `prefix` and ends with `ending`.
fn library(deps: &Path, prefix: &str, ending: &str) -> PathBuf {
    let built = fs::read_dir(deps).expect("the build directory");
    let paths = built.map(|entry| entry.expect("an entry").path());
    let modified = |path: &PathBuf| {
        fs::metadata(path)
            .and_then(|m| m.modified())
            .unwrap_or(SystemTime::UNIX_EPOCH)
    };
    paths
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(prefix) && name.ends_with(ending)
        })
        .max_by_key(modified)
        .unwrap_or_else(|| panic!("no {prefix}*{ending} in {}", deps.display()))
}

/// What the compiler prints for a file, without its closing lines.
fn messages(deps: &Path, file: &str) -> String {
    let extern_crate = |name: &str, path: PathBuf| format!("{name}={}", path.display());
    let core = library(deps, "libramie_core-", ".rlib");
    let derive = library(deps, "libramie_derive-", std::env::consts::DLL_SUFFIX);
    let out = tempfile::tempdir().expect("a temporary directory");
    let output = Command::new(std::env::var_os("RUSTC").unwrap_or("rustc".into()))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("CARGO_MANIFEST_DIR", env!("CARGO_MANIFEST_DIR"))
        .args(["--edition=2024", "--crate-type=bin", "--emit=metadata"])
        .arg("--out-dir")
        .arg(out.path())
        .arg("-L")
        .arg(format!("dependency={}", deps.display()))
        .args(["--extern", &extern_crate("ramie_core", core)])
        .args(["--extern", &extern_crate("ramie_derive", derive)])
        .arg(file)
        .output()
        .expect("rustc runs");
    assert!(!output.status.success(), "{file} compiles");
    let text = String::from_utf8(output.stderr).expect("UTF-8");
    // Whether the compiler writes modules depends on the public names of all dependencies.
    let text = without_modules(&text);
    let closing = [
        "  = note: the full name for the type has been written to",
        "  = note: consider using `--verbose`",
        "error: aborting due to",
        "For more information about",
        "Some errors have detailed",
    ];
    // Line numbers of this crate change often, and files of long types have random names.
    let skipped =
        |line: &str| line.contains(" core/src/") || closing.iter().any(|c| line.starts_with(c));
    let lines = text.lines().filter(|line| !skipped(line));
    lines.collect::<Vec<_>>().join("\n").trim_end().to_owned() + "\n"
}

#[test]
fn messages_point_at_the_mistakes() {
    let program = std::env::current_exe().expect("this program");
    let deps = program.parent().expect("the build directory");
    for name in ["attributes", "fields", "jit", "jit_captures", "operands"] {
        let file = format!("tests/derive/ui/{name}.rs");
        let recorded = Path::new(&file).with_extension("stderr");
        let got = messages(deps, &file);
        if std::env::var(RECORD).as_deref() == Ok("overwrite") {
            fs::write(&recorded, &got).expect("a writable directory");
        }
        let expected = fs::read_to_string(&recorded).expect("recorded messages");
        assert_eq!(got, expected, "set {RECORD}=overwrite to record the change");
    }
}
