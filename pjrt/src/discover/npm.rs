//! Downloads with npm, and extraction of the required files of a tarball.

use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use flate2::read::GzDecoder;

use super::catalog::Wheel;
use super::install::last_lines;
use super::manifest::InstalledFile;
use super::wheel::{bad_archive, expect_inside, expect_kept, is_kept, write_file};
use super::{Environment, InstallError};

/// Size of the blocks of an archive.
const BLOCK: usize = 512;

/// Lets npm, in its ordinary configuration, fetch one tarball into a folder.
pub(super) fn download(
    env: &Environment,
    tarball: &Wheel,
    folder: &Path,
) -> Result<PathBuf, InstallError> {
    fs::create_dir_all(folder).map_err(InstallError::cache("create the folder", folder))?;
    let package = format!("{}@{}", tarball.name, tarball.version);
    let mut command = Command::new("npm");
    command
        .args(["pack", "--ignore-scripts", "--silent", "--pack-destination"])
        .arg(folder)
        .arg(&package)
        .env_clear()
        .envs(env.vars())
        .stdin(Stdio::null());
    tracing::debug!(?command, "download");
    let output = match command.output() {
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            return Err(InstallError::NoNpm { package });
        }
        other => other,
    };
    let failed = |status: String, output: Vec<String>| InstallError::Npm {
        command: format!("npm pack {package}"),
        status,
        output,
    };
    let output = output.map_err(|e| failed(format!("it cannot be started: {e}"), Vec::new()))?;
    let lines = last_lines(&output.stdout, &output.stderr);
    if !output.status.success() {
        return Err(failed(output.status.to_string(), lines));
    }
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut tarballs = files.map(|entry| entry.path());
    let tarball = tarballs.find(|path| path.extension().is_some_and(|ending| ending == "tgz"));
    tarball.ok_or_else(|| failed("it succeeded, but left no tarball".to_owned(), lines))
}

/// Extracts the files selected by `tarball.keep` from the archive at `path` into `folder`.
pub(super) fn unpack(
    path: &Path,
    tarball: &Wheel,
    folder: &Path,
) -> Result<Vec<InstalledFile>, InstallError> {
    let bad = bad_archive(path);
    let file = File::open(path).map_err(InstallError::cache("read", path))?;
    let mut archive = GzDecoder::new(BufReader::new(file));
    let mut files = Vec::new();
    while let Some(entry) = Entry::read(&mut archive).map_err(&bad)? {
        expect_inside(&entry.name).map_err(&bad)?;
        let mut contents = (&mut archive).take(entry.bytes);
        match entry.kind {
            b'0' | 0 if is_kept(&entry.name, tarball) => {
                let (name, bytes) = (&entry.name, entry.bytes);
                files.push(write_file(&mut contents, bytes, 0o644, name, folder, bad)?);
            }
            b'1' | b'2' => return Err(bad(format!("`{}` is a link", entry.name))),
            _ => {}
        }
        // The rest, up to the end of the last block.
        let rest = contents.limit() + entry.bytes.next_multiple_of(BLOCK as u64) - entry.bytes;
        let skipped = io::copy(&mut (&mut archive).take(rest), &mut io::sink());
        if skipped.map_err(|e| bad(e.to_string()))? != rest {
            return Err(bad("it ends within a file".to_owned()));
        }
    }
    expect_kept(&files, tarball).map_err(&bad)?;
    Ok(files)
}

/// The header of a file in an archive.
struct Entry {
    name: String,
    bytes: u64,
    kind: u8,
}

impl Entry {
    /// Reads the next header; `None` at the end of the archive.
    fn read(archive: &mut impl Read) -> Result<Option<Entry>, String> {
        let mut header = [0; BLOCK];
        archive.read_exact(&mut header).map_err(|e| e.to_string())?;
        if header == [0; BLOCK] {
            return Ok(None);
        }
        let text = |from: usize, to: usize| {
            let field = header[from..to].split(|byte| *byte == 0).next();
            String::from_utf8_lossy(field.unwrap_or_default()).into_owned()
        };
        let (name, prefix, bytes) = (text(0, 100), text(345, 500), text(124, 136));
        let bytes = u64::from_str_radix(bytes.trim(), 8);
        Ok(Some(Entry {
            bytes: bytes.map_err(|_| format!("`{name}` has no size"))?,
            name: if prefix.is_empty() {
                name
            } else {
                format!("{prefix}/{name}")
            },
            kind: header[156],
        }))
    }
}
