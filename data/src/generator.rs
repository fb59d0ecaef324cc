//! Random numbers on the host, as pure functions of a key.

use rand_core::{SeedableRng, TryRng};
use std::convert::Infallible;

/// A generator of random numbers on the host, for shuffling, cropping and noise. Its numbers are
/// a pure function of the seed and the folded-in numbers, so that an epoch can be reproduced. It
/// is not cryptographically secure. For random numbers on devices, use [`ramie_core::random`].
///
/// The algorithm is SplitMix64 (Steele, Lea and Flood 2014): a counter followed by a mixing
/// function.
///
/// ```
/// use ramie_data::Generator;
/// let mut a = Generator::new(7).fold_in(3);
/// let mut b = Generator::new(7).fold_in(3);
/// assert_eq!(a.next_u64(), b.next_u64());
/// assert!(a.below(10) < 10);
/// ```
///
/// It implements the traits of [`rand_core`], so the crates `rand` and `rand_distr` draw from it:
///
/// ```
/// use rand::RngExt;
/// use rand_distr::{Beta, Distribution};
/// use ramie_data::Generator;
/// let mut generator = Generator::new(7);
/// let angle = generator.random_range(-15.0..=15.0); // degrees
/// assert!((-15.0..=15.0).contains(&angle));
/// // The share of the first image in a mix of two (mixup).
/// let share = Beta::new(0.2, 0.2)?.sample(&mut generator);
/// assert!((0.0..=1.0).contains(&share));
/// # Ok::<(), rand_distr::BetaError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generator {
    counter: u64,
}

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// A bijection of 64-bit integers that maps neighbors to unrelated values.
pub(crate) fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Generator {
    /// Creates a generator from a seed.
    pub fn new(seed: u64) -> Generator {
        Generator {
            counter: mix(seed ^ GOLDEN),
        }
    }

    /// Returns an independent generator for a number, such as an epoch, an element or a worker.
    #[must_use]
    pub fn fold_in(&self, number: u64) -> Generator {
        Generator {
            counter: mix(self.counter ^ mix(number.wrapping_add(GOLDEN))),
        }
    }

    /// Returns 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.counter = self.counter.wrapping_add(GOLDEN);
        mix(self.counter)
    }

    /// Returns an integer below `n`, all equally likely (Lemire 2019).
    ///
    /// # Panics
    /// Panics if `n` is 0.
    #[track_caller]
    pub fn below(&mut self, n: usize) -> usize {
        assert!(
            n > 0,
            "Generator::below: `n` is 0, and no number is below 0\n  help: pass at least 1"
        );
        let n = n as u64;
        loop {
            let wide = u128::from(self.next_u64()) * u128::from(n);
            let low = wide as u64;
            // Rejects the few values of `low` that would make some numbers likelier.
            if low >= n || low >= n.wrapping_neg() % n {
                return (wide >> 64) as usize;
            }
        }
    }

    /// Returns a uniformly distributed number in `[0, 1)`.
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Returns a normally distributed number of mean 0 and variance 1 (Box and Muller 1958).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// Returns `true` with this probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.uniform() < probability
    }

    /// Shuffles the elements (Fisher and Yates).
    pub fn shuffle<T>(&mut self, elements: &mut [T]) {
        for i in (1..elements.len()).rev() {
            elements.swap(i, self.below(i + 1));
        }
    }
}

/// The 64-bit numbers are those of [`next_u64`](Generator::next_u64); a 32-bit number is the upper
/// half of one.
impl TryRng for Generator {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok((self.next_u64() >> 32) as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.next_u64())
    }

    fn try_fill_bytes(&mut self, to: &mut [u8]) -> Result<(), Infallible> {
        for chunk in to.chunks_mut(8) {
            chunk.copy_from_slice(&self.next_u64().to_le_bytes()[..chunk.len()]);
        }
        Ok(())
    }
}

/// The generator of a seed is that of [`new`](Generator::new).
impl SeedableRng for Generator {
    type Seed = [u8; 8];

    fn from_seed(seed: [u8; 8]) -> Generator {
        Generator::new(u64::from_le_bytes(seed))
    }

    fn seed_from_u64(seed: u64) -> Generator {
        Generator::new(seed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_spread_evenly() {
        let mut g = Generator::new(0);
        let n = 60_000;
        let mut counts = [0; 6];
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..n {
            counts[g.below(6)] += 1;
            let x = g.normal();
            sum += x;
            squares += x * x;
        }
        // 456 is five standard deviations of a count.
        assert!(
            counts.iter().all(|c: &i32| (c - 10_000).abs() < 456),
            "{counts:?}"
        );
        let n = f64::from(n);
        assert!((sum / n).abs() < 0.02);
        assert!((squares / n - 1.0).abs() < 0.03);
    }

    #[test]
    fn keys_give_generators_of_their_own() {
        let g = Generator::new(1);
        let mut first: Vec<u64> = (0..1000).map(|i| g.fold_in(i).next_u64()).collect();
        first.sort_unstable();
        first.dedup();
        assert_eq!(first.len(), 1000);
        assert_ne!(
            g.fold_in(1).fold_in(2).next_u64(),
            g.fold_in(2).fold_in(1).next_u64()
        );
    }
}
