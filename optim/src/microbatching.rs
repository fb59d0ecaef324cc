//! Evaluation of functions of large batches, one microbatch at a time (`optax.microbatching`).

use crate::base::wide::{wide, wide_dtype};
use ramie_core::lax::fori_loop;
use ramie_core::tree::{self, Tree};
use ramie_core::typing::Objective;
use ramie_core::{Array, DType, eval_shape, value_and_grad, vmap};
use std::fmt;
use std::sync::Arc;

/// The method of combining the results of the microbatches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccumulationType {
    /// The sum divided by the number of all microbatches, even if only some are evaluated.
    Mean,
    /// The sum.
    Sum,
    /// The mean of the microbatches that are evaluated.
    RunningMean,
    /// Concatenation along the first axis, in the order of the examples in the batch.
    Concat,
}

/// An [`AccumulationType`] for all arrays of a result, or one for each path.
///
/// ```
/// use ramie_optim::microbatching::{AccumulationType, Accumulators};
/// let sums = Accumulators::from(AccumulationType::Sum);
/// // Concatenate the first array of a pair and sum the second.
/// let both = Accumulators::by_path(|path| match path.starts_with('0') {
///     true => AccumulationType::Concat,
///     false => AccumulationType::Sum,
/// });
/// ```
#[derive(Clone)]
pub struct Accumulators(Arc<dyn Fn(&str) -> AccumulationType + Send + Sync>);

impl Accumulators {
    /// Chooses the type of each array by its path.
    pub fn by_path(
        choose: impl Fn(&str) -> AccumulationType + Send + Sync + 'static,
    ) -> Accumulators {
        Accumulators(Arc::new(choose))
    }
}

impl From<AccumulationType> for Accumulators {
    fn from(all: AccumulationType) -> Accumulators {
        Accumulators::by_path(move |_| all)
    }
}

impl fmt::Debug for Accumulators {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Accumulators(..)")
    }
}

/// The options of [`microbatch`].
#[derive(Clone, Debug)]
pub struct Microbatch {
    size: usize,
    axis: usize,
    accumulators: Accumulators,
    real: Option<Array>,
}

impl Microbatch {
    /// Creates microbatches of `size` examples, whose results are summed.
    ///
    /// # Panics
    /// Panics if `size` is 0.
    #[track_caller]
    pub fn of(size: usize) -> Microbatch {
        assert!(
            size > 0,
            "microbatch: the size is 0\n  help: use at least 1 example per microbatch"
        );
        Microbatch {
            size,
            axis: 0,
            accumulators: AccumulationType::Sum.into(),
            real: None,
        }
    }

    /// Sets how results are combined. Defaults to [`AccumulationType::Sum`].
    #[must_use]
    pub fn accumulator(mut self, accumulators: impl Into<Accumulators>) -> Microbatch {
        self.accumulators = accumulators.into();
        self
    }

    /// Sets the batch axis. Defaults to the first axis.
    #[must_use]
    pub fn axis(mut self, axis: usize) -> Microbatch {
        self.axis = axis;
        self
    }

    /// Sets the number of microbatches to evaluate, a 0-d integer that may be traced. Batches
    /// whose rest is padding then need no recompilation. Defaults to all.
    #[must_use]
    pub fn num_real_microbatches(mut self, parts: impl Into<Array>) -> Microbatch {
        self.real = Some(parts.into());
        self
    }
}

/// Returns the number of microbatches in a batch.
#[track_caller]
fn parts<B: Tree>(batch: &B, size: usize, axis: usize) -> usize {
    let mut sizes: Vec<usize> = Vec::new();
    tree::for_each_with_path(batch, |path, _, a| {
        assert!(
            a.ndim() > axis,
            "microbatch: `{path}` of the batch is {}, which has no batch axis {axis}\n  help: let \
             the function capture arrays that are not batched",
            a.aval()
        );
        sizes.push(a.shape()[axis]);
    });
    let Some(&examples) = sizes.first() else {
        panic!(
            "microbatch: the batch has no arrays\n  help: pass at least one array with a batch \
             axis"
        )
    };
    assert!(
        sizes.iter().all(|s| *s == examples),
        "microbatch: the arrays of the batch have different numbers of examples, {sizes:?}\n  help: \
         axis {axis} must have the same length in all arrays"
    );
    assert!(
        examples % size == 0 && examples > 0,
        "microbatch: {examples} examples cannot be split into microbatches of {size}\n  help: \
         choose a size that divides the batch, or pad it and set num_real_microbatches"
    );
    examples / size
}

