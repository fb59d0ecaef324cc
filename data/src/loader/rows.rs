//! Which rows of a batch are this process's.

use crate::Shard;
use ramie_core::{NamedSharding, PartitionSpec};

/// Rows of a batch by tiles of equal size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rows {
    /// How many tiles a batch has.
    pub tiles: usize,
    /// Those that are needed here, first ones first.
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

    /// Those that devices of this process have of arrays that are sharded so.
    pub(crate) fn on_mesh(sharding: NamedSharding) -> Rows {
        let spec = PartitionSpec::new([sharding.spec().entry(0).clone()]);
        let rows = NamedSharding::new(sharding.mesh(), spec);
        let devices = sharding.mesh().devices();
        // As many rows as devices always come apart; tiles are larger or equal.
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

    /// The places of a batch of `len` rows, a multiple of the tiles.
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
