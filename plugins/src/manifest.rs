//! The manifest of an installation in the user cache, which contains the state and the SHA-256 of
//! each file, so that a process can trust an installation without reading hundreds of megabytes.

use std::fs::{self, File, Metadata};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::bundle::Bundle;
use crate::trust::{self, Untrusted};

const FILE: &str = "manifest.json";
/// The version of the manifest format. Installations with another version are replaced.
const FORMAT: u32 = 1;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    format: u32,
    /// The SHA-256 of each wheel, in the bundle's order.
    wheels: Vec<String>,
    files: Vec<InstalledFile>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct InstalledFile {
    /// Path relative to the installation's directory.
    pub path: String,
    #[serde(flatten)]
    state: FileState,
    pub sha256: String,
}

/// The metadata that identifies a version of a file. A file whose contents have changed differs
/// in at least one of the fields.
///
/// ```
/// use ramie_plugins::FileState;
/// let file = tempfile::NamedTempFile::new()?;
/// let before = FileState::of(file.path())?;
/// std::fs::write(file.path(), "other contents")?;
/// assert_ne!(FileState::of(file.path())?, before);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileState {
    bytes: u64,
    /// Modification time in nanoseconds since 1970.
    modified: u64,
    /// Time of the last change of contents, owner or permissions. Unlike `modified`, it cannot be
    /// set.
    #[serde(default)]
    changed: u64,
    #[serde(default)]
    inode: u64,
}

impl FileState {
    /// Returns the state of the file at `path`.
    ///
    /// # Errors
    /// Returns an error if the file's metadata cannot be read.
    pub fn of(path: &Path) -> io::Result<FileState> {
        Ok(FileState::from(&path.metadata()?))
    }
}

impl From<&Metadata> for FileState {
    fn from(meta: &Metadata) -> FileState {
        #[cfg(unix)]
        let (changed, inode) = {
            use std::os::unix::fs::MetadataExt;
            let seconds = meta.ctime().cast_unsigned();
            let nanoseconds = meta.ctime_nsec().cast_unsigned();
            (
                seconds
                    .wrapping_mul(1_000_000_000)
                    .wrapping_add(nanoseconds),
                meta.ino(),
            )
        };
        #[cfg(not(unix))]
        let (changed, inode) = (0, 0);
        FileState {
            bytes: meta.len(),
            modified: modified(meta),
            changed,
            inode,
        }
    }
}

/// The state of a bundle in the user cache.
pub(crate) enum Installation {
    Absent,
    /// Complete, with the path of the bundle's file and its SHA-256.
    Whole(PathBuf, String),
    /// Present but incomplete, or of other wheels, for this reason.
    Broken(String),
    /// Present but not to be used: the contents differ from the installed ones, or another user
    /// can modify them.
    Refused(Refusal),
}

/// Reason why an installation must not be used.
pub(crate) enum Refusal {
    /// This file differs from the installed one.
    Changed(PathBuf, String),
    /// Another user can modify it.
    Untrusted(Untrusted),
}

impl Refusal {
    /// Returns the file or directory, and the problem.
    pub(crate) fn problem(&self) -> String {
        match self {
            Refusal::Changed(path, problem) => format!("`{}` {problem}", path.display()),
            Refusal::Untrusted(untrusted) => untrusted.reason(),
        }
    }
}

/// Selection of the files whose contents are checked.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Look {
    /// Files whose state differs from the recorded one, as after copying the cache.
    AtChanged,
    /// All files.
    AtAll,
}

impl Manifest {
    pub(crate) fn new(bundle: &Bundle, files: Vec<InstalledFile>) -> Self {
        Manifest {
            format: FORMAT,
            wheels: wheels(bundle),
            files,
        }
    }

