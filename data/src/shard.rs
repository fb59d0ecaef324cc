//! Division of data among processes.

use ramie_core::distributed;
use serde::{Deserialize, Serialize};

/// One of several equal parts of a dataset.
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
    /// Creates the part `index` of `count`.
    ///
    /// # Panics
    /// Panics if `index` is not below `count`.
    #[track_caller]
    pub fn new(index: usize, count: usize) -> Shard {
        assert!(
            index < count,
            "Shard::new: index {index} is out of range for {count} shards\n  help: indices start at 0"
        );
        Shard { index, count }
    }

    /// Creates a shard that is the whole dataset.
    #[doc(alias = "NoSharding")]
    pub fn whole() -> Shard {
        Shard { index: 0, count: 1 }
    }

    /// Creates the shard of this process among those of the program (Grain's
    /// `ShardByJaxProcess`).
    pub fn by_process() -> Shard {
        Shard {
            index: distributed::process_index(),
            count: distributed::process_count(),
        }
    }

    /// Returns the index of this shard.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Returns the number of shards.
    pub fn count(&self) -> usize {
        self.count
    }
}

/// Treatment of the elements at the end that do not fill a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum LastBatch {
    /// They form a smaller batch.
    #[default]
    Keep,
    /// They are dropped.
    Drop,
}
