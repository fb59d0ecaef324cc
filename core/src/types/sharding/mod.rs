//! Sharding: meshes of devices, and how arrays are distributed over their axes.

mod axis_set;
mod context;
mod infer;
mod logical;
mod mesh;
mod named;
mod out;
pub(crate) mod placed;
mod spec;
mod spec_data;

use ramie_pjrt::Device;

pub(crate) use axis_set::AxisSet;
pub(crate) use context::{Context, any_manual};
pub use context::{MeshGuard, get_abstract_mesh, get_mesh, set_mesh, with_mesh};
pub(crate) use infer::spec_of_tiles;
pub use logical::{
    LogicalAxisRules, get_logical_axis_rules, logical_to_mesh, set_logical_axis_rules,
    with_logical_axis_rules,
};
pub use mesh::{AbstractMesh, AxisType, Mesh, MeshShape};
pub use named::{NamedSharding, TypeSharding};
pub(crate) use named::{check_spec, parts, sdy_sharding, shard_shape};
pub use out::OutSharding;
pub(crate) use out::check as check_out;
pub use placed::Placed;
pub(crate) use placed::typed;
pub use spec::{PartitionSpec, SpecEntry};

/// The distribution of an array's elements over devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Sharding {
    /// All elements on one device.
    #[doc(alias("SingleDeviceSharding", "make_single_device_sharding"))]
    SingleDevice(Device),
    /// Sharded or replicated over the devices of a mesh.
    Named(NamedSharding),
}

impl Sharding {
    /// Returns the devices that store elements.
    pub fn devices(&self) -> &[Device] {
        match self {
            Sharding::SingleDevice(d) => std::slice::from_ref(d),
            Sharding::Named(n) => n.mesh().devices(),
        }
    }

    /// Returns the device of a [`Sharding::SingleDevice`].
    pub(crate) fn single(&self) -> Option<Device> {
        match self {
            Sharding::SingleDevice(d) => Some(*d),
            Sharding::Named(_) => None,
        }
    }

    /// Returns the mesh and spec of a [`Sharding::Named`].
    pub fn named(&self) -> Option<NamedSharding> {
        match self {
            Sharding::SingleDevice(_) => None,
            Sharding::Named(n) => Some(*n),
        }
    }

    /// Returns whether every device has the whole array.
    pub fn is_fully_replicated(&self) -> bool {
        match self {
            Sharding::SingleDevice(_) => true,
            Sharding::Named(n) => n.is_fully_replicated(),
        }
    }
}

impl From<Device> for Sharding {
    fn from(device: Device) -> Sharding {
        Sharding::SingleDevice(device)
    }
}
impl From<NamedSharding> for Sharding {
    fn from(sharding: NamedSharding) -> Sharding {
        Sharding::Named(sharding)
    }
}

impl std::fmt::Display for Sharding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Sharding::SingleDevice(d) => write!(f, "SingleDeviceSharding({})", d.description()),
            Sharding::Named(n) => n.fmt(f),
        }
    }
}
