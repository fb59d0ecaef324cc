//! Transfer of batches to devices.

mod host_array;
mod place;
mod prefetch;
mod to_device;

pub use host_array::HostArray;
pub(crate) use host_array::nbytes;
pub use place::Placement;
pub use prefetch::DevicePrefetch;
pub use to_device::ToDevice;
