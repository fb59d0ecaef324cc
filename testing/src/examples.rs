//! Examples as programs.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the program of an example, and builds it if needed: `cargo test` builds all examples, but
/// a run of one test alone does not.
pub fn example(name: &str) -> PathBuf {
    example_with(name, "")
}

/// Returns the program of an example that needs Cargo features, such as `tokenizers`.
pub fn example_with(name: &str, features: &str) -> PathBuf {
    let this = std::env::current_exe().expect("this program");
    let build = this
        .parent()
        .and_then(Path::parent)
        .expect("the build folder");
    let program = build.join("examples").join(name);
    if !program.exists() {
        let status = Command::new(env!("CARGO"))
            .args([
                "build",
                "--example",
                name,
                "--features",
                features,
                "--target-dir",
            ])
            .arg(build.parent().expect("the target folder"))
            .status()
            .expect("cargo starts");
        assert!(status.success());
    }
    program
}
