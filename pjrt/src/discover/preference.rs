//! Choosing among the releases of a platform: the first in the table that can be installed.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use super::catalog::Release;
use super::install::{How, install};
use super::{Environment, InstallError, Origin, Platform, PluginLocation};

/// How long a program runs with another release after an installation of the preferred one failed,
/// before the next attempt.
const RETRY_AFTER: Duration = Duration::from_secs(24 * 60 * 60);

/// Installs the first release that can be installed.
///
/// # Errors
/// The error of the preferred release.
pub(super) fn install_first(
    env: &Environment,
    platform: Platform,
    how: How,
) -> Result<PluginLocation, InstallError> {
    let preferred = env.release(platform)?;
    let error = match install(env, preferred, how) {
        Ok(plugin) => {
            forget_failure(env, preferred);
            return Ok(plugin);
        }
        Err(error) if !error.is_of_the_wheel() => return Err(error),
        Err(error) => error,
    };
    for next in env.releases(platform).skip(1) {
        tell_failure(env, preferred, &error);
        env.tell(&format!("trying {} instead", next.package()));
        if let Ok(plugin) = install(env, next, how) {
            remember_failure(env, preferred, &error);
            return Ok(plugin);
        }
    }
    Err(error)
}

/// Replaces an older CPU plugin of the user cache by the preferred one, at most one attempt a day.
/// If that fails, returns the older one. Plugins of Python environments stay as the user chose them.
pub(super) fn upgrade(env: &Environment, plugin: PluginLocation) -> PluginLocation {
    let Ok(preferred) = env.release(plugin.platform) else {
        return plugin;
    };
    let is_preferred = plugin.package == Some(preferred.package().name);
    if plugin.platform != Platform::Cpu
        || plugin.origin != Origin::Cache
        || is_preferred
        || failed_lately(env, preferred)
    {
        return plugin;
    }
    match install(env, preferred, How::Upgrade) {
        Ok(upgraded) => {
            forget_failure(env, preferred);
            upgraded
        }
        Err(error) => {
            if remember_failure(env, preferred, &error) {
                let used = plugin.package.unwrap_or("the installed plugin");
                tell_failure(env, preferred, &error);
                env.tell(&format!("using {used}; the next attempt is in a day"));
            }
            plugin
        }
    }
}

/// Returns the reason why the last installation of `release` failed, if another release was used.
pub(super) fn failure(env: &Environment, release: &Release) -> Option<String> {
    fs::read_to_string(failure_file(env, release)).ok()
}

fn tell_failure(env: &Environment, release: &Release, error: &InstallError) {
    let (package, reason) = (release.package(), error.reason());
    env.tell(&format!("cannot install {package}: {reason}"));
}

fn failure_file(env: &Environment, release: &Release) -> PathBuf {
    env.plugins_dir()
        .join(format!("{}.failed", release.folder()))
}

fn failed_lately(env: &Environment, release: &Release) -> bool {
    let modified = fs::metadata(failure_file(env, release)).and_then(|meta| meta.modified());
    // A time in the future, after a change of the clock, counts as long ago.
    modified.is_ok_and(|time| time.elapsed().is_ok_and(|age| age < RETRY_AFTER))
}

/// Whether the failure could be recorded. It cannot in a cache that is read-only, where a message
/// at every start would help nobody.
fn remember_failure(env: &Environment, release: &Release, error: &InstallError) -> bool {
    fs::write(failure_file(env, release), error.reason()).is_ok()
}

fn forget_failure(env: &Environment, release: &Release) {
    // Absent in most cases; a file that stays is only a note for `ramie doctor`.
    let _ = fs::remove_file(failure_file(env, release));
}
