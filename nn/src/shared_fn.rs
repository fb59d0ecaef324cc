//! `SharedFn`: a function as a static value.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A function that equals only its clones.
///
/// Compiled programs keep the hash of a function, not the function. So the hash is not that of its
/// address, which another function may have after this one is dropped.
pub(crate) struct SharedFn<F: ?Sized> {
    function: Arc<F>,
    number: u64,
}

impl<F: ?Sized> SharedFn<F> {
    pub fn new(function: Arc<F>) -> SharedFn<F> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        SharedFn {
            function,
            number: COUNT.fetch_add(1, Ordering::Relaxed),
        }
    }
}

impl<F: ?Sized> Clone for SharedFn<F> {
    fn clone(&self) -> Self {
        SharedFn {
            function: self.function.clone(),
            number: self.number,
        }
    }
}

impl<F: ?Sized> Deref for SharedFn<F> {
    type Target = F;

    fn deref(&self) -> &F {
        &self.function
    }
}

impl<F: ?Sized> PartialEq for SharedFn<F> {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl<F: ?Sized> Eq for SharedFn<F> {}

impl<F: ?Sized> Hash for SharedFn<F> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.number.hash(state);
    }
}

impl<F: ?Sized> fmt::Debug for SharedFn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.number)
    }
}
