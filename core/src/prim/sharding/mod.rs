//! Operations that speak of meshes: constraints on how values are sharded, and
//! programs that each device runs for its part.

mod constraint;
mod reshard;
mod shard_map;
mod shard_map_rules;

pub use constraint::ShardingConstraint;
pub use reshard::Reshard;
pub use shard_map::ShardMap;
