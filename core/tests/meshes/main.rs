//! Programs over meshes of 8 virtual devices.

#[path = "../../../tests/common/mod.rs"]
mod common;
#[macro_use]
#[path = "../../../tests/common/jaxprs.rs"]
mod jaxprs;

mod callbacks_on_meshes;
mod collectives_on_meshes;
mod devices;
mod explicit;
mod explicit_programs;
mod pmap;
mod put;
mod shard_map;
mod shard_map_jaxprs;
mod sharding;

/// Configures the runtime, which all tests of this program share.
fn eight_devices() {
    let options = ramie_core::RuntimeOptions {
        cpu_devices: Some(8),
        disable_most_optimizations: Some(true),
        ..Default::default()
    };
    ramie_core::configure(options).expect("every test configures it first");
}
