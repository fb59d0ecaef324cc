//! Shardings over a mesh, of arrays and of types.

use super::{AbstractMesh, AxisType, Mesh, PartitionSpec, SpecEntry};
use crate::ShapeError;
use crate::base::intern::{Table, by_address};
use crate::base::location;
use crate::typing::Dims;
use std::fmt::{self, Write};
use std::ops::Range;

#[derive(PartialEq, Eq, Hash)]
struct Named {
    mesh: Mesh,
    spec: PartitionSpec,
    memory_kind: Option<&'static str>,
}

/// A mesh, and the mesh axes along which an array's dimensions are sharded
/// (`jax.sharding.NamedSharding`).
///
/// Shardings are interned: equal shardings share one value, and copies are free.
#[derive(Clone, Copy)]
pub struct NamedSharding(&'static Named);
by_address!(NamedSharding);

static NAMED: Table<Named> = Table::new();

/// Returns an error if a spec is invalid on a mesh.
pub(crate) fn check_spec(axes: AbstractMesh, spec: &PartitionSpec) -> Result<(), ShapeError> {
    let all = || {
        spec.axes()
            .chain(spec.unreduced().iter().chain(spec.reduced()).copied())
    };
    for (i, axis) in all().enumerate() {
        if axes.position(axis).is_none() {
            return Err(ShapeError::new(format!(
                "resource axis {axis} of {spec} is not found in the mesh ({})",
                axes.describe()
            ))
            .help("use axes of the mesh, or None for a dimension that is not sharded"));
        }
        if all().take(i).any(|other| other == axis) {
            return Err(ShapeError::new(format!(
                "{spec} has duplicate entries for {axis}: a mesh axis can shard one dimension"
            ))
            .help("use every mesh axis at most once"));
        }
    }
    Ok(())
}

/// Returns the number of parts of dimension `d` of an array that `spec` shards.
pub(crate) fn parts(axes: AbstractMesh, spec: &PartitionSpec, d: usize) -> usize {
    let names = spec.entry(d).axes().iter();
    names.filter_map(|&name| axes.axis_size(name)).product()
}

/// Returns the shape of one device's shard.
pub(crate) fn shard_shape(
    axes: AbstractMesh,
    spec: &PartitionSpec,
    shape: &[usize],
) -> Result<Dims, ShapeError> {
    let whole = format!("{shape:?}");
    if spec.entries().len() > shape.len() {
        return Err(ShapeError::new(format!(
            "{spec} has {} entries for an array of {} dimensions, {whole}",
            spec.entries().len(),
            shape.len()
        ))
        .help("pass at most one entry for each dimension"));
    }
    let mut out: Dims = shape.into();
    for (d, size) in out.iter_mut().enumerate() {
        let parts = parts(axes, spec, d);
        if !size.is_multiple_of(parts) {
            return Err(ShapeError::new(format!(
                "{spec} on the mesh ({}) partitions dimension {d} into {parts} parts, but its size \
                 is {size} (whole shape {whole})",
                axes.describe()
            ))
            .help(
                "pad the dimension to a multiple of the number of parts, or use None to leave it \
                 unsharded",
            ));
        }
        *size /= parts;
    }
    Ok(out)
}

impl NamedSharding {
    /// Creates a sharding by `spec` over `mesh`.
    ///
    /// # Panics
    /// Panics if `spec` names an axis that the mesh does not have, or an axis twice.
    #[track_caller]
    pub fn new(mesh: Mesh, spec: impl Into<PartitionSpec>) -> NamedSharding {
        let spec = spec.into();
        if let Err(e) = check_spec(mesh.abstract_mesh(), &spec) {
            location::fail(&e.render("NamedSharding", &[]));
        }
        NamedSharding(NAMED.keep(Named {
            mesh,
            spec,
            memory_kind: None,
        }))
    }

    /// Returns the same sharding in another kind of device memory, such as `pinned_host`;
    /// [`Device::memories`](crate::Device::memories) lists the available kinds.
    #[must_use]
    pub fn with_memory_kind(self, kind: &str) -> NamedSharding {
        NamedSharding(NAMED.keep(Named {
            mesh: self.0.mesh,
            spec: self.0.spec.clone(),
            memory_kind: Some(crate::sharding::AxisName::from(kind).as_str()),
        }))
    }

    /// Returns the same sharding in the devices' default memory.
    pub(crate) fn in_device_memory(self) -> NamedSharding {
        NamedSharding(NAMED.keep(Named {
            mesh: self.0.mesh,
            spec: self.0.spec.clone(),
            memory_kind: None,
        }))
    }

    /// Returns the mesh.
    pub fn mesh(&self) -> Mesh {
        self.0.mesh
    }

    /// Returns the spec: which axes shard which dimensions.
    pub fn spec(&self) -> &'static PartitionSpec {
        &self.0.spec
    }

    /// Returns the same mesh and kind of memory with another spec (`NamedSharding.update`).
    ///
    /// # Panics
    /// Panics in the same cases as [`new`](NamedSharding::new).
    #[must_use]
    #[track_caller]
    pub fn with_spec(self, spec: impl Into<PartitionSpec>) -> NamedSharding {
        let sharding = NamedSharding::new(self.0.mesh, spec);
        match self.0.memory_kind {
            Some(kind) => sharding.with_memory_kind(kind),
            None => sharding,
        }
    }

    /// Returns the number of devices.
    pub fn num_devices(&self) -> usize {
        self.0.mesh.size()
    }

    /// Returns the devices of this process, in the order of the mesh.
    pub fn addressable_devices(&self) -> Vec<crate::Device> {
        self.0.mesh.local_devices().collect()
    }

    /// Returns whether all devices belong to this process.
    pub fn is_fully_addressable(&self) -> bool {
        !self.0.mesh.is_multi_process()
    }

    /// Returns the mesh axes that shard no dimension, in the order of the mesh.
    pub fn replicated_axes(&self) -> Vec<crate::sharding::AxisName> {
        let sharded = |name: &crate::sharding::AxisName| self.0.spec.axes().any(|a| a == *name);
        let names = self.0.mesh.axis_names().iter().copied();
        names.filter(|name| !sharded(name)).collect()
    }

    /// Returns whether both shardings put the same shard of an array of `ndim` dimensions on each
    /// device, in the same memory.
    pub fn is_equivalent_to(&self, other: &NamedSharding, ndim: usize) -> bool {
        // This size is divisible by the number of parts along any axes of either mesh.
        let parts = self.num_devices() * other.num_devices();
        let shape = vec![parts.max(1); ndim];
        let fits = |s: &NamedSharding| s.0.spec.entries().len() <= ndim;
        let same_parts = || self.devices_indices_map(&shape) == other.devices_indices_map(&shape);
        self.memory_kind() == other.memory_kind() && fits(self) && fits(other) && same_parts()
    }

    /// Returns each device with the shard of an array of `shape` that it stores, a range for each
    /// dimension, by the device's identifier.
    ///
    /// # Panics
    /// Panics if a dimension is not divisible by its number of shards.
    #[track_caller]
    pub fn devices_indices_map(&self, shape: &[usize]) -> Vec<(crate::Device, Vec<Range<usize>>)> {
        let devices = self.0.mesh.devices().iter().enumerate();
        let mut map: Vec<_> = devices
            .map(|(k, d)| (*d, self.shard_index(k, shape)))
            .collect();
        map.sort_by_key(|(device, _)| device.id());
        map
    }

    /// Returns the kind of memory, or `None` for the devices' default memory.
    pub fn memory_kind(&self) -> Option<&'static str> {
        self.0.memory_kind
    }

    /// Returns whether every device has the whole array.
    pub fn is_fully_replicated(&self) -> bool {
        let axes = self.0.mesh.abstract_mesh();
        let sharded = |a| axes.axis_size(a).is_some_and(|n| n > 1);
        !self.0.spec.axes().any(sharded)
    }

    /// Returns the shape of one device's shard of an array of `shape` (`Sharding.shard_shape`).
    ///
    /// # Panics
    /// Panics if a dimension is not divisible by its number of shards.
    #[track_caller]
    pub fn shard_shape(&self, shape: &[usize]) -> Dims {
        match self.try_shard_shape(shape) {
            Ok(shape) => shape,
            Err(e) => location::fail(&e.render("shard_shape", &[])),
        }
    }

    pub(crate) fn try_shard_shape(&self, shape: &[usize]) -> Result<Dims, ShapeError> {
        shard_shape(self.0.mesh.abstract_mesh(), &self.0.spec, shape)
    }

    /// Returns the shard of an array of `shape` on the device with this index in the mesh: a
    /// range for each dimension.
    ///
    /// # Panics
    /// Panics if a dimension is not divisible by its number of shards.
    #[track_caller]
    pub fn shard_index(&self, device: usize, shape: &[usize]) -> Vec<Range<usize>> {
        let part = self.shard_shape(shape);
        let axes = self.0.mesh.abstract_mesh();
        let coordinates = axes.coordinates(device);
        part.iter()
            .enumerate()
            .map(|(d, &size)| {
                let mut at = 0;
                for name in self.0.spec.entry(d).axes() {
                    let axis = axes.position(*name).expect("checked when it was made");
                    at = at * axes.axis_sizes()[axis] + coordinates[axis];
                }
                at * size..(at + 1) * size
            })
            .collect()
    }

    /// Returns the sharding as part of a type: the explicit axes of the spec.
    pub(crate) fn type_sharding(&self, rank: usize) -> Option<TypeSharding> {
        let axes = self.0.mesh.abstract_mesh();
        axes.has(AxisType::Explicit)
            .then(|| TypeSharding::new(axes, &self.0.spec, rank))
            .filter(|s| !s.is_trivial())
    }
}

