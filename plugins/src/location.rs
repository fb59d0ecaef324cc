//! The location of a plugin.

use crate::catalog::Release;
use crate::platform::Platform;
use std::fmt;
use std::path::PathBuf;

/// The value of `RAMIE_PJRT_PLUGIN` that selects XLA's CPU plugin where it is installed.
pub const XLA_CPU: &str = "xla-cpu";

/// The value of `RAMIE_PJRT_PLUGIN` that selects the CPU backend that is linked into the program.
pub const LINKED: &str = "ramie-cpu";

/// The location of a plugin, and how it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginLocation {
    /// The platform of the plugin. For a file that `RAMIE_PJRT_PLUGIN` names, the file's name suggests it, until a
    /// client reports its own.
    pub platform: Platform,
    /// The shared library.
    pub path: PathBuf,
    /// The name of the package it came in, where known.
    pub package: Option<&'static str>,
    /// The version of that package, where known.
    pub version: Option<String>,
    /// The SHA-256 of the file in lowercase hexadecimal, if known: for plugins in the user cache.
    pub sha256: Option<String>,
    /// The step of the search that found the plugin.
    pub origin: Origin,
}

impl PluginLocation {
    /// Returns the CPU backend that is linked into the program.
    pub fn linked() -> PluginLocation {
        PluginLocation {
            platform: Platform::Cpu,
            path: LINKED.into(),
            package: None,
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            sha256: None,
            origin: Origin::Linked,
        }
    }

    /// Returns whether this is the CPU backend that is linked into the program, not a plugin.
    pub fn is_linked(&self) -> bool {
        self.origin == Origin::Linked
    }

    /// An installed release.
    pub(crate) fn of(
        release: &Release,
        path: PathBuf,
        sha256: String,
        origin: Origin,
    ) -> PluginLocation {
        let package = release.package();
        PluginLocation {
            platform: release.platform,
            path,
            package: Some(package.name),
            version: Some(package.version.to_owned()),
            sha256: Some(sha256),
            origin,
        }
    }
}

/// The step of the search that found a plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// It is linked into the program.
    Linked,
    /// The variable `RAMIE_PJRT_PLUGIN`.
    Variable,
    /// The user cache.
    Cache,
    /// An existing Python environment.
    Python,
    /// A download into the user cache by this installation.
    Download,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Origin::Linked => "linked into the program",
            Origin::Variable => "RAMIE_PJRT_PLUGIN",
            Origin::Cache => "user cache",
            Origin::Python => "Python environment",
            Origin::Download => "just installed into the user cache",
        })
    }
}
