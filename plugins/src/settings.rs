//! Settings from environment variables, all in one place.
//!
//! If a variable is unset or empty, its setting has the default. An invalid value is an
//! [`InvalidSetting`], which names the variable and the accepted values; it is never treated as
//! unset.

use crate::platform::Platform;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;

/// A setting from an environment variable.
///
/// ```
/// use ramie_plugins::settings;
/// assert_eq!(settings::NUM_CPU_DEVICES.parse("8".as_ref()).unwrap(), Some(8));
/// let error = settings::NUM_CPU_DEVICES.parse("many".as_ref()).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "RAMIE_NUM_CPU_DEVICES is \"many\"; expected an integer from 1 to 1024"
/// );
/// ```
pub struct Setting<T> {
    /// Name of the environment variable.
    pub name: &'static str,
    /// Description of the accepted values, to follow the word "expected".
    pub expected: &'static str,
    read: fn(&OsStr) -> Option<T>,
}

/// An environment variable with a value that its setting does not accept.
#[derive(Clone, PartialEq, Eq)]
pub struct InvalidSetting {
    /// Name of the environment variable.
    pub name: &'static str,
    /// Value of the environment variable.
    pub value: OsString,
    /// Description of the accepted values.
    pub expected: &'static str,
}

ramie_base::debug_is_message!(InvalidSetting);

impl fmt::Display for InvalidSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name,
            value,
            expected,
        } = self;
        write!(f, "{name} is {value:?}; expected {expected}")
    }
}

impl std::error::Error for InvalidSetting {}

impl<T> Setting<T> {
    /// Returns the value of the variable in this process, or `None` if it is unset or empty.
    ///
    /// # Errors
    /// Returns an error if the setting does not accept the variable's value.
    pub fn get(&self) -> Result<Option<T>, InvalidSetting> {
        std::env::var_os(self.name).map_or(Ok(None), |value| self.parse(&value))
    }

    /// Parses a value of the variable. Returns `None` if it is empty.
    ///
    /// # Errors
    /// Returns an error if the setting does not accept the value.
    pub fn parse(&self, value: &OsStr) -> Result<Option<T>, InvalidSetting> {
        if value.is_empty() {
            return Ok(None);
        }
        let read = (self.read)(value).ok_or_else(|| InvalidSetting {
            name: self.name,
            value: value.to_owned(),
            expected: self.expected,
        })?;
        Ok(Some(read))
    }
}

impl Setting<bool> {
    /// Returns `true` if the setting is on; `false` if it is off, unset or invalid.
    pub fn is_on(&self) -> bool {
        self.get() == Ok(Some(true))
    }
}

/// The location of compiled programs on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CompilationCache {
    /// No location: compiled programs are not stored.
    Off,
    /// The user's cache directory.
    On,
    /// A given directory.
    Folder(PathBuf),
}

const SWITCH: &str = "`1` or `0` (also `on`/`off`, `true`/`false`, `yes`/`no`)";

fn switch(value: &OsStr) -> Option<bool> {
    match value.to_str()?.trim().to_ascii_lowercase().as_str() {
        "1" | "on" | "true" | "yes" => Some(true),
        "0" | "off" | "false" | "no" => Some(false),
        _ => None,
    }
}

fn path(value: &OsStr) -> Option<PathBuf> {
    Some(value.into())
}

fn text(value: &OsStr) -> Option<String> {
    value.to_str().map(str::to_owned)
}

fn number<T: std::str::FromStr>(value: &OsStr) -> Option<T> {
    value.to_str()?.trim().parse().ok()
}

