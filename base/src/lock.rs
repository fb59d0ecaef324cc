//! Locks that ignore poisoning.
//!
//! No data behind a lock of Ramie is modified in several steps between which a panic could occur,
//! so the value stays valid after a thread panics.

use std::sync::{LockResult, Mutex, MutexGuard, PoisonError};

/// Locks a mutex, even if a thread has panicked while it owned the lock.
///
/// ```
/// use ramie_base::lock::lock;
/// let count = std::sync::Mutex::new(1);
/// *lock(&count) += 1;
/// assert_eq!(*lock(&count), 2);
/// ```
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    unpoisoned(mutex.lock())
}

/// Returns the guard or value of any other lock, even if a thread has panicked while it owned
/// the lock.
///
/// ```
/// use ramie_base::lock::unpoisoned;
/// let count = std::sync::RwLock::new(1);
/// assert_eq!(*unpoisoned(count.read()), 1);
/// ```
pub fn unpoisoned<T>(result: LockResult<T>) -> T {
    result.unwrap_or_else(PoisonError::into_inner)
}
