//! The rows of a batch that belong to this process.

use crate::Shard;
use ramie_core::{NamedSharding, PartitionSpec};

/// A selection of the rows of a batch, in tiles of equal size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rows {
    /// The number of tiles in a batch.
    pub tiles: usize,
    /// The tiles that this process needs, in increasing order.
    pub own: Vec<usize>,
}

impl Rows {
    pub(crate) fn all() -> Rows {
        Rows::of(Shard::whole())
    }

    pub(crate) fn of(shard: Shard) -> Rows {
        Rows {
            tiles: shard.count(),
            own: vec![shard.index()],
        }
    }

    /// Returns the rows that this process's devices need for arrays with this sharding.
    pub(crate) fn on_mesh(sharding: NamedSharding) -> Rows {
        let spec = PartitionSpec::new([sharding.spec().entry(0).clone()]);
        let rows = NamedSharding::new(sharding.mesh(), spec);
        let devices = sharding.mesh().devices();
        // As many rows as devices always divide evenly; tiles have one row or more.
        let length = devices.len();
        let mut own: Vec<usize> = Vec::new();
        let mut tile = length;
        for (k, device) in devices.iter().enumerate() {
            let range = rows.shard_index(k, &[length])[0].clone();
            tile = range.end - range.start;
            if device.is_addressable() && !own.contains(&(range.start / tile)) {
                own.push(range.start / tile);
            }
        }
        own.sort_unstable();
        Rows {
            tiles: length / tile,
            own,
        }
    }

    /// Returns the row indices of this process in a batch of `len` rows, a multiple of the number
    /// of tiles.
    pub(crate) fn places(&self, len: usize) -> impl Iterator<Item = usize> + '_ {
        let tile = len / self.tiles;
        self.own.iter().flat_map(move |t| t * tile..(t + 1) * tile)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_share_the_rows() {
        let places = |i| Rows::of(Shard::new(i, 3)).places(6).collect::<Vec<_>>();
        assert_eq!(
            [places(0), places(1), places(2)].concat(),
            [0, 1, 2, 3, 4, 5]
        );
        let two = Rows {
            tiles: 4,
            own: vec![0, 2],
        };
        assert_eq!(two.places(8).collect::<Vec<_>>(), [0, 1, 4, 5]);
    }
}
