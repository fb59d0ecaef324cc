//! Layers over meshes of 8 virtual devices.

mod linen_sharding;
mod sharding;