impl fmt::Display for NamedSharding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}
impl fmt::Debug for NamedSharding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NamedSharding({:?}, {}", self.0.mesh, self.0.spec)?;
        if let Some(kind) = self.0.memory_kind {
            write!(f, ", memory_kind={kind}")?;
        }
        f.write_str(")")
    }
}

#[derive(PartialEq, Eq, Hash)]
struct Typed {
    mesh: AbstractMesh,
    spec: PartitionSpec,
}

/// The sharding that is part of a type: the explicit mesh axes along which each dimension is
/// sharded.
#[derive(Clone, Copy)]
pub struct TypeSharding(&'static Typed);
by_address!(TypeSharding);

static TYPED: Table<Typed> = Table::new();

impl TypeSharding {
    /// Creates a sharding from the explicit axes of `spec`, for arrays of `rank` dimensions.
    pub(crate) fn new(mesh: AbstractMesh, spec: &PartitionSpec, rank: usize) -> TypeSharding {
        let explicit = |a| mesh.axis_type(a) == Some(AxisType::Explicit);
        TypeSharding(TYPED.keep(Typed {
            mesh,
            spec: spec.filtered(rank, explicit),
        }))
    }

    /// Returns the axes of the mesh.
    pub fn mesh(&self) -> AbstractMesh {
        self.0.mesh
    }

    /// Returns the spec, which has an entry for every dimension.
    pub fn spec(&self) -> &'static PartitionSpec {
        &self.0.spec
    }

    pub(crate) fn is_trivial(&self) -> bool {
        self.0.spec.is_trivial()
    }

    /// Writes the suffix of a dimension's size in a type: `@x`.
    pub(crate) fn write_dimension(&self, f: &mut fmt::Formatter<'_>, d: usize) -> fmt::Result {
        match self.0.spec.entry(d).axes() {
            [] => Ok(()),
            [one] => write!(f, "@{one}"),
            many => {
                let names: Vec<&str> = many.iter().map(|n| n.as_str()).collect();
                write!(f, "@({})", names.join(","))
            }
        }
    }
}

