//! `Bundle`: the contents of an installation.

use crate::catalog::{Release, Wheel};

/// Wheels that are unpacked into one folder, and the file in them that a program uses.
pub(crate) struct Bundle {
    /// Name in messages, such as `XLA CPU plugin`.
    pub title: String,
    /// Name of the folder.
    pub folder: String,
    /// Path of the file, relative to the folder.
    pub file: &'static str,
    pub wheels: &'static [Wheel],
    /// Whether the files are native code, so that no other user may be able to modify them.
    pub is_code: bool,
}

impl Bundle {
    /// Creates the bundle of a file that is not code: `file` in the first of `wheels`.
    pub fn of_file(title: &str, file: &'static str, wheels: &'static [Wheel]) -> Bundle {
        let package = &wheels[0];
        Bundle {
            title: title.to_owned(),
            folder: format!("{}-{}", package.name, package.version),
            file,
            wheels,
            is_code: false,
        }
    }

    /// Returns the package that contains the file.
    pub fn package(&self) -> &'static Wheel {
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
            wheels: release.wheels,
            is_code: true,
        }
    }
}
