//! Installing: once, whole, and by one process at a time.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::{Duration, SystemTime};

use ramie_plugins::{Environment, Origin, Platform, Release, Wheel};

use crate::sandbox::{CPU_LIBRARY, FakeWheel, Sandbox};

#[test]
fn an_installed_plugin_is_found_without_python() {
    let sandbox = Sandbox::new();
    let first = sandbox.env().install(Platform::Cpu).unwrap();
    assert_eq!(first.origin, Origin::Download);
    assert_eq!(fs::read(&first.path).unwrap(), [7; 50_000]);
    let told = sandbox.told();
    assert!(told.starts_with("installing the XLA CPU plugin (xla-cpu-pjrt 1.0, 0.0 MB) into "));
    assert!(
        told.contains("\ninstalled the XLA CPU plugin in "),
        "{told}"
    );

    sandbox.without_python();
    let second = sandbox.find().unwrap();
    assert_eq!((second.origin, second.path), (Origin::Cache, first.path));
    assert_eq!(sandbox.told(), told);
    // Only what is needed was unpacked.
    let folder = sandbox.plugins().join(sandbox.releases()[0].folder());
    assert!(!folder.join("xla_plugins/xla_cpu_pjrt/__init__.py").exists());
    assert_eq!(sandbox.in_cache(), [sandbox.releases()[0].folder()]);
}

#[test]
fn pip_is_asked_for_the_pinned_wheel_only() {
    let sandbox = Sandbox::new();
    sandbox.env().install(Platform::Cpu).unwrap();
    assert_eq!(
        sandbox.calls("-m pip download --no-deps --only-binary=:all:"),
        1
    );
    assert_eq!(sandbox.calls("xla-cpu-pjrt==1.0 -d "), 1);
}

#[test]
fn threads_that_start_at_once_install_once() {
    let sandbox = Sandbox::new();
    let origins: Vec<Origin> = std::thread::scope(|scope| {
        let install = || sandbox.env().install(Platform::Cpu).unwrap().origin;
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(install)).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    let downloads = origins.iter().filter(|origin| **origin == Origin::Download);
    assert_eq!(downloads.count(), 1, "{origins:?}");
    assert_eq!(sandbox.calls("pip download"), 1);
    assert!(sandbox.told().contains("waiting for another process"));
}

/// Set in the processes that the next test starts from this same program.
const CHILD: &str = "DISCOVER_TEST_CHILD";

#[test]
fn processes_that_start_at_once_install_once() {
    if let Ok(sha256) = std::env::var(CHILD) {
        let wheel = Wheel {
            name: "xla-cpu-pjrt",
            version: "1.0",
            sha256: sha256.leak(),
            bytes: 0,
            keep: &[CPU_LIBRARY],
            selector: &[],
        };
        let release = Release {
            platform: Platform::Cpu,
            os: std::env::consts::OS,
            arch: std::env::consts::ARCH,
            about: "made up",
            library: CPU_LIBRARY,
            wheels: vec![wheel].leak(),
        };
        let env = Environment::from_process().with_releases(vec![release].leak());
        assert_eq!(
            fs::read(env.install(Platform::Cpu).unwrap().path).unwrap(),
            [7; 50_000]
        );
        return;
    }
    let sandbox = Sandbox::new();
    let start = |_| {
        Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "install::processes_that_start_at_once_install_once",
            ])
            .env_clear()
            .env(CHILD, sandbox.releases()[0].package().sha256)
            .env("HOME", sandbox.path("home"))
            .env("PATH", sandbox.path("bin"))
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap()
    };
    let children: Vec<_> = (0..6).map(start).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(sandbox.calls("pip download"), 1);
    assert_eq!(sandbox.in_cache(), [sandbox.releases()[0].folder()]);
}

#[test]
fn a_killed_installation_leaves_nothing_behind_the_next() {
    let sandbox = Sandbox::new();
    let draft = format!(".{}.draft-killed", sandbox.releases()[0].folder());
    fs::create_dir_all(sandbox.plugins().join(draft).join("new")).unwrap();
    sandbox.env().install(Platform::Cpu).unwrap();
    assert_eq!(sandbox.in_cache(), [sandbox.releases()[0].folder()]);
}

