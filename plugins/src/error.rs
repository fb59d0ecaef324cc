use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::catalog::Release;
use crate::manifest::Refusal;
use crate::platform::{Platform, UnknownPlatform};
use crate::trust::Untrusted;

/// An error while searching for a plugin.
#[derive(Error)]
#[non_exhaustive]
pub enum DiscoverError {
    /// `RAMIE_PLATFORM` is not the name of a platform.
    #[error("RAMIE_PLATFORM: {0}, or unset the variable to use the best platform available")]
    UnknownPlatform(#[from] UnknownPlatform),

    /// `RAMIE_PJRT_PLUGIN` is not the path of a readable file, or names a plugin of another platform.
    #[error(
        "RAMIE_PJRT_PLUGIN names `{}`, {problem}\n\
         help: set it to the path of a PJRT plugin, or to `xla-cpu`, or unset it",
        path.display()
    )]
    ExplicitPlugin {
        /// The value of the variable.
        path: PathBuf,
        /// The problem, such as `which does not exist`.
        problem: String,
    },

    /// No plugin was found.
    #[error(transparent)]
    NotFound(#[from] NotFound),

    /// The installed plugin was modified, or other users can modify it.
    #[error(transparent)]
    Refused(#[from] RefusedPlugin),

    /// An installation failed.
    #[error(transparent)]
    Install(#[from] InstallError),
}

ramie_base::debug_is_message!(DiscoverError);

/// An installed plugin that is not loaded, because it is native code that another user may have
/// written.
#[derive(Clone, PartialEq, Eq, Error)]
#[error("the installed {} plugin is not loaded: {problem}\nhelp: {remedy}", platform.title())]
pub struct RefusedPlugin {
    /// The plugin's platform.
    pub platform: Platform,
    /// The file or directory, and the problem.
    pub problem: String,
    /// The advice for the user.
    pub remedy: String,
}

ramie_base::debug_is_message!(RefusedPlugin);

impl RefusedPlugin {
    pub(crate) fn new(release: &Release, refusal: &Refusal) -> Self {
        let platform = release.platform;
        let remedy = match refusal {
            Refusal::Changed(..) => format!(
                "run `ramie plugin install {platform}` to replace it, or set RAMIE_PJRT_PLUGIN to the \
                 path of your own plugin"
            ),
            Refusal::Untrusted(untrusted) => {
                let remedy = untrusted.remedy();
                format!("{remedy}; RAMIE_CACHE_DIR selects the directory of plugins")
            }
        };
        RefusedPlugin {
            platform,
            problem: refusal.problem(),
            remedy,
        }
    }
}

/// The error that no plugin was found, with all searched locations and advice.
pub struct NotFound {
    /// The requested platform.
    pub platform: Platform,
    /// The locations, in the order of the search.
    pub tried: Vec<Attempt>,
    /// A command that solves the problem, with an alternative.
    pub remedy: String,
}

ramie_base::debug_is_message!(NotFound);

/// A searched location, and the reason why it has no plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// The location, such as `user cache /home/me/.cache/ramie/plugins/…`.
    pub place: String,
    /// The reason, such as `not there`.
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

/// An error while installing a plugin or a file into the user cache.
///
/// In all cases, no partial installation is left behind.
#[derive(Error)]
#[non_exhaustive]
pub enum InstallError {
    /// No wheel is pinned for this kind of machine.
    Unsupported {
        /// The requested platform.
        platform: Platform,
        /// The operating system of this machine.
        os: String,
        /// The processor architecture of this machine.
        arch: String,
    },

    /// There is no `python3` on `PATH` to download with.
    NoPython {
        /// The requested package, as `name==version`.
        package: String,
        /// Whether the package contains a plugin.
        is_plugin: bool,
    },

    /// pip failed.
    Pip {
        /// The requested package, as `name==version`.
        package: String,
        /// The command line that failed.
        command: String,
        /// A description of the exit status.
        status: String,
        /// The last lines of pip's output.
        output: Vec<String>,
    },

    /// The hash of a wheel differs from the pinned one.
    WrongHash {
        /// The wheel's file name.
        wheel: String,
        /// The pinned SHA-256, in lowercase hexadecimal.
        expected: String,
        /// The SHA-256 of the downloaded file.
        found: String,
    },

    /// A wheel cannot be extracted.
    BadWheel {
        /// The wheel's file name.
        wheel: String,
        /// The problem.
        problem: String,
    },

    /// Another user can modify the plugin directory.
    Untrusted(#[from] Untrusted),

    /// A file in the user cache could not be read or written.
    Cache {
        /// The operation, such as `create the folder`.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
}

ramie_base::debug_is_message!(InstallError);

impl fmt::Display for InstallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\nhelp: {}", self.reason(), self.help())
    }
}

impl InstallError {
    /// Returns the message without its advice.
    pub(crate) fn reason(&self) -> String {
        match self {
            InstallError::Unsupported { platform, os, arch } => {
                let title = platform.title();
                format!("no {title} plugin is pinned for {os} on {arch}")
            }
            InstallError::NoPython { package, .. } => {
                format!("{package} is downloaded with pip, but there is no `python3` on PATH")
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

    /// Whether another release may be installable.
    pub(crate) fn is_of_the_wheel(&self) -> bool {
        use InstallError::{BadWheel, Pip, WrongHash};
        matches!(self, Pip { .. } | WrongHash { .. } | BadWheel { .. })
    }

    /// The advice.
    fn help(&self) -> String {
        match self {
            InstallError::Unsupported { .. } => {
                "set RAMIE_PJRT_PLUGIN to a plugin built for this machine".to_owned()
            }
            InstallError::NoPython {
                is_plugin: false, ..
            } => "install Python 3 with pip".to_owned(),
            InstallError::NoPython { package, .. } => format!(
                "install Python 3 with pip, or unpack the wheel of {package} yourself and set \
                 RAMIE_PJRT_PLUGIN to the .so file in it"
            ),
            InstallError::Pip { package, .. } => format!(
                "check the network and pip's configuration; on a machine without network, set \
                 PIP_FIND_LINKS to a directory that contains the wheel of {package}"
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
                format!("{remedy}; RAMIE_CACHE_DIR selects the directory of plugins")
            }
            InstallError::Cache { .. } => {
                "set RAMIE_CACHE_DIR to use another directory for Ramie's cache".to_owned()
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
        return " without output".to_owned();
    }
    let mut text = String::from("; its last lines:");
    for line in lines {
        text.push_str("\n  | ");
        text.push_str(line);
    }
    text
}
