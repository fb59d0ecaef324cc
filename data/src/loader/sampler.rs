//! Samplers, which determine the order of the elements.

use crate::{Generator, LastBatch, Permutation, Shard};
use std::sync::Arc;

/// The order of the elements of an epoch (`torch.utils.data.Sampler`).
pub trait Sampler: Send + Sync {
    /// Returns the indices of an epoch, as a pure function of its number.
    fn order(&self, epoch: usize) -> Order;

    /// Returns whether the sampler chooses some elements by their index, which must then refer to
    /// the same element in every epoch. `false` for a sampler that treats all elements alike.
    /// Defaults to `true`.
    fn selects_elements(&self) -> bool {
        true
    }
}

/// The indices of an epoch, in order.
#[derive(Clone, Debug)]
pub struct Order(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Sequential(usize),
    Permuted(Permutation),
    List(Arc<[usize]>),
    Picked(Arc<[usize]>, Permutation),
    /// The first `count` indices of permutations of equal length, one after the other.
    Passes {
        passes: Arc<[Permutation]>,
        count: usize,
    },
    Drawn {
        len: usize,
        count: usize,
        seed: Generator,
    },
    /// Every `count`-th index of an order, which wraps around at the end.
    Part {
        of: Arc<Order>,
        shard: Shard,
        len: usize,
    },
}

impl Order {
    /// Creates the order `0`, `1`, up to `len - 1`.
    pub fn sequential(len: usize) -> Order {
        Order(Kind::Sequential(len))
    }

    /// Creates an order from a list of indices.
    pub fn list(indices: impl Into<Arc<[usize]>>) -> Order {
        Order(Kind::List(indices.into()))
    }

    /// Creates an order from a permutation.
    pub fn permuted(permutation: Permutation) -> Order {
        Order(Kind::Permuted(permutation))
    }

    /// Returns the indices of one process: every `count`-th index. All processes get the same
    /// number. If the indices do not divide evenly, the last shards repeat the first indices
    /// (`Keep`), or the remainder is dropped (`Drop`).
    #[must_use]
    pub fn part(self, shard: Shard, last: LastBatch) -> Order {
        let len = match last {
            LastBatch::Keep => self.len().div_ceil(shard.count()),
            LastBatch::Drop => self.len() / shard.count(),
        };
        Order(Kind::Part {
            of: Arc::new(self),
            shard,
            len,
        })
    }

    /// Returns the number of indices.
    pub fn len(&self) -> usize {
        match &self.0 {
            Kind::Sequential(len) => *len,
            Kind::Permuted(permutation) | Kind::Picked(_, permutation) => permutation.len(),
            Kind::List(indices) => indices.len(),
            Kind::Passes { count, .. } | Kind::Drawn { count, .. } => *count,
            Kind::Part { len, .. } => *len,
        }
    }

    /// Returns `true` if there are no indices.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the index at a position.
    ///
    /// # Panics
    /// Panics if the position is out of range.
    #[track_caller]
    pub fn get(&self, place: usize) -> usize {
        assert!(
            place < self.len(),
            "Order::get: position {place} is out of range for a length of {}\n  help: positions start \
             at 0",
            self.len()
        );
        match &self.0 {
            Kind::Sequential(_) => place,
            Kind::Permuted(permutation) => permutation.get(place),
            Kind::List(indices) => indices[place],
            Kind::Picked(indices, permutation) => indices[permutation.get(place)],
            Kind::Passes { passes, .. } => {
                let len = passes[0].len();
                passes[place / len].get(place % len)
            }
            Kind::Drawn { len, seed, .. } => seed.fold_in(place as u64).below(*len),
            Kind::Part { of, shard, .. } => {
                of.get((shard.index() + place * shard.count()) % of.len())
            }
        }
    }

    /// Returns an iterator over the indices.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = usize> + '_ {
        (0..self.len()).map(|place| self.get(place))
    }
}

/// A sampler that returns the elements in order. The field is their number.
#[derive(Clone, Debug)]
pub struct SequentialSampler(pub usize);

impl Sampler for SequentialSampler {
    fn order(&self, _: usize) -> Order {
        Order::sequential(self.0)
    }
    fn selects_elements(&self) -> bool {
        false
    }
}

/// A sampler that returns every element once in random order, or draws with replacement.
///
/// ```
/// use ramie_data::{RandomSampler, Sampler};
/// let every = RandomSampler::new(10, 42);
/// assert_eq!(every.order(0).iter().sum::<usize>(), 45);
/// let drawn = RandomSampler::with_replacement(10, 1000, 42);
/// assert_eq!(drawn.order(0).len(), 1000);
/// ```
#[doc(alias = "IndexSampler")]
#[derive(Clone, Debug)]
pub struct RandomSampler {
    len: usize,
    replacement: bool,
    num_samples: Option<usize>,
    seed: u64,
}

