//! Virtual CPU devices. Each test of a program with several devices configures them first.

use ramie_core::options::RuntimeOptions;
use ramie_core::{Mesh, configure, make_mesh};
use ramie_plugins::{Platform, find};

/// Configures a number of virtual CPU devices.
///
/// # Panics
/// If the runtime is in use with other options.
#[track_caller]
pub fn cpu_devices(count: usize) {
    let options = RuntimeOptions {
        cpu_devices: Some(count),
        ..RuntimeOptions::default()
    };
    configure(options).expect("every test configures the same devices first");
}

/// Returns whether programs run on the CPU backend that is linked into the program, not on XLA's plugin.
pub fn is_linked() -> bool {
    find(Some(Platform::Cpu)).is_ok_and(|found| found.is_linked())
}

/// Makes a mesh of all [`cpu_devices`], with axes left to the compiler.
///
/// # Panics
/// If the runtime is in use with other options.
#[track_caller]
pub fn cpu_mesh(sizes: &[usize], names: &[&str]) -> Mesh {
    cpu_devices(sizes.iter().product());
    make_mesh(sizes, names).expect("as many devices")
}
