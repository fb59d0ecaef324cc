//! Which part of the data is this process's.

use ramie_core::distributed;
use serde::{Deserialize, Serialize};

/// One of several equal parts of a data set.
///
/// ```
/// use ramie_data::Shard;
/// let shard = Shard::new(1, 4);
/// assert_eq!((shard.index(), shard.count()), (1, 4));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Shard {
    index: usize,
    count: usize,
}

impl Shard {
    /// The part `index` of `count`.
    ///
    /// # Panics
    /// If there is no such part.
    #[track_caller]
    pub fn new(index: usize, count: usize) -> Shard {
        assert!(
            index < count,
            "Shard::new: part {index} of {count}\n  help: parts count from 0"
        );
        Shard { index, count }
    }

    /// All of it.
    pub fn whole() -> Shard {
        Shard { index: 0, count: 1 }
    }

    /// The part of this process among those of the program (`ShardByJaxProcess`).
    pub fn by_process() -> Shard {
        Shard {
            index: distributed::process_index(),
            count: distributed::process_count(),
        }
    }

    /// Which part it is.
    pub fn index(&self) -> usize {
        self.index
    }

    /// How many parts there are.
    pub fn count(&self) -> usize {
        self.count
    }
}

/// What becomes of the elements at the end that do not fill a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum LastBatch {
    /// They are a smaller batch.
    #[default]
    Keep,
    /// They are left out.
    Drop,
}