/// Splits the batch axis into two, `[n, size]` for `n` microbatches. Microbatch `i` contains the
/// examples `i`, `i + n`, `i + 2n` and so on, so a batch that is sharded over examples yields
/// microbatches with the same sharding (`reshape_batch_axis`).
///
/// # Panics
/// Panics if the batch has no arrays, if an array lacks the axis, if the arrays have different
/// numbers of examples, or if that number is not a positive multiple of `size`.
#[track_caller]
pub fn reshape_batch_axis<B: Tree>(batch: &B, size: usize, axis: usize) -> B {
    let n = parts(batch, size, axis);
    tree::map(batch, |a| {
        let mut shape = a.shape().to_vec();
        // Examples 0 to 5 in microbatches of 2: `[2, 3]` is `[[0, 1, 2], [3, 4, 5]]`, its transpose
        // has the microbatches `[0, 3]`, `[1, 4]` and `[2, 5]`.
        shape.splice(axis..=axis, [size, n]);
        let mut order: Vec<isize> = (0..shape.len() as isize).collect();
        order.swap(axis, axis + 1);
        a.reshape(&shape).transpose(&order)
    })
}

/// Evaluates `fun` on a batch in a loop over microbatches, which needs only the memory of one
/// microbatch (`optax.microbatching.microbatch`). `fun` must capture arguments that are not
/// batched. Sums and means are accumulated in at least `f32` and then cast to the dtypes of the
/// results.
///
/// ```no_run
/// use ramie_core::Array;
/// use ramie_optim::microbatching::{Microbatch, microbatch};
/// let sum_of_squares = |x: Array| x.square().sum();
/// let by_parts = microbatch(sum_of_squares, Microbatch::of(2));
/// assert_eq!(by_parts(Array::from([1.0f32, 2.0, 3.0, 4.0])).item::<f32>(), 30.0);
/// ```
///
/// # Panics
/// The returned function panics if the batch has no arrays, if its arrays have different numbers
/// of examples, if the microbatch size does not divide that number, if a mean is requested of
/// results that are not floats, or if results without a batch axis must be concatenated.
pub fn microbatch<B: Tree, R: Tree>(
    fun: impl Fn(B) -> R + Send + Sync,
    options: Microbatch,
) -> impl Fn(B) -> R + Send + Sync {
    #[track_caller]
    fn run<B: Tree, R: Tree>(fun: &impl Fn(B) -> R, options: &Microbatch, batch: &B) -> R {
        let n = parts(batch, options.size, options.axis);
        let apart = reshape_batch_axis(batch, options.size, options.axis);
        let part = |index: &Array| fun(part(&apart, index, options.axis as isize));
        // The loop's carry needs the types of the results.
        let one = eval_shape(|index: Array| part(&index), Array::scalar(0, DType::I32));
        let kinds = kinds(&one, &options.accumulators);
        let like = tree::leaves(&one);
        let first: Vec<Array> = like
            .iter()
            .zip(&kinds)
            .map(|(a, kind)| match kind {
                // `in_order` restores the order of the examples after the loop.
                AccumulationType::Concat => Array::zeros(&[&[n], a.shape()].concat(), a.dtype()),
                _ => Array::zeros(a.shape(), wide_dtype(a.dtype())),
            })
            .collect();
        let count = i32::try_from(n).expect("fewer than 2^31 parts");
        let body = |index: Array, carry: Vec<Array>| -> Vec<Array> {
            let results = tree::leaves(&part(&index));
            let all = carry.iter().zip(&results).zip(&kinds);
            all.map(|((carry, value), kind)| match kind {
                AccumulationType::Sum | AccumulationType::Mean => carry + &*wide(value),
                AccumulationType::RunningMean => {
                    // After `k` microbatches: `(k mean + value) / (k + 1)`.
                    let seen = index.astype(carry.dtype());
                    let old = &seen / (&seen + 1.0);
                    carry * &old + &*wide(value) * (1.0_f64 - &old)
                }
                AccumulationType::Concat => {
                    carry.dynamic_update_index_in_dim(&value.expand_dims(&[0]), &index, 0)
                }
            })
            .collect()
        };
        let sums = match &options.real {
            Some(parts) => {
                let start = Array::scalar(0, DType::I32);
                fori_loop(start, parts.astype(DType::I32), body, first)
            }
            None => fori_loop(0, count, body, first),
        };
        let finished = sums.iter().zip(&like).zip(&kinds);
        let finished = finished.map(|((a, like), kind)| match kind {
            AccumulationType::Mean => (a / f64::from(count)).astype(like.dtype()),
            AccumulationType::Concat => in_order(a),
            _ => a.astype(like.dtype()),
        });
        tree::with_leaves(&one, finished)
    }
    move |batch| run(&fun, &options, &batch)
}

