//! Values of a thread that hold for a scope.

use std::cell::Cell;
use std::thread::LocalKey;

/// A guard that keeps a value in a thread's cell until it is dropped, also by a panic; then the
/// previous value is restored.
#[must_use = "the value holds only until this is dropped"]
pub(crate) struct Scoped<T: Copy + 'static> {
    cell: &'static LocalKey<Cell<T>>,
    outer: T,
}

impl<T: Copy> Scoped<T> {
    /// Sets the value of the cell.
    pub fn set(cell: &'static LocalKey<Cell<T>>, value: T) -> Scoped<T> {
        Scoped {
            cell,
            outer: cell.replace(value),
        }
    }
}

impl<T: Copy> Drop for Scoped<T> {
    fn drop(&mut self) {
        self.cell.set(self.outer);
    }
}

/// Runs `f` with `value` in the thread's cell.
pub(crate) fn with<T: Copy, R>(
    cell: &'static LocalKey<Cell<T>>,
    value: T,
    f: impl FnOnce() -> R,
) -> R {
    let _scoped = Scoped::set(cell, value);
    f()
}
