//! Dumps of compiled programs (`RAMIE_DUMP_IR_TO`).

use super::Program;
use crate::{Error, Result};
use ramie_plugins::settings;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Writes the StableHLO of a program to the directory `RAMIE_DUMP_IR_TO`, if that variable is
/// set, as `<number>_<name>.mlir`, in the order of compilation.
///
/// # Errors
/// Returns an error if the directory or the file cannot be written.
pub(super) fn dump(program: &Program) -> Result<()> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    // Any path is valid, so `get` does not fail.
    let folder = FOLDER.get_or_init(|| settings::DUMP_IR_TO.get().ok().flatten());
    let Some(folder) = folder else {
        return Ok(());
    };
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let name: String = program
        .name
        .chars()
        .map(|c| if c.is_alphanumeric() { c } else { '_' })
        .collect();
    write(folder, &format!("{number:04}_{name}.mlir"), &program.text)
}

fn write(folder: &Path, name: &str, text: &str) -> Result<()> {
    let path = folder.join(name);
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(&path, text))
        .map_err(|e| Error::File {
            path,
            message: format!(
                "could not write the program: {e}\n  help: set RAMIE_DUMP_IR_TO to a writable \
                 directory, or unset it"
            ),
        })
}