#[test]
fn a_copied_cache_is_trusted_after_one_look_at_its_contents() {
    let sandbox = Sandbox::new();
    let path = sandbox.env().install(Platform::Cpu).unwrap().path;
    let later = SystemTime::now() + Duration::from_secs(60);
    File::options()
        .write(true)
        .open(&path)
        .unwrap()
        .set_modified(later)
        .unwrap();
    let manifest = path.ancestors().nth(3).unwrap().join("manifest.json");
    let before = fs::read(&manifest).unwrap();
    assert_eq!(sandbox.find().unwrap().origin, Origin::Cache);
    assert_ne!(fs::read(&manifest).unwrap(), before);
}

#[test]
fn reinstalling_replaces_a_whole_installation() {
    let sandbox = Sandbox::new();
    let env = sandbox.env();
    env.install(Platform::Cpu).unwrap();
    assert_eq!(env.install(Platform::Cpu).unwrap().origin, Origin::Cache);
    assert_eq!(
        env.reinstall(Platform::Cpu).unwrap().origin,
        Origin::Download
    );
    assert_eq!(sandbox.calls("pip download"), 2);
    assert_eq!(sandbox.in_cache(), [sandbox.releases()[0].folder()]);
}

#[test]
fn several_wheels_share_one_folder_and_programs_can_be_run() {
    let mut sandbox = Sandbox::empty();
    sandbox.python("bin", "");
    sandbox.offer(
        Platform::Cuda,
        "jax_plugins/xla_cuda13/xla_cuda_plugin.so",
        &[
            FakeWheel {
                name: "plugin",
                files: &[(
                    "jax_plugins/xla_cuda13/xla_cuda_plugin.so",
                    0o755,
                    b"plugin",
                )],
                keep: &["jax_plugins/"],
            },
            FakeWheel {
                name: "library",
                files: &[
                    ("nvidia/cu13/bin/ptxas", 0o644, b"program"),
                    ("nvidia/cu13/lib/libx.so.13", 0o644, b"library"),
                    ("nvidia/cu13/lib/libx_static.a", 0o644, b"static"),
                    ("nvidia/cu13/include/x.h", 0o644, b"header"),
                ],
                keep: &["nvidia/cu13/bin/", "nvidia/cu13/lib/"],
            },
        ],
    );
    let plugin = sandbox.env().install(Platform::Cuda).unwrap();
    let folder = plugin.path.ancestors().nth(3).unwrap();
    let mode = |file: &str| folder.join(file).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("nvidia/cu13/bin/ptxas"), 0o755);
    assert_eq!(mode("nvidia/cu13/lib/libx.so.13"), 0o644);
    assert!(!folder.join("nvidia/cu13/lib/libx_static.a").exists());
    assert!(!folder.join("nvidia/cu13/include").exists());
    assert!(
        sandbox.told().contains("\n[2/2] library 1.0, 0.0 MB ..."),
        "{}",
        sandbox.told()
    );

    // A library's loss is noticed like the plugin's.
    fs::remove_file(folder.join("nvidia/cu13/lib/libx.so.13")).unwrap();
    assert!(sandbox.env().installed(Platform::Cuda).is_none());
}

#[test]
fn a_python_without_pip_is_passed_over() {
    let mut sandbox = Sandbox::new();
    let no_pip = r#"[ "$1" = -m ] && { echo "$0: No module named pip" >&2; exit 1; }"#;
    sandbox.python("first", no_pip);
    sandbox.search_path(&sandbox.path("nothing"));
    let path = std::env::join_paths([sandbox.path("first"), sandbox.path("bin")]).unwrap();
    sandbox.set("PATH", &path);
    assert_eq!(
        sandbox.env().install(Platform::Cpu).unwrap().origin,
        Origin::Download
    );

    sandbox.python("bin", no_pip);
    let text = sandbox
        .env()
        .reinstall(Platform::Cpu)
        .unwrap_err()
        .to_string();
    assert!(text.contains("No module named pip"), "{text}");
    assert_eq!(sandbox.find().unwrap().origin, Origin::Cache);
}
