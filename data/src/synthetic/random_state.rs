//! NumPy's legacy generator, for datasets that are defined by its numbers.

use rand_mt::Mt;

/// The random numbers of `numpy.random.RandomState(seed)`: the generator MT19937 (Matsumoto and
/// Nishimura 1998) with the algorithms of NumPy's legacy distributions. It reproduces datasets
/// that were published with a seed.
///
/// For new code, use [`Generator`](crate::Generator).
///
/// ```
/// let mut r = ramie_data::synthetic::RandomState::new(42);
/// assert_eq!(r.next_u32(), 1608637542);
/// assert_eq!(r.randint(5, 10), 8);
/// ```
#[derive(Clone, Debug)]
pub struct RandomState {
    bits: Mt,
    /// The second number of a pair of normal numbers, for the next call.
    gauss: Option<f64>,
}

impl RandomState {
    /// Creates a generator from a seed.
    pub fn new(seed: u32) -> RandomState {
        RandomState {
            bits: Mt::new(seed),
            gauss: None,
        }
    }

    /// Returns 32 random bits.
    pub fn next_u32(&mut self) -> u32 {
        self.bits.next_u32()
    }

    /// Returns 64 random bits; the upper half is drawn first.
    pub fn next_u64(&mut self) -> u64 {
        u64::from(self.next_u32()) << 32 | u64::from(self.next_u32())
    }

    /// Returns a uniformly distributed number in `[0, 1)` (`random_sample`).
    pub fn random(&mut self) -> f64 {
        let (a, b) = (self.next_u32() >> 5, self.next_u32() >> 6);
        (f64::from(a) * 67_108_864.0 + f64::from(b)) / 9_007_199_254_740_992.0
    }

    /// Returns a uniformly distributed number from `low` to `high`.
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.random()
    }

    /// Returns an integer up to and including `greatest`: draws the minimum number of bits until
    /// the result is in range.
    fn below_or_at(&mut self, greatest: u64) -> u64 {
        if greatest == 0 {
            return 0;
        }
        let mask = u64::MAX >> greatest.leading_zeros();
        loop {
            let bits = if greatest <= u64::from(u32::MAX) {
                u64::from(self.next_u32())
            } else {
                self.next_u64()
            };
            if bits & mask <= greatest {
                return bits & mask;
            }
        }
    }

    /// Returns a uniformly distributed integer from `low` up to, but not including, `high`.
    ///
    /// # Panics
    /// Panics if `low` is not below `high`.
    #[track_caller]
    pub fn randint(&mut self, low: i64, high: i64) -> i64 {
        assert!(
            low < high,
            "RandomState::randint: there is no integer in {low}..{high}\n  help: pass a `low` below \
             `high`"
        );
        let range = high.wrapping_sub(low) as u64 - 1;
        low.wrapping_add(self.below_or_at(range) as i64)
    }

    /// Returns a normally distributed number of this mean and standard deviation (Marsaglia's
    /// polar method).
    pub fn normal(&mut self, mean: f64, deviation: f64) -> f64 {
        mean + deviation * self.standard_normal()
    }

    fn standard_normal(&mut self) -> f64 {
        if let Some(second) = self.gauss.take() {
            return second;
        }
        loop {
            let x = 2.0 * self.random() - 1.0;
            let y = 2.0 * self.random() - 1.0;
            let square = x * x + y * y;
            if square < 1.0 && square != 0.0 {
                let f = (-2.0 * square.ln() / square).sqrt();
                self.gauss = Some(f * x);
                return f * y;
            }
        }
    }

    /// Shuffles the elements.
    pub fn shuffle<T>(&mut self, elements: &mut [T]) {
        for i in (1..elements.len()).rev() {
            elements.swap(i, self.below_or_at(i as u64) as usize);
        }
    }

    /// Returns the numbers below `n` in random order.
    pub fn permutation(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        self.shuffle(&mut order);
        order
    }

    /// Draws `count` of the numbers below `n`, with replacement.
    ///
    /// # Panics
    /// Panics if `n` is 0 and `count` is not.
    #[track_caller]
    pub fn choice(&mut self, n: usize, count: usize) -> Vec<usize> {
        (0..count)
            .map(|_| self.randint(0, n as i64) as usize)
            .collect()
    }

    /// Draws `count` of the numbers below `n`, without replacement.
    ///
    /// # Panics
    /// Panics if `count` exceeds `n`.
    #[track_caller]
    pub fn choice_without_replacement(&mut self, n: usize, count: usize) -> Vec<usize> {
        assert!(
            count <= n,
            "RandomState::choice_without_replacement: cannot choose {count} of {n} numbers\n  help: \
             pass a `count` of at most `n`"
        );
        let mut order = self.permutation(n);
        order.truncate(count);
        order
    }

    /// Draws `count` indices, each with the probability at that index, with replacement.
    ///
    /// # Panics
    /// Panics if `probabilities` is empty.
    #[track_caller]
    pub fn choice_weighted(&mut self, probabilities: &[f64], count: usize) -> Vec<usize> {
        assert!(
            !probabilities.is_empty(),
            "RandomState::choice_weighted: there are no probabilities\n  help: pass one for each number"
        );
        let sums = probabilities.iter().scan(0.0, |sum, p| {
            *sum += p;
            Some(*sum)
        });
        let sums: Vec<f64> = sums.collect();
        let total = sums[sums.len() - 1];
        let mut draw = || {
            let at = self.random();
            sums.partition_point(|sum| sum / total <= at)
        };
        (0..count).map(|_| draw()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Recorded from NumPy 2.4.6.
    #[test]
    fn draws_are_those_of_numpy() {
        let mut r = RandomState::new(42);
        let first = [(); 3].map(|()| r.randint(0, 1 << 32));
        assert_eq!(first, [1_608_637_542, 3_421_126_067, 4_083_286_876]);
        assert_eq!([(); 6].map(|()| r.randint(5, 10)), [7, 9, 9, 6, 7, 7]);
        assert_eq!(
            [(); 3].map(|()| r.normal(1.0, 2.0)),
            [-3.021925779489256, 0.014393150073143679, 1.7851595008049186]
        );
        assert_eq!(
            [(); 2].map(|()| r.uniform(-1.0, 1.0)),
            [-0.8871768419457995, 0.4439975445336495]
        );
        assert_eq!(r.permutation(8), [2, 6, 4, 0, 3, 1, 7, 5]);
        let wide = [(); 2].map(|()| r.randint(0, 1 << 40));
        assert_eq!(wide, [247_066_947_605, 1_084_186_948_331]);
        assert_eq!(r.choice(10, 4), [8, 0, 9, 2]);
        assert_eq!(r.choice_without_replacement(10, 4), [1, 9, 8, 5]);
        assert_eq!(
            r.choice_weighted(&[0.1, 0.2, 0.3, 0.4], 6),
            [2, 0, 3, 2, 2, 0]
        );
        let mut last = RandomState::new(u32::MAX);
        let wide = [(); 2].map(|()| last.below_or_at(u64::MAX - 2));
        assert_eq!(
            wide,
            [1_800_993_050_274_709_794, 16_830_492_821_160_766_535]
        );
        assert_eq!(last.normal(0.0, 1.0), 0.6484086742306527);
    }
}
