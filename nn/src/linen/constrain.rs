//! Sharding constraints on parameters, from their metadata.

use ramie_core::sharding::{
    AxisType, get_abstract_mesh, with_logical_constraint, with_sharding_constraint,
};
use ramie_core::{Array, PartitionSpec, is_tracing};

/// Constrains the sharding of a parameter in a compiled program to that of its metadata
/// (`Partitioned.unbox` and `LogicallyPartitioned.unbox` of Flax). Names are translated by the
/// current logical axis rules, unless all of them are automatic axes of the current mesh.
/// Returns the value unchanged outside of a trace, without a mesh, or if the mesh has explicit
/// axes, whose arrays have shardings of their own.
#[track_caller]
pub(super) fn constrained(value: Array, spec: &PartitionSpec) -> Array {
    let Some(mesh) = get_abstract_mesh().filter(|_| is_tracing()) else {
        return value;
    };
    if mesh.axis_types().contains(&AxisType::Explicit) {
        return value;
    }
    let automatic = |axis| mesh.axis_type(axis) == Some(AxisType::Auto);
    if spec.axes().all(automatic) {
        with_sharding_constraint(&value, spec.clone())
    } else {
        with_logical_constraint(&value, spec.clone())
    }
}
