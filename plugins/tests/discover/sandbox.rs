//! A folder with everything that discovery looks at.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use ramie_plugins::{
    DiscoverError, Environment, Platform, PluginLocation, Release, Wheel, XLA_CPU,
};
use sha2::{Digest, Sha256};
use zip::write::{SimpleFileOptions, ZipWriter};

/// Where the made-up CPU plugin lies in its wheel.
pub const CPU_LIBRARY: &str = "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so";

pub struct Sandbox {
    temp: tempfile::TempDir,
    vars: Vec<(String, String)>,
    releases: &'static [Release],
    told: Arc<Mutex<Vec<String>>>,
}

/// A wheel's name, files (path, mode, contents) and what of it is kept.
pub struct FakeWheel<'a> {
    pub name: &'static str,
    pub files: &'a [(&'a str, u32, &'a [u8])],
    pub keep: &'static [&'static str],
}

impl Sandbox {
    /// A `python3` with pip, which offers a wheel that holds the CPU plugin.
    pub fn new() -> Self {
        let mut sandbox = Self::empty();
        sandbox.offer(
            Platform::Cpu,
            CPU_LIBRARY,
            &[FakeWheel {
                name: "xla-cpu-pjrt",
                files: &[
                    ("xla_plugins/xla_cpu_pjrt/__init__.py", 0o644, b"pass"),
                    (CPU_LIBRARY, 0o644, &[7; 50_000]),
                ],
                keep: &[CPU_LIBRARY],
            }],
        );
        sandbox.python("bin", "");
        sandbox
    }

    /// No release, and nothing on `PATH`.
    pub fn empty() -> Self {
        Self::at(tempfile::tempdir().unwrap())
    }

    fn at(temp: tempfile::TempDir) -> Self {
        let path = |name: &str| temp.path().join(name).display().to_string();
        for folder in ["bin", "root/dev", "wheels"] {
            fs::create_dir_all(temp.path().join(folder)).unwrap();
        }
        let vars = vec![
            ("HOME".to_owned(), path("home")),
            ("PATH".to_owned(), path("bin")),
        ];
        Sandbox {
            temp,
            vars,
            releases: &[],
            told: Arc::default(),
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.temp.path().join(name)
    }

    pub fn set(&mut self, name: &str, value: impl AsRef<Path>) -> &mut Self {
        self.vars.retain(|(known, _)| known != name);
        let value = value.as_ref().display().to_string();
        self.vars.push((name.to_owned(), value));
        self
    }

    pub fn env(&self) -> Environment {
        self.with_vars(self.vars.iter().cloned())
    }

    fn with_vars(&self, vars: impl Iterator<Item = (String, String)>) -> Environment {
        let told = self.told.clone();
        Environment::from_vars(vars)
            .with_root(self.path("root"))
            .with_releases(self.releases)
            .with_progress(move |line| told.lock().unwrap().push(line.to_owned()))
    }

    /// Finds XLA's CPU plugin, which `RAMIE_PJRT_PLUGIN` selects.
    pub fn find(&self) -> Result<PluginLocation, DiscoverError> {
        let vars = self.vars.iter().cloned();
        let selected = ("RAMIE_PJRT_PLUGIN".to_owned(), XLA_CPU.to_owned());
        self.with_vars(vars.chain([selected])).find(None)
    }

    pub fn releases(&self) -> &'static [Release] {
        self.releases
    }

    /// All lines of progress so far.
    pub fn told(&self) -> String {
        self.told.lock().unwrap().join("\n")
    }

