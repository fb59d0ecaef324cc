//! Which place wins, and what is said when none has a plugin.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use ramie_plugins::{DiscoverError, Environment, LINKED, Origin, Platform, XLA_CPU};

use crate::sandbox::{CPU_LIBRARY, Sandbox, touch};

/// A plugin in a `site-packages` folder, with its version.
fn python_plugin(sandbox: &Sandbox, site: &str) -> PathBuf {
    touch(
        &sandbox
            .path(site)
            .join("xla_cpu_pjrt-0.0.7.dist-info/METADATA"),
    );
    let library = sandbox.path(site).join(CPU_LIBRARY);
    touch(&library);
    library
}

#[test]
fn the_places_are_searched_in_order() {
    let mut sandbox = Sandbox::new();
    let find = |sandbox: &Sandbox| {
        let found = sandbox.find().unwrap();
        (found.origin, found.path, found.version)
    };
    let library = python_plugin(&sandbox, "system/site-packages");
    sandbox.search_path(&sandbox.path("system/site-packages"));
    let version = Some("0.0.7".to_owned());
    assert_eq!(find(&sandbox), (Origin::Python, library, version.clone()));

    let library = python_plugin(&sandbox, "venv/lib/python3.12/site-packages");
    sandbox.set("VIRTUAL_ENV", sandbox.path("venv"));
    assert_eq!(find(&sandbox), (Origin::Python, library, version));

    let installed = sandbox.env().install(Platform::Cpu).unwrap();
    assert_eq!(installed.origin, Origin::Download);
    let version = Some("1.0".to_owned());
    assert_eq!(
        find(&sandbox),
        (Origin::Cache, sandbox.cached_library(), version)
    );
}

#[test]
fn on_cpus_the_linked_backend_is_used_unless_a_plugin_is_named() {
    let mut sandbox = Sandbox::new();
    sandbox.env().install(Platform::Cpu).unwrap();
    let find = |sandbox: &Sandbox| {
        let found = sandbox.env().find(None).unwrap();
        (found.origin, found.path)
    };
    let linked = (Origin::Linked, PathBuf::from(LINKED));
    assert_eq!(find(&sandbox), linked);
    sandbox.set("RAMIE_PLATFORM", "cpu");
    assert_eq!(find(&sandbox), linked);
    sandbox.set("RAMIE_PJRT_PLUGIN", LINKED);
    assert_eq!(find(&sandbox), linked);
    sandbox.set("RAMIE_PJRT_PLUGIN", XLA_CPU);
    assert_eq!(find(&sandbox), (Origin::Cache, sandbox.cached_library()));

    let explicit = sandbox.path("my/plugin.so");
    touch(&explicit);
    sandbox.set("RAMIE_PJRT_PLUGIN", &explicit);
    assert_eq!(find(&sandbox), (Origin::Variable, explicit));

    for name in [LINKED, XLA_CPU] {
        sandbox.set("RAMIE_PJRT_PLUGIN", name);
        sandbox.set("RAMIE_PLATFORM", "cuda");
        let text = sandbox.env().find(None).unwrap_err().to_string();
        assert!(text.contains("which runs on CPUs, not on cuda"), "{text}");
    }
}

#[test]
fn a_missing_explicit_plugin_is_an_error_whatever_else_is_there() {
    let mut sandbox = Sandbox::new();
    sandbox.env().install(Platform::Cpu).unwrap();
    sandbox.set("RAMIE_PJRT_PLUGIN", "/nowhere/plugin.so");
    let error = sandbox.env().find(None).unwrap_err();
    assert!(matches!(error, DiscoverError::ExplicitPlugin { .. }));
    assert_eq!(
        error.to_string(),
        "RAMIE_PJRT_PLUGIN names `/nowhere/plugin.so`, which does not exist\n\
         help: set it to the path of a PJRT plugin, or to `xla-cpu`, or unset it"
    );
    sandbox.set("RAMIE_PJRT_PLUGIN", sandbox.path("bin"));
    let error = sandbox.env().find(None).unwrap_err();
    assert!(error.to_string().contains("which is not a file"), "{error}");
}