impl RandomSampler {
    /// Creates a sampler that returns each of `len` elements once, in random order.
    pub fn new(len: usize, seed: u64) -> RandomSampler {
        RandomSampler {
            len,
            replacement: false,
            num_samples: None,
            seed,
        }
    }

    /// Sets the number of elements of an epoch. Fewer than all are the first of the random order;
    /// after all, another random order of all elements follows. With replacement, this is the
    /// number of draws.
    ///
    /// ```
    /// use ramie_data::{RandomSampler, Sampler};
    /// let some = RandomSampler::new(10, 42).num_samples(4);
    /// let all = RandomSampler::new(10, 42);
    /// assert!(some.order(0).iter().eq(all.order(0).iter().take(4)));
    /// ```
    ///
    /// # Panics
    /// Panics if there are no elements and the number is not 0.
    #[must_use]
    #[track_caller]
    pub fn num_samples(mut self, num_samples: usize) -> RandomSampler {
        assert!(
            self.len > 0 || num_samples == 0,
            "RandomSampler: cannot return {num_samples} samples of 0 elements\n  help: pass a `len` \
             of at least 1"
        );
        self.num_samples = Some(num_samples);
        self
    }

    /// Creates a sampler that draws `draws` of `len` elements independently, with replacement.
    ///
    /// # Panics
    /// Panics if `len` is 0 and `draws` is not.
    #[track_caller]
    pub fn with_replacement(len: usize, draws: usize, seed: u64) -> RandomSampler {
        assert!(
            len > 0 || draws == 0,
            "RandomSampler: cannot make {draws} draws from 0 elements\n  help: pass a `len` of at \
             least 1"
        );
        RandomSampler {
            len,
            replacement: true,
            num_samples: Some(draws),
            seed,
        }
    }
}

impl Sampler for RandomSampler {
    fn order(&self, epoch: usize) -> Order {
        let Some(count) = self.num_samples else {
            return Order::permuted(Permutation::new(self.len, self.seed, epoch));
        };
        if self.replacement {
            return Order(Kind::Drawn {
                len: self.len,
                count,
                seed: Generator::new(self.seed).fold_in(epoch as u64),
            });
        }
        let seed = |pass: usize| match pass {
            0 => self.seed,
            pass => Generator::new(self.seed).fold_in(pass as u64).next_u64(),
        };
        let passes = 0..count.div_ceil(self.len.max(1));
        let passes = passes.map(|pass| Permutation::new(self.len, seed(pass), epoch));
        Order(Kind::Passes {
            passes: passes.collect(),
            count,
        })
    }
    fn selects_elements(&self) -> bool {
        false
    }
}

/// A sampler that returns some of the elements once each, in random order.
#[derive(Clone, Debug)]
pub struct SubsetRandomSampler {
    indices: Arc<[usize]>,
    seed: u64,
}

impl SubsetRandomSampler {
    /// Creates a sampler of these elements.
    pub fn new(indices: impl Into<Arc<[usize]>>, seed: u64) -> SubsetRandomSampler {
        SubsetRandomSampler {
            indices: indices.into(),
            seed,
        }
    }
}

impl Sampler for SubsetRandomSampler {
    fn order(&self, epoch: usize) -> Order {
        let permutation = Permutation::new(self.indices.len(), self.seed, epoch);
        Order(Kind::Picked(self.indices.clone(), permutation))
    }
}

/// A sampler that draws elements with probabilities proportional to weights.
///
/// ```
/// use ramie_data::{Sampler, WeightedRandomSampler};
/// // Nine of one class, one of the other: each is drawn half of the time.
/// let weights = (0..10).map(|i| if i == 9 { 9.0 } else { 1.0 });
/// let order = WeightedRandomSampler::new(weights, 1000, 0).order(0);
/// let rare = order.iter().filter(|i| *i == 9).count();
/// assert!((430..570).contains(&rare));
/// ```
#[derive(Clone, Debug)]
pub struct WeightedRandomSampler {
    weights: Arc<[f64]>,
    /// Cumulative sums of the weights.
    sums: Arc<[f64]>,
    count: usize,
    replacement: bool,
    seed: u64,
}

