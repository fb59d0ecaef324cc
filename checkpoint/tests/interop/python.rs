//! Python, with Orbax or a part of it: the other side of what is written and read here.

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// The Python that `RAMIE_ORBAX_PYTHON` names.
pub struct Python(OsString);

impl Python {
    /// Finds it; where there is none, that is said, with what it has to have.
    pub fn with(packages: &str) -> Option<Python> {
        let python = std::env::var_os("RAMIE_ORBAX_PYTHON");
        if python.is_none() {
            println!("skipped: RAMIE_ORBAX_PYTHON does not name a Python with {packages}");
        }
        python.map(Python)
    }

    /// Runs a script, whose path is that from this crate, and returns what it prints.
    pub fn run(&self, script: &str, arguments: &[&str], input: &[u8]) -> Vec<u8> {
        let mut child = Command::new(&self.0)
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join(script))
            .args(arguments)
            .env("JAX_PLATFORMS", "cpu")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("RAMIE_ORBAX_PYTHON is a Python");
        let mut stdin = child.stdin.take().unwrap();
        let output = std::thread::scope(|scope| {
            scope.spawn(move || stdin.write_all(input));
            child.wait_with_output().unwrap()
        });
        let text = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success(),
            "{script} {arguments:?} failed: {text}\n{errors}"
        );
        output.stdout
    }
}
