//! Where the elements of an array are.

use ramie_pjrt::Device;

/// How an array's elements are laid out over devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Sharding {
    /// All of them on one device.
    SingleDevice(Device),
}

impl Sharding {
    /// The devices that hold elements.
    pub fn devices(&self) -> &[Device] {
        match self {
            Sharding::SingleDevice(d) => std::slice::from_ref(d),
        }
    }

    /// The one device of a [`Sharding::SingleDevice`].
    pub(crate) fn single(&self) -> Device {
        match self {
            Sharding::SingleDevice(d) => *d,
        }
    }
}
