//! Random permutations of `n` numbers in almost no memory.

use crate::generator::{Generator, mix};
use std::sync::Arc;

/// A random permutation of the numbers below `n`, whose elements are computed one by one. It is a
/// pure function of length, seed and epoch, and takes a few kilobytes at most, whatever the
/// length.
///
/// The algorithm is a Feistel network over the fewest bits that can represent `n - 1`, applied
/// repeatedly until the result is below `n` (Black and Rogaway 2002); on average this takes fewer
/// than two applications. Networks over few bits favor some orders, so up to 2,048 numbers are
/// shuffled and stored in a table instead.
///
/// ```
/// use ramie_data::Permutation;
/// let order = Permutation::new(1_000_000_000_000, 42, 0);
/// assert!(order.get(7) < 1_000_000_000_000);
/// let mut small: Vec<usize> = Permutation::new(10, 42, 0).iter().collect();
/// small.sort();
/// assert_eq!(small, (0..10).collect::<Vec<_>>());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permutation {
    len: usize,
    network: Network,
    /// The whole permutation, if it is short.
    table: Option<Arc<[u16]>>,
}

/// The longest permutation that is stored in a table.
const FEW: usize = 2048;

/// A bijection of the integers of a given number of bits.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Network {
    low: u32,
    low_mask: u64,
    high_mask: u64,
    keys: [u64; ROUNDS],
}

const ROUNDS: usize = 8;

impl Permutation {
    /// Creates the permutation of `len` numbers for an epoch.
    pub fn new(len: usize, seed: u64, epoch: u64) -> Permutation {
        let mut generator = Generator::new(seed).fold_in(epoch).fold_in(len as u64);
        let table = (len <= FEW).then(|| {
            let mut table: Vec<u16> = (0..len as u16).collect();
            generator.shuffle(&mut table);
            table.into()
        });
        let bits = usize::BITS - len.saturating_sub(1).leading_zeros();
        let low = bits.div_ceil(2);
        Permutation {
            len,
            network: Network {
                low,
                low_mask: mask(low),
                high_mask: mask(bits - low),
                keys: std::array::from_fn(|_| generator.next_u64()),
            },
            table,
        }
    }

    /// Returns the length.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns `true` if the length is 0.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the number at an index.
    ///
    /// # Panics
    /// Panics if the index is out of range.
    #[track_caller]
    pub fn get(&self, place: usize) -> usize {
        assert!(
            place < self.len,
            "Permutation::get: index {place} is out of range for a length of {}\n  help: indices start \
             at 0",
            self.len
        );
        if let Some(table) = &self.table {
            return usize::from(table[place]);
        }
        let mut x = place as u64;
        loop {
            x = self.network.step(x);
            if x < self.len as u64 {
                return x as usize;
            }
        }
    }

    /// Returns an iterator over the permutation.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = usize> + '_ {
        (0..self.len).map(|place| self.get(place))
    }
}

impl Network {
    fn step(&self, x: u64) -> u64 {
        let (mut low, mut high) = (x & self.low_mask, x >> self.low);
        for keys in self.keys.chunks_exact(2) {
            low ^= mix(high ^ keys[0]) & self.low_mask;
            high ^= mix(low ^ keys[1]) & self.high_mask;
        }
        high << self.low | low
    }
}

fn mask(bits: u32) -> u64 {
    1u64.checked_shl(bits).map_or(u64::MAX, |n| n - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    #[test]
    fn all_orders_of_few_things_are_equally_likely() {
        // The 99.9999th percentiles of the chi-squared distribution with n! - 1 degrees of
        // freedom.
        for (n, orders, limit) in [(2, 2, 23.9), (3, 6, 36.0), (4, 24, 68.0), (5, 120, 203.0)] {
            let samples = 400 * orders;
            let mut counts: HashMap<Vec<usize>, f64> = HashMap::new();
            for seed in 0..samples {
                let order = Permutation::new(n, seed, 3).iter().collect();
                *counts.entry(order).or_default() += 1.0;
            }
            let missing = orders as f64 - counts.len() as f64;
            let chi: f64 = counts.values().map(|c| (c - 400.0).powi(2) / 400.0).sum();
            let chi = chi + missing * 400.0;
            assert!(chi < limit, "n = {n}: chi-squared {chi}");
        }
    }

    /// Tests both algorithms: numbers at an index and differences of adjacent numbers, in 20
    /// classes of equal size.
    #[test]
    fn every_place_gets_every_number_and_neighbours_are_strangers() {
        for n in [2040, 2060, 40_000] {
            let mut counts = vec![[0.0; 20]; 8];
            let samples = 6000;
            for seed in 0..samples {
                let order = Permutation::new(n, seed, 0);
                for (i, counts) in counts.iter_mut().enumerate() {
                    let place = (i % 4) * (n - 2) / 3;
                    let number = match i / 4 {
                        0 => order.get(place),
                        _ => (n + order.get(place + 1) - order.get(place)) % n,
                    };
                    counts[number * 20 / n] += 1.0;
                }
            }
            let expected = samples as f64 / 20.0;
            for (i, counts) in counts.iter().enumerate() {
                let chi = counts
                    .iter()
                    .map(|c: &f64| (c - expected).powi(2) / expected);
                // The 99.9999th percentile with 19 degrees of freedom.
                let chi: f64 = chi.sum();
                assert!(chi < 62.0, "{n} things, place {i}: chi-squared {chi}");
            }
        }
    }

    #[test]
    fn epochs_and_seeds_differ() {
        let order = |seed, epoch| {
            Permutation::new(100, seed, epoch)
                .iter()
                .collect::<Vec<_>>()
        };
        assert_eq!(order(1, 1), order(1, 1));
        assert_ne!(order(1, 1), order(1, 2));
        assert_ne!(order(1, 1), order(2, 1));
    }

    #[test]
    fn the_largest_length_works() {
        let order = Permutation::new(usize::MAX, 0, 0);
        assert_ne!(order.get(0), order.get(usize::MAX - 1));
    }

    proptest! {
        #[test]
        fn every_number_comes_once(n in (0usize..5000), seed: u64, epoch: u64) {
            let mut seen = vec![false; n];
            for i in Permutation::new(n, seed, epoch).iter() {
                prop_assert!(!std::mem::replace(&mut seen[i], true));
            }
        }
    }
}