    /// Writes the manifest into `folder`, atomically replacing an existing one.
    pub(crate) fn write(&self, folder: &Path) -> io::Result<()> {
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

/// Checks whether `folder` contains the complete `bundle`. Takes one `stat` for each file that
/// is not read.
pub(crate) fn check(folder: &Path, bundle: &Bundle, look: Look) -> Installation {
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
    if manifest.format != FORMAT || manifest.wheels != wheels(bundle) {
        return Installation::Broken("it was installed from other wheels".to_owned());
    }
    let used = manifest.files.iter().find(|f| f.path == bundle.file);
    let Some(hash) = used.map(|file| file.sha256.clone()) else {
        return Installation::Broken(format!("its {FILE} lists no {}", bundle.file));
    };
    if bundle.is_code
        && let Err(untrusted) = only_ours(&[folder, &folder.join(FILE)])
    {
        return Installation::Refused(Refusal::Untrusted(untrusted));
    }
    let mut touched = false;
    for file in &mut manifest.files {
        match file.check(folder, bundle, look) {
            Ok(changed) => touched |= changed,
            Err(outcome) => return outcome,
        }
    }
    if touched && let Err(error) = manifest.write(folder) {
        // A failure only makes the next start slower.
        tracing::debug!(folder = %folder.display(), %error, "cannot refresh the manifest");
    }
    Installation::Whole(folder.join(bundle.file), hash)
}

/// Checks that no other user can modify these paths. Missing ones are detected later.
pub(crate) fn only_ours(paths: &[&Path]) -> Result<(), Untrusted> {
    for path in paths {
        if let Ok(meta) = path.metadata() {
            trust::check(path, &meta)?;
        }
    }
    Ok(())
}

impl InstalledFile {
    /// Returns the description of a file that was just written.
    pub(crate) fn describe(path: &str, meta: &Metadata, sha256: String) -> Self {
        InstalledFile {
            path: path.to_owned(),
            state: FileState::from(meta),
            sha256,
        }
    }

    /// Checks that the file has the installed contents. Updates the recorded state, and returns
    /// `true` if it differed.
    fn check(&mut self, folder: &Path, bundle: &Bundle, look: Look) -> Result<bool, Installation> {
        let path = folder.join(&self.path);
        let unreadable =
            |error| Installation::Broken(format!("{} cannot be read: {error}", self.path));
        let meta = path.metadata().map_err(unreadable)?;
        if bundle.is_code {
            trust::check(&path, &meta).map_err(|e| Installation::Refused(Refusal::Untrusted(e)))?;
        }
        let state = FileState::from(&meta);
        if state == self.state && look == Look::AtChanged {
            return Ok(false);
        }
        let changed = |problem| Installation::Refused(Refusal::Changed(path.clone(), problem));
        if state.bytes != self.state.bytes {
            let (bytes, expected) = (state.bytes, self.state.bytes);
            return Err(changed(format!("has {bytes} bytes instead of {expected}")));
        }
        let found = sha256_of(&path).map_err(unreadable)?;
        if found != self.sha256 {
            let expected = &self.sha256;
            return Err(changed(format!(
                "has SHA-256 {found}, but {expected} was installed"
            )));
        }
        Ok(std::mem::replace(&mut self.state, state) != state)
    }
}

fn wheels(bundle: &Bundle) -> Vec<String> {
    let hash = |wheel: &crate::catalog::Wheel| wheel.sha256.to_owned();
    bundle.wheels.iter().map(hash).collect()
}

/// Returns the modification time in nanoseconds since 1970, or 0 if the file system has none.
pub(crate) fn modified(meta: &Metadata) -> u64 {
    meta.modified()
        .ok()
        .and_then(|time| time.duration_since(UNIX_EPOCH).ok())
        .map_or(0, |age| age.as_nanos() as u64)
}

/// Returns the SHA-256 of a file in lowercase hexadecimal.
pub(crate) fn sha256_of(path: &Path) -> io::Result<String> {
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

pub(crate) fn hex(hasher: Sha256) -> String {
    use std::fmt::Write;
    hasher
        .finalize()
        .iter()
        .fold(String::with_capacity(64), |mut text, byte| {
            write!(text, "{byte:02x}").expect("writing to a String cannot fail");
            text
        })
}
