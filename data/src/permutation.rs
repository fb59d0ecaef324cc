//! Random permutations of `n` numbers in almost no memory.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// A random permutation of the numbers below `n`, whose elements are computed one by one. It is a
/// pure function of length, seed and epoch, and takes at most 128 KiB, whatever the length.
///
/// The order is that of Grain's `shuffle` and `IndexSampler` for the same seed and epoch
/// (`index_shuffle`): four rounds of the Simon cipher (Beaulieu and others 2013) over the fewest
/// bits that can represent `n - 1`, an even number and at least 16, applied repeatedly until the
/// result is below `n` (Black and Rogaway 2002). The round keys are computed from the sum of seed
/// and epoch, modulo 2<sup>32</sup>. Thus epoch 1 of seed 0 has the order of epoch 0 of seed 1.
///
/// Grain repeats and omits some numbers if `n - 1` is a power of 4 from 65,536 on. For these lengths
/// the order differs. Seeds of more than 32 bits, which Grain rejects, are accepted.
///
/// ```
/// use ramie_data::Permutation;
/// let order = Permutation::new(10, 42, 0);
/// assert_eq!(order.iter().collect::<Vec<_>>(), [8, 6, 7, 9, 0, 5, 1, 2, 4, 3]);
/// let long = Permutation::new(1_000_000_000_000, 42, 0);
/// assert!(long.get(7) < 1_000_000_000_000);
/// ```
#[doc(alias = "index_shuffle")]
#[derive(Clone)]
pub struct Permutation {
    len: usize,
    cipher: Cipher,
    short: Arc<Short>,
}

/// The numbers of a short permutation, for which the cipher is applied many times for each number.
#[derive(Default)]
struct Short {
    /// Count of the numbers that were computed one by one.
    computed: AtomicUsize,
    /// All numbers, when enough of them are in use: together they take a fifth of the time.
    table: OnceLock<Box<[u16]>>,
}

/// A bijection of the integers of a given number of bits.
#[derive(Clone, PartialEq, Eq)]
struct Cipher {
    /// Half of the number of bits.
    half: u32,
    keys: [u32; 4],
}

/// The least number of bits. Permutations of so few numbers are short.
const LEAST: u32 = 16;

impl Permutation {
    /// Creates the permutation of `len` numbers for an epoch.
    pub fn new(len: usize, seed: u64, epoch: usize) -> Permutation {
        let seed = match u32::try_from(seed) {
            Ok(seed) => u64::from(seed.wrapping_add(epoch as u32)),
            Err(_) => seed.wrapping_add(epoch as u64),
        };
        let bits = usize::BITS - len.saturating_sub(1).leading_zeros();
        let cipher = Cipher {
            half: bits.max(LEAST).div_ceil(2),
            keys: keys(seed),
        };
        Permutation {
            len,
            cipher,
            short: Arc::default(),
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
        if let Some(table) = self.table() {
            return usize::from(table[place]);
        }
        // Cycle walking: the cipher permutes all numbers of its width, so following a cycle from
        // below `len` returns below `len`, and different starts end at different numbers.
        let mut x = place as u64;
        loop {
            x = self.cipher.step(x);
            if x < self.len as u64 {
                return x as usize;
            }
        }
    }

    /// Returns the table, and computes it first if enough numbers are in use.
    fn table(&self) -> Option<&[u16]> {
        let Short { computed, table } = &*self.short;
        if table.get().is_none() {
            // The count is only a heuristic, so it needs no order with other memory.
            let short = 2 * self.cipher.half == LEAST;
            if !short || computed.fetch_add(1, Ordering::Relaxed) < self.len / 8 {
                return None;
            }
        }
        Some(table.get_or_init(|| self.cipher.table(self.len).into()))
    }

    /// Returns an iterator over the permutation.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = usize> + ExactSizeIterator + '_ {
        (0..self.len).map(|place| self.get(place))
    }
}

impl PartialEq for Permutation {
    fn eq(&self, other: &Permutation) -> bool {
        (self.len, &self.cipher) == (other.len, &other.cipher)
    }
}

impl Eq for Permutation {}

impl fmt::Debug for Permutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Permutation");
        shown.field("len", &self.len);
        shown.field("keys", &self.cipher.keys).finish()
    }
}