impl WeightedRandomSampler {
    /// Creates a sampler that makes `count` independent draws, with replacement.
    ///
    /// # Panics
    /// Panics if a weight is negative or not finite, or if all weights are 0.
    #[track_caller]
    pub fn new(weights: impl IntoIterator<Item = f64>, count: usize, seed: u64) -> Self {
        let weights: Arc<[f64]> = weights.into_iter().collect();
        if let Some(i) = weights.iter().position(|w| !(*w >= 0.0 && w.is_finite())) {
            panic!(
                "WeightedRandomSampler: weight {i} is {}\n  help: pass finite weights that are not \
                 negative",
                weights[i]
            );
        }
        let sum = |sum: &mut f64, w: &f64| {
            *sum += w;
            Some(*sum)
        };
        let sums: Arc<[f64]> = weights.iter().scan(0.0, sum).collect();
        assert!(
            sums.last().is_some_and(|total| *total > 0.0),
            "WeightedRandomSampler: all of the {} weights are 0\n  help: pass at least one positive \
             weight",
            weights.len()
        );
        WeightedRandomSampler {
            weights,
            sums,
            count,
            replacement: true,
            seed,
        }
    }

    /// Draws without replacement: no element is drawn twice.
    ///
    /// # Panics
    /// Panics if there are fewer elements of positive weight than draws.
    #[must_use]
    #[track_caller]
    pub fn without_replacement(mut self) -> Self {
        let positive = self.weights.iter().filter(|w| **w > 0.0).count();
        assert!(
            self.count <= positive,
            "WeightedRandomSampler: cannot make {} draws without replacement from {positive} elements \
             of positive weight\n  help: pass a smaller `count`",
            self.count
        );
        self.replacement = false;
        self
    }
}

impl Sampler for WeightedRandomSampler {
    fn order(&self, epoch: usize) -> Order {
        let mut generator = Generator::new(self.seed).fold_in(epoch as u64);
        if self.replacement {
            let total = self.sums[self.sums.len() - 1];
            let draw = |_| {
                let at = generator.uniform() * total;
                // Rounding may give exactly `total`; then the last element of positive weight is
                // drawn.
                let i = self.sums.partition_point(|sum| *sum <= at);
                i.min(self.sums.partition_point(|sum| *sum < total))
            };
            return Order::list((0..self.count).map(draw).collect::<Vec<_>>());
        }
        // Picks the elements whose exponential clocks ring first (Efraimidis and Spirakis 2006).
        let mut rings: Vec<(f64, usize)> = Vec::with_capacity(self.weights.len());
        for (i, w) in self.weights.iter().enumerate() {
            let ring = -(1.0 - generator.uniform()).ln() / w;
            if *w > 0.0 {
                rings.push((ring, i));
            }
        }
        rings.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        Order::list(rings[..self.count].iter().map(|r| r.1).collect::<Vec<_>>())
    }
}

/// A function from the epoch to a list of indices is a sampler.
impl<F: Fn(usize) -> Vec<usize> + Send + Sync> Sampler for F {
    fn order(&self, epoch: usize) -> Order {
        Order::list(self(epoch))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_samplers_give_what_they_say() {
        let order = |s: &dyn Sampler, epoch| s.order(epoch).iter().collect::<Vec<_>>();
        let subset = SubsetRandomSampler::new([3, 5, 9], 1);
        let mut one = order(&subset, 0);
        one.sort_unstable();
        assert_eq!(one, [3, 5, 9]);
        let drawn = RandomSampler::with_replacement(4, 40, 0);
        assert!((0..4).all(|i| order(&drawn, 0).contains(&i)));
        assert_ne!(order(&drawn, 0), order(&drawn, 1));
        assert_eq!(order(&|epoch| vec![epoch; 2], 7), [7, 7]);
    }

    #[test]
    fn draws_without_replacement_follow_the_weights() {
        let sampler = |seed| WeightedRandomSampler::new([1.0, 0.0, 2.0, 5.0], 3, seed);
        let mut first = [0; 4];
        for seed in 0..4000 {
            let order = sampler(seed).without_replacement().order(0);
            let mut indices: Vec<usize> = order.iter().collect();
            first[indices[0]] += 1;
            indices.sort_unstable();
            assert_eq!(indices, [0, 2, 3]);
        }
        for (i, expected) in [(0, 500.0), (2, 1000.0), (3, 2500.0)] {
            let off = f64::from(first[i]) - expected;
            assert!(off.abs() < 5.0 * f64::sqrt(expected), "{first:?}");
        }
    }

    #[test]
    fn weight_zero_is_never_drawn() {
        let order = WeightedRandomSampler::new([0.0, 1.0, 0.0], 500, 3).order(0);
        assert!(order.iter().all(|i| i == 1));
    }
}