/// Defines settings, each with its variable, the accepted values and a function that reads them,
/// and the list of all settings.
macro_rules! settings {
    ($($(#[$doc:meta])+ $setting:ident: $type:ty = $name:literal, $expected:expr, $read:expr;)+) => {
        $(
            $(#[$doc])+
            pub static $setting: Setting<$type> = Setting {
                name: $name,
                expected: $expected,
                read: $read,
            };
        )+

        /// All settings.
        pub static ALL: &[&dyn AnySetting] = &[$(&$setting),+];
    };
}

settings! {
    /// The platform that programs run on.
    PLATFORM: Platform = "RAMIE_PLATFORM", Platform::NAMES,
        |value| value.to_str()?.parse().ok();
    /// The path of the plugin, which replaces the search for one.
    PJRT_PLUGIN: PathBuf = "RAMIE_PJRT_PLUGIN", "the path of a PJRT plugin, or `xla-cpu`", path;
    /// Number of virtual CPU devices.
    NUM_CPU_DEVICES: usize = "RAMIE_NUM_CPU_DEVICES", "an integer from 1 to 1024",
        |value| number(value).filter(|n| (1..=1024).contains(n));
    /// The directory of plugins, compiled programs and downloaded files.
    CACHE_DIR: PathBuf = "RAMIE_CACHE_DIR", "the path of a directory", path;
    /// The location of compiled programs that later processes can use.
    COMPILATION_CACHE: CompilationCache = "RAMIE_COMPILATION_CACHE",
        "`on`, `off` or the path of a directory",
        |value| {
            Some(match switch(value) {
                Some(true) => CompilationCache::On,
                Some(false) => CompilationCache::Off,
                None => CompilationCache::Folder(value.into()),
            })
        };
    /// The maximum size of the directory of compiled programs, in MiB.
    COMPILATION_CACHE_MB: u64 = "RAMIE_COMPILATION_CACHE_MB",
        "the maximum size of the directory of compiled programs in MiB, an integer such as 4096",
        |value| number::<u64>(value).filter(|mb| mb.checked_mul(1 << 20).is_some());
    /// Whether large requests for host memory are compared with the available memory.
    CHECK_MEMORY: bool = "RAMIE_CHECK_MEMORY", SWITCH, switch;
    /// The precision of matrix products that request none.
    DEFAULT_MATMUL_PRECISION: String = "RAMIE_DEFAULT_MATMUL_PRECISION",
        "`default`, `high` or `highest` (also `bfloat16`, `tensorfloat32`, `float32`)",
        |value| {
            const NAMES: [&str; 8] = [
                "default", "fastest", "bfloat16", "high", "bfloat16_3x", "tensorfloat32", "highest", "float32",
            ];
            text(value).filter(|name| NAMES.contains(&name.as_str()))
        };
    /// Whether compilations are logged.
    LOG_COMPILES: bool = "RAMIE_LOG_COMPILES", SWITCH, switch;
    /// Whether the first operation that produces a NaN panics.
    DEBUG_NANS: bool = "RAMIE_DEBUG_NANS", SWITCH, switch;
    /// Whether the first operation that produces an infinity panics.
    DEBUG_INFS: bool = "RAMIE_DEBUG_INFS", SWITCH, switch;
    /// The directory to which the StableHLO of each compiled program is written.
    DUMP_IR_TO: PathBuf = "RAMIE_DUMP_IR_TO", "the path of a directory", path;
    /// The address of the coordinator of several processes.
    COORDINATOR_ADDRESS: String = "RAMIE_COORDINATOR_ADDRESS",
        "a host and a port, such as `10.0.0.1:8476`",
        text;
    /// The port of the coordinator.
    COORDINATOR_PORT: u16 = "RAMIE_COORDINATOR_PORT", "a port, an integer from 1 to 65535",
        |value| number(value).filter(|port| *port > 0);
    /// The number of processes.
    NUM_PROCESSES: usize = "RAMIE_NUM_PROCESSES", "the number of processes, an integer from 1",
        |value| number(value).filter(|n| *n > 0);
    /// The index of this process.
    PROCESS_ID: usize = "RAMIE_PROCESS_ID", "this process's number, an integer from 0", number;
}

/// A setting of any type.
pub trait AnySetting: Sync {
    /// Returns the name of the environment variable.
    fn name(&self) -> &'static str;

    /// Checks a value of the variable.
    ///
    /// # Errors
    /// Returns an error if the setting does not accept the value.
    fn check(&self, value: &OsStr) -> Result<(), InvalidSetting>;
}

impl<T> AnySetting for Setting<T> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn check(&self, value: &OsStr) -> Result<(), InvalidSetting> {
        self.parse(value).map(|_| ())
    }
}

/// Checks the variables of all settings in this process.
///
/// # Errors
/// Returns an error for the first variable whose value its setting does not accept.
pub fn check() -> Result<(), InvalidSetting> {
    for setting in ALL {
        if let Some(value) = std::env::var_os(setting.name()) {
            setting.check(&value)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An invalid value for each setting that has one, besides values that are not UTF-8. Paths
    /// may be any bytes.
    const RUBBISH: [(&str, &str); 12] = [
        ("RAMIE_DEFAULT_MATMUL_PRECISION", "exact"),
        ("RAMIE_PLATFORM", "gpu"),
        ("RAMIE_NUM_CPU_DEVICES", "0"),
        ("RAMIE_COMPILATION_CACHE_MB", "4 GB"),
        ("RAMIE_CHECK_MEMORY", "maybe"),
        ("RAMIE_LOG_COMPILES", "please"),
        ("RAMIE_DEBUG_NANS", "nan"),
        ("RAMIE_DEBUG_INFS", "-1"),
        ("RAMIE_COORDINATOR_PORT", "65536"),
        ("RAMIE_NUM_PROCESSES", "0"),
        ("RAMIE_PROCESS_ID", "-1"),
        ("RAMIE_NUM_CPU_DEVICES", "1025"),
    ];
    const ANY_BYTES: [&str; 4] = [
        "RAMIE_PJRT_PLUGIN",
        "RAMIE_CACHE_DIR",
        "RAMIE_COMPILATION_CACHE",
        "RAMIE_DUMP_IR_TO",
    ];

    #[test]
    fn every_setting_refuses_what_it_cannot_read() {
        for (name, value) in RUBBISH {
            let setting = ALL.iter().find(|s| s.name() == name).expect(name);
            let error = setting.check(value.as_ref()).expect_err(name).to_string();
            assert!(
                error.starts_with(&format!("{name} is {value:?}; expected ")),
                "{error}"
            );
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_value_that_is_no_text_never_counts_as_unset() {
        use std::os::unix::ffi::OsStrExt;
        let bytes = OsStr::from_bytes(b"\xff1");
        for setting in ALL {
            let accepted = setting.check(bytes).is_ok();
            assert_eq!(
                accepted,
                ANY_BYTES.contains(&setting.name()),
                "{}",
                setting.name()
            );
            assert!(setting.check(OsStr::new("")).is_ok(), "empty is unset");
        }
        let folder = COMPILATION_CACHE.parse(bytes).expect("a path");
        assert_eq!(folder, Some(CompilationCache::Folder(bytes.into())));
    }

    #[test]
    fn every_setting_is_documented() {
        let documents = ["docs/settings.md", "docs/scaling.md"].map(|name| {
            let path = format!("{}/../{name}", env!("CARGO_MANIFEST_DIR"));
            std::fs::read_to_string(path).expect("the document")
        });
        for setting in ALL {
            let quoted = format!("`{}`", setting.name());
            let documented = documents.iter().any(|text| text.contains(&quoted));
            assert!(documented, "{quoted} is in no table of settings");
        }
    }

    #[test]
    fn switches_have_several_spellings() {
        for (value, on) in [
            ("1", true),
            ("On", true),
            ("yes", true),
            ("0", false),
            ("FALSE", false),
        ] {
            assert_eq!(CHECK_MEMORY.parse(value.as_ref()), Ok(Some(on)));
        }
        assert_eq!(
            COMPILATION_CACHE.parse("off".as_ref()),
            Ok(Some(CompilationCache::Off))
        );
    }
}
