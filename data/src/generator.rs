//! Random numbers on the host, each a pure function of a key.

/// A generator of random numbers for the host's side: shuffling, cropping,
/// noise. Its numbers are a pure function of the keys that it was made from,
/// which is what makes an epoch come out the same again. Not for secrets; for
/// numbers on devices there is [`ramie_core::random`].
///
/// It is SplitMix64 (Steele, Lea and Flood 2014), a counter behind a mixing
/// function.
///
/// ```
/// use ramie_data::Generator;
/// let mut a = Generator::new(7).fold_in(3);
/// let mut b = Generator::new(7).fold_in(3);
/// assert_eq!(a.next_u64(), b.next_u64());
/// assert!(a.below(10) < 10);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generator {
    counter: u64,
}

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// A bijection of 64 bits after which neighbours have nothing in common.
pub(crate) fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Generator {
    /// The generator of a seed.
    pub fn new(seed: u64) -> Generator {
        Generator {
            counter: mix(seed ^ GOLDEN),
        }
    }

    /// A generator of its own for a number: an epoch, an element, a worker.
    #[must_use]
    pub fn fold_in(&self, number: u64) -> Generator {
        Generator {
            counter: mix(self.counter ^ mix(number.wrapping_add(GOLDEN))),
        }
    }

    /// 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.counter = self.counter.wrapping_add(GOLDEN);
        mix(self.counter)
    }

    /// A whole number below `n`, all equally likely (Lemire 2019).
    ///
    /// # Panics
    /// If `n` is 0.
    #[track_caller]
    pub fn below(&mut self, n: usize) -> usize {
        assert!(
            n > 0,
            "Generator::below: there is no number below 0\n  help: give at least 1"
        );
        let n = n as u64;
        loop {
            let wide = u128::from(self.next_u64()) * u128::from(n);
            let low = wide as u64;
            // The few values of `low` that would make some numbers likelier.
            if low >= n || low >= n.wrapping_neg() % n {
                return (wide >> 64) as usize;
            }
        }
    }

    /// A number from 0 up to, not including, 1.
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// A normal number of mean 0 and variance 1 (Box and Muller 1958).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// `true` with this probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.uniform() < probability
    }

    /// Puts the elements in a random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, elements: &mut [T]) {
        for i in (1..elements.len()).rev() {
            elements.swap(i, self.below(i + 1));
        }
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
        // Five standard deviations of a count are 456.
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
