//! Operations on meshes: sharding constraints, and programs that each device runs on its shards.

mod constraint;
mod reshard;
mod shard_map;
mod shard_map_rules;

pub use constraint::ShardingConstraint;
pub use reshard::Reshard;
pub use shard_map::ShardMap;
