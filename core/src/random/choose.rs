//! Permutations, choices among elements, and categorical draws.

use super::continuous::gumbel_noise;
use super::discrete::integers;
use super::uniform::{between, random_bits};
use super::{GumbelMode, Key, draw};
use crate::ops::index_dtype;
use crate::prim::sort::lax_sort;
use crate::{Array, DType, Dims, where_};

/// What is chosen from or permuted: the elements of an array along an axis, or
/// the numbers below a count, as `i32`.
#[derive(Clone)]
pub struct Population(Members);

#[derive(Clone)]
enum Members {
    Below(usize),
    Of(Array),
}

impl From<usize> for Population {
    fn from(n: usize) -> Population {
        Population(Members::Below(n))
    }
}
impl From<i32> for Population {
    /// # Panics
    /// If the count is negative.
    #[track_caller]
    fn from(n: i32) -> Population {
        match usize::try_from(n) {
            Ok(n) => Population::from(n),
            Err(_) => panic!(
                "random: {n} is not a number of elements to choose from\n  help: pass a count of 0 \
                 or more, or an array"
            ),
        }
    }
}
impl From<&Array> for Population {
    fn from(array: &Array) -> Population {
        Population(Members::Of(array.clone()))
    }
}
impl From<Array> for Population {
    fn from(array: Array) -> Population {
        Population(Members::Of(array))
    }
}

impl Population {
    /// The members as an array, and the axis along which they lie.
    #[track_caller]
    fn along(&self, operation: &str, axis: isize) -> (Array, usize) {
        match &self.0 {
            Members::Below(n) => (Array::arange(*n), 0),
            Members::Of(array) => (array.clone(), array.axis(operation, axis)),
        }
    }
}

/// A random order of the numbers below a count, or of an array's elements along
/// its first axis (`jax.random.permutation`).
///
/// ```no_run
/// use ramie_core::random;
/// let order = random::permutation(&random::key(0), 10);
/// assert_eq!(order.shape(), [10]);
/// ```
///
/// # Panics
/// If an array is 0-d, or `key` is an array of keys.
#[track_caller]
pub fn permutation(key: &Key, x: impl Into<Population>) -> Array {
    permute(key, &x.into(), 0, false)
}

/// A random order of an array's elements along an axis. With `independent`
/// each line along the axis has an order of its own, else all have one.
///
/// # Panics
/// If the axis is out of range, or `key` is an array of keys.
#[track_caller]
pub fn permutation_along(key: &Key, x: &Array, axis: isize, independent: bool) -> Array {
    permute(key, &Population::from(x), axis, independent)
}

#[track_caller]
fn permute(key: &Key, x: &Population, axis: isize, independent: bool) -> Array {
    let (x, axis) = x.along("permutation", axis);
    draw("_permutation", key, (axis, independent), &[&x], |key, x| {
        ordered(key, &x[0], axis, independent)
    })
}

/// A permutation within a sampler's program.
fn ordered(key: &Key, x: &Array, axis: usize, independent: bool) -> Array {
    if independent || x.ndim() == 1 {
        return shuffle(key, x, axis);
    }
    let order = shuffle(key, &Array::arange(x.shape()[axis]), 0);
    x.take(&order, axis as isize)
}

/// Sorts by random words until all elements are told apart with near certainty:
/// so many rounds that the words of an element have three times the bits that
/// number the elements.
fn shuffle(key: &Key, x: &Array, axis: usize) -> Array {
    let size = x.size().max(1) as f64;
    let rounds = (3.0 * size.ln() / f64::from(u32::MAX).ln()).ceil() as usize;
    let mut key = key.clone();
    let mut x = x.clone();
    for _ in 0..rounds {
        let [next, sub] = key.split_into();
        key = next;
        let words = random_bits(&sub, x.shape(), DType::U32);
        x = lax_sort(&[words, x], axis as isize, 1).swap_remove(1);
    }
    x
}

/// A choice among elements, with its options (`jax.random.choice`).
///
/// ```no_run
/// use ramie_core::{Array, random::{self, Choice}};
/// let p = Array::from([0.1f32, 0.2, 0.7]);
/// let drawn = Choice::of(3).p(&p).without_replacement().draw(&random::key(0), &[2]);
/// assert_eq!(drawn.shape(), [2]);
/// ```
#[derive(Clone)]
pub struct Choice {
    population: Population,
    replace: bool,
    p: Option<Array>,
    axis: isize,
    mode: GumbelMode,
}

