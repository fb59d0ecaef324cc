//! Meshes: grids of devices with named axes.

use crate::base::intern::{Table, by_address};
use crate::base::location::fail;
use crate::sharding::AxisName;
use ramie_pjrt::Device;
use std::fmt;

/// Determines who chooses how arrays are sharded along a mesh axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AxisType {
    /// The compiler chooses, from the shardings of arguments and from constraints.
    #[default]
    Auto,
    /// Types contain the sharding: that of every value follows from its operands' shardings while
    /// the program is traced.
    Explicit,
    /// The program chooses: inside [`shard_map`](crate::shard_map), where each value is one
    /// device's shard.
    Manual,
}

#[derive(PartialEq, Eq, Hash)]
struct Shape {
    names: Box<[AxisName]>,
    sizes: Box<[usize]>,
    types: Box<[AxisType]>,
}

/// The names, sizes and types of a mesh's axes, without its devices
/// (`jax.sharding.AbstractMesh`).
#[derive(Clone, Copy)]
pub struct AbstractMesh(&'static Shape);
by_address!(AbstractMesh);

static SHAPES: Table<Shape> = Table::new();

impl AbstractMesh {
    /// Creates a mesh of these axes, all of one type. The last axis varies fastest.
    ///
    /// # Panics
    /// Panics if the numbers of names and sizes differ, if a name occurs twice, or if a size is
    /// 0.
    #[track_caller]
    pub fn new(sizes: &[usize], names: &[&str], axis_type: AxisType) -> AbstractMesh {
        AbstractMesh::with_axis_types(sizes, names, &vec![axis_type; sizes.len()])
    }

    /// Creates a mesh of these axes, each of its own type.
    ///
    /// # Panics
    /// Panics in the same cases as [`new`](AbstractMesh::new), and if the number of types
    /// differs.
    #[track_caller]
    pub fn with_axis_types(sizes: &[usize], names: &[&str], types: &[AxisType]) -> AbstractMesh {
        assert!(
            sizes.len() == names.len() && sizes.len() == types.len(),
            "mesh: {} sizes, {} names and {} axis types\n  help: pass a size, a name and a type \
             for each axis",
            sizes.len(),
            names.len(),
            types.len()
        );
        for (i, name) in names.iter().enumerate() {
            assert!(
                !names[..i].contains(name),
                "mesh: two axes are named `{name}`\n  help: use a different name for every axis"
            );
            assert!(
                sizes[i] > 0,
                "mesh: axis `{name}` has size 0\n  help: use size 1 for an axis that is not needed"
            );
        }
        AbstractMesh::keep(Shape {
            names: names.iter().map(|&n| n.into()).collect(),
            sizes: sizes.into(),
            types: types.into(),
        })
    }

    fn keep(shape: Shape) -> AbstractMesh {
        AbstractMesh(SHAPES.keep(shape))
    }

    /// Returns the names of the axes, the slowest-varying first.
    pub fn axis_names(&self) -> &'static [AxisName] {
        &self.0.names
    }

    /// Returns the sizes of the axes.
    pub fn axis_sizes(&self) -> &'static [usize] {
        &self.0.sizes
    }

    /// Returns the types of the axes.
    pub fn axis_types(&self) -> &'static [AxisType] {
        &self.0.types
    }

    /// Returns the sizes of the axes by name: `mesh.shape()["data"]`.
    pub fn shape(&self) -> MeshShape {
        MeshShape(*self)
    }

    /// Returns the number of devices.
    pub fn size(&self) -> usize {
        self.0.sizes.iter().product()
    }

    /// Returns the size of the axis `name`, if it exists.
    pub fn axis_size(&self, name: AxisName) -> Option<usize> {
        self.position(name).map(|i| self.0.sizes[i])
    }

    /// Returns the type of the axis `name`, if it exists.
    pub fn axis_type(&self, name: AxisName) -> Option<AxisType> {
        self.position(name).map(|i| self.0.types[i])
    }

    /// Returns the names of the axes that the compiler shards (`Mesh.auto_axes`).
    pub fn auto_axes(&self) -> Vec<AxisName> {
        self.axes_of_type(AxisType::Auto)
    }

    /// Returns the names of the axes that are part of types (`Mesh.explicit_axes`).
    pub fn explicit_axes(&self) -> Vec<AxisName> {
        self.axes_of_type(AxisType::Explicit)
    }

    /// Returns the names of the axes that the program shards (`Mesh.manual_axes`).
    pub fn manual_axes(&self) -> Vec<AxisName> {
        self.axes_of_type(AxisType::Manual)
    }

    fn axes_of_type(&self, axis_type: AxisType) -> Vec<AxisName> {
        let axes = self.0.names.iter().zip(&self.0.types);
        let axes = axes.filter(|(_, t)| **t == axis_type);
        axes.map(|(name, _)| *name).collect()
    }

    pub(crate) fn position(&self, name: AxisName) -> Option<usize> {
        self.0.names.iter().position(|n| *n == name)
    }

    pub(crate) fn has(&self, axis_type: AxisType) -> bool {
        self.0.types.contains(&axis_type)
    }

    /// Returns the same mesh with other axis types.
    pub(crate) fn with_types(
        &self,
        change: impl Fn(AxisName, AxisType) -> AxisType,
    ) -> AbstractMesh {
        let (names, types) = (&self.0.names, &self.0.types);
        AbstractMesh::keep(Shape {
            names: names.clone(),
            sizes: self.0.sizes.clone(),
            types: names
                .iter()
                .zip(types)
                .map(|(n, t)| change(*n, *t))
                .collect(),
        })
    }

    /// Returns the same axes with the sizes of the smallest part that contains the devices with
    /// these indices; `None` if the part has other devices too, or if there are none.
    fn part(&self, indices: &[usize]) -> Option<AbstractMesh> {
        let all: Vec<Vec<usize>> = indices.iter().map(|&i| self.coordinates(i)).collect();
        let size = |d: usize| {
            let along = || all.iter().map(|at| at[d]);
            Some(along().max()? - along().min()? + 1)
        };
        let sizes: Box<[usize]> = (0..self.0.sizes.len()).map(size).collect::<Option<_>>()?;
        let full = sizes.iter().product::<usize>() == indices.len();
        full.then(|| {
            AbstractMesh::keep(Shape {
                names: self.0.names.clone(),
                sizes,
                types: self.0.types.clone(),
            })
        })
    }

    /// Returns the coordinates of a device, given its index in row-major order.
    pub(crate) fn coordinates(&self, mut index: usize) -> Vec<usize> {
        let mut out = vec![0; self.0.sizes.len()];
        for (c, &size) in out.iter_mut().zip(&self.0.sizes).rev() {
            *c = index % size;
            index /= size;
        }
        out
    }

    /// Formats the axes for a message.
    pub(crate) fn describe(&self) -> String {
        let axes = self.0.names.iter().zip(&self.0.sizes);
        let axes: Vec<String> = axes.map(|(n, s)| format!("{n:?}: {s}")).collect();
        axes.join(", ")
    }
}

