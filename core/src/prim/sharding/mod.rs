//! Operations on meshes: sharding constraints, and programs that each device runs on its shards.

mod constraint;
mod shard_map;
mod shard_map_rules;

pub use crate::passes::Reshard;
pub use constraint::ShardingConstraint;
pub use shard_map::ShardMap;
