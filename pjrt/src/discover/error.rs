use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::catalog::Release;
use super::{Platform, UnknownPlatform};
use crate::trust::Untrusted;

/// Why no plugin could be given.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DiscoverError {
    /// `RAMIE_PLATFORM` names no platform.
    #[error("RAMIE_PLATFORM: {0}")]
    UnknownPlatform(#[from] UnknownPlatform),

    /// `RAMIE_PJRT_PLUGIN` names something that is not a readable file.
    #[error(
        "RAMIE_PJRT_PLUGIN names `{}`, {problem}\n\
         help: set it to the path of a PJRT plugin (a .so file), or unset it to search the usual places",
        path.display()
    )]
    ExplicitPlugin {
        /// The path as the variable gave it.
        path: PathBuf,
        /// What is wrong with it, such as `which does not exist`.
        problem: String,
    },

    /// No place held a plugin, and none could be installed.
    #[error(transparent)]
    NotFound(#[from] NotFound),

    /// The installed plugin is not the one that was installed, or others can change it.
    #[error(transparent)]
    Refused(#[from] RefusedPlugin),

    /// An installation that was asked for failed.
    #[error(transparent)]
    Install(#[from] InstallError),
}

/// An installed plugin that is not loaded, because it is native code that somebody else may have
/// written.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the installed {} plugin is not loaded: {problem}\nhelp: {remedy}", platform.title())]
pub struct RefusedPlugin {
    /// The plugin's platform.
    pub platform: Platform,
    /// The file or folder, and what is wrong with it.
    pub problem: String,
    /// What to do about it.
    pub remedy: String,
}

impl RefusedPlugin {
    pub(super) fn changed(release: &Release, path: &Path, problem: String) -> Self {
        let platform = release.platform;
        RefusedPlugin {
            platform,
            problem: format!("`{}` {problem}", path.display()),
            remedy: format!(
                "`ramie plugin install {platform}` replaces it; a plugin of your own is loaded \
                 if RAMIE_PJRT_PLUGIN names it"
            ),
        }
    }

    pub(super) fn untrusted(release: &Release, untrusted: &Untrusted) -> Self {
        let remedy = untrusted.remedy();
        RefusedPlugin {
            platform: release.platform,
            problem: untrusted.reason(),
            remedy: format!("{remedy}; RAMIE_CACHE_DIR chooses the folder of plugins"),
        }
    }
}

/// Every place that was searched in vain, and what to do about it.
#[derive(Debug)]
pub struct NotFound {
    /// The platform that was wanted.
    pub platform: Platform,
    /// The places, in the order of the search.
    pub tried: Vec<Attempt>,
    /// One command that fixes it, with an alternative.
    pub remedy: String,
}

/// One place that was searched, and why it gave no plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// The place, such as `user cache /home/me/.cache/ramie/plugins/…`.
    pub place: String,
    /// Why it gave no plugin, such as `not there`.
    pub outcome: String,
}

impl Attempt {
    pub(crate) fn new(place: impl Into<String>, outcome: impl fmt::Display) -> Self {
        Attempt {
            place: place.into(),
            outcome: outcome.to_string(),
        }
    }
}

impl fmt::Display for NotFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "no {} plugin was found. Tried, in this order:",
            self.platform.title()
        )?;
        for Attempt { place, outcome } in &self.tried {
            writeln!(f, "  - {place}: {}", outcome.replace('\n', "\n    "))?;
        }
        write!(f, "help: {}", self.remedy)
    }
}

impl std::error::Error for NotFound {}