impl Choice {
    /// A choice with replacement, of equal probabilities, along the first axis.
    #[track_caller]
    pub fn of(a: impl Into<Population>) -> Choice {
        Choice {
            population: a.into(),
            replace: true,
            p: None,
            axis: 0,
            mode: GumbelMode::default(),
        }
    }

    /// Each element is chosen at most once.
    pub fn without_replacement(self) -> Choice {
        Choice {
            replace: false,
            ..self
        }
    }

    /// The probability of each element, `[n]`; the sum need not be 1.
    pub fn p(self, p: &Array) -> Choice {
        Choice {
            p: Some(p.clone()),
            ..self
        }
    }

    /// Along this axis of the array.
    pub fn axis(self, axis: isize) -> Choice {
        Choice { axis, ..self }
    }

    /// Of how many bits the Gumbel draws are made that choose with
    /// probabilities and without replacement.
    pub fn mode(self, mode: GumbelMode) -> Choice {
        Choice { mode, ..self }
    }

    /// Draws `shape` elements. The axis of the array is replaced by `shape`.
    ///
    /// # Panics
    /// If the axis is out of range, `p` is not `[n]`, there are fewer elements
    /// than draws without replacement or none at all, or `key` is an array of
    /// keys.
    #[track_caller]
    pub fn draw(&self, key: &Key, shape: &[usize]) -> Array {
        let (a, axis) = self.population.along("choice", self.axis);
        let n = a.shape()[axis];
        let draws = crate::aval::element_count(shape);
        let around = a.shape();
        let out: Dims = [&around[..axis], shape, &around[axis + 1..]]
            .concat()
            .into();
        if draws == 0 {
            return Array::zeros(&out, a.dtype());
        }
        assert!(
            n > 0,
            "choice: there is nothing to choose from, the axis has size 0\n  help: ask for no \
             draws, or pass elements"
        );
        assert!(
            self.replace || draws <= n,
            "choice: {draws} draws without replacement from {n} elements\n  help: ask for at most \
             {n}, or draw with replacement"
        );
        if let Some(p) = &self.p {
            assert!(
                p.shape() == [n],
                "choice: expects a probability for each of {n} elements, got p {}\n  help: p must \
                 have the shape [{n}]",
                p.describe()
            );
            crate::ops::require_real("choice", &[p]);
        }
        let p = self.p.as_ref().map(Array::to_inexact);
        let args: Vec<&Array> = std::iter::once(&a).chain(&p).collect();
        let fixed = (shape, axis, self.replace, self.mode);
        draw("_choice", key, fixed, &args, |key, args| {
            let a = &args[0];
            let places = match (args.get(1), self.replace) {
                (None, false) => {
                    let all = ordered(key, a, axis, false);
                    return all.slice_in_dim(0, draws, 1, axis as isize).reshape(&out);
                }
                (None, true) => {
                    let counting = index_dtype(DType::I32, std::iter::once(n));
                    let [zero, n] = [0, n].map(|x| Array::scalar(x, counting));
                    integers(key, shape, &zero, &n, counting)
                }
                (Some(p), true) => weighted(key, p, shape),
                (Some(p), false) => {
                    let noise = gumbel_noise(key, &[n], p.dtype(), self.mode);
                    (noise + p.log()).top_k(draws).1
                }
            };
            a.take(&places, axis as isize).reshape(&out)
        })
    }
}

/// Elements chosen with replacement, each with equal probability: of the
/// numbers below a count, or of an array along its first axis. [`Choice`] has
/// the options.
///
/// ```no_run
/// use ramie_core::random;
/// let rows = random::choice(&random::key(0), 450, &[32]);
/// assert_eq!(rows.shape(), [32]);
/// ```
///
/// # Panics
/// If there is nothing to choose from, or `key` is an array of keys.
#[track_caller]
pub fn choice(key: &Key, a: impl Into<Population>, shape: &[usize]) -> Array {
    Choice::of(a).draw(key, shape)
}

/// Positions drawn with probabilities proportional to `p`, by inverting the
/// cumulative distribution.
fn weighted(key: &Key, p: &Array, shape: &[usize]) -> Array {
    let n = p.shape()[0];
    let cumulative = p.cumsum(0);
    let total = cumulative.slice_in_dim(n - 1, n, 1, 0).reshape(&[]);
    let fraction: Array = 1.0 - between(key, shape, p.dtype(), 0.0, 1.0);
    count_below(&cumulative, &(total * fraction))
}

