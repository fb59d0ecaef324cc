//! The types of arrays: dtype, shape, and placement on a mesh. Uses only `base`.

pub(crate) mod aval;
pub(crate) mod axis;
pub(crate) mod dtype;
pub(crate) mod dtype_info;
pub(crate) mod narrow;
pub(crate) mod promotion;
pub(crate) mod scalar;
pub(crate) mod sharding;
