//! Which process this is of those that save together.

use ramie_core::distributed;

/// One of the processes that save together: each writes its part, and the primary
/// one in addition what there is once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Process {
    index: usize,
    count: usize,
    primary: usize,
}

impl Process {
    /// This process, of those that
    /// [`distributed::initialize`](ramie_core::distributed::initialize) brought
    /// together; number 0 is the primary one.
    pub fn current() -> Process {
        Process {
            index: distributed::process_index(),
            count: distributed::process_count(),
            primary: 0,
        }
    }

    /// This process as if it were the only one: it writes everything.
    pub fn alone() -> Process {
        Process {
            index: 0,
            count: 1,
            primary: 0,
        }
    }

    /// It, with this one as the primary process.
    pub(crate) fn with_primary(mut self, primary: usize) -> Process {
        self.primary = primary;
        self
    }

    /// The number of the primary process.
    pub(crate) fn primary(self) -> usize {
        self.primary
    }

    /// Its number, from 0.
    pub fn index(self) -> usize {
        self.index
    }

    /// How many processes there are.
    pub fn count(self) -> usize {
        self.count
    }

    /// Whether it is the one that writes what there is once.
    pub fn is_primary(self) -> bool {
        self.index == self.primary
    }
}
