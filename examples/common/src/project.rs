//! The text of this project, for examples that learn text.

use super::Result;
use ramie::data::readers::text;
use std::fs;
use std::path::{Path, PathBuf};

/// Returns the text of the files of this project below `folders` whose extension is `extension`, in
/// the order of their paths, with an empty line between files.
///
/// # Errors
/// Returns an error if a folder or a file cannot be read.
pub fn project_text(folders: &[&str], extension: &str) -> Result<String> {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let mut files = Vec::new();
    for folder in folders {
        collect(&root.join(folder), extension, &mut files)
            .map_err(|e| format!("the project's files: {e}\n  help: pass a file with --text"))?;
    }
    files.sort();
    let texts = files.iter().map(text::load);
    Ok(texts
        .collect::<std::result::Result<Vec<_>, _>>()?
        .join("\n"))
}

fn collect(folder: &Path, extension: &str, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, extension, files)?;
        } else if path.extension().is_some_and(|e| e == extension) {
            files.push(path);
        }
    }
    Ok(())
}
