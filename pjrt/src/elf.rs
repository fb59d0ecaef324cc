//! Check that a shared library is complete.
//!
//! The dynamic loader maps a library according to its headers. If the file ends before the
//! segments that they describe, for example after an interrupted copy, accessing these kills the
//! process with a signal.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

const HEADER: usize = 64;
/// The type of a segment that is loaded.
const LOAD: u32 = 1;

/// Checks that the file is as long as its headers require. Files that are not 64-bit
/// little-endian ELF are left to the loader, which rejects them by their first bytes.
///
/// # Errors
/// Returns a description of what is missing.
pub(crate) fn check_whole(path: &Path) -> Result<(), String> {
    let mut file = File::open(path).map_err(|e| e.to_string())?;
    let length = file.metadata().map_err(|e| e.to_string())?.len();
    match described(&mut file) {
        Ok(None) => Ok(()),
        Ok(Some(needed)) if length >= needed => Ok(()),
        Ok(Some(needed)) => Err(incomplete(length, &format!("{needed} bytes"))),
        Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => {
            Err(incomplete(length, "longer headers"))
        }
        Err(e) => Err(e.to_string()),
    }
}

fn incomplete(length: u64, headers: &str) -> String {
    format!(
        "the file is incomplete: it has {length} bytes, but its first bytes describe {headers}; \
         perhaps a copy or download was interrupted"
    )
}

/// Returns the minimum length of the file according to its headers; `None` for other formats.
fn described(file: &mut File) -> io::Result<Option<u64>> {
    let mut start = [0; 6];
    let read = file.read(&mut start)?;
    // Magic number, 64 bits, little-endian.
    if read < start.len() || start != *b"\x7fELF\x02\x01" {
        return Ok(None);
    }
    let mut header = [0; HEADER];
    file.seek(SeekFrom::Start(0))?;
    file.read_exact(&mut header)?;
    let (programs, program_size, program_count) =
        (word(&header, 32), half(&header, 54), half(&header, 56));
    let (sections, section_size, section_count) =
        (word(&header, 40), half(&header, 58), half(&header, 60));
    let table = |start: u64, size: u64, count: u64| start.saturating_add(size * count);
    let mut needed = table(programs, program_size, program_count).max(table(
        sections,
        section_size,
        section_count,
    ));
    file.seek(SeekFrom::Start(programs))?;
    for _ in 0..program_count {
        let mut program = vec![0; program_size.max(56) as usize];
        file.read_exact(&mut program)?;
        if u32::from_le_bytes([program[0], program[1], program[2], program[3]]) == LOAD {
            needed = needed.max(word(&program, 8).saturating_add(word(&program, 32)));
        }
    }
    Ok(Some(needed))
}

fn word(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(word)
}

fn half(bytes: &[u8], at: usize) -> u64 {
    u64::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]))
}

#[cfg(all(test, target_os = "linux", target_pointer_width = "64"))]
mod tests {
    use super::*;

    #[test]
    fn a_library_is_whole_and_no_beginning_of_it_is() {
        let library = std::env::current_exe().unwrap();
        check_whole(&library).unwrap();
        let bytes = std::fs::read(&library).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let cut = folder.path().join("cut.so");
        // The test executable ends with its section table.
        for length in [6, 63, 64, 200, bytes.len() / 2, bytes.len() - 1] {
            std::fs::write(&cut, &bytes[..length]).unwrap();
            let problem = check_whole(&cut).unwrap_err();
            let expected = format!("incomplete: it has {length} bytes");
            assert!(problem.contains(&expected), "{problem}");
        }
        for other in [
            &b""[..],
            b"\x7fEL",
            b"not a library",
            b"\x7fELF\x01\x01 32 bits",
        ] {
            std::fs::write(&cut, other).unwrap();
            check_whole(&cut).unwrap();
        }
    }
}