/// How many elements of the increasing `sorted` are below each of `values`, by
/// bisection.
fn count_below(sorted: &Array, values: &Array) -> Array {
    let n = sorted.shape()[0];
    let counting = index_dtype(DType::I32, std::iter::once(n));
    let mut low = Array::zeros(values.shape(), counting);
    let mut high = Array::full(values.shape(), n, counting);
    for _ in 0..=n.ilog2() {
        let middle = &low + (&high - &low).right_shift(1);
        // Past the end `take` gives NaN, which is not below.
        let below = sorted.take(&middle, 0).lt(values);
        low = where_(&below, &middle + 1, &low);
        high = where_(&below, &high, &middle);
    }
    low
}

/// A draw from categorical distributions given by the logarithms of their
/// probabilities up to a constant, with its options
/// (`jax.random.categorical`).
///
/// ```no_run
/// use ramie_core::{Array, random::{self, Categorical}};
/// let logits = Array::from([[0.0f32, 1.0, 2.0], [3.0, 0.0, 0.0]]);
/// let drawn = Categorical::of(&logits).shape(&[100, 2]).draw(&random::key(0));
/// assert_eq!(drawn.shape(), [100, 2]);
/// ```
#[derive(Clone)]
pub struct Categorical {
    logits: Array,
    axis: isize,
    shape: Option<Dims>,
    replace: bool,
    mode: GumbelMode,
}

impl Categorical {
    /// One draw from each distribution along the last axis.
    pub fn of(logits: &Array) -> Categorical {
        Categorical {
            logits: logits.clone(),
            axis: -1,
            shape: None,
            replace: true,
            mode: GumbelMode::default(),
        }
    }

    /// The distributions lie along this axis.
    pub fn axis(self, axis: isize) -> Categorical {
        Categorical { axis, ..self }
    }

    /// The shape of the result, whose last axes are those of the logits without
    /// the distributions' axis.
    pub fn shape(self, shape: &[usize]) -> Categorical {
        Categorical {
            shape: Some(shape.into()),
            ..self
        }
    }

    /// The draws of each distribution are all different.
    pub fn without_replacement(self) -> Categorical {
        Categorical {
            replace: false,
            ..self
        }
    }

    /// Of how many bits the Gumbel draws are made.
    pub fn mode(self, mode: GumbelMode) -> Categorical {
        Categorical { mode, ..self }
    }

    /// Draws categories as `i32`.
    ///
    /// # Panics
    /// If the axis is out of range, the shape does not end with that of the
    /// batch, there are fewer categories than draws without replacement, or
    /// `key` is an array of keys.
    #[track_caller]
    pub fn draw(&self, key: &Key) -> Array {
        crate::ops::require_real("categorical", &[&self.logits]);
        let logits = self.logits.to_inexact();
        let dtype = logits.dtype();
        let axis = logits.axis("categorical", self.axis);
        let mut batch: Dims = logits.shape().into();
        let categories = batch.remove(axis);
        let shape = self.shape.clone().unwrap_or_else(|| batch.clone());
        let Some(prefix) = shape.strip_suffix(batch.as_slice()) else {
            panic!(
                "categorical: the shape {:?} does not end with the batch {:?} of logits {}\n  \
                 help: put the number of draws in front of the batch",
                shape.as_slice(),
                batch.as_slice(),
                logits.describe()
            );
        };
        let draws = crate::aval::element_count(prefix);
        assert!(
            self.replace || draws <= categories,
            "categorical: {draws} draws without replacement from {categories} categories\n  help: \
             ask for at most {categories}, or draw with replacement"
        );
        let fixed = (&shape, axis, self.replace, self.mode);
        draw("_categorical", key, fixed, &[&logits], |key, args| {
            let logits = &args[0];
            if self.replace {
                let all: Dims = [prefix, logits.shape()].concat().into();
                let noise = gumbel_noise(key, &all, dtype, self.mode);
                return (noise + logits).argmax((prefix.len() + axis) as isize);
            }
            let noise = gumbel_noise(key, logits.shape(), dtype, self.mode);
            let perturbed = (noise + logits).move_axis(axis as isize, -1);
            let (_, places) = perturbed.top_k(draws);
            places.move_axis(-1, 0).reshape(&shape)
        })
    }
}

/// A category from each distribution along `axis` of `logits`, as `i32`.
/// [`Categorical`] has the options.
///
/// # Panics
/// If the axis is out of range, or `key` is an array of keys.
#[track_caller]
pub fn categorical(key: &Key, logits: &Array, axis: isize) -> Array {
    Categorical::of(logits).axis(axis).draw(key)
}