    /// Writes wheels for pip to find, and pins them as a release.
    pub fn offer(&mut self, platform: Platform, library: &'static str, wheels: &[FakeWheel<'_>]) {
        let pin = |wheel: &FakeWheel<'_>| {
            let file = self.wheel_file(wheel.name);
            write_wheel(&file, wheel.files);
            let bytes = fs::read(&file).unwrap();
            Wheel {
                name: wheel.name,
                version: "1.0",
                sha256: sha256(&bytes).leak(),
                bytes: bytes.len() as u64,
                keep: wheel.keep,
                selector: &[],
            }
        };
        let wheels: Vec<Wheel> = wheels.iter().map(pin).collect();
        let release = Release {
            platform,
            os: std::env::consts::OS,
            arch: std::env::consts::ARCH,
            about: "made up",
            library,
            wheels: wheels.leak(),
        };
        self.releases = [self.releases, &[release]].concat().leak();
    }

    /// Pins the wheel file as it is now, whatever is in it.
    pub fn pin_again(&mut self) {
        let mut release = self.releases[0];
        let mut wheel = *release.package();
        let bytes = fs::read(self.wheel_file(wheel.name)).unwrap();
        wheel.sha256 = sha256(&bytes).leak();
        release.wheels = vec![wheel].leak();
        self.releases = vec![release].leak();
    }

    pub fn wheel_file(&self, name: &str) -> PathBuf {
        self.path(&format!("wheels/{name}.whl"))
    }

    /// Puts a `python3` into `folder`. It logs each call; `-c` prints the file `search-path`, and
    /// `-m pip download` copies the wheel that is asked for. `first` runs before all that.
    pub fn python(&self, folder: &str, first: &str) {
        let base = self.temp.path().display();
        let script = format!(
            r#"#!/bin/sh
echo "$0 $@" >> "{base}/calls"
{first}
if [ "$1" = "-c" ]; then /bin/cat "{base}/search-path"; exit; fi
for word in "$@"; do
    case "$word" in *==*) name="${{word%%==*}}" ;; esac
    folder="$word"
done
/bin/sleep 0.2
/bin/mkdir -p "$folder" && exec /bin/cp "{base}/wheels/$name.whl" "$folder/$name-1.0-py3-none-any.whl"
"#
        );
        let file = self.path(folder).join("python3");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        // Another process writes it: were this one to, a child that another test forks at that
        // moment would hold the file open, and starting it would fail as "text file busy".
        let mut writer = Command::new("/bin/sh")
            .args(["-c", "/bin/cat > \"$0\" && /bin/chmod 755 \"$0\""])
            .arg(&file)
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        writer
            .stdin
            .take()
            .unwrap()
            .write_all(script.as_bytes())
            .unwrap();
        assert!(writer.wait().unwrap().success());
    }

    pub fn without_python(&self) {
        fs::remove_file(self.path("bin/python3")).unwrap();
    }

    /// Makes `sys.path` of the `python3` consist of `folder`.
    pub fn search_path(&self, folder: &Path) {
        fs::write(
            self.path("search-path"),
            folder.as_os_str().as_encoded_bytes(),
        )
        .unwrap();
    }

    /// How many calls of a `python3` had `word` among their arguments.
    pub fn calls(&self, word: &str) -> usize {
        let calls = fs::read_to_string(self.path("calls")).unwrap_or_default();
        calls.lines().filter(|call| call.contains(word)).count()
    }

    /// The plugin's file in the user cache.
    pub fn cached_library(&self) -> PathBuf {
        let release = &self.releases[0];
        let folder = self.plugins().join(release.folder());
        folder.join(release.library)
    }

    pub fn plugins(&self) -> PathBuf {
        self.env().cache_dir().join("plugins")
    }

    /// What is in the plugins' folder, apart from locks, which stay.
    pub fn in_cache(&self) -> Vec<String> {
        let entries = fs::read_dir(self.plugins()).into_iter().flatten();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| !name.ends_with(".lock")).collect()
    }
}

/// Creates an empty file with the folders above it.
pub fn touch(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, "").unwrap();
}

pub fn write_wheel(path: &Path, files: &[(&str, u32, &[u8])]) {
    let mut zip = ZipWriter::new(File::create(path).unwrap());
    for (name, mode, contents) in files {
        let options = SimpleFileOptions::default().unix_permissions(*mode);
        zip.start_file(*name, options).unwrap();
        zip.write_all(contents).unwrap();
    }
    zip.finish().unwrap();
}

fn sha256(bytes: &[u8]) -> String {
    let hash = Sha256::digest(bytes);
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}
