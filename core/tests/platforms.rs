//! A plugin of another platform than its file's name suggests.

#[path = "../../pjrt/tests/common/mod.rs"]
mod common;

use ramie_core::*;
use ramie_testing::{is_linked, panic_message};
use std::process::Command;

const PART: &str = "RAMIE_TEST_PART";

#[test]
fn the_client_names_its_platform() {
    if std::env::var_os(PART).is_some() {
        return on_the_plugin();
    }
    if is_linked() {
        return; // needs a plugin to rename
    }
    let folder = tempfile::tempdir().unwrap();
    let source = include_str!("../../pjrt/tests/plugins/renamed.rs");
    let plugin = common::library(folder.path(), "xla_cpu_pjrt", source);
    let status = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "the_client_names_its_platform", "--nocapture"])
        .env(PART, "plugin")
        .env("REAL_PLUGIN", common::plugin_path())
        .env("RAMIE_PJRT_PLUGIN", plugin)
        .env("RAMIE_NUM_CPU_DEVICES", "2")
        .env_remove("RAMIE_PLATFORM")
        .status();
    assert!(status.unwrap().success());
}

fn on_the_plugin() {
    let plugin = runtime().unwrap().plugin();
    assert_eq!(plugin.platform, Platform::Rocm);
    let x = Array::from([1.0f32, 2.0]);
    assert_eq!(jit(|x: Array| &x * &x)(x).to_vec::<f32>(), [1.0, 4.0]);
    let message = panic_message(|| Array::from(vec![0.1]));
    assert!(
        message.contains("f64[1] cannot be copied to a device of `ROCM`: no support for F64"),
        "{message}"
    );
    assert!(
        message.contains("use 32-bit ones, such as `vec![0.1f32]`"),
        "{message}"
    );
}
