//! Permutations, choices among elements, and categorical samples.

use super::continuous::gumbel_noise;
use super::discrete::integers;
use super::uniform::{between, random_bits};
use super::{GumbelMode, Key, draw};
use crate::dtypes::promote_types;
use crate::prim::elementwise::parts;
use crate::prim::index::positions::index_dtype;
use crate::prim::sort::sort;
use crate::typing::Dims;
use crate::{Array, DType, where_};

/// The population of a choice or permutation: the elements of an array along an axis, or the
/// numbers below a count, as `i32`.
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
    /// Panics if the count is negative.
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
    /// Returns the population as an array, and the axis of its elements.
    #[track_caller]
    fn along(&self, operation: &str, axis: isize) -> (Array, usize) {
        match &self.0 {
            Members::Below(n) => (Array::arange(*n), 0),
            Members::Of(array) => (array.clone(), array.axis(operation, axis)),
        }
    }
}

/// Returns a random permutation of the numbers below a count, or of an array's elements along its
/// first axis (`jax.random.permutation`).
///
/// ```no_run
/// use ramie_core::random;
/// let order = random::permutation(&random::key(0), 10);
/// assert_eq!(order.shape(), [10]);
/// ```
///
/// # Panics
/// Panics if an array is 0-d, or `key` is an array of keys.
#[track_caller]
pub fn permutation(key: &Key, x: impl Into<Population>) -> Array {
    permutation_with(key, x, 0)
}

/// Options of [`permutation_with`]. An axis converts into it.
#[derive(Clone, Copy, Debug)]
pub struct Permutation {
    axis: isize,
    independent: bool,
}

impl Permutation {
    /// Creates a permutation of the elements along an axis.
    pub fn new(axis: isize) -> Permutation {
        Permutation {
            axis,
            independent: false,
        }
    }

    /// Permutes each line along the axis on its own (`independent=True` in JAX).
    #[must_use]
    pub fn independent(self) -> Permutation {
        Permutation {
            independent: true,
            ..self
        }
    }
}

impl From<isize> for Permutation {
    fn from(axis: isize) -> Permutation {
        Permutation::new(axis)
    }
}

/// Returns a random permutation of an array's elements along an axis, or of each line along it.
///
/// # Panics
/// Panics if the axis is out of range, or `key` is an array of keys.
#[track_caller]
pub fn permutation_with(
    key: &Key,
    x: impl Into<Population>,
    options: impl Into<Permutation>,
) -> Array {
    let Permutation { axis, independent } = options.into();
    let (x, axis) = x.into().along("permutation", axis);
    draw("_permutation", key, (axis, independent), &[&x], |key, x| {
        ordered(key, &x[0], axis, independent)
    })
}

/// Computes a permutation within a sampler's program.
fn ordered(key: &Key, x: &Array, axis: usize, independent: bool) -> Array {
    if independent || x.ndim() == 1 {
        return shuffle(key, x, axis);
    }
    let order = shuffle(key, &Array::arange(x.shape()[axis]), 0);
    x.take(&order, axis as isize)
}

/// Shuffles by sorting by random words. The number of rounds makes collisions nearly impossible:
/// the words of an element have three times as many bits as the number of elements requires.
fn shuffle(key: &Key, x: &Array, axis: usize) -> Array {
    let size = x.size().max(1) as f64;
    let rounds = (3.0 * size.ln() / f64::from(u32::MAX).ln()).ceil() as usize;
    let mut key = key.clone();
    let mut x = x.clone();
    for _ in 0..rounds {
        let [next, sub] = key.split_into();
        key = next;
        let words = random_bits(&sub, x.shape(), DType::U32);
        x = sort(&[words, x], axis as isize, 1).swap_remove(1);
    }
    x
}

