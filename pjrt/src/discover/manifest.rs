//! What an installation in the user cache consists of, so that a start can trust it without
//! reading hundreds of megabytes: each file with its size, time of change and SHA-256.

use std::fs::{self, File, Metadata};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::catalog::Release;

const FILE: &str = "manifest.json";
/// Raised when the meaning of a manifest changes: older installations are then replaced.
const FORMAT: u32 = 1;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Manifest {
    format: u32,
    /// The SHA-256 of each wheel, in the release's order.
    wheels: Vec<String>,
    files: Vec<InstalledFile>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct InstalledFile {
    /// Relative to the installation's folder.
    pub path: String,
    pub bytes: u64,
    /// Nanoseconds since 1970.
    pub modified: u64,
    pub sha256: String,
}

/// The state of a release in the user cache.
pub(super) enum Installation {
    Absent,
    /// Whole: here is the plugin's file.
    Whole(PathBuf),
    /// Present, and not usable for this reason.
    Broken(String),
}

impl Manifest {
    pub(super) fn new(release: &Release, files: Vec<InstalledFile>) -> Self {
        Manifest {
            format: FORMAT,
            wheels: wheels(release),
            files,
        }
    }

    /// Writes the manifest into `folder`, replacing one that is there in a single step.
    pub(super) fn write(&self, folder: &Path) -> io::Result<()> {
        let mut file = tempfile::Builder::new()
            .prefix(".manifest-")
            .tempfile_in(folder)?;
        serde_json::to_writer(&mut file, self)?;
        file.flush()?;
        file.as_file().sync_all()?;
        file.persist(folder.join(FILE))?;
        Ok(())
    }
}

/// Whether `folder` holds `release`, whole. Costs a `stat` for each file; contents are read only
/// when a file's time of change is not the recorded one, as after copying the cache.
pub(super) fn check(folder: &Path, release: &Release) -> Installation {
    let text = match fs::read_to_string(folder.join(FILE)) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound && !folder.exists() => {
            return Installation::Absent;
        }
        Err(error) => return Installation::Broken(format!("its {FILE} cannot be read: {error}")),
    };
    let mut manifest: Manifest = match serde_json::from_str(&text) {
        Ok(manifest) => manifest,
        Err(error) => return Installation::Broken(format!("its {FILE} is damaged: {error}")),
    };
    if manifest.format != FORMAT || manifest.wheels != wheels(release) {
        return Installation::Broken("it was installed from other wheels".to_owned());
    }
    if !manifest
        .files
        .iter()
        .any(|file| file.path == release.library)
    {
        return Installation::Broken(format!("its {FILE} lists no {}", release.library));
    }
    let mut touched = false;
    for file in &mut manifest.files {
        match file.check(folder) {
            Ok(false) => {}
            Ok(true) => touched = true,
            Err(problem) => return Installation::Broken(format!("{} {problem}", file.path)),
        }
    }
    if touched && let Err(error) = manifest.write(folder) {
        // Only the next start's speed depends on it.
        tracing::debug!(folder = %folder.display(), %error, "cannot refresh the manifest");
    }
    Installation::Whole(folder.join(release.library))
}

impl InstalledFile {
    /// Describes a file that was just written.
    pub(super) fn describe(path: &str, meta: &Metadata, sha256: String) -> Self {
        InstalledFile {
            path: path.to_owned(),
            bytes: meta.len(),
            modified: modified(meta),
            sha256,
        }
    }

    /// Whether the file had to be read to be trusted; its new time of change is then recorded.
    fn check(&mut self, folder: &Path) -> Result<bool, String> {
        let path = folder.join(&self.path);
        let meta = path
            .metadata()
            .map_err(|error| format!("cannot be read: {error}"))?;
        if meta.len() != self.bytes {
            let (bytes, expected) = (meta.len(), self.bytes);
            return Err(format!("has {bytes} bytes instead of {expected}"));
        }
        if modified(&meta) == self.modified {
            return Ok(false);
        }
        let found = sha256_of(&path).map_err(|error| format!("cannot be read: {error}"))?;
        if found != self.sha256 {
            return Err("was changed".to_owned());
        }
        self.modified = modified(&meta);
        Ok(true)
    }
}

fn wheels(release: &Release) -> Vec<String> {
    let hash = |wheel: &super::Wheel| wheel.sha256.to_owned();
    release.wheels.iter().map(hash).collect()
}

/// The time of change in nanoseconds since 1970; 0 where the file system keeps none.
pub(super) fn modified(meta: &Metadata) -> u64 {
    meta.modified()
        .ok()
        .and_then(|time| time.duration_since(UNIX_EPOCH).ok())
        .map_or(0, |age| age.as_nanos() as u64)
}

/// The SHA-256 of a file, in lowercase hexadecimal.
pub(super) fn sha256_of(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut hasher = Sha256::new();
    let mut block = vec![0; 1 << 20];
    loop {
        match file.read(&mut block)? {
            0 => return Ok(hex(hasher)),
            count => hasher.update(&block[..count]),
        }
    }
}

pub(super) fn hex(hasher: Sha256) -> String {
    use std::fmt::Write;
    hasher
        .finalize()
        .iter()
        .fold(String::with_capacity(64), |mut text, byte| {
            write!(text, "{byte:02x}").expect("writing to a String cannot fail");
            text
        })
}
