//! Global arrays assembled from arrays on devices of this process, and the reverse.

use super::put::{indices, place};
use crate::program::array::{DeviceArray, Repr};
use crate::program::specs::Specs;
use crate::program::tree;
use crate::types::sharding::placed::typed;
use crate::types::sharding::{Mesh, NamedSharding, Sharding, parts};
use crate::typing::Dims;
use crate::{Array, Aval, Error, Result, Tree};
use ramie_pjrt::Buffer;
use smallvec::SmallVec;
use std::sync::Arc;

/// Returns the buffers of an array. They are copied if the array has other handles.
pub(crate) fn into_buffers(array: Array) -> Result<SmallVec<[Buffer; 1]>> {
    let held = match array.0 {
        Repr::Device(held) => held,
        other => Array(other).device_array()?.clone(),
    };
    match Arc::try_unwrap(held) {
        Ok(DeviceArray { buffers, .. }) => Ok(buffers),
        Err(held) => {
            let copy = |b: &Buffer| Ok(b.copy_to_device(b.device())?);
            held.buffers.iter().map(copy).collect()
        }
    }
}

/// Creates an array of `shape` from its shards, one array for each device of this process in the
/// order of the sharding's devices (`jax.make_array_from_single_device_arrays`). The shards become
/// part of the array without a copy, except for arrays that have other handles.
///
/// ```no_run
/// use ramie_core::sharding::make_array_from_single_device_arrays;
/// use ramie_core::{Array, NamedSharding, P, device_put, make_mesh};
/// let mesh = make_mesh(&[8], &["x"])?;
/// let shards = mesh.local_devices().map(|d| device_put(&Array::arange(3), d));
/// let x = make_array_from_single_device_arrays(
///     &[24],
///     NamedSharding::new(mesh, P!["x"]),
///     shards.collect(),
/// )?;
/// assert_eq!(x.shape(), [24]);
/// # Ok::<(), ramie_core::Error>(())
/// ```
///
/// # Errors
/// Returns an error if the number of arrays is not the number of this process's devices, if an
/// array is on another device or has another type than its shard, or if a dimension is not
/// divisible by its number of shards.
pub fn make_array_from_single_device_arrays(
    shape: &[usize],
    sharding: impl Into<Sharding>,
    arrays: Vec<Array>,
) -> Result<Array> {
    const NAME: &str = "make_array_from_single_device_arrays";
    let to = sharding.into();
    if let Sharding::Named(named) = to {
        let fits = named.try_shard_shape(shape);
        fits.map_err(|e| Error::Configuration(e.render(NAME, &[])))?;
        if named.memory_kind().is_some() {
            let in_memory = named.in_device_memory();
            let array = make_array_from_single_device_arrays(shape, in_memory, arrays)?;
            return place(&array, to);
        }
    }
    let places = indices(to, shape);
    let first = arrays.first().map(Array::dtype);
    let Some(dtype) = first.filter(|_| arrays.len() == places.len()) else {
        return Err(Error::Configuration(format!(
            "{NAME}: got {} arrays, but {to} has {} devices of this process\n  help: pass one array \
             for each of them, in the order of `sharding.devices()`",
            arrays.len(),
            places.len()
        )));
    };
    let whole = Aval::new(shape, dtype);
    let mut buffers: SmallVec<[Buffer; 1]> = SmallVec::new();
    for (i, (array, (device, index))) in arrays.into_iter().zip(places).enumerate() {
        let local: Dims = index.iter().map(|r| r.end - r.start).collect();
        let local = Aval::new(&local, dtype);
        let (got, here) = (array.aval(), array.device_array()?.sharding);
        if (got.shape(), got.dtype()) != (local.shape(), dtype) || here.single() != Some(device) {
            return Err(Error::Configuration(format!(
                "{NAME}: array {i} is {got} ({here}), but shard {index:?} of {whole} is {local} on \
                 {}\n  help: pass the shards in the order of `sharding.devices()`, each moved with \
                 `device_put(&shard, device)`",
                device.description()
            )));
        }
        buffers.extend(into_buffers(array)?);
    }
    Ok(Array::from_parts(typed(whole, to), buffers, to))
}

