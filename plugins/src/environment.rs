use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::catalog::{RELEASES, Release};
use crate::error::InstallError;
use crate::hardware;
use crate::platform::Platform;

/// The inputs of discovery: environment variables, devices, pinned releases and the output for
/// progress messages.
///
/// [`Environment::from_process`] returns the real environment. Other values are useful for tests,
/// and for programs that set their own directories instead of reading the process's variables.
///
/// ```
/// use ramie_plugins::Environment;
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
    /// Returns the environment of this process and machine. Progress is printed to stderr.
    pub fn from_process() -> Self {
        Self::from_vars(std::env::vars_os())
    }

    /// Creates an environment with the given variables, and otherwise like
    /// [`Environment::from_process`].
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

    /// Sets the root below which device nodes are searched. Defaults to `/`.
    #[must_use]
    pub fn with_root(mut self, root: impl Into<PathBuf>) -> Self {
        self.root = root.into();
        self
    }

    /// Sets the releases to install. Defaults to those pinned in Ramie.
    #[must_use]
    pub fn with_releases(mut self, releases: &'static [Release]) -> Self {
        self.releases = releases;
        self
    }

    /// Sets a function that receives the progress of installations line by line. Defaults to
    /// printing to stderr.
    #[must_use]
    pub fn with_progress(mut self, progress: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.progress = Arc::new(progress);
        self
    }

    /// Returns Ramie's cache directory: `RAMIE_CACHE_DIR`, or `$XDG_CACHE_HOME/ramie`, or
    /// `~/.cache/ramie`. It need not exist.
    ///
    /// Plugins are stored below `plugins/`, compiled programs below `compiled/`, and files of packages
    /// below `files/`.
    pub fn cache_dir(&self) -> PathBuf {
        if let Some(folder) = self.var("RAMIE_CACHE_DIR") {
            // The path is made absolute, so that a later change of the working directory does not
            // move the cache.
            return std::path::absolute(folder).unwrap_or_else(|_| PathBuf::from(folder));
        }
        // The XDG specification requires that relative paths are ignored.
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

    /// Returns `true` if a device of `platform` is visible on this machine. The CPU always is.
    ///
    /// This only checks for device nodes: a driver may still fail to initialize the device.
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
            Platform::Rocm | Platform::OneApi | Platform::Metal | Platform::Other(_) => false,
        }
    }

    /// Returns the releases pinned for `platform` on this machine's system and architecture, in order of
    /// preference.
    pub fn releases(&self, platform: Platform) -> impl Iterator<Item = &'static Release> + use<> {
        use std::env::consts::{ARCH, OS};
        self.releases.iter().filter(move |release| {
            (release.platform, release.os, release.arch) == (platform, OS, ARCH)
        })
    }

    /// Returns the preferred one of [`releases`](Environment::releases).
    ///
    /// # Errors
    /// Returns [`InstallError::Unsupported`] if no release is pinned.
    pub fn release(&self, platform: Platform) -> Result<&'static Release, InstallError> {
        self.releases(platform)
            .next()
            .ok_or_else(|| InstallError::Unsupported {
                platform,
                os: std::env::consts::OS.to_owned(),
                arch: std::env::consts::ARCH.to_owned(),
            })
    }

    /// Returns the value of a variable that is set and not empty.
    pub(crate) fn var(&self, name: &str) -> Option<&OsStr> {
        self.vars
            .get(OsStr::new(name))
            .map(OsString::as_os_str)
            .filter(|value| !value.is_empty())
    }

    pub(crate) fn vars(&self) -> impl Iterator<Item = (&OsString, &OsString)> {
        self.vars.iter()
    }

    pub(crate) fn plugins_dir(&self) -> PathBuf {
        self.cache_dir().join("plugins")
    }

    pub(crate) fn files_dir(&self) -> PathBuf {
        self.cache_dir().join("files")
    }

    pub(crate) fn tell(&self, line: &str) {
        (self.progress)(line);
    }

    /// Returns all executable files named `python3` on `PATH`, in order.
    pub(crate) fn pythons(&self) -> Vec<PathBuf> {
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
    // Variables may contain secrets, so only their number is shown.
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
