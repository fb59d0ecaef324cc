//! Which release of a platform is installed and used, where several are pinned.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use ramie_pjrt::discover::{DiscoverError, Origin, Platform, PluginLocation};

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

fn find(sandbox: &Sandbox) -> PluginLocation {
    sandbox.env().find(Some(Platform::Cpu)).unwrap()
}

/// The package that a search returns, and where it was.
fn found(sandbox: &Sandbox) -> (&'static str, Origin) {
    let plugin = find(sandbox);
    (plugin.package.unwrap(), plugin.origin)
}

#[test]
fn the_first_release_is_installed() {
    let sandbox = two_releases();
    assert_eq!(found(&sandbox), ("newer", Origin::Download));
    assert_eq!(found(&sandbox), ("newer", Origin::Cache));
    assert_eq!(sandbox.calls("pip download"), 1);
    assert_eq!(sandbox.in_cache(), [sandbox.releases()[0].folder()]);
}

#[test]
fn the_next_release_is_installed_where_the_first_cannot_be_had() {
    let sandbox = two_releases();
    withdraw(&sandbox);
    assert_eq!(found(&sandbox), ("older", Origin::Download));
    let told = sandbox.told();
    assert!(told.contains("cannot install newer 1.0: `"), "{told}");
    assert!(told.contains("\ntrying older 1.0 instead\n"), "{told}");
    let env = sandbox.env();
    let reason = env.failure(&sandbox.releases()[0]).unwrap();
    assert!(
        reason.contains("-m pip download newer==1.0` failed"),
        "{reason}"
    );

    // The attempt counts for a day.
    restore(&sandbox);
    assert_eq!(found(&sandbox), ("older", Origin::Cache));
    assert_eq!(sandbox.calls("newer==1.0"), 1);
    // An explicit installation does not wait.
    let plugin = env.install(Platform::Cpu).unwrap();
    assert_eq!(plugin.package, Some("newer"));
    assert_eq!(env.failure(&sandbox.releases()[0]), None);
    assert_eq!(found(&sandbox), ("newer", Origin::Cache));
}

/// A cache that contains only the older plugin, as before the newer one was pinned.
fn older_installed() -> Sandbox {
    let sandbox = two_releases();
    let older = &sandbox.releases()[1..];
    let env = sandbox.env().with_releases(older);
    assert_eq!(env.install(Platform::Cpu).unwrap().package, Some("older"));
    sandbox
}

#[test]
fn an_older_plugin_is_upgraded() {
    let sandbox = older_installed();
    assert_eq!(
        sandbox.env().installed(Platform::Cpu).unwrap().package,
        Some("older")
    );
    assert_eq!(found(&sandbox), ("newer", Origin::Download));
    // A program that runs already does not wait long for the network.
    assert_eq!(sandbox.calls("--retries 1 --timeout 10 newer==1.0"), 1);
    assert_eq!(found(&sandbox), ("newer", Origin::Cache));
}

#[test]
fn an_older_plugin_works_offline_with_one_attempt_a_day() {
    let sandbox = older_installed();
    withdraw(&sandbox);
    assert_eq!(found(&sandbox), ("older", Origin::Cache));
    let told = sandbox.told();
    assert!(
        told.ends_with("\nusing older; the next attempt is in a day"),
        "{told}"
    );
    assert_eq!(found(&sandbox), ("older", Origin::Cache));
    assert_eq!(sandbox.calls("newer==1.0"), 1);
    assert_eq!(sandbox.told(), told);

    let note = format!("{}.failed", sandbox.releases()[0].folder());
    let note = File::options()
        .write(true)
        .open(sandbox.plugins().join(note))
        .unwrap();
    note.set_modified(SystemTime::now() - Duration::from_secs(25 * 60 * 60))
        .unwrap();
    restore(&sandbox);
    assert_eq!(found(&sandbox), ("newer", Origin::Download));
}

#[test]
fn without_python_the_older_plugin_works() {
    let sandbox = older_installed();
    sandbox.without_python();
    assert_eq!(found(&sandbox), ("older", Origin::Cache));
}

#[test]
fn a_damaged_download_is_not_installed_and_the_next_release_is() {
    let sandbox = two_releases();
    fs::write(sandbox.wheel_file("newer"), "replaced").unwrap();
    assert_eq!(found(&sandbox), ("older", Origin::Download));
    assert!(sandbox.told().contains("SHA-256"), "{}", sandbox.told());
}

#[test]
fn without_any_release_the_error_is_that_of_the_first() {
    let sandbox = two_releases();
    withdraw(&sandbox);
    fs::remove_file(sandbox.wheel_file("older")).unwrap();
    let error = sandbox.env().find(None).unwrap_err();
    assert!(matches!(error, DiscoverError::NotFound(_)), "{error}");
    let text = error.to_string();
    assert!(text.contains("pip download newer==1.0` failed"), "{text}");
    assert!(text.contains("python3 -m pip install newer==1.0"), "{text}");
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
