//! Plugins in existing Python environments.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

use crate::environment::Environment;
use crate::error::Attempt;
use crate::location::{Origin, PluginLocation};
use crate::manifest::modified;
use crate::platform::Platform;
use crate::trust;

/// Where packages put their plugin below a `site-packages` folder, and the package's name, whose
/// dashes its `dist-info` folder writes as underscores. The newest comes first.
fn layouts(platform: Platform) -> &'static [(&'static str, &'static str)] {
    match platform {
        Platform::Cpu => &[
            (
                "fastatomstruct_xla_cpu/libpjrt_cpu.so",
                "fastatomstruct-xla-cpu",
            ),
            ("xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so", "xla-cpu-pjrt"),
        ],
        Platform::Cuda => &[
            (
                "jax_plugins/xla_cuda13/xla_cuda_plugin.so",
                "jax-cuda13-pjrt",
            ),
            (
                "jax_plugins/xla_cuda12/xla_cuda_plugin.so",
                "jax-cuda12-pjrt",
            ),
        ],
        Platform::Tpu => &[("libtpu/libtpu.so", "libtpu")],
        Platform::Rocm => &[("jax_plugins/xla_rocm7/xla_rocm_plugin.so", "jax-rocm7-pjrt")],
        Platform::OneApi => &[(
            "jax_plugins/xla_oneapi/xla_oneapi_plugin.so",
            "jax-oneapi-pjrt",
        )],
        Platform::Metal => &[("jax_plugins/mps/lib/libpjrt_plugin_mps.dylib", "jax-mps")],
        Platform::Other(_) => &[],
    }
}

/// Searches the environment of `VIRTUAL_ENV`, then that of the first `python3` on `PATH`.
pub(crate) fn search(
    env: &Environment,
    platform: Platform,
    tried: &mut Vec<Attempt>,
) -> Option<PluginLocation> {
    if layouts(platform).is_empty() {
        return None;
    }
    let virtual_env = env.var("VIRTUAL_ENV").map(Path::new);
    if let Some(folder) = virtual_env {
        let place = format!("Python environment VIRTUAL_ENV={}", folder.display());
        let dirs = site_packages(folder);
        if let Some(found) = among(&dirs, platform, place, tried) {
            return Some(found);
        }
    }
    let python = env.pythons().into_iter().next();
    match python {
        None => tried.push(Attempt::new(
            "Python environment of `python3`",
            "no `python3` is on PATH",
        )),
        // This environment was searched above, without starting Python.
        Some(python) if virtual_env.is_some_and(|folder| python.starts_with(folder)) => {}
        Some(python) => {
            let place = format!("Python environment of {}", python.display());
            match search_path(env, &python) {
                Ok(mut dirs) => {
                    dirs.retain(|dir| dir.is_dir());
                    return among(&dirs, platform, place, tried);
                }
                Err(problem) => tried.push(Attempt::new(place, problem)),
            }
        }
    }
    None
}

fn among(
    dirs: &[PathBuf],
    platform: Platform,
    place: String,
    tried: &mut Vec<Attempt>,
) -> Option<PluginLocation> {
    for (layout, package) in layouts(platform) {
        for dir in dirs {
            let path = dir.join(layout);
            if path.is_file() {
                return Some(PluginLocation {
                    platform,
                    path,
                    package: Some(package),
                    version: version(dir, package),
                    sha256: None,
                    origin: Origin::Python,
                });
            }
        }
    }
    let names: Vec<_> = layouts(platform)
        .iter()
        .map(|(layout, _)| *layout)
        .collect();
    let outcome = match dirs {
        [] => "it has no site-packages directory".to_owned(),
        dirs => format!(
            "no {} in its {} directories",
            names.join(" or "),
            dirs.len()
        ),
    };
    tried.push(Attempt::new(place, outcome));
    None
}