impl fmt::Debug for AbstractMesh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let types: Vec<String> = self.0.types.iter().map(|t| format!("{t:?}")).collect();
        let comma = if types.len() == 1 { "," } else { "" };
        write!(
            f,
            "AbstractMesh({}, axis_types=({}{comma}))",
            self.describe(),
            types.join(", ")
        )
    }
}

/// The sizes of a mesh's axes by name (`Mesh.shape`).
///
/// ```
/// use ramie_core::sharding::{AbstractMesh, AxisType};
/// let mesh = AbstractMesh::new(&[4, 2], &["data", "model"], AxisType::Auto);
/// let shape = mesh.shape();
/// assert_eq!((shape["data"], shape.get("expert")), (4, None));
/// assert_eq!(shape.to_string(), "{'data': 4, 'model': 2}");
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct MeshShape(AbstractMesh);

impl MeshShape {
    /// Returns the size of an axis, if it exists.
    pub fn get(&self, name: &str) -> Option<usize> {
        self.size(name).copied()
    }

    fn size(&self, name: &str) -> Option<&usize> {
        let at = self
            .0
            .axis_names()
            .iter()
            .position(|n| n.as_str() == name)?;
        self.0.axis_sizes().get(at)
    }

    /// Returns the names and sizes of the axes, the slowest-varying first.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (AxisName, usize)> {
        let axes = self.0.axis_names().iter().zip(self.0.axis_sizes());
        axes.map(|(name, size)| (*name, *size))
    }
}

/// Returns the size of an axis.
///
/// # Panics
/// Panics if the axis does not exist.
impl std::ops::Index<&str> for MeshShape {
    type Output = usize;
    #[track_caller]
    fn index(&self, name: &str) -> &usize {
        match self.size(name) {
            Some(size) => size,
            None => panic!(
                "mesh: no axis is named `{name}`\n  help: the axes are {}",
                self.0.describe()
            ),
        }
    }
}

impl fmt::Display for MeshShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{}}}", self.0.describe())
    }
}
impl fmt::Debug for MeshShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[derive(PartialEq, Eq, Hash)]
struct Grid {
    axes: AbstractMesh,
    devices: Box<[Device]>,
}

