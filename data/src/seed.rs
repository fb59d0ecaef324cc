//! Default seeds of pipelines.

/// The seeds from which the random stages of a pipeline derive theirs; see
/// [`SourceExt::seed`](crate::SourceExt::seed).
///
/// A custom stage passes on those of its inputs:
///
/// ```
/// use ramie_data::{DefaultSeed, IntoSource, Result, Source, SourceExt};
///
/// /// The elements in reverse order.
/// struct Reversed<S>(S);
/// impl<S: Source> Source for Reversed<S> {
///     type Item = S::Item;
///     fn len(&self) -> usize {
///         self.0.len()
///     }
///     fn get(&self, index: usize) -> Result<S::Item> {
///         self.0.get(self.0.len() - 1 - index)
///     }
///     fn default_seed(&self) -> DefaultSeed {
///         DefaultSeed::after([self.0.default_seed()])
///     }
/// }
/// let shuffled = Reversed((0..10).into_source().seed(7)).shuffle(None);
/// # assert_eq!(shuffled.len(), 10);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DefaultSeed {
    /// Each seed, and the number of stages after it; the nearest first.
    seeds: Vec<(u64, u32)>,
}

impl DefaultSeed {
    /// Returns the seed at the stage after the one that sets it.
    pub(crate) fn new(seed: u64) -> DefaultSeed {
        DefaultSeed {
            seeds: vec![(seed, 0)],
        }
    }

    /// Returns the seeds at a stage that follows inputs with these.
    pub fn after(inputs: impl IntoIterator<Item = DefaultSeed>) -> DefaultSeed {
        let seeds = inputs.into_iter().flat_map(|input| input.seeds);
        let mut seeds: Vec<_> = seeds.map(|(seed, stages)| (seed, stages + 1)).collect();
        seeds.sort_by_key(|(_, stages)| *stages);
        DefaultSeed { seeds }
    }

    /// Returns the seed of a stage after this input: its own, or a derived one.
    #[track_caller]
    pub(crate) fn of_stage(self, operation: &str, own: Option<u64>) -> u64 {
        match own.or_else(|| DefaultSeed::after([self]).derive()) {
            Some(seed) => seed,
            None => panic!(
                "{operation}: the seed is `None`, and the pipeline has no seed\n  help: pass a seed, or \
                 call `seed(0)` on the pipeline before `{operation}`"
            ),
        }
    }

    /// Derives the seed of this stage.
    pub(crate) fn derive(&self) -> Option<u64> {
        let numbers = self.seeds.iter().flat_map(|(s, n)| [*s, u64::from(*n)]);
        let words: Vec<u32> = numbers.flat_map(words).collect();
        (!words.is_empty()).then(|| u64::from(sequence(&words)))
    }
}

/// Returns the 32-bit words of a number, the lowest first, without leading zeros.
fn words(number: u64) -> impl Iterator<Item = u32> {
    let high = (number >> 32) as u32;
    [number as u32]
        .into_iter()
        .chain((high > 0).then_some(high))
}

/// Returns the first word of NumPy's `SeedSequence` (O'Neill's `seed_seq`), which spreads every
/// bit of the words over a pool and hashes the pool.
fn sequence(words: &[u32]) -> u32 {
    let hashed = |value: u32, key: &mut u32, factor: u32| {
        let value = value ^ *key;
        *key = key.wrapping_mul(factor);
        let value = value.wrapping_mul(*key);
        value ^ (value >> 16)
    };
    let mixed = |x: u32, y: u32| {
        let x = x.wrapping_mul(0xca01_f9dd);
        let x = x.wrapping_sub(y.wrapping_mul(0x4973_f715));
        x ^ (x >> 16)
    };
    let mut key = 0x43b0_d7e5;
    let mut hash = |value| hashed(value, &mut key, 0x931e_8875);
    let mut pool: [u32; 4] = std::array::from_fn(|i| hash(words.get(i).copied().unwrap_or(0)));
    for from in 0..4 {
        for to in (0..4).filter(|to| *to != from) {
            pool[to] = mixed(pool[to], hash(pool[from]));
        }
    }
    for word in words.iter().skip(4) {
        for part in &mut pool {
            *part = mixed(*part, hash(*word));
        }
    }
    hashed(pool[0], &mut 0x8b51_f9dd, 0x58f3_8ded)
}
