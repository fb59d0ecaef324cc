use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::catalog::{RELEASES, Release};
use super::hardware;
use super::{InstallError, Platform};

/// All that discovery asks of the world: variables, devices, pinned releases and where progress
/// is told.
///
/// [`Environment::from_process`] is the real one. Other values serve tests, and programs that give
/// their own folders instead of reading the process's variables.
///
/// ```
/// use ramie_pjrt::discover::Environment;
/// let environment = Environment::from_vars([("XDG_CACHE_HOME", "/home/me/caches")]);
/// assert_eq!(environment.cache_dir().to_str(), Some("/home/me/caches/ramie"));
/// ```
#[derive(Clone)]
pub struct Environment {
    vars: HashMap<OsString, OsString>,
    root: PathBuf,
    releases: &'static [Release],
    progress: Arc<dyn Fn(&str) + Send + Sync>,
}

impl Environment {
    /// The variables of this process and the devices of this machine; progress goes to stderr.
    pub fn from_process() -> Self {
        Self::from_vars(std::env::vars_os())
    }

    /// The variables given, and everything else as in [`Environment::from_process`].
    pub fn from_vars<K: Into<OsString>, V: Into<OsString>>(
        vars: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        Environment {
            vars: vars
                .into_iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
            root: PathBuf::from("/"),
            releases: RELEASES,
            progress: Arc::new(|line| eprintln!("ramie: {line}")),
        }
    }

    /// Looks for device nodes below `root` instead of `/`.
    #[must_use]
    pub fn with_root(mut self, root: impl Into<PathBuf>) -> Self {
        self.root = root.into();
        self
    }

    /// Installs from these releases instead of the ones pinned in Ramie.
    #[must_use]
    pub fn with_releases(mut self, releases: &'static [Release]) -> Self {
        self.releases = releases;
        self
    }

    /// Tells the progress of installations, a line at a time, to `progress` instead of stderr.
    #[must_use]
    pub fn with_progress(mut self, progress: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.progress = Arc::new(progress);
        self
    }

    /// The folder of Ramie's cache: `RAMIE_CACHE_DIR`, else `$XDG_CACHE_HOME/ramie`, else
    /// `~/.cache/ramie`. It need not exist.
    ///
    /// Plugins are below `plugins/`, compiled programs below `compiled/`.
    pub fn cache_dir(&self) -> PathBuf {
        if let Some(folder) = self.var("RAMIE_CACHE_DIR") {
            // Absolute, so that a later change of the working directory does not move the cache.
            return std::path::absolute(folder).unwrap_or_else(|_| PathBuf::from(folder));
        }
        // The XDG specification says to ignore relative paths.
        if let Some(folder) = self.var("XDG_CACHE_HOME").map(Path::new)
            && folder.is_absolute()
        {
            return folder.join("ramie");
        }
        let home = self
            .var("HOME")
            .map(PathBuf::from)
            .or_else(std::env::home_dir)
            .unwrap_or_default();
        home.join(".cache/ramie")
    }

    /// Whether a device of `platform` is visible to this machine; the processor always is.
    ///
    /// Only device nodes are looked at: a driver may still fail to start the device.
    pub fn device_visible(&self, platform: Platform) -> bool {
        match platform {
            Platform::Cpu => true,
            Platform::Cuda => hardware::nvidia_device(
                &self.root,
                self.vars
                    .get(OsStr::new("CUDA_VISIBLE_DEVICES"))
                    .map(OsString::as_os_str),
            ),
            Platform::Tpu => hardware::tpu_device(&self.root),
        }
    }

    /// The release pinned for `platform` on this machine's architecture.
    ///
    /// # Errors
    /// [`InstallError::Unsupported`] where none is.
    pub fn release(&self, platform: Platform) -> Result<&'static Release, InstallError> {
        let arch = std::env::consts::ARCH;
        self.releases
            .iter()
            .find(|release| {
                release.platform == platform
                    && release.arch == arch
                    && std::env::consts::OS == "linux"
            })
            .ok_or_else(|| InstallError::Unsupported {
                platform,
                os: std::env::consts::OS.to_owned(),
                arch: arch.to_owned(),
            })
    }

    /// A variable that is set to something.
    pub(super) fn var(&self, name: &str) -> Option<&OsStr> {
        self.vars
            .get(OsStr::new(name))
            .map(OsString::as_os_str)
            .filter(|value| !value.is_empty())
    }

    pub(super) fn vars(&self) -> impl Iterator<Item = (&OsString, &OsString)> {
        self.vars.iter()
    }

    pub(super) fn plugins_dir(&self) -> PathBuf {
        self.cache_dir().join("plugins")
    }

    pub(super) fn tell(&self, line: &str) {
        (self.progress)(line);
    }

    /// Every executable file called `python3` on `PATH`, in order.
    pub(super) fn pythons(&self) -> Vec<PathBuf> {
        let Some(path) = self.var("PATH") else {
            return Vec::new();
        };
        std::env::split_paths(path)
            .filter(|folder| folder.is_absolute())
            .map(|folder| folder.join("python3"))
            .filter(|file| is_executable(file))
            .collect()
    }
}

impl fmt::Debug for Environment {
    // Variables may hold secrets: only their number is shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment")
            .field("vars", &self.vars.len())
            .field("root", &self.root)
            .field("cache_dir", &self.cache_dir())
            .finish_non_exhaustive()
    }
}

#[cfg(unix)]
fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata()
        .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(file: &Path) -> bool {
    file.is_file()
}
