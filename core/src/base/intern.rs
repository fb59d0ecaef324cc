//! Interning: equal values are stored once, so that copying is free and comparing two compares
//! addresses. Interned values are never freed: a process has few meshes and shardings.

use crate::base::lock::lock;
use std::borrow::Borrow;
use std::collections::HashSet;
use std::hash::Hash;
use std::sync::Mutex;

/// The interned values of one type.
pub(crate) struct Table<T: 'static>(Mutex<Option<HashSet<&'static T>>>);

impl<T: Eq + Hash> Table<T> {
    pub const fn new() -> Table<T> {
        Table(Mutex::new(None))
    }

    /// Returns the interned copy of `value`, inserting it if absent.
    pub fn keep(&self, value: T) -> &'static T {
        let mut table = lock(&self.0);
        let table = table.get_or_insert_default();
        if let Some(known) = table.get::<T>(value.borrow()) {
            return known;
        }
        let kept: &'static T = Box::leak(Box::new(value));
        table.insert(kept);
        kept
    }
}

/// Implements equality and hashing by address, and a method that returns the address as a number.
macro_rules! by_address {
    ($t:ty) => {
        impl PartialEq for $t {
            fn eq(&self, other: &Self) -> bool {
                std::ptr::eq(self.0, other.0)
            }
        }
        impl Eq for $t {}
        impl std::hash::Hash for $t {
            fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
                state.write_usize(self.address());
            }
        }
        impl $t {
            /// Returns the address that represents this value in hashes.
            pub(crate) fn address(&self) -> usize {
                std::ptr::from_ref(self.0).addr()
            }
        }
    };
}
pub(crate) use by_address;