/// Returns the microbatch with an index, which counts along `axis`.
#[track_caller]
fn part<B: Tree>(apart: &B, index: &Array, axis: isize) -> B {
    tree::map(apart, |a| {
        a.dynamic_index_in_dim(index, axis).squeeze(&[axis])
    })
}

/// Returns how each array of the results is accumulated.
#[track_caller]
fn kinds<R: Tree>(results: &R, accumulators: &Accumulators) -> Vec<AccumulationType> {
    let mut kinds = Vec::new();
    tree::for_each_with_path(results, |path, _, a| {
        let kind = (accumulators.0)(path);
        let mean = matches!(kind, AccumulationType::Mean | AccumulationType::RunningMean);
        assert!(
            !mean || a.dtype().is_float(),
            "microbatch: cannot compute the mean of `{path}`, which is {}, expected floats\n  help: \
             use AccumulationType::Sum or Concat for it",
            a.aval()
        );
        kinds.push(kind);
    });
    kinds
}

/// Reorders results of shape `[n, size, …]` to the order of the batch.
#[track_caller]
fn in_order(a: &Array) -> Array {
    assert!(
        a.ndim() > 1,
        "microbatch: results without a batch axis cannot be concatenated\n  help: use \
         AccumulationType::Sum or Mean for them"
    );
    let mut order: Vec<isize> = (0..a.ndim() as isize).collect();
    order.swap(0, 1);
    let (n, size) = (a.shape()[0], a.shape()[1]);
    let shape = [&[n * size], &a.shape()[2..]].concat();
    a.transpose(&order).reshape(&shape)
}

/// Applies [`vmap`] over the first axis to a function of one example, one microbatch at a time
/// (`optax.microbatching.micro_vmap`). Results are combined by the accumulators of the options.
/// Without options, all examples are evaluated at once and the results are stacked.
///
/// ```no_run
/// use ramie_core::Array;
/// use ramie_optim::microbatching::{AccumulationType, Microbatch, micro_vmap};
/// let parts = Microbatch::of(4).accumulator(AccumulationType::Concat);
/// let squares = micro_vmap(|x: Array| x.square(), Some(parts));
/// assert_eq!(squares(Array::from([1.0f32, 2.0, 3.0, 4.0])).shape(), [4]);
/// ```
///
/// # Panics
/// Panics in the same cases as [`microbatch`], and if the batch axis of the options is not the
/// first.
#[track_caller]
pub fn micro_vmap<B: Tree, R: Tree>(
    fun: impl Fn(B) -> R + Send + Sync + 'static,
    options: Option<Microbatch>,
) -> impl Fn(B) -> R + Send + Sync {
    if let Some(options) = &options {
        assert!(
            options.axis == 0,
            "micro_vmap: the batch axis is {}, expected 0\n  help: move the batch axis to the \
             front",
            options.axis
        );
    }
    let accumulators = options.as_ref().map(|o| o.accumulators.clone());
    let mapped = move |batch: B| {
        let all = vmap(|one: B| fun(one))(batch);
        let Some(accumulators) = &accumulators else {
            return all;
        };
        // Combines the examples of one microbatch. `microbatch` then combines the microbatches by
        // the same rule; they have equal sizes, so a mean of means is the mean of all.
        tree::map_with_path(&all, |path, a| match (accumulators.0)(path) {
            AccumulationType::Concat => a.clone(),
            AccumulationType::Sum => a.sum_over(0),
            AccumulationType::Mean | AccumulationType::RunningMean => a.mean_over(0),
        })
    };
    move |batch| match &options {
        Some(options) => microbatch(&mapped, options.clone())(batch),
        None => mapped(batch),
    }
}

