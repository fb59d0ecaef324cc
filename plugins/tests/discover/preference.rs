//! Which release of a platform is installed and used, where several are pinned.

use std::fs;

use ramie_plugins::{Origin, Platform};

use crate::sandbox::{FakeWheel, Sandbox};

const NEWER: &str = "newer/plugin.so";
const OLDER: &str = "older/plugin.so";

/// Two CPU plugins, of which pip offers both.
fn two_releases() -> Sandbox {
    let mut sandbox = Sandbox::empty();
    sandbox.python("bin", "");
    sandbox.search_path(&sandbox.path("nothing"));
    for (name, library) in [("newer", NEWER), ("older", OLDER)] {
        let wheel = FakeWheel {
            name,
            files: &[(library, 0o644, name.as_bytes())],
            keep: &["newer/", "older/"][usize::from(name == "older")..][..1],
        };
        sandbox.offer(Platform::Cpu, library, &[wheel]);
    }
    sandbox
}

/// Makes pip find no `newer`, or find it again.
fn withdraw(sandbox: &Sandbox) {
    let file = sandbox.wheel_file("newer");
    fs::rename(&file, file.with_extension("away")).unwrap();
}

fn restore(sandbox: &Sandbox) {
    let file = sandbox.wheel_file("newer");
    fs::rename(file.with_extension("away"), &file).unwrap();
}

/// The package that a search returns, and where it was.
fn found(sandbox: &Sandbox) -> (&'static str, Origin) {
    let plugin = sandbox.find().unwrap();
    (plugin.package.unwrap(), plugin.origin)
}

/// The package that is installed.
fn installed(sandbox: &Sandbox) -> &'static str {
    let plugin = sandbox.env().install(Platform::Cpu).unwrap();
    assert_eq!(plugin.origin, Origin::Download);
    plugin.package.unwrap()
}

#[test]
fn the_first_release_is_installed() {
    let sandbox = two_releases();
    assert_eq!(installed(&sandbox), "newer");
    assert_eq!(found(&sandbox), ("newer", Origin::Cache));
    assert_eq!(sandbox.calls("pip download"), 1);
    assert_eq!(sandbox.in_cache(), [sandbox.releases()[0].folder()]);
}

#[test]
fn the_next_release_is_installed_where_the_first_cannot_be_had() {
    let sandbox = two_releases();
    withdraw(&sandbox);
    assert_eq!(installed(&sandbox), "older");
    let told = sandbox.told();
    assert!(told.contains("cannot install newer 1.0: `"), "{told}");
    assert!(told.contains("\ntrying older 1.0 instead\n"), "{told}");
    assert_eq!(found(&sandbox), ("older", Origin::Cache));
    // The first one replaces it when it is there.
    restore(&sandbox);
    assert_eq!(installed(&sandbox), "newer");
    assert_eq!(found(&sandbox), ("newer", Origin::Cache));
}

#[test]
fn a_damaged_download_is_not_installed_and_the_next_release_is() {
    let sandbox = two_releases();
    fs::write(sandbox.wheel_file("newer"), "replaced").unwrap();
    assert_eq!(installed(&sandbox), "older");
    assert!(sandbox.told().contains("SHA-256"), "{}", sandbox.told());
}

#[test]
fn without_any_release_the_error_is_that_of_the_first() {
    let sandbox = two_releases();
    withdraw(&sandbox);
    fs::remove_file(sandbox.wheel_file("older")).unwrap();
    let error = sandbox.env().install(Platform::Cpu).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("pip download newer==1.0` failed"), "{text}");
    let text = sandbox.find().unwrap_err().to_string();
    assert_eq!(text.matches("user cache").count(), 2, "{text}");
    assert_eq!(sandbox.in_cache(), [""; 0]);
}

#[test]
fn a_plugin_of_a_python_environment_is_not_replaced() {
    let sandbox = two_releases();
    let site = sandbox.path("site");
    crate::sandbox::touch(&site.join("xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so"));
    sandbox.search_path(&site);
    assert_eq!(found(&sandbox), ("xla-cpu-pjrt", Origin::Python));
    crate::sandbox::touch(&site.join("fastatomstruct_xla_cpu/libpjrt_cpu.so"));
    assert_eq!(found(&sandbox), ("fastatomstruct-xla-cpu", Origin::Python));
    assert_eq!(sandbox.calls("pip download"), 0);
}