/// A grid of devices with named axes (`jax.sharding.Mesh`).
///
/// Meshes are interned: equal meshes share one value, and copies are free.
#[derive(Clone, Copy)]
pub struct Mesh(&'static Grid);
by_address!(Mesh);

static MESHES: Table<Grid> = Table::new();

impl Mesh {
    /// Creates a mesh of these devices, in row-major order.
    ///
    /// # Panics
    /// Panics if the number of devices is not the product of the axis sizes, or if a device
    /// occurs twice.
    #[track_caller]
    pub fn new(devices: &[Device], axes: AbstractMesh) -> Mesh {
        assert!(
            devices.len() == axes.size(),
            "mesh: {} devices for a mesh of {} ({})\n  help: the product of the axes' sizes must be \
             the number of devices",
            devices.len(),
            axes.size(),
            axes.describe()
        );
        for (i, device) in devices.iter().enumerate() {
            assert!(
                !devices[..i].contains(device),
                "mesh: device {device} occurs twice\n  help: use each device once in a mesh"
            );
        }
        Mesh(MESHES.keep(Grid {
            axes,
            devices: devices.into(),
        }))
    }

    /// Returns the axes without the devices.
    pub fn abstract_mesh(&self) -> AbstractMesh {
        self.0.axes
    }

    /// Returns the devices in row-major order.
    pub fn devices(&self) -> &'static [Device] {
        &self.0.devices
    }

    /// Returns the devices of this process, in row-major order.
    pub fn local_devices(&self) -> impl Iterator<Item = Device> {
        self.0
            .devices
            .iter()
            .copied()
            .filter(|d| d.is_addressable())
    }

    /// Returns the part of the mesh on the devices of this process, with the same axes
    /// (`Mesh.local_mesh`).
    ///
    /// # Panics
    /// Panics if the devices of this process are not a contiguous part of the mesh.
    #[track_caller]
    pub fn local_mesh(&self) -> Mesh {
        let indices = 0..self.size();
        let indices: Vec<usize> = indices
            .filter(|&i| self.0.devices[i].is_addressable())
            .collect();
        let Some(axes) = self.0.axes.part(&indices) else {
            fail(&format!(
                "local_mesh: the {} devices of this process are not a contiguous part of {self:?}\n  \
                 help: order the devices so that each process has a block of the mesh",
                indices.len()
            ))
        };
        let devices: Vec<Device> = self.local_devices().collect();
        Mesh::new(&devices, axes)
    }

    /// Returns the ids of the devices in row-major order (`Mesh.device_ids`).
    pub fn device_ids(&self) -> Vec<i32> {
        self.0.devices.iter().map(|d| d.id()).collect()
    }

    /// Returns the names of the axes, the slowest-varying first.
    pub fn axis_names(&self) -> &'static [AxisName] {
        self.0.axes.axis_names()
    }

    /// Returns the sizes of the axes.
    pub fn axis_sizes(&self) -> &'static [usize] {
        self.0.axes.axis_sizes()
    }

    /// Returns the types of the axes.
    pub fn axis_types(&self) -> &'static [AxisType] {
        self.0.axes.axis_types()
    }

    /// Returns the sizes of the axes by name: `mesh.shape()["data"]`.
    pub fn shape(&self) -> MeshShape {
        self.0.axes.shape()
    }

    /// Returns the size of the axis `name`, if it exists.
    pub fn axis_size(&self, name: impl Into<AxisName>) -> Option<usize> {
        self.0.axes.axis_size(name.into())
    }

    /// Returns the number of devices.
    pub fn size(&self) -> usize {
        self.0.devices.len()
    }

    /// Returns whether the mesh has devices of other processes.
    pub fn is_multi_process(&self) -> bool {
        self.0.devices.iter().any(|d| !d.is_addressable())
    }

    /// Returns the same devices and axes, all of another type.
    #[must_use]
    pub fn with_axis_type(&self, axis_type: AxisType) -> Mesh {
        self.with_abstract(self.0.axes.with_types(|_, _| axis_type))
    }

    /// Returns a mesh of the same devices with other axis types.
    pub(crate) fn with_abstract(&self, axes: AbstractMesh) -> Mesh {
        Mesh(MESHES.keep(Grid {
            axes,
            devices: self.0.devices.clone(),
        }))
    }
}

impl fmt::Debug for Mesh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let types: Vec<String> = self.axis_types().iter().map(|t| format!("{t:?}")).collect();
        let comma = if types.len() == 1 { "," } else { "" };
        write!(
            f,
            "Mesh({}, axis_types=({}{comma}))",
            self.0.axes.describe(),
            types.join(", ")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::{AbstractMesh, AxisType};

    #[test]
    fn a_part_of_a_mesh_is_contiguous() {
        let mesh = AbstractMesh::new(&[4, 2], &["x", "y"], AxisType::Explicit);
        let sizes = |indices: &[usize]| Some(mesh.part(indices)?.axis_sizes().to_vec());
        assert_eq!(sizes(&[0, 1, 2, 3]), Some(vec![2, 2]));
        assert_eq!(sizes(&[4, 6]), Some(vec![2, 1]));
        assert_eq!(sizes(&[3]), Some(vec![1, 1]));
        assert_eq!(sizes(&[0, 4]), None, "rows 0 and 2");
        assert_eq!(sizes(&[0, 3]), None, "a diagonal");
        assert_eq!(sizes(&[]), None);
        let part = mesh.part(&[2, 3]).expect("a row");
        assert_eq!(
            (part.axis_names(), part.axis_types()),
            (mesh.axis_names(), mesh.axis_types())
        );
    }
}