#[test]
fn a_virtual_environment_is_searched_without_starting_python() {
    let mut sandbox = Sandbox::new();
    let library = python_plugin(&sandbox, "venv/lib/python3.12/site-packages");
    sandbox.python("venv/bin", "");
    sandbox.set("VIRTUAL_ENV", sandbox.path("venv"));
    sandbox.set("PATH", sandbox.path("venv/bin"));
    assert_eq!(sandbox.find().unwrap().path, library);
    assert_eq!(sandbox.calls(""), 0);

    // Nor is it asked when the plugin is not there: the folder was searched already.
    fs::remove_file(&library).unwrap();
    assert!(sandbox.find().is_err());
    assert_eq!(sandbox.calls("import"), 0);
}

#[test]
fn a_find_in_the_cache_starts_nothing_and_takes_less_than_a_millisecond() {
    let sandbox = Sandbox::new();
    sandbox.env().install(Platform::Cpu).unwrap();
    let calls = sandbox.calls("");
    let timed = || {
        let start = Instant::now();
        assert_eq!(sandbox.find().unwrap().origin, Origin::Cache);
        start.elapsed()
    };
    let best = (0..50).map(|_| timed()).min().unwrap();
    assert!(best < Duration::from_millis(1), "{best:?}");
    assert_eq!(sandbox.calls(""), calls);
}

#[test]
fn without_python_the_error_tells_what_was_tried() {
    let sandbox = Sandbox::new();
    sandbox.without_python();
    let error = sandbox.find().unwrap_err();
    let DiscoverError::NotFound(missing) = &error else {
        panic!("{error}");
    };
    assert_eq!(missing.platform, Platform::Cpu);
    let folder = sandbox.plugins().join(sandbox.releases()[0].folder());
    assert_eq!(
        error.to_string(),
        format!(
            "no CPU plugin was found. Tried, in this order:\n\
             \x20 - user cache {}: not there\n\
             \x20 - Python environment of `python3`: no `python3` is on PATH\n\
             help: run `cargo run --release -- plugin install cpu` in the folder of Ramie's sources, \
             or unset RAMIE_PJRT_PLUGIN to use the linked CPU backend",
            folder.display()
        )
    );
}

#[test]
fn without_network_the_error_quotes_pip() {
    let sandbox = Sandbox::new();
    sandbox.search_path(&sandbox.path("nothing"));
    sandbox.python(
        "bin",
        r#"if [ "$1" = -m ]; then
             for n in 1 2 3 4 5 6 7; do echo "WARNING: try $n" >&2; done
             echo "ERROR: No matching distribution found for xla-cpu-pjrt==1.0" >&2; exit 1
           fi"#,
    );
    let text = sandbox
        .env()
        .install(Platform::Cpu)
        .unwrap_err()
        .to_string();
    assert!(
        text.contains("failed (exit status: 1); its last lines:"),
        "{text}"
    );
    assert!(text.contains("| ERROR: No matching distribution found for xla-cpu-pjrt==1.0"));
    assert!(
        text.contains("WARNING: try 7") && !text.contains("WARNING: try 1"),
        "{text}"
    );
    assert_eq!(text.matches("help:").count(), 1, "{text}");
    assert_eq!(sandbox.in_cache(), [""; 0]);
    assert!(text.contains("help: check the network"), "{text}");
    assert!(text.contains("PIP_FIND_LINKS"), "{text}");
}

#[test]
fn a_python_that_fails_is_reported() {
    let sandbox = Sandbox::new();
    sandbox.python("bin", "echo 'version 3.99 is not installed' >&2; exit 127");
    let text = sandbox.find().unwrap_err().to_string();
    assert!(
        text.contains("it failed (exit status: 127): version 3.99 is not installed"),
        "{text}"
    );
}

#[test]
fn the_cache_folder_follows_the_variables() {
    let dir = |vars: &[(&str, &str)]| {
        let env = Environment::from_vars(vars.iter().copied());
        env.cache_dir().display().to_string()
    };
    let home = ("HOME", "/home/me");
    let xdg = ("XDG_CACHE_HOME", "/caches");
    assert_eq!(dir(&[home]), "/home/me/.cache/ramie");
    assert_eq!(dir(&[home, xdg]), "/caches/ramie");
    assert_eq!(dir(&[home, xdg, ("RAMIE_CACHE_DIR", "/mine")]), "/mine");
    assert_eq!(
        dir(&[home, ("XDG_CACHE_HOME", "")]),
        "/home/me/.cache/ramie"
    );
    assert_eq!(
        dir(&[home, ("XDG_CACHE_HOME", "relative")]),
        "/home/me/.cache/ramie"
    );
    assert!(PathBuf::from(dir(&[("RAMIE_CACHE_DIR", "relative")])).is_absolute());
}
