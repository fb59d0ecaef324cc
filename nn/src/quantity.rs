//! `Quantity`: a number of elements and their size in bytes.

use ramie_core::Aval;
use ramie_core::text::{bytes, grouped};
use std::fmt;
use std::ops::AddAssign;

/// A number of elements and their size in bytes, displayed as `4,224 (16.9 kB)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quantity {
    /// Number of elements.
    pub elements: usize,
    /// Size in bytes.
    pub bytes: usize,
}

impl Quantity {
    pub(crate) fn of(aval: Aval) -> Quantity {
        Quantity {
            elements: aval.size(),
            bytes: aval.size_bytes(),
        }
    }
}

impl AddAssign for Quantity {
    fn add_assign(&mut self, other: Quantity) {
        self.elements += other.elements;
        self.bytes += other.bytes;
    }
}

impl std::iter::Sum for Quantity {
    fn sum<I: Iterator<Item = Quantity>>(quantities: I) -> Quantity {
        let mut total = Quantity::default();
        quantities.for_each(|quantity| total += quantity);
        total
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (elements, size) = (self.elements as u64, self.bytes as u64);
        write!(f, "{} ({})", grouped(elements), bytes(size))
    }
}