/// Creates global arrays from the part of each that this process has
/// (`multihost_utils.host_local_array_to_global_array`). Each process passes its own part, and a
/// global dimension is as many times larger as its mesh axes are longer than those of
/// [`Mesh::local_mesh`]. With one process the parts are whole arrays, and arrays over several
/// processes are returned as they are.
///
/// ```no_run
/// use ramie_core::sharding::host_local_array_to_global_array;
/// use ramie_core::{Array, P, make_mesh};
/// let mesh = make_mesh(&[8], &["data"])?;
/// let mine = (Array::from([[1.0f32; 4]; 8]), Array::arange(8));
/// let (x, y) = host_local_array_to_global_array(&mine, mesh, P!["data"])?;
/// # Ok::<(), ramie_core::Error>(())
/// ```
///
/// # Errors
/// Returns an error if a local dimension is not divisible by its number of local shards, if the
/// specs don't match the tree, or if a transfer fails.
///
/// # Panics
/// Panics if the devices of this process are not a contiguous part of the mesh, or if a spec does
/// not fit it.
#[track_caller]
pub fn host_local_array_to_global_array<T: Tree>(
    local: &T,
    mesh: Mesh,
    specs: impl Into<Specs>,
) -> Result<T> {
    const NAME: &str = "host_local_array_to_global_array";
    let meshes = (mesh.local_mesh(), mesh);
    converted(NAME, local, meshes, specs.into(), |a| {
        a.is_fully_addressable()
    })
}

/// Returns the part of global arrays that this process has
/// (`multihost_utils.global_array_to_host_local_array`), as arrays over [`Mesh::local_mesh`]. Arrays
/// whose devices all belong to this process are returned as they are.
///
/// # Errors
/// Returns an error if a dimension is not divisible by its number of shards, if the specs don't
/// match the tree, or if a transfer fails.
///
/// # Panics
/// Panics in the same cases as [`host_local_array_to_global_array`].
#[track_caller]
pub fn global_array_to_host_local_array<T: Tree>(
    global: &T,
    mesh: Mesh,
    specs: impl Into<Specs>,
) -> Result<T> {
    const NAME: &str = "global_array_to_host_local_array";
    let meshes = (mesh, mesh.local_mesh());
    converted(NAME, global, meshes, specs.into(), |a| {
        !a.is_fully_addressable()
    })
}

/// Places the arrays of a tree on one mesh, and returns arrays with the same shards on another mesh,
/// of which a dimension has as many times more parts as it is larger. Arrays that `converts` excludes
/// are returned as they are.
#[track_caller]
fn converted<T: Tree>(
    name: &str,
    tree: &T,
    (from, to): (Mesh, Mesh),
    specs: Specs,
    converts: fn(&Array) -> bool,
) -> Result<T> {
    let specs = specs.of_paths("specs", &tree::paths(tree));
    let specs = specs.map_err(|e| Error::Configuration(format!("{name}: {e}")))?;
    let mut outs = Vec::new();
    for (array, spec) in tree::leaves(tree).into_iter().zip(specs) {
        if !converts(&array) {
            outs.push(array);
            continue;
        }
        let parts = |mesh: Mesh, d: usize| parts(mesh.abstract_mesh(), &spec, d);
        let sizes = array.shape().iter().enumerate();
        let shape: Dims = sizes
            .map(|(d, size)| size / parts(from, d) * parts(to, d))
            .collect();
        let placed = placed(name, &array, NamedSharding::new(from, spec.clone()))?;
        drop(array);
        outs.push(renamed(placed, &shape, NamedSharding::new(to, spec))?);
    }
    Ok(tree::with_leaves(tree, outs))
}

/// Moves an array, or returns an error if a dimension is not divisible.
fn placed(name: &str, array: &Array, to: NamedSharding) -> Result<Array> {
    let fits = to.try_shard_shape(array.shape());
    fits.map_err(|e| Error::Configuration(e.render(name, &[array.describe()])))?;
    place(array, to.into())
}

/// Returns an array of `shape` and of this sharding with the shards of `array`.
fn renamed(array: Array, shape: &[usize], to: NamedSharding) -> Result<Array> {
    let aval = array.aval().unplaced().with_shape(shape);
    let buffers = into_buffers(array)?;
    Ok(Array::from_parts(
        typed(aval, to.into()),
        buffers,
        to.into(),
    ))
}
