//! `make_mesh`: meshes of the client's devices.

use crate::types::sharding::{AbstractMesh, AxisType, Mesh};
use crate::{Error, Result};
use ramie_plugins::Platform;

/// Creates a mesh of the default client's devices in their order, with automatic axes
/// (`jax.make_mesh`).
///
/// ```no_run
/// use ramie_core::make_mesh;
/// let mesh = make_mesh(&[4, 2], &["x", "y"])?;
/// assert_eq!(mesh.size(), 8);
/// # Ok::<(), ramie_core::Error>(())
/// ```
///
/// # Errors
/// Returns an error if there are too few devices.
///
/// # Panics
/// Panics if the numbers of names and sizes differ, or if a name occurs twice.
#[doc(alias = "create_device_mesh")]
#[track_caller]
pub fn make_mesh(sizes: &[usize], names: &[&str]) -> Result<Mesh> {
    make_mesh_with(sizes, names, AxisType::Auto)
}

/// Creates a mesh like [`make_mesh`], with axes of the given type. For a mesh of other devices, use
/// [`Mesh::new`].
///
/// # Errors
/// Returns an error in the same cases as [`make_mesh`].
///
/// # Panics
/// Panics in the same cases as [`make_mesh`].
#[track_caller]
pub fn make_mesh_with(sizes: &[usize], names: &[&str], axis_type: AxisType) -> Result<Mesh> {
    let client = super::runtime()?.client();
    let devices = client.devices();
    let axes = AbstractMesh::new(sizes, names, axis_type);
    let Some(devices) = devices.get(..axes.size()) else {
        let n = devices.len();
        let there = match n {
            1 => "there is 1 device".into(),
            n => format!("there are {n}"),
        };
        let more = match super::runtime()?.plugin().platform {
            Platform::Cpu => {
                "; set RAMIE_NUM_CPU_DEVICES, or RuntimeOptions::cpu_devices before the first \
                 array, for more virtual CPU devices"
            }
            _ => "",
        };
        return Err(Error::Configuration(format!(
            "make_mesh: a mesh of ({}) needs {} devices, but {there}\n  help: make the axes \
             smaller{more}",
            axes.describe(),
            axes.size()
        )));
    };
    Ok(Mesh::new(devices, axes))
}
