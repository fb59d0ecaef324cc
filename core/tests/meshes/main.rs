//! Programs over meshes of 8 virtual devices.

mod assemble;
mod callbacks_on_meshes;
mod collectives_on_meshes;
mod devices;
mod explicit;
mod explicit_programs;
mod index_groups;
mod pmap;
mod put;
mod shard_map;
mod shard_map_jaxprs;
mod sharding;

/// Configures the runtime, which all tests of this program share.
fn eight_devices() {
    ramie_testing::cpu_devices(8);
}

/// The mesh of most tests.
fn mesh() -> ramie_core::Mesh {
    ramie_testing::cpu_mesh(&[4, 2], &["x", "y"])
}
