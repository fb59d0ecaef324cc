//! The plugin's own profiler, which the CPU's plugin does not have.

mod common;

use common::client;

#[test]
fn a_plugin_without_a_profiler_has_none() {
    let plugin = client().plugin();
    let offers = plugin
        .extensions()
        .iter()
        .any(|e| e.name() == Some("profiler"));
    let profiler = plugin.start_profiler().unwrap();
    assert_eq!(profiler.is_some(), offers);
}
