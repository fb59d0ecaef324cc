//! `make_mesh`: meshes of the client's devices.

use crate::types::sharding::{AbstractMesh, AxisType, Mesh};
use crate::{Error, Result};
use ramie_pjrt::Device;
use ramie_plugins::Platform;
use std::collections::BTreeMap;

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

/// Orders devices for a mesh over a fast network within granules, and a slow network between them
/// (`jax.experimental.mesh_utils.create_hybrid_device_mesh`). `granule` returns the number of a
/// device's granule, such as its process or slice; granules are used in the order of their numbers.
/// Axis `i` of the mesh has size `dcn_mesh_shape[i] * mesh_shape[i]`: its slower-varying part is
/// between granules. The result is row-major, for [`Mesh::new`].
///
/// Within a granule, CPUs keep their order and other devices are ordered by id. The coordinates of
/// TPUs have no effect.
///
/// ```
/// use ramie_core::sharding::{AbstractMesh, AxisType, create_hybrid_device_mesh};
/// use ramie_core::{Mesh, devices};
/// // Data parallel between processes, and model parallel within each.
/// let (n, all) = (1, devices());
/// let shape = (&[1, all.len() / n], &[n, 1]);
/// let order = create_hybrid_device_mesh(shape.0, shape.1, all, |d| d.process_index().into())?;
/// let sizes = [n, all.len() / n];
/// let mesh = Mesh::new(&order, AbstractMesh::new(&sizes, &["data", "model"], AxisType::Auto));
/// # Ok::<(), ramie_core::Error>(())
/// ```
///
/// # Errors
/// Returns an error if the number of granules is not the product of `dcn_mesh_shape`, or if the
/// number of devices of a granule is not the product of `mesh_shape`.
///
/// # Panics
/// Panics if the lengths of the shapes differ.
#[track_caller]
pub fn create_hybrid_device_mesh(
    mesh_shape: &[usize],
    dcn_mesh_shape: &[usize],
    devices: &[Device],
    granule: impl Fn(Device) -> i64,
) -> Result<Vec<Device>> {
    assert!(
        mesh_shape.len() == dcn_mesh_shape.len(),
        "create_hybrid_device_mesh: mesh_shape is {mesh_shape:?}, but dcn_mesh_shape is \
         {dcn_mesh_shape:?}\n  help: pass a size for each axis in both, such as 1"
    );
    let mut granules: BTreeMap<i64, Vec<Device>> = BTreeMap::new();
    for &device in devices {
        granules.entry(granule(device)).or_default().push(device);
    }
    let (inner, outer): (usize, usize) =
        (mesh_shape.iter().product(), dcn_mesh_shape.iter().product());
    if granules.len() != outer {
        return Err(Error::Configuration(format!(
            "create_hybrid_device_mesh: the devices have {} granules, but dcn_mesh_shape \
             {dcn_mesh_shape:?} needs {outer}\n  help: the product of dcn_mesh_shape must be the \
             number of granules",
            granules.len()
        )));
    }
    for (number, granule) in &mut granules {
        if granule.len() != inner {
            return Err(Error::Configuration(format!(
                "create_hybrid_device_mesh: granule {number} has {} devices, but mesh_shape \
                 {mesh_shape:?} needs {inner}\n  help: the product of mesh_shape must be the number \
                 of devices of each granule",
                granule.len()
            )));
        }
        if granule[0].client().platform_name() != "cpu" {
            granule.sort_by_key(|device| device.id());
        }
    }
    let granules: Vec<Vec<Device>> = granules.into_values().collect();
    let device = |mut index: usize| {
        // The strides of the granule's number and of the device within it, innermost axis first.
        let (mut at, mut within, mut strides) = (0, 0, (1, 1));
        for (&size, &count) in mesh_shape.iter().zip(dcn_mesh_shape).rev() {
            let coordinate = index % (size * count);
            index /= size * count;
            at += coordinate / size * strides.0;
            within += coordinate % size * strides.1;
            strides = (strides.0 * count, strides.1 * size);
        }
        granules[at][within]
    };
    Ok((0..devices.len()).map(device).collect())
}