/// Returns the version of `package`, from the name of its `dist-info` directory.
fn version(dir: &Path, package: &str) -> Option<String> {
    fs::read_dir(dir).ok()?.flatten().find_map(|entry| {
        let name = entry.file_name();
        let version = name
            .to_str()?
            .strip_prefix(&*package.replace('-', "_"))?
            .strip_prefix('-')?
            .strip_suffix(".dist-info")?;
        Some(version.to_owned())
    })
}

/// Returns the `site-packages` directories of a virtual environment without starting its Python.
fn site_packages(environment: &Path) -> Vec<PathBuf> {
    let mut dirs = Vec::new();
    for lib in ["lib", "lib64"] {
        let Ok(entries) = fs::read_dir(environment.join(lib)) else {
            continue;
        };
        for entry in entries.flatten() {
            let dir = entry.path().join("site-packages");
            if entry.file_name().as_encoded_bytes().starts_with(b"python") && dir.is_dir() {
                dirs.push(dir);
            }
        }
    }
    dirs.sort();
    dirs
}

/// Prints the folders of `sys.path` as bytes, independently of the locale, and the user's own folder
/// even if it does not exist yet: pip may create it later.
const QUESTION: &str = r"import os, site, sys
own = site.ENABLE_USER_SITE and site.getusersitepackages()
sys.stdout.buffer.write(b'\n'.join(map(os.fsencode, sys.path + [own or ''])))";

/// The variables that influence the result.
const INFLUENCES: [&str; 7] = [
    "HOME",
    "PYTHONHOME",
    "PYTHONNOUSERSITE",
    "PYTHONPATH",
    "PYTHONUSERBASE",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
];

/// The search path of a Python, and the conditions under which it is valid. Starting Python takes
/// tens of milliseconds, more than the rest of a program's start.
#[derive(PartialEq, Serialize, Deserialize)]
struct Remembered {
    bytes: u64,
    modified: u64,
    influences: Vec<Option<String>>,
    dirs: Vec<PathBuf>,
}

fn search_path(env: &Environment, python: &Path) -> Result<Vec<PathBuf>, String> {
    let file = env.cache_dir().join("python.json");
    let mut memory: BTreeMap<String, Remembered> = fs::read(&file)
        .ok()
        .and_then(|text| serde_json::from_slice(&text).ok())
        .unwrap_or_default();
    let key = python.display().to_string();
    let circumstances = circumstances(env, python);
    if let (Some(now), Some(then)) = (&circumstances, memory.get(&key))
        && (now.bytes, now.modified, &now.influences)
            == (then.bytes, then.modified, &then.influences)
    {
        return Ok(then.dirs.clone());
    }
    let dirs = ask(env, python)?;
    if let Some(mut now) = circumstances {
        now.dirs.clone_from(&dirs);
        memory.insert(key, now);
        if let Err(error) = remember(&file, &memory) {
            // A failure only makes the next start slower.
            tracing::debug!(file = %file.display(), %error, "cannot remember Python's search path");
        }
    }
    Ok(dirs)
}

/// Returns the current conditions. Returns `None` for a script, because the `python3` of a
/// version manager selects a Python depending on the working directory.
fn circumstances(env: &Environment, python: &Path) -> Option<Remembered> {
    let mut start = [0; 2];
    File::open(python).ok()?.read_exact(&mut start).ok()?;
    if &start == b"#!" {
        return None;
    }
    let meta = python.metadata().ok()?;
    let value = |name| {
        env.var(name)
            .map(|value: &OsStr| value.to_string_lossy().into_owned())
    };
    Some(Remembered {
        bytes: meta.len(),
        modified: modified(&meta),
        influences: INFLUENCES.into_iter().map(value).collect(),
        dirs: Vec::new(),
    })
}

fn remember(file: &Path, memory: &BTreeMap<String, Remembered>) -> std::io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    trust::create_folder(folder)?;
    let mut draft = tempfile::Builder::new()
        .prefix(".python-")
        .tempfile_in(folder)?;
    serde_json::to_writer(&mut draft, memory)?;
    draft.flush()?;
    draft.persist(file)?;
    Ok(())
}

