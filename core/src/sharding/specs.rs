//! Specs and shardings for all arrays of arguments or results.

use super::{NamedSharding, PartitionSpec, Placed, Sharding};
use crate::Device;
use crate::tree::PerArray;

/// How each array of a function's arguments or results is partitioned.
pub type Specs = PerArray<PartitionSpec>;

/// Where each array of a function's arguments or results is; `None` leaves it to
/// the compiler.
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
