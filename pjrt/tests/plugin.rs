//! Loading plugins, and files that are none.

mod common;
use common::*;
use ramie_pjrt::{Client, ClientOptions, Error, Plugin};

#[test]
fn the_cpu_plugin_describes_itself() {
    if is_linked() {
        // It is no file, and has neither attributes nor extensions.
        return;
    }
    let plugin = Plugin::load(plugin_path()).unwrap();
    let (major, minor) = plugin.api_version();
    assert!(major == 0 && minor >= 81);
    assert!(plugin.path().is_absolute());
    let attributes = plugin.attributes().unwrap();
    assert!(
        attributes
            .iter()
            .any(|(name, _)| name == "stablehlo_current_version"),
        "{attributes:?}"
    );
    assert!(plugin.extensions().iter().any(|e| e.name() == Some("ffi")));
}

#[test]
fn devices_describe_themselves() {
    let client = client();
    assert_eq!((client.platform_name(), client.process_index()), ("cpu", 0));
    assert_eq!(client.devices(), client.addressable_devices());
    assert_eq!(client.devices().len(), 8);
    for (i, device) in client.devices().iter().enumerate() {
        assert_eq!(
            (device.id(), device.kind(), device.process_index()),
            (i as i32, "cpu", 0)
        );
        assert!(device.is_addressable() && device.local_hardware_id() >= 0);
        assert!(
            device.description().contains(&i.to_string()),
            "{}",
            device.description()
        );
        assert_eq!(device.default_memory().unwrap().kind(), "device");
        assert!(device.memories().len() > 1);
        assert_eq!(
            device.memory_stats(),
            Ok(None),
            "this plugin does not count memory"
        );
        assert_eq!(client.device(i as i32), Some(*device));
    }
}

#[test]
fn options_are_checked_before_the_plugin_sees_them() {
    let plugin = Plugin::load(plugin_path()).unwrap();
    for options in [
        ClientOptions::new().set("cpu_device_count", "8"),
        ClientOptions::new().set("device_count", 8i64),
        ClientOptions::new().cpu_device_count(-1),
    ] {
        let error = Client::new(&plugin, &options).unwrap_err();
        assert!(matches!(error, Error::ClientOption { .. }), "{error}");
    }
}

/// A plugin whose table says this version and holds no function.
fn empty_plugin(major: i32, minor: i32) -> String {
    format!(
        "#[repr(C)] pub struct Table(usize, usize, usize, usize, i32, i32);
         static TABLE: Table = Table(40, 0, 24, 0, {major}, {minor});
         #[unsafe(no_mangle)] pub extern \"C\" fn GetPjrtApi() -> &'static Table {{ &TABLE }}"
    )
}

#[test]
fn libraries_that_are_no_usable_plugins_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let load =
        |name: &str, source: &str| Plugin::load(library(folder.path(), name, source)).unwrap_err();

    let no_symbol = load(
        "none",
        "#[unsafe(no_mangle)] pub extern \"C\" fn other() {}",
    );
    assert!(matches!(no_symbol, Error::NotAPlugin { .. }), "{no_symbol}");
    // Plugins are named by paths without symbolic links.
    let message = |name: &str, reason: &str| {
        let folder = folder.path().canonicalize().unwrap();
        format!(
            "{:?} is a shared library but not a PJRT plugin: {reason}\n  help: pass the path of a PJRT \
             plugin, such as `xla_cpu_pjrt.so`; without RAMIE_PJRT_PLUGIN, programs run on the linked CPU backend",
            folder.join(name)
        )
    };
    assert_eq!(
        no_symbol.to_string(),
        message("none.so", "it does not export the function `GetPjrtApi`")
    );

    let null = "#[unsafe(no_mangle)] pub extern \"C\" fn GetPjrtApi() -> usize { 0 }";
    assert_eq!(
        load("null", null).to_string(),
        message("null.so", "`GetPjrtApi` returned null")
    );

    let old = load("old", &empty_plugin(0, 80));
    assert!(
        matches!(
            old,
            Error::UnsupportedVersion {
                major: 0,
                minor: 80,
                ..
            }
        ),
        "{old}"
    );
    let future = load("future", &empty_plugin(1, 0));
    assert!(
        matches!(future, Error::UnsupportedVersion { major: 1, .. }),
        "{future}"
    );

    let hollow = load("hollow", &empty_plugin(0, 81)).to_string();
    assert!(
        hollow.contains("PJRT API 0.81") && hollow.contains("does not provide this function"),
        "{hollow}"
    );
}

#[test]
fn missing_and_damaged_files_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let missing = Plugin::load(folder.path().join("absent.so")).unwrap_err();
    assert!(matches!(missing, Error::PluginNotFound { .. }), "{missing}");
    assert!(missing.to_string().contains("absent.so"));

    let text = folder.path().join("text.so");
    std::fs::write(&text, "not a library").unwrap();
    let error = Plugin::load(&text).unwrap_err();
    assert!(matches!(error, Error::PluginUnloadable { .. }), "{error}");
    assert!(error.to_string().contains("text.so"), "{error}");

    // The loader maps a file that is cut off, and the process dies by a signal when
    // what is missing is touched.
    let whole = std::fs::read(library(folder.path(), "whole", &empty_plugin(0, 81))).unwrap();
    for sixteenth in 0..16 {
        let cut = folder.path().join(format!("cut{sixteenth}.so"));
        std::fs::write(&cut, &whole[..whole.len() * sixteenth / 16]).unwrap();
        let error = Plugin::load(&cut).unwrap_err();
        assert!(matches!(error, Error::PluginUnloadable { .. }), "{error}");
        let says = error.to_string().contains("the file is incomplete");
        assert_eq!(says, sixteenth > 0, "{error}");
    }
}
