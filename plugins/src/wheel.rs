//! Extraction of the required files of a wheel, which is a ZIP archive.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Component, Path};

use sha2::{Digest, Sha256};
use zip::ZipArchive;
use zip::read::ZipFile;

use crate::catalog::Wheel;
use crate::error::InstallError;
use crate::manifest::{InstalledFile, hex};

/// Extracts the files selected by `wheel.keep` from the archive at `path` into `folder`.
///
/// If an archive contains a path outside of the directory, or a link, the whole archive is
/// rejected: no wheel contains either, and a link could redirect a later file out of the
/// directory.
pub(crate) fn unpack(
    path: &Path,
    wheel: &Wheel,
    folder: &Path,
) -> Result<Vec<InstalledFile>, InstallError> {
    let bad = |problem: String| InstallError::BadWheel {
        wheel: (path.file_name().unwrap_or_default().to_string_lossy()).into_owned(),
        problem,
    };
    let file = File::open(path).map_err(InstallError::cache("read", path))?;
    let mut archive = ZipArchive::new(file).map_err(|error| bad(error.to_string()))?;
    let mut files = Vec::new();
    for index in 0..archive.len() {
        let mut entry = archive
            .by_index(index)
            .map_err(|error| bad(error.to_string()))?;
        let name = entry
            .name()
            .map_err(|error| bad(error.to_string()))?
            .into_owned();
        if !stays_inside(&name) {
            return Err(bad(format!("`{name}` is outside of its directory")));
        }
        if entry.is_symlink() {
            return Err(bad(format!("`{name}` is a link")));
        }
        if entry.is_dir() || !is_kept(&name, wheel) {
            continue;
        }
        files.push(write_entry(&mut entry, &name, folder, bad)?);
    }
    // If no file matches an entry of `keep`, the wheel is not the expected one.
    let is_missing = |prefix: &&&str| !files.iter().any(|file| file.path.starts_with(**prefix));
    match wheel.keep.iter().find(is_missing) {
        Some(prefix) => Err(bad(format!("it does not contain `{prefix}`"))),
        None => Ok(files),
    }
}

/// Returns `true` if every component of the path is a valid file name on all operating systems.
fn stays_inside(name: &str) -> bool {
    !name.contains(['\\', ':', '\0'])
        && Path::new(name)
            .components()
            .all(|part| matches!(part, Component::Normal(_)))
}

fn is_kept(name: &str, wheel: &Wheel) -> bool {
    wheel.keep.iter().any(|prefix| name.starts_with(prefix))
        && !name.ends_with(".py")
        && !name.ends_with(".a")
}

fn write_entry<R: Read>(
    entry: &mut ZipFile<'_, R>,
    name: &str,
    folder: &Path,
    bad: impl Fn(String) -> InstallError,
) -> Result<InstalledFile, InstallError> {
    let target = folder.join(name);
    let parent = target.parent().unwrap_or(folder);
    fs::create_dir_all(parent).map_err(InstallError::cache("create the folder", parent))?;
    let file = File::create_new(&target).map_err(InstallError::cache("create", &target))?;
    let mut writer = Hashing {
        file: BufWriter::with_capacity(1 << 18, file),
        hasher: Sha256::new(),
        failure: None,
    };
    // Reads no more than the declared size, whatever the compressed data expands to.
    let bytes = entry.size();
    let copied = io::copy(&mut entry.take(bytes + 1), &mut writer);
    if let Some(source) = writer.failure.take() {
        return Err(InstallError::cache("write", &target)(source));
    }
    match copied {
        Err(error) => return Err(bad(format!("`{name}`: {error}"))),
        Ok(count) if count != bytes => {
            return Err(bad(format!(
                "`{name}` does not have the declared size of {bytes} bytes"
            )));
        }
        Ok(_) => {}
    }
    let written = (|| {
        let file = writer
            .file
            .into_inner()
            .map_err(|error| error.into_error())?;
        set_mode(&file, entry.unix_mode().unwrap_or(0), name)?;
        // Without this, a crash could leave a file of the right size without contents.
        file.sync_all()?;
        file.metadata()
    })();
    let meta = written.map_err(InstallError::cache("write", &target))?;
    Ok(InstalledFile::describe(name, &meta, hex(writer.hasher)))
}

/// Sets the file mode. Programs need the execute bit, which some wheels and extraction tools
/// lose.
#[cfg(unix)]
fn set_mode(file: &File, mode: u32, name: &str) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let program = mode & 0o111 != 0 || name.contains("/bin/");
    file.set_permissions(fs::Permissions::from_mode(if program {
        0o755
    } else {
        0o644
    }))
}

#[cfg(not(unix))]
fn set_mode(_: &File, _: u32, _: &str) -> io::Result<()> {
    Ok(())
}

/// A writer that computes the hash, and stores its own error separately from that of the reader.
struct Hashing {
    file: BufWriter<File>,
    hasher: Sha256,
    failure: Option<io::Error>,
}

impl Write for Hashing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Err(error) = self.file.write_all(bytes) {
            self.failure = Some(error);
            return Err(io::Error::other("write failed"));
        }
        self.hasher.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
