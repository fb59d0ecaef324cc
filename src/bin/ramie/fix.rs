//! The command that solves a problem which `ramie doctor` has found.

use std::env;
use std::error::Error;
use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

use ramie_plugins::{DiscoverError, Environment, InstallError, Origin, Platform, PluginLocation};

/// Package managers with their commands to install pip, in the order of the search.
const PACKAGE_MANAGERS: [(&str, &str); 6] = [
    ("apt-get", "sudo apt-get install python3-pip"),
    ("dnf", "sudo dnf install python3-pip"),
    ("zypper", "sudo zypper install python3-pip"),
    ("pacman", "sudo pacman -S python-pip"),
    ("apk", "sudo apk add py3-pip"),
    ("brew", "brew install python"),
];

const OTHER_CACHE: &str = "export RAMIE_CACHE_DIR=\"$HOME/ramie-cache\"";
const UNSET: &str = "unset RAMIE_PJRT_PLUGIN";
const OTHER_PLUGIN: &str = "export RAMIE_PJRT_PLUGIN=FILE";

/// Returns the command for a search that found no plugin.
pub(crate) fn of_search(
    env: &Environment,
    platform: Option<Platform>,
    error: &DiscoverError,
) -> String {
    match error {
        DiscoverError::UnknownPlatform(_) => "unset RAMIE_PLATFORM".to_owned(),
        DiscoverError::ExplicitPlugin { .. } => UNSET.to_owned(),
        DiscoverError::Refused(refused) => of_refused(&refused.remedy),
        DiscoverError::NotFound(missing) if env.release(missing.platform).is_err() => {
            let is_asked = platform.is_some();
            match (missing.platform, is_asked) {
                (Platform::Cpu, _) => UNSET.to_owned(),
                (_, true) => "ramie doctor --platform cpu".to_owned(),
                (_, false) => "export RAMIE_PLATFORM=cpu".to_owned(),
            }
        }
        DiscoverError::NotFound(missing) => of_missing(env, missing.platform),
        DiscoverError::Install(InstallError::Cache { .. }) => OTHER_CACHE.to_owned(),
        _ => format!("ramie plugin install {}", platform.unwrap_or(Platform::Cpu)),
    }
}

/// Returns the command for a plugin that does not load or fails to compute.
pub(crate) fn of_plugin(found: &PluginLocation, error: &(dyn Error + 'static)) -> String {
    if let Some(DiscoverError::Refused(refused)) = error.downcast_ref() {
        return of_refused(&refused.remedy);
    }
    match (found.origin, found.platform) {
        (Origin::Variable, _) => UNSET.to_owned(),
        (Origin::Python, platform) => format!("ramie plugin install {platform}"),
        (_, Platform::Cpu) => "ramie plugin install cpu --force".to_owned(),
        // The files are those that were installed, so the driver or the device is the problem.
        _ => "export RAMIE_PLATFORM=cpu".to_owned(),
    }
}

/// The command in an advice, between backticks. Without one, the folder belongs to another user.
fn of_refused(remedy: &str) -> String {
    remedy.split('`').nth(1).unwrap_or(OTHER_CACHE).to_owned()
}

/// Returns the command for a plugin that is not installed: the first requirement of a download that
/// is not met.
fn of_missing(env: &Environment, platform: Platform) -> String {
    let download = format!("ramie plugin install {platform}");
    if !is_on_path("python3") {
        let found = PACKAGE_MANAGERS.iter().find(|(name, _)| is_on_path(name));
        return found
            .map_or(OTHER_PLUGIN, |(_, install)| install)
            .to_owned();
    }
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "--version"]).stdin(Stdio::null());
    if !pip.output().is_ok_and(|output| output.status.success()) {
        return "python3 -m ensurepip --user".to_owned();
    }
    if !is_writable(&env.cache_dir()) {
        return OTHER_CACHE.to_owned();
    }
    download
}

fn is_on_path(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(OsStr::new(&path)).any(|folder| folder.join(program).is_file())
}

/// Whether this process can create files in a folder, or the folder itself.
fn is_writable(folder: &Path) -> bool {
    let existing = folder.ancestors().find(|folder| folder.exists());
    existing.is_some_and(|folder| folder.is_dir() && accepts_files(folder))
}

/// Creates an empty file and removes it.
fn accepts_files(folder: &Path) -> bool {
    let probe = folder.join(format!(".ramie-doctor-{}", std::process::id()));
    let is_created = std::fs::File::create_new(&probe).is_ok();
    let _ = std::fs::remove_file(&probe);
    is_created
}
