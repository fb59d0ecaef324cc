//! The generators of keys.

use std::fmt;

/// The generator of a key (`impl` in JAX).
///
/// ```no_run
/// use ramie_core::random::{self, KeyImpl};
/// let key = random::key_with(42, KeyImpl::Rbg);
/// assert_eq!(random::key_data(&key).to_vec::<u32>(), [0, 42, 0, 42]);
/// assert_eq!(KeyImpl::Rbg.to_string(), "rbg");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum KeyImpl {
    /// A counter-based hash with keys of two words. Exact under `vmap`, and the same on every
    /// device.
    #[default]
    Threefry2x32,
    /// Bits from the device's own generator (XLA's `RngBitGenerator`, fast on accelerators) with
    /// keys of four words; keys are split and folded by threefry. Bits may differ between devices
    /// and compiler versions. Under `vmap`, all batch elements are sampled with the first key.
    Rbg,
    /// Like [`Rbg`](KeyImpl::Rbg), but keys are also split and folded by the device's generator,
    /// whose quality for this purpose is unknown.
    UnsafeRbg,
}

impl KeyImpl {
    /// All generators.
    pub const ALL: [KeyImpl; 3] = [KeyImpl::Threefry2x32, KeyImpl::Rbg, KeyImpl::UnsafeRbg];

    /// Returns the name of the generator in JAX.
    pub const fn name(self) -> &'static str {
        match self {
            KeyImpl::Threefry2x32 => "threefry2x32",
            KeyImpl::Rbg => "rbg",
            KeyImpl::UnsafeRbg => "unsafe_rbg",
        }
    }

    /// Returns the short name that appears in the type of a key: `key<fry>`.
    pub const fn tag(self) -> &'static str {
        match self {
            KeyImpl::Threefry2x32 => "fry",
            KeyImpl::Rbg => "rbg",
            KeyImpl::UnsafeRbg => "urbg",
        }
    }

    /// Returns the number of words of a key.
    pub const fn words(self) -> usize {
        match self {
            KeyImpl::Threefry2x32 => 2,
            KeyImpl::Rbg | KeyImpl::UnsafeRbg => 4,
        }
    }
}

impl fmt::Display for KeyImpl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
