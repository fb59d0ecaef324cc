//! Opening of external files, of which only regular files are accepted, and atomic replacement of files.
//!
//! Opening a named pipe blocks until another process writes to it, and a device such as
//! `/dev/zero` is infinite. All readers of datasets and checkpoints open files with this module.

pub mod gguf;
mod problem;
pub mod safetensors;

pub use problem::{DAMAGED, Message, Problem, WithHelp};

use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;

/// Opens a regular file for reading.
///
/// # Errors
/// Returns an error if the file does not exist or cannot be opened, if it is a directory
/// ([`ErrorKind::IsADirectory`]), or if it is a named pipe, a socket or a device
/// ([`ErrorKind::InvalidInput`]).
pub fn open(path: impl AsRef<Path>) -> io::Result<File> {
    let path = path.as_ref();
    // Checked before opening, which blocks on a named pipe.
    check(&path.metadata()?)?;
    let file = File::open(path)?;
    // The name may refer to another file by now.
    check(&file.metadata()?)?;
    Ok(file)
}

/// Reads a whole regular file.
///
/// # Errors
/// Returns an error in the same cases as [`open`], and if the file cannot be read.
pub fn read(path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    let mut file = open(path)?;
    let length = usize::try_from(file.metadata()?.len()).unwrap_or(0);
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(length)?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Writes a whole file, replacing an existing one.
///
/// The bytes go to a temporary file in the same directory, which is then renamed. If writing fails or
/// the program is killed, an existing file is unchanged.
///
/// # Errors
/// Returns an error if the file cannot be written.
pub fn replace(path: impl AsRef<Path>, bytes: &[u8]) -> io::Result<()> {
    let path = path.as_ref();
    // The path of the temporary file would hide that of the caller.
    let mut file = temporary_beside(path).map_err(|e| io::Error::from(e.kind()))?;
    file.write_all(bytes)?;
    file.persist(path).map_err(|e| e.error)?;
    Ok(())
}

/// Creates a temporary file that can be renamed to a path: it is in the same directory and readable by others, as far
/// as the process's umask allows. It is deleted when it is dropped.
///
/// # Errors
/// Returns an error if the file cannot be created.
pub fn temporary_beside(path: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut prefix = std::ffi::OsString::from(".");
    prefix.push(path.file_name().unwrap_or_default());
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(".tmp");
    #[cfg(unix)]
    let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o666);
    #[cfg(unix)]
    builder.permissions(permissions);
    builder.tempfile_in(parent(path))
}

/// Returns the number of this process, for the names of files. WebAssembly has no processes: there it is 0.
pub fn process_id() -> u32 {
    if cfg!(target_family = "wasm") {
        0
    } else {
        std::process::id()
    }
}

/// Returns the directory of a path, `.` for a name alone.
pub fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// Reads bytes at an offset, without the shared cursor of the file.
///
/// # Errors
/// Returns an error if the file cannot be read or ends earlier.
#[cfg(unix)]
pub fn read_exact_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, offset)
}

/// Reads bytes at an offset, without the shared cursor of the file.
///
/// # Errors
/// Returns an error if the file cannot be read or ends earlier.
#[cfg(windows)]
pub fn read_exact_at(file: &File, mut bytes: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, bytes, offset)? {
            0 => return Err(ErrorKind::UnexpectedEof.into()),
            read => {
                bytes = &mut bytes[read..];
                offset += read as u64;
            }
        }
    }
    Ok(())
}

/// Reads bytes at an offset. Moves the file's cursor, which no other thread uses: WebAssembly has one.
///
/// # Errors
/// Returns an error if the file cannot be read or ends earlier.
#[cfg(target_family = "wasm")]
pub fn read_exact_at(mut file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    use std::io::{Read, Seek, SeekFrom};
    file.seek(SeekFrom::Start(offset))?;
    file.read_exact(bytes)
}

fn check(metadata: &Metadata) -> io::Result<()> {
    let kind = metadata.file_type();
    if kind.is_file() {
        return Ok(());
    }
    if kind.is_dir() {
        let what = "it is a directory, but a file is expected";
        return Err(io::Error::new(ErrorKind::IsADirectory, what));
    }
    #[cfg(unix)]
    let what = {
        use std::os::unix::fs::FileTypeExt;
        match () {
            _ if kind.is_fifo() => "a named pipe",
            _ if kind.is_socket() => "a socket",
            _ => "a device",
        }
    };
    #[cfg(not(unix))]
    let what = "something else";
    Err(io::Error::new(
        ErrorKind::InvalidInput,
        format!("it is {what}, but only regular files are supported"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_and_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let [path, link] = ["file", "link"].map(|name| folder.path().join(name));
        replace(&path, b"old").unwrap();
        // A second name of the file, as an interrupted write would leave it.
        std::fs::hard_link(&path, &link).unwrap();
        replace(&path, b"new").unwrap();
        assert_eq!(read(&path).unwrap(), b"new");
        assert_eq!(read(&link).unwrap(), b"old");
        let error = replace(folder.path().join("none/file"), b"new").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn only_regular_files_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let file = folder.join("file");
        std::fs::write(&file, "text").unwrap();
        assert_eq!(read(&file).unwrap(), b"text");
        assert_eq!(read(folder).unwrap_err().kind(), ErrorKind::IsADirectory);
        let missing = read(folder.join("missing")).unwrap_err();
        assert_eq!(missing.kind(), ErrorKind::NotFound);
        #[cfg(unix)]
        {
            let said = |path: &Path| read(path).unwrap_err().to_string();
            let device = "it is a device, but only regular files are supported";
            assert_eq!(said(Path::new("/dev/zero")), device);
            let pipe = folder.join("pipe");
            let made = std::process::Command::new("mkfifo").arg(&pipe).status();
            assert!(made.unwrap().success());
            let expected = "it is a named pipe, but only regular files are supported";
            assert_eq!(said(&pipe), expected);
            let link = folder.join("link");
            std::os::unix::fs::symlink(&pipe, &link).unwrap();
            assert_eq!(said(&link), expected);
            let _socket = std::os::unix::net::UnixListener::bind(folder.join("socket")).unwrap();
            assert!(said(&folder.join("socket")).starts_with("it is a socket"));
        }
    }
}
