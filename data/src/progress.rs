//! Which element of a batch was being made when it failed.

use std::cell::Cell;

thread_local! {
    static FAILED: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Says, if it is dropped before the batch is done, which item was being made.
/// An outer batch is dropped after the inner ones, so that its word counts.
pub(crate) struct Progress(Cell<Option<usize>>);

impl Progress {
    /// Before the first item.
    pub(crate) fn new() -> Progress {
        Progress(Cell::new(None))
    }

    /// The item at this place of the batch comes next.
    pub(crate) fn at(&self, place: usize) {
        self.0.set(Some(place));
    }

    /// The item is there; what fails until the next is not its fault.
    pub(crate) fn made(&self) {
        self.0.set(None);
    }

    /// All items are there.
    pub(crate) fn done(self) {
        self.0.set(None);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(place) = self.0.get() {
            FAILED.set(Some(place));
        }
    }
}

/// The place in the last batch of this thread that failed, once.
pub(crate) fn failed() -> Option<usize> {
    FAILED.take()
}
