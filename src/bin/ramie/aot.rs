//! The command `ramie aot`.

use std::error::Error;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use ramie::aot::{CompiledFor, Target, compile_module};
use ramie::core::files::{self, WithHelp};
use ramie::export::Exported;

pub(crate) fn run(targets: &[Target], files: &[PathBuf]) -> Result<(), Box<dyn Error>> {
    for file in files {
        let bytes = files::read(file)
            .map_err(|e| format!("{}: cannot be read: {}", file.display(), WithHelp(&e)))?;
        for target in targets {
            let compiled = compile(file, &bytes, target)
                .map_err(|e| format!("{} for {target}: {e}", file.display()))?;
            writeln!(io::stdout(), "{compiled}")?;
        }
    }
    Ok(())
}

/// Magic bytes of MLIR bytecode.
const BINARY: &[u8] = b"ML\xefR";

fn compile(file: &Path, bytes: &[u8], target: &Target) -> ramie::Result<CompiledFor> {
    let is_module = bytes.starts_with(BINARY) || std::str::from_utf8(bytes).is_ok();
    if !is_module {
        return Exported::deserialize(bytes)?.compile_for(target);
    }
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    compile_module(&name, bytes, target)
}
