//! Meshes, shardings of arrays, and logical names of axes (`jax.sharding`).

pub use crate::client::assemble::{
    global_array_to_host_local_array, host_local_array_to_global_array,
    make_array_from_single_device_arrays,
};
pub use crate::client::host::{HostShard, make_array_from_parts};
pub use crate::client::shards::{
    Shard, make_array_from_callback, make_array_from_process_local_data, visualize_sharding,
};
pub use crate::client::{create_hybrid_device_mesh, make_mesh_with};
pub use crate::functions::ops::{
    auto_axes, device_put_donating, explicit_axes, reshard, type_of, with_logical_constraint,
    with_sharding_constraint,
};
pub use crate::functions::pad_shard::{pad_shard_unpad, pad_shard_unpad_with};
pub use crate::program::specs::{Shardings, Specs};
pub use crate::transform::{InSpecs, Infer};
pub use crate::types::axis::AxisName;
pub use crate::types::sharding::{
    AbstractMesh, AxisType, LogicalAxisRules, MeshGuard, MeshShape, OutSharding, Placed, Sharding,
    SpecEntry, TypeSharding, get_abstract_mesh, get_logical_axis_rules, get_mesh, logical_to_mesh,
    set_logical_axis_rules, with_logical_axis_rules, with_mesh,
};
