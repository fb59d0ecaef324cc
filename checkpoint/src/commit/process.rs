//! Index and number of the processes that save together.

use ramie_core::distributed;

/// One of the processes that save together. Each writes its own data; the primary process also
/// writes the shared files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Process {
    index: usize,
    count: usize,
    primary: usize,
}

impl Process {
    /// Returns the current process of those connected by
    /// [`distributed::initialize`](ramie_core::distributed::initialize). Process 0 is the primary
    /// one.
    pub fn current() -> Process {
        Process {
            index: distributed::process_index(),
            count: distributed::process_count(),
            primary: 0,
        }
    }

    /// Returns this process as if it were the only one: it writes everything.
    pub fn alone() -> Process {
        Process {
            index: 0,
            count: 1,
            primary: 0,
        }
    }

    /// Sets the index of the primary process.
    pub(crate) fn with_primary(mut self, primary: usize) -> Process {
        self.primary = primary;
        self
    }

    /// Returns the index of the primary process.
    pub(crate) fn primary(self) -> usize {
        self.primary
    }

    /// Returns the index of this process, starting at 0.
    pub fn index(self) -> usize {
        self.index
    }

    /// Returns the number of processes.
    pub fn count(self) -> usize {
        self.count
    }

    /// Returns whether this process writes the shared files.
    pub fn is_primary(self) -> bool {
        self.index == self.primary
    }
}