/// Options of a random choice among elements (`jax.random.choice`).
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
    /// Creates a choice with replacement, with equal probabilities, along the first axis.
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

    /// Chooses each element at most once.
    pub fn without_replacement(self) -> Choice {
        Choice {
            replace: false,
            ..self
        }
    }

    /// Sets the probability of each element, `[n]`. The sum need not be 1.
    pub fn p(self, p: &Array) -> Choice {
        Choice {
            p: Some(p.clone()),
            ..self
        }
    }

    /// Sets the axis of the array to choose along. Defaults to 0.
    pub fn axis(self, axis: isize) -> Choice {
        Choice { axis, ..self }
    }

    /// Sets the precision of the Gumbel samples, which are used with probabilities and without
    /// replacement.
    pub fn mode(self, mode: GumbelMode) -> Choice {
        Choice { mode, ..self }
    }

    /// Chooses elements in an array of the given shape. The axis of the population is replaced by
    /// `shape`.
    ///
    /// # Panics
    /// Panics if the axis is out of range, if `p` is not `[n]`, if there are no elements, or
    /// fewer elements than samples without replacement, or if `key` is an array of keys. Outside
    /// `jit` also if a probability is negative or not finite, or if fewer are positive than
    /// needed.
    #[track_caller]
    pub fn draw(&self, key: &Key, shape: &[usize]) -> Array {
        let (a, axis) = self.population.along("choice", self.axis);
        let n = a.shape()[axis];
        let draws = crate::types::aval::element_count(shape);
        let around = a.shape();
        let out: Dims = [&around[..axis], shape, &around[axis + 1..]]
            .concat()
            .into();
        if draws == 0 {
            return Array::zeros(&out, a.dtype());
        }
        assert!(
            n > 0,
            "choice: there are no elements to choose from, the axis has size 0\n  help: pass \
             elements, or a shape without draws"
        );
        assert!(
            self.replace || draws <= n,
            "choice: cannot draw {draws} times without replacement from {n} elements\n  help: \
             draw at most {n} times, or with replacement"
        );
        if let Some(p) = &self.p {
            assert!(
                p.shape() == [n],
                "choice: expects a probability for each of {n} elements, got p {}\n  help: p must \
                 have the shape [{n}]",
                p.describe()
            );
            parts::require_real("choice", &[p]);
            check_probabilities(p, if self.replace { 1 } else { draws });
        }
        let wide = |p: &Array| p.astype(promote_types(p.to_inexact().dtype(), DType::F32));
        let p = self.p.as_ref().map(wide);
        let args: Vec<&Array> = std::iter::once(&a).chain(&p).collect();
        let fixed = (shape, axis, self.replace, self.mode);
        draw("_choice", key, fixed, &args, |key, args| {
            let a = &args[0];
            let indices = match (args.get(1), self.replace) {
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
            a.take(&indices, axis as isize).reshape(&out)
        })
    }
}

/// Chooses elements with replacement and equal probabilities from the numbers below a count, or
/// from an array along its first axis. Use [`Choice`] for other options.
///
/// ```no_run
/// use ramie_core::random;
/// let rows = random::choice(&random::key(0), 450, &[32]);
/// assert_eq!(rows.shape(), [32]);
/// ```
///
/// # Panics
/// Panics if there are no elements to choose from, or if `key` is an array of keys.
#[track_caller]
pub fn choice(key: &Key, a: impl Into<Population>, shape: &[usize]) -> Array {
    Choice::of(a).draw(key, shape)
}

/// Refuses known probabilities that are not finite or negative, or of which fewer than `least` are
/// positive.
#[track_caller]
fn check_probabilities(p: &Array, least: usize) {
    if p.is_tracer() {
        return;
    }
    let values = p.astype(DType::F64).to_vec::<f64>();
    if let Some(i) = values.iter().position(|v| !v.is_finite() || *v < 0.0) {
        panic!(
            "choice: the probability of element {i} is {}\n  help: pass finite numbers of 0 or more",
            values[i]
        );
    }
    let possible = values.iter().filter(|v| **v > 0.0).count();
    assert!(
        possible >= least,
        "choice: {least} draws need as many elements of positive probability, and p has \
         {possible}\n  help: draw fewer elements, draw with replacement, or pass other probabilities"
    );
}