/// Why a plugin could not be installed into the user cache.
///
/// Whatever the reason, nothing half-installed is left behind.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum InstallError {
    /// No wheel is published (or pinned here) for this kind of machine.
    Unsupported {
        /// The platform that was wanted.
        platform: Platform,
        /// The operating system of this machine.
        os: String,
        /// The processor architecture of this machine.
        arch: String,
    },

    /// No `python3` is on `PATH` to download with.
    NoPython {
        /// The package that was wanted, as `name==version`.
        package: String,
    },

    /// pip ran and failed.
    Pip {
        /// The package that was wanted, as `name==version`.
        package: String,
        /// The command line that failed.
        command: String,
        /// The exit status in words.
        status: String,
        /// The last lines that pip wrote.
        output: Vec<String>,
    },

    /// The wheel is not the one pinned in the source.
    WrongHash {
        /// The wheel's file name.
        wheel: String,
        /// The pinned SHA-256, in lowercase hexadecimal.
        expected: String,
        /// The SHA-256 of the file that came.
        found: String,
    },

    /// The wheel is not an archive that can be unpacked.
    BadWheel {
        /// The wheel's file name.
        wheel: String,
        /// What is wrong with it.
        problem: String,
    },

    /// Another user can change the folder of plugins.
    Untrusted(#[from] Untrusted),

    /// A file of the user cache could not be read or written.
    Cache {
        /// What was being done, such as `create the folder`.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The operating system's reason.
        source: io::Error,
    },
}

impl fmt::Display for InstallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\nhelp: {}", self.reason(), self.help())
    }
}

impl InstallError {
    /// The message without its advice.
    pub(crate) fn reason(&self) -> String {
        match self {
            InstallError::Unsupported { platform, os, arch } => {
                let title = platform.title();
                format!("no {title} plugin is pinned for {os} on {arch}")
            }
            InstallError::NoPython { .. } => {
                "no `python3` is on PATH, and the plugin is downloaded with its pip".to_owned()
            }
            InstallError::Pip {
                command,
                status,
                output,
                ..
            } => format!("`{command}` failed ({status}){}", quoted_lines(output)),
            InstallError::WrongHash {
                wheel,
                expected,
                found,
            } => format!(
                "the wheel `{wheel}` has SHA-256\n  {found}, but\n  {expected} is pinned; it was not \
                 installed"
            ),
            InstallError::BadWheel { wheel, problem } => {
                format!("the wheel `{wheel}` cannot be unpacked: {problem}")
            }
            InstallError::Untrusted(untrusted) => {
                format!("nothing was installed: {}", untrusted.reason())
            }
            InstallError::Cache {
                action,
                path,
                source,
            } => format!("cannot {action} `{}`: {source}", path.display()),
        }
    }

    /// The advice.
    fn help(&self) -> String {
        match self {
            InstallError::Unsupported { .. } => {
                "set RAMIE_PJRT_PLUGIN to a plugin built for this machine".to_owned()
            }
            InstallError::NoPython { package } => format!(
                "install Python 3 with pip, or unpack the wheel of {package} yourself and set \
                 RAMIE_PJRT_PLUGIN to the .so file in it"
            ),
            InstallError::Pip { package, .. } => format!(
                "check the network and pip's configuration; on a machine without network, let \
                 PIP_FIND_LINKS name a folder that holds the wheel of {package}"
            ),
            InstallError::WrongHash { .. } => {
                "the download was damaged or replaced: try again (`python3 -m pip cache purge` \
                 empties pip's own cache), and check which index pip is configured to use"
                    .to_owned()
            }
            InstallError::BadWheel { .. } => {
                "the download was damaged: try again (`python3 -m pip cache purge` empties pip's own \
                 cache)"
                    .to_owned()
            }
            InstallError::Untrusted(untrusted) => {
                let remedy = untrusted.remedy();
                format!("{remedy}; RAMIE_CACHE_DIR chooses the folder of plugins")
            }
            InstallError::Cache { .. } => {
                "RAMIE_CACHE_DIR chooses another folder for Ramie's cache".to_owned()
            }
        }
    }

    pub(crate) fn cache(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| InstallError::Cache {
            action,
            path: path.to_owned(),
            source,
        }
    }
}

fn quoted_lines(lines: &[String]) -> String {
    if lines.is_empty() {
        return " and wrote nothing".to_owned();
    }
    let mut text = String::from("; its last lines:");
    for line in lines {
        text.push_str("\n  | ");
        text.push_str(line);
    }
    text
}
