//! The search for a plugin.

use crate::bundle::Bundle;
use crate::environment::Environment;
use crate::error::{Attempt, DiscoverError, InstallError, NotFound, RefusedPlugin};
use crate::install::{self, InstallCondition};
use crate::location::{LINKED, Origin, PluginLocation, XLA_CPU};
use crate::manifest::{self, Installation, Look};
use crate::platform::{Platform, UnknownPlatform};
use crate::python;
use std::path::{Path, PathBuf};

/// Finds the plugin for `platform`, or for the best platform where that is `None`. See the
/// [crate's description](crate) for the order of the search.
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
        install::install_first(self, platform, InstallCondition::IfMissing)
    }

    /// Installs the plugin for `platform`, replacing an existing installation.
    ///
    /// # Errors
    /// Returns an [`InstallError`]. An existing installation is then kept.
    pub fn reinstall(&self, platform: Platform) -> Result<PluginLocation, InstallError> {
        install::install_first(self, platform, InstallCondition::Again)
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