fn ask(env: &Environment, python: &Path) -> Result<Vec<PathBuf>, String> {
    let output = Command::new(python)
        .args(["-c", QUESTION])
        .env_clear()
        .envs(env.vars())
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("it cannot be started: {error}"))?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        let last = stderr.lines().last().unwrap_or("it wrote nothing").trim();
        return Err(format!("it failed ({}): {last}", output.status));
    }
    let dirs = output
        .stdout
        .split(|byte| *byte == b'\n')
        .filter_map(|line| std::str::from_utf8(line).ok())
        .map(PathBuf::from)
        .filter(|dir| dir.is_absolute());
    Ok(dirs.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sandbox() -> (tempfile::TempDir, Environment, PathBuf) {
        let temp = tempfile::tempdir().unwrap();
        let python = temp.path().join("python3");
        // The file is not a program, so any attempt to start it is an error.
        fs::write(&python, "\x7fELF nothing").unwrap();
        let cache = temp.path().join("cache");
        let env = Environment::from_vars([("RAMIE_CACHE_DIR", &cache)]);
        (temp, env, python)
    }

    fn remember_for(env: &Environment, python: &Path, dirs: &[PathBuf]) {
        let mut entry = circumstances(env, python).unwrap();
        entry.dirs = dirs.to_vec();
        let memory = BTreeMap::from([(python.display().to_string(), entry)]);
        remember(&env.cache_dir().join("python.json"), &memory).unwrap();
    }

    #[test]
    fn an_answer_is_remembered_while_python_stays_the_same() {
        let (temp, env, python) = sandbox();
        assert!(search_path(&env, &python).is_err());
        let dirs = vec![temp.path().to_owned()];
        remember_for(&env, &python, &dirs);
        assert_eq!(search_path(&env, &python), Ok(dirs));

        fs::write(&python, "\x7fELF nothing, but newer").unwrap();
        assert!(search_path(&env, &python).is_err());
    }

    #[test]
    fn an_answer_is_forgotten_when_a_variable_changes() {
        let (temp, env, python) = sandbox();
        remember_for(&env, &python, &[temp.path().to_owned()]);
        let cache = env.cache_dir();
        let other = Environment::from_vars([
            ("RAMIE_CACHE_DIR", cache.as_os_str()),
            ("PYTHONPATH", OsStr::new("/elsewhere")),
        ]);
        assert!(search_path(&other, &python).is_err());
    }

    #[test]
    fn the_folder_of_the_user_is_searched_before_it_exists() {
        let Some(python) = Environment::from_process().pythons().into_iter().next() else {
            return;
        };
        let (temp, ..) = sandbox();
        let own = temp.path().join("own").display().to_string();
        let mut vars: BTreeMap<_, _> = std::env::vars_os().collect();
        vars.insert("PYTHONUSERBASE".into(), own.clone().into());
        let dirs = ask(&Environment::from_vars(vars), &python).unwrap();
        let enabled = Command::new(&python)
            .args(["-c", "import site; print(bool(site.ENABLE_USER_SITE))"])
            .output()
            .unwrap();
        let found = dirs.iter().any(|dir| dir.starts_with(&own));
        assert_eq!(found, enabled.stdout.starts_with(b"True"), "{dirs:?}");
    }

    #[test]
    fn a_script_is_asked_every_time() {
        let (_temp, env, python) = sandbox();
        fs::write(&python, "#!/bin/sh\n").unwrap();
        assert!(circumstances(&env, &python).is_none());
    }

    #[test]
    fn a_damaged_memory_is_no_obstacle() {
        let (_temp, env, python) = sandbox();
        let cache = env.cache_dir();
        fs::create_dir_all(&cache).unwrap();
        fs::write(cache.join("python.json"), "{\"half").unwrap();
        assert!(
            search_path(&env, &python)
                .unwrap_err()
                .contains("cannot be started")
        );
    }
}