/// Draws indices with probabilities proportional to `p`, by inverting the cumulative
/// distribution.
fn weighted(key: &Key, p: &Array, shape: &[usize]) -> Array {
    let n = p.shape()[0];
    // The sum over a block of zeros is rounded differently than the sum before it: only elements of
    // positive probability may raise it.
    let cumulative = where_(p.gt(0), p.cumsum(0), 0).cummax(0);
    let total = cumulative.slice_in_dim(n - 1, n, 1, 0).reshape(());
    let fraction = 1.0 - between(key, shape, p.dtype(), 0.0, 1.0);
    count_below(&cumulative, &(total * fraction))
}

/// Counts for each of `values` how many elements of the increasing array `sorted` are smaller, by
/// bisection.
fn count_below(sorted: &Array, values: &Array) -> Array {
    let n = sorted.shape()[0];
    let counting = index_dtype(DType::I32, std::iter::once(n));
    let mut low = Array::zeros(values.shape(), counting);
    let mut high = Array::full(values.shape(), n, counting);
    for _ in 0..=n.ilog2() {
        let middle = &low + (&high - &low).right_shift(1);
        // Past the end, `take` returns NaN, which compares as not smaller.
        let below = sorted.take(&middle, 0).lt(values);
        low = where_(&below, &middle + 1, &low);
        high = where_(&below, &high, &middle);
    }
    low
}

/// Options of samples from categorical distributions, given by unnormalized log probabilities
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
    /// Creates options for one sample from each distribution along the last axis.
    pub fn of(logits: &Array) -> Categorical {
        Categorical {
            logits: logits.clone(),
            axis: -1,
            shape: None,
            replace: true,
            mode: GumbelMode::default(),
        }
    }

    /// Sets the axis of the categories. Defaults to -1.
    pub fn axis(self, axis: isize) -> Categorical {
        Categorical { axis, ..self }
    }

    /// Sets the shape of the result. Its last axes must be those of the logits without the axis
    /// of the categories.
    pub fn shape(self, shape: &[usize]) -> Categorical {
        Categorical {
            shape: Some(shape.into()),
            ..self
        }
    }

    /// Draws each category at most once per distribution.
    pub fn without_replacement(self) -> Categorical {
        Categorical {
            replace: false,
            ..self
        }
    }

    /// Sets the precision of the Gumbel samples.
    pub fn mode(self, mode: GumbelMode) -> Categorical {
        Categorical { mode, ..self }
    }

    /// Draws categories as `i32`.
    ///
    /// # Panics
    /// Panics if the axis is out of range, if the shape does not end with the batch shape, if
    /// there are fewer categories than samples without replacement, or if `key` is an array of
    /// keys.
    #[track_caller]
    pub fn draw(&self, key: &Key) -> Array {
        parts::require_real("categorical", &[&self.logits]);
        // Noise in a narrow dtype has few values: the first of equal logits would win too often.
        let dtype = promote_types(self.logits.to_inexact().dtype(), DType::F32);
        let logits = self.logits.astype(dtype);
        let axis = logits.axis("categorical", self.axis);
        let mut batch: Dims = logits.shape().into();
        let categories = batch.remove(axis);
        let shape = self.shape.clone().unwrap_or_else(|| batch.clone());
        let Some(prefix) = shape.strip_suffix(batch.as_slice()) else {
            panic!(
                "categorical: the shape {:?} does not end with the batch shape {:?} of logits \
                 {}\n  help: put the number of draws before the batch axes",
                shape.as_slice(),
                batch.as_slice(),
                logits.describe()
            );
        };
        let draws = crate::types::aval::element_count(prefix);
        assert!(
            self.replace || draws <= categories,
            "categorical: cannot draw {draws} times without replacement from {categories} \
             categories\n  help: draw at most {categories} times, or with replacement"
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
            let (_, indices) = perturbed.top_k(draws);
            indices.move_axis(-1, 0).reshape(&shape)
        })
    }
}

/// Draws a category, as `i32`, from each distribution along `axis` of `logits`. Use
/// [`Categorical`] for other options.
///
/// # Panics
/// Panics if the axis is out of range, or `key` is an array of keys.
#[track_caller]
pub fn categorical(key: &Key, logits: &Array, axis: isize) -> Array {
    Categorical::of(logits).axis(axis).draw(key)
}