/// The outputs of [`micro_grad`] for each example.
#[derive(Clone, Debug)]
pub struct IndividualOutputs<R, M> {
    /// Values of the objective, with a leading batch axis.
    pub values: R,
    /// Metrics of the gradients, with a leading batch axis.
    pub metrics: M,
}

/// The options of [`micro_grad`].
#[derive(Clone, Debug)]
pub struct PerExample {
    /// Method of combining the transformed gradients of all examples.
    pub accumulator: AccumulationType,
    /// Number of examples per microbatch; `None` evaluates all at once.
    pub microbatch_size: Option<usize>,
    /// Whether the objective receives each example as a batch of one.
    pub keep_batch_dim: bool,
    /// Number of microbatches to evaluate; `None` evaluates all.
    pub num_real_microbatches: Option<Array>,
}

impl Default for PerExample {
    fn default() -> PerExample {
        PerExample {
            accumulator: AccumulationType::Sum,
            microbatch_size: None,
            keep_batch_dim: true,
            num_real_microbatches: None,
        }
    }
}

/// Computes the gradients of each example separately, transforms and combines them: for
/// per-example clipping, moments of gradients, or metrics (`optax.microbatching.micro_grad`).
///
/// The returned function takes the parameters and a batch whose arrays have a leading batch axis.
/// `transform` changes the gradients of one example before they are combined; `metrics` measures
/// them before `transform`.
///
/// ```no_run
/// use ramie_core::{Array, State};
/// use ramie_optim::microbatching::{PerExample, micro_grad};
/// use ramie_optim::tree;
/// let loss = |p: State, x: Array| (x.matmul(&p.arrays()[0]) - 1.0).square().mean();
/// let squares = |g: State| g.map(Array::square);
/// let of_batch = micro_grad(loss, squares, |g: &State| tree::norm(g), PerExample::default());
/// let params = State::from_iter([("w", Array::from([0.0f32, 0.0]))]);
/// let (sum_of_squares, each) = of_batch(params, Array::from([[1.0f32, 2.0], [3.0, 4.0]]));
/// assert_eq!(each.metrics.shape(), [2]);
/// ```
///
/// # Panics
/// Panics in the same cases as [`microbatch`].
pub fn micro_grad<P: Tree, B: Tree, R: Objective, G: Tree, M: Tree>(
    fun: impl Fn(P, B) -> R + Send + Sync + 'static,
    transform: impl Fn(P) -> G + Send + Sync + 'static,
    metrics: impl Fn(&P) -> M + Send + Sync + 'static,
    options: PerExample,
) -> impl Fn(P, B) -> (G, IndividualOutputs<R, M>) + Send + Sync {
    let shared = Arc::new((fun, transform, metrics));
    move |params, batch| {
        let (own, kept) = (shared.clone(), options.keep_batch_dim);
        let one = move |example: B| {
            let (fun, transform, metrics) = &*own;
            let params = tree::copy(&params);
            let example = if kept {
                tree::map(&example, |a| a.expand_dims(&[0]))
            } else {
                example
            };
            let (value, grads) = value_and_grad(|p: P| fun(p, tree::copy(&example)))(params);
            let measured = metrics(&grads);
            (transform(grads), value, measured)
        };
        let accumulator = options.accumulator;
        // The results are `(grads, value, metrics)`: gradients have paths below `0`.
        let by_path = Accumulators::by_path(move |path| match path.split('.').next() {
            Some("0") => accumulator,
            _ => AccumulationType::Concat,
        });
        let size = match options.microbatch_size {
            Some(size) => size,
            // One microbatch of all examples: with microbatches of size 1, their number is that of
            // examples.
            None => parts(&batch, 1, 0),
        };
        let mut parts = Microbatch::of(size).accumulator(by_path);
        parts.real = options.num_real_microbatches.clone();
        let (grads, values, metrics) = micro_vmap(one, Some(parts))(batch);
        (grads, IndividualOutputs { values, metrics })
    }
}
