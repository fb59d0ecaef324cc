//! Placement of batches on devices.

use crate::rows::Rows;
use crate::{Error, Result};
use ramie_core::sharding::{get_mesh, make_array_from_process_local_data};
use ramie_core::{
    Array, Device, Element, NamedSharding, PartitionSpec, runtime, with_default_device,
};

/// The destination of batches: a device, or the devices of a mesh.
#[derive(Clone, Debug, Default)]
pub struct Placement {
    place: Place,
    /// Whether arrays are placed as types only, without elements.
    types: bool,
}

#[derive(Clone, Debug, Default)]
enum Place {
    #[default]
    Default,
    Device(Device),
    Sharded(NamedSharding),
}

impl From<Place> for Placement {
    fn from(place: Place) -> Placement {
        Placement {
            place,
            types: false,
        }
    }
}

impl From<Device> for Placement {
    fn from(device: Device) -> Placement {
        Place::Device(device).into()
    }
}

/// Shards the rows over the mesh axes of the first entry, and further dimensions by the further
/// entries. Entries beyond the rank of an array are ignored.
impl From<NamedSharding> for Placement {
    fn from(sharding: NamedSharding) -> Placement {
        Place::Sharded(sharding).into()
    }
}

/// Shards over the current mesh.
///
/// # Panics
/// Panics if no mesh is current.
impl From<PartitionSpec> for Placement {
    #[track_caller]
    fn from(spec: PartitionSpec) -> Placement {
        let Some(mesh) = get_mesh() else {
            panic!(
                "Placement: the spec {spec} names mesh axes, but no mesh is current\n  help: set the \
                 current mesh with `set_mesh(mesh)`, or pass `NamedSharding::new(mesh, {spec})`"
            )
        };
        Place::Sharded(NamedSharding::new(mesh, spec)).into()
    }
}

impl Placement {
    /// Resolves the default device to that of the current thread, so that other threads use the
    /// same one.
    pub(crate) fn settle(self) -> Result<Placement> {
        match self.place {
            Place::Default => Ok(Placement::from(runtime()?.default_device())),
            _ => Ok(self),
        }
    }

    /// Returns the same placement for arrays as types only, without elements.
    pub(crate) fn without_elements(self) -> Placement {
        Placement {
            types: true,
            ..self
        }
    }

    /// Creates an array at this placement from elements in row-major order. With a sharding, the
    /// elements are the rows of this process's devices.
    ///
    /// # Errors
    /// Returns an error if the rows do not divide evenly, or if the device is out of memory.
    pub fn put<T: Element>(&self, elements: Vec<T>, shape: &[usize]) -> Result<Array> {
        let array = match self.place {
            Place::Default | Place::Device(_) if self.types => {
                Ok(Array::shape_dtype_struct(shape, T::DTYPE))
            }
            Place::Default => Array::try_from_vec(elements, shape),
            Place::Device(device) => {
                with_default_device(device, || Array::try_from_vec(elements, shape))
            }
            Place::Sharded(sharding) => {
                let spec = sharding.spec();
                let entries = spec.entries().iter().take(shape.len()).cloned();
                let here = NamedSharding::new(sharding.mesh(), PartitionSpec::new(entries));
                let mut whole = shape.to_vec();
                if let Some(rows) = whole.first_mut() {
                    let tiles = Rows::on_mesh(sharding);
                    if tiles.own.is_empty() || *rows % tiles.own.len() != 0 {
                        return Err(Error::Device(format!(
                            "{rows} rows do not divide evenly over the {} shards of {spec} on this \
                             process; use a batch size that does, and drop or mask the last batch",
                            tiles.own.len()
                        )));
                    }
                    *rows = *rows / tiles.own.len() * tiles.tiles;
                }
                if self.types {
                    Ok(Array::shape_dtype_struct_with(&whole, T::DTYPE, here))
                } else {
                    make_array_from_process_local_data(&elements, &whole, here)
                }
            }
        };
        Ok(array?)
    }
}
