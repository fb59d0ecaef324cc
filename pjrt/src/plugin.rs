//! Loading of plugins, which are shared libraries that export `GetPjrtApi`.

use crate::error::{Error, Result};
use crate::sys::{self, Api, OLDEST_MINOR};
use crate::value::Value;
use crate::{library, linked};
use ramie_base::clock::Instant;
use ramie_base::lock::lock;
use ramie_plugins::LINKED;
use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

/// A loaded plugin.
///
/// A plugin is loaded once per file and never unloaded, because plugins start threads and
/// register process-wide state. Cloning is cheap.
#[derive(Clone)]
pub struct Plugin(Arc<Inner>);

struct Inner {
    path: PathBuf,
    api: Api,
}

/// An extension that a plugin offers in addition to the function table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extension {
    /// The number of the extension's type in the ABI.
    pub id: u32,
    /// The size of the extension's struct in bytes, which grows with its version.
    pub struct_size: usize,
}

impl Extension {
    /// Returns the name of the extension's type, if this crate knows it.
    pub fn name(&self) -> Option<&'static str> {
        const NAMES: [&str; 25] = [
            "gpu custom call",
            "profiler",
            "custom partitioner",
            "stream",
            "layouts",
            "ffi",
            "memory descriptions",
            "triton",
            "raw buffer",
            "phase compile",
            "example",
            "unknown",
            "cross-host transfers",
            "executable metadata",
            "callback",
            "host allocator",
            "tpu topology",
            "tpu executable",
            "megascale",
            "shardings",
            "abi version",
            "collectives",
            "multi-slice",
            "host memory allocator",
            "xla transform",
        ];
        NAMES.get(self.id as usize).copied()
    }
}

impl Plugin {
    /// Loads the plugin in this file, or returns it if it is already loaded. The path `ramie-cpu`
    /// stands for the CPU backend that is linked into the program.
    ///
    /// If the environment variable `TF_CPP_MIN_LOG_LEVEL` is unset, sets it to 2 first, which
    /// suppresses the plugin's informational messages on stderr. Call this before starting
    /// threads that read or write the environment through C.
    ///
    /// # Errors
    /// Returns an error if the file is missing, is not a loadable library, does not export
    /// `GetPjrtApi`, or implements an API version older than 0.81 or of another major version,
    /// and if the plugin's initialization fails.
    pub fn load(path: impl AsRef<Path>) -> Result<Plugin> {
        static LOADED: Mutex<Option<HashMap<PathBuf, Plugin>>> = Mutex::new(None);
        let path = path.as_ref();
        if path == Path::new(LINKED) {
            return Ok(Plugin::linked());
        }
        let canonical = path
            .canonicalize()
            .map_err(|_| Error::PluginNotFound { path: path.into() })?;
        // Holds the lock during the whole load: two threads must not initialize a plugin at the
        // same time, and loading is rare.
        let mut loaded = lock(&LOADED);
        let loaded = loaded.get_or_insert_default();
        if let Some(plugin) = loaded.get(&canonical) {
            return Ok(plugin.clone());
        }
        let start = Instant::now();
        let api = library::open(&canonical)?;
        let plugin = Plugin(Arc::new(Inner {
            path: canonical.clone(),
            api,
        }));
        let (major, minor) = plugin.api_version();
        check_version(&canonical, major, minor)?;
        let mut args = sys::zeroed::<sys::PluginInitialize>();
        // SAFETY: the function has no input fields.
        unsafe { api.call(&mut args) }
            .map_err(|e| e.during(format_args!("initialising {canonical:?}")))?;
        tracing::debug!(path = %canonical.display(), major, minor, elapsed = ?start.elapsed(), "loaded plugin");
        loaded.insert(canonical, plugin.clone());
        Ok(plugin)
    }

    /// Returns the CPU backend that is linked into the program.
    pub(crate) fn linked() -> Plugin {
        static PLUGIN: OnceLock<Plugin> = OnceLock::new();
        let inner = || {
            Plugin(Arc::new(Inner {
                path: LINKED.into(),
                api: linked::api(),
            }))
        };
        PLUGIN.get_or_init(inner).clone()
    }

    /// Whether this is the CPU backend that is linked into the program.
    pub(crate) fn is_linked(&self) -> bool {
        self.0.path == Path::new(LINKED)
    }

    /// Returns the path of the file that the plugin was loaded from, absolute and without
    /// symbolic links, or `ramie-cpu` for the backend that is linked into the program.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// Returns the major and minor version of the PJRT API that the plugin implements.
    pub fn api_version(&self) -> (i32, i32) {
        self.0.api.version()
    }

    /// Returns the attributes that the plugin reports, such as the supported StableHLO versions.
    ///
    /// # Errors
    /// Returns the plugin's error.
    pub fn attributes(&self) -> Result<Vec<(String, Value)>> {
        let mut args = sys::zeroed::<sys::PluginAttributes>();
        // SAFETY: all fields are outputs.
        unsafe { self.0.api.call(&mut args) }?;
        // SAFETY: attributes live as long as the plugin.
        Ok(unsafe { Value::read_all(args.attributes, args.num_attributes) })
    }

    /// Returns the extensions that the plugin offers, in its order.
    pub fn extensions(&self) -> Vec<Extension> {
        let extensions = self.0.api.extensions().map(|node| {
            // SAFETY: the list is constant data of the plugin.
            let node = unsafe { node.as_ref() };
            Extension {
                id: node.kind,
                struct_size: node.struct_size,
            }
        });
        extensions.collect()
    }

    pub(crate) fn api(&self) -> Api {
        self.0.api
    }
}

impl fmt::Debug for Plugin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (major, minor) = self.api_version();
        write!(f, "Plugin({:?}, PJRT API {major}.{minor})", self.0.path)
    }
}

/// Accepts 0.81 and every later 0.x.
fn check_version(path: &Path, major: i32, minor: i32) -> Result<()> {
    if major == 0 && minor >= OLDEST_MINOR {
        return Ok(());
    }
    Err(Error::UnsupportedVersion {
        path: path.into(),
        major,
        minor,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_older_than_81_or_of_another_major_are_refused() {
        let check = |major, minor| check_version(Path::new("/p.so"), major, minor);
        assert!(check(0, 81).is_ok() && check(0, 116).is_ok());
        let old = check(0, 80).unwrap_err().to_string();
        assert!(
            old.contains("PJRT API 0.80") && old.contains("0.81") && old.contains("newer"),
            "{old}"
        );
        assert!(check(1, 0).unwrap_err().to_string().contains("matching"));
    }

    #[test]
    fn a_missing_file_and_a_file_that_is_no_library_are_told_apart() {
        let missing = Plugin::load("/nonexistent/plugin.so").unwrap_err();
        assert!(matches!(missing, Error::PluginNotFound { .. }), "{missing}");
        let text = Plugin::load(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).unwrap_err();
        assert!(matches!(text, Error::PluginUnloadable { .. }), "{text}");
    }

    #[test]
    fn extensions_have_names() {
        let name = |id| {
            Extension {
                id,
                struct_size: 24,
            }
            .name()
        };
        assert_eq!(name(5), Some("ffi"));
        assert_eq!(name(9), Some("phase compile"));
        assert_eq!(name(24), Some("xla transform"));
        assert_eq!(name(25), None);
    }
}
