//! Specs and shardings for all arrays of arguments or results.

use crate::Device;
use crate::program::tree::PerArray;
use crate::types::sharding::{NamedSharding, PartitionSpec, Placed, Sharding};

/// The partition spec of each array of a function's arguments or results.
pub type Specs = PerArray<PartitionSpec>;

/// The sharding of each array of a function's arguments or results; `None` lets the compiler
/// choose.
pub type Shardings = PerArray<Option<Placed>>;

impl From<PartitionSpec> for Specs {
    fn from(spec: PartitionSpec) -> Specs {
        PerArray::all(spec)
    }
}

macro_rules! shardings {
    ($($t:ty),*) => { $(
        impl From<$t> for Shardings {
            fn from(to: $t) -> Shardings {
                PerArray::all(Some(to.into()))
            }
        }
        impl From<Option<$t>> for Shardings {
            fn from(to: Option<$t>) -> Shardings {
                PerArray::all(to.map(Into::into))
            }
        }
    )* };
}
shardings!(PartitionSpec, NamedSharding, Sharding, Device);
