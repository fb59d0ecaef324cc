//! `Bundle`: the contents of an installation.

use super::catalog::{Release, Wheel};

/// The program that downloads packages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Client {
    /// Python's pip, for wheels.
    Pip,
    /// Node's npm, for tarballs.
    Npm,
}

/// Wheels that are unpacked into one folder, and the file in them that a program uses.
pub(super) struct Bundle {
    /// Name in messages, such as `XLA CPU plugin`.
    pub title: String,
    /// Name of the folder.
    pub folder: String,
    /// Path of the file, relative to the folder.
    pub file: &'static str,
    /// The wheels or tarballs.
    pub wheels: Vec<Wheel>,
    pub client: Client,
    /// Whether the files are native code, so that no other user may be able to modify them.
    pub is_code: bool,
}

impl Bundle {
    /// Creates the bundle of a file that is not code: `file` in the first of `wheels`.
    pub fn of_file(title: &str, file: &'static str, wheels: Vec<Wheel>, client: Client) -> Bundle {
        let package = &wheels[0];
        // Packages of npm may have a scope: `@scope/name`.
        let name = package.name.trim_start_matches('@').replace('/', "-");
        Bundle {
            title: title.to_owned(),
            folder: format!("{name}-{}", package.version),
            file,
            wheels,
            client,
            is_code: false,
        }
    }

    /// Returns the package that contains the file.
    pub fn package(&self) -> &Wheel {
        &self.wheels[0]
    }

    /// Returns the total size of all wheels in bytes.
    pub fn bytes(&self) -> u64 {
        self.wheels.iter().map(|wheel| wheel.bytes).sum()
    }
}

impl From<&Release> for Bundle {
    fn from(release: &Release) -> Bundle {
        Bundle {
            title: format!("XLA {} plugin", release.platform.title()),
            folder: release.folder(),
            file: release.library,
            wheels: release.wheels.to_vec(),
            client: Client::Pip,
            is_code: true,
        }
    }
}
