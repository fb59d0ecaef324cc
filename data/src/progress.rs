//! Tracking of the element that made a batch fail.

use std::cell::Cell;

thread_local! {
    static FAILED: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Records, if it is dropped before the batch is complete, which item was in progress. An outer
/// batch is dropped after the inner ones, so its item is the one reported.
pub(crate) struct Progress(Cell<Option<usize>>);

impl Progress {
    /// Creates a tracker before the first item.
    pub(crate) fn new() -> Progress {
        Progress(Cell::new(None))
    }

    /// Records that the item at this index of the batch is next.
    pub(crate) fn at(&self, place: usize) {
        self.0.set(Some(place));
    }

    /// Records that the item is complete, so that later errors are not attributed to it.
    pub(crate) fn made(&self) {
        self.0.set(None);
    }

    /// Records that all items are complete.
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

/// Takes the index of the item that failed in this thread's last batch.
pub(crate) fn failed() -> Option<usize> {
    FAILED.take()
}