impl Cipher {
    fn step(&self, x: u64) -> u64 {
        let half = self.half;
        let mask = (1 << half) - 1;
        let turned = |x: u64, n: u32| (x << n | x >> (half - n)) & mask;
        let f = |x| (turned(x, 1) & turned(x, 8)) ^ turned(x, 2);
        // A Feistel network: each line can be undone, whatever `f` is, so a step is a bijection.
        let keys = self.keys.map(|key| u64::from(key) & mask);
        let (mut high, mut low) = (x >> half, x & mask);
        high ^= f(low) ^ keys[0];
        low ^= f(high) ^ keys[1];
        high ^= f(low) ^ keys[2];
        low ^= f(high) ^ keys[3];
        high << half | low
    }

    /// Computes the permutation of at most 2<sup>16</sup> numbers. Every number goes on to the next
    /// application of the cipher until it is below `len`; the loop over all of them is vectorized.
    fn table(&self, len: usize) -> Vec<u16> {
        let mut table = vec![0; len];
        if len < 2 {
            return table;
        }
        let keys = self.keys.map(|key| (key & 0xff) as u16);
        // `f` of `step` for halves of 8 bits, where the rotation by 8 changes nothing.
        let f = |x: u16| (x << 1 | x >> 7) & x ^ (x << 2 | x >> 6) & 0xff;
        let step = |x: u16| {
            let (mut high, mut low) = (x >> 8, x & 0xff);
            high ^= f(low) ^ keys[0];
            low ^= f(high) ^ keys[1];
            high ^= f(low) ^ keys[2];
            low ^= f(high) ^ keys[3];
            high << 8 | low
        };
        let mut places: Vec<u16> = (0..=(len - 1) as u16).collect();
        let mut numbers = places.clone();
        while !places.is_empty() {
            for number in &mut numbers {
                *number = step(*number);
            }
            let mut left = 0;
            for i in 0..places.len() {
                let (place, number) = (places[i], numbers[i]);
                // Numbers that are not below `len` move to the front and are overwritten in a
                // later round. Storing them anyway saves a branch.
                table[usize::from(place)] = number;
                (places[left], numbers[left]) = (place, number);
                left += usize::from(usize::from(number) >= len);
            }
            places.truncate(left);
            numbers.truncate(left);
        }
        table
    }
}

/// Returns the round keys: the numbers that C++'s `std::seed_seq` generates from the words of the
/// seed.
fn keys(seed: u64) -> [u32; 4] {
    let words = [seed as u32, (seed >> 32) as u32];
    let count = 1 + u32::from(words[1] > 0);
    let spread = |x: u32| x ^ (x >> 27);
    let mut keys = [0x8b8b_8b8b_u32; 4];
    for k in 0..4 {
        // The standard's `p`, `q` and `k - 1` for four words ([rand.util.seedseq]).
        let [next, second, last] = [1, 2, 3].map(|n| (k + n) % 4);
        let x = spread(keys[k] ^ keys[next] ^ keys[last]).wrapping_mul(1_664_525);
        let word = match k {
            0 => count,
            k => (k as u32).wrapping_add(words.get(k - 1).copied().unwrap_or(0)),
        };
        let y = x.wrapping_add(word);
        keys[next] = keys[next].wrapping_add(x);
        keys[second] = keys[second].wrapping_add(y);
        keys[k] = y;
    }
    for k in 0..4 {
        let [next, second, last] = [1, 2, 3].map(|n| (k + n) % 4);
        let sum = keys[k].wrapping_add(keys[next]).wrapping_add(keys[last]);
        let x = spread(sum).wrapping_mul(1_566_083_941);
        let y = x.wrapping_sub(k as u32);
        keys[next] ^= x;
        keys[second] ^= y;
        keys[k] = y;
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Numbers at an index and differences of adjacent numbers, in 20 classes of equal size, for
    /// lengths with and without a table.
    #[test]
    fn every_place_gets_every_number_and_neighbours_are_strangers() {
        for n in [2040, 70_000] {
            let mut counts = vec![[0.0; 20]; 8];
            let samples = 1000;
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
        assert_ne!(order(1, 1), order(3, 1));
        assert_ne!(order(1, 1), order(1 + (1 << 32), 1));
        assert_eq!(order(u64::from(u32::MAX), 1), order(0, 0));
    }

    #[test]
    fn the_largest_length_works() {
        let order = Permutation::new(usize::MAX, 0, 0);
        assert_ne!(order.get(0), order.get(usize::MAX - 1));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]
        #[test]
        fn every_number_comes_once(
            n in prop_oneof![0usize..5000, 65_530usize..65_545], seed: u64, epoch: usize,
        ) {
            let mut seen = vec![false; n];
            for i in Permutation::new(n, seed, epoch).iter() {
                prop_assert!(!std::mem::replace(&mut seen[i], true));
            }
        }
    }
}