impl fmt::Debug for TypeSharding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on {:?}", self.0.spec, self.0.mesh)
    }
}

/// Formats a sharding in the syntax of the Shardy dialect. The compiler may shard `open`
/// dimensions further.
pub(crate) fn sdy_sharding(mesh: &str, spec: &PartitionSpec, rank: usize, open: bool) -> String {
    let quoted = |names: &[crate::sharding::AxisName]| {
        let names: Vec<String> = names.iter().map(|n| format!("\"{n}\"")).collect();
        names.join(", ")
    };
    let mut text = format!("#sdy.sharding<@{mesh}, [");
    for d in 0..rank {
        let comma = if d > 0 { ", " } else { "" };
        let entry = spec.entry(d);
        let free = open || *entry == SpecEntry::Unconstrained;
        let names = quoted(entry.axes());
        let _ = match (free, names.is_empty()) {
            (false, _) => write!(text, "{comma}{{{names}}}"),
            (true, true) => write!(text, "{comma}{{?}}"),
            (true, false) => write!(text, "{comma}{{{names}, ?}}"),
        };
    }
    text.push(']');
    if !spec.unreduced().is_empty() {
        let _ = write!(text, ", unreduced={{{}}}", quoted(spec.unreduced()));
    }
    text.push('>');
    text
}
