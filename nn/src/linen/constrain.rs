//! Parameters are sharded where they are used as their metadata say.

use ramie_core::{
    Array, AxisType, PartitionSpec, get_abstract_mesh, is_tracing, with_logical_constraint,
    with_sharding_constraint,
};

/// A parameter whose sharding in a compiled program is that of its metadata
/// (`Partitioned.unbox` and `LogicallyPartitioned.unbox` of Flax): by the rules
/// for names of dimensions that are current, or where the names are axes of the
/// current mesh. Without a mesh it stays as it is, as it does where the mesh has
/// explicit axes, whose arrays know their shardings.
#[track_caller]
pub(super) fn constrained(value: Array, spec: &PartitionSpec) -> Array {
    let Some(mesh) = get_abstract_mesh().filter(|_| is_tracing()) else {
        return value;
    };
    if mesh.axis_types().contains(&AxisType::Explicit) {
        return value;
    }
    let automatic = |axis| mesh.axis_type(axis) == Some(AxisType::Auto);
    match spec.axes().all(automatic) {
        true => with_sharding_constraint(&value, spec.clone()),
        false => with_logical_constraint(&value, spec.clone()),
    }
}
