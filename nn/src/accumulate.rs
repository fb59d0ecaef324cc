//! Gradient accumulation.

use crate::Param;
use crate::nnx::{self, Filter, difference, of_type};
use crate::value_and_grad::{differentiate, parameters};
use ramie_core::{Array, DType, Objective, ScanOptions, State, Tree, scan_with, tree};
use std::panic::Location;

/// The value and gradient of a function over a large batch, computed part by part.
///
/// Each array in `parts` has a first axis of parts: `[parts, examples, ..]`. A
/// `scan` calls `f` with the model and one part at a time, so the program needs
/// the memory of one part and does not grow with the number of parts.
/// [`reshape_batch_axis`](ramie_optim::microbatching::reshape_batch_axis) splits a
/// batch into parts; a data loader's `stack` makes parts of several batches.
///
/// The model passes from part to part: dropout draws new keys for each part, and
/// batch statistics see every part in turn. Afterwards the model has its state
/// after the last part. The parameters stay the same, and an optimizer makes one
/// step with the result.
///
/// The loss and the gradients are the means over the parts. With parts of equal
/// size and a loss that is a mean over examples they equal those of the whole
/// batch, unless the model normalizes by statistics of the batch. Sums of gradients
/// narrower than `f32` are kept in `f32`. If `f` returns `(loss, aux)`, `aux` gets
/// a first axis of parts.
///
/// ```
/// use ramie_core::{Array, DType, State, array, random};
/// use ramie_nn::{self as nn, BatchNorm, Dropout, Linear, Module, Optimizer, Rngs};
/// use ramie_optim::{microbatching::reshape_batch_axis, sgd};
///
/// #[derive(Module)]
/// struct Net { linear: Linear, norm: BatchNorm, dropout: Dropout, out: Linear }
///
/// impl Net {
///     fn forward(&mut self, x: &Array) -> Array {
///         let x = self.norm.forward(&self.linear.forward(x)).tanh();
///         self.out.forward(&self.dropout.forward(&x))
///     }
/// }
///
/// let rngs = &mut Rngs::new(0);
/// let mut model = Net {
///     linear: Linear::new(3, 8, rngs),
///     norm: BatchNorm::new(8, rngs),
///     dropout: Dropout::new(0.1, rngs),
///     out: Linear::new(8, 1, rngs),
/// };
/// let mut optimizer = Optimizer::new(&model, sgd(0.1));
/// let x = random::normal(&random::key(1), &[32, 3], DType::F32);
/// let y = x.sum_axes(&[1]).expand_dims(&[1]);
///
/// let parts = reshape_batch_axis(&(x, y), 8, 0); // 4 parts of 8 examples
/// let (loss, grads) = nn::accumulate(&mut model, parts, |m, (x, y)| {
///     (m.forward(&x) - y).square().mean()
/// });
/// optimizer.update(&mut model, grads);
/// assert_eq!(loss.ndim(), 0);
/// assert_eq!(State::of(&model)["dropout.rngs.count"].item::<u32>(), 4);
/// ```
///
/// In the way of Linen, [`Variables`](crate::linen::Variables) are the model, and keys
/// are parts like others:
///
/// ```
/// use ramie_core::{Array, DType, State, random};
/// use ramie_nn::linen::{Apply, BatchNorm, Module, Variables};
/// use ramie_nn::training::TrainState;
/// use ramie_nn::{self as nn, UseRunningAverage};
/// use ramie_optim::{microbatching::reshape_batch_axis, sgd};
///
/// let model = BatchNorm::new();
/// let x = random::normal(&random::key(1), &[32, 3], DType::F32);
/// let variables = model.init(0, (x.clone(), UseRunningAverage(false)));
/// let stats = variables["batch_stats"].clone();
/// let mut state = TrainState::create_with(variables.params(), sgd(0.1), stats);
///
/// let parts = (reshape_batch_axis(&x, 8, 0), random::key(2).split_array(&[4]));
/// let mut variables = state.variables().with("batch_stats", state.extra.clone());
/// let (loss, grads) = nn::accumulate(&mut variables, parts, |v, (x, key)| {
///     let options = Apply::new().mutable("batch_stats").rngs([("dropout", key)]);
///     let (y, updates) = model.apply_with(v, (x, UseRunningAverage(false)), &options);
///     *v = std::mem::take(v).updated(updates);
///     y.square().mean()
/// });
/// state.apply_gradients(grads.subtree("params"));
/// state.extra = variables["batch_stats"].clone();
/// assert!(state.extra["mean"].abs().max().item::<f32>() > 0.0);
/// ```
///
/// # Panics
/// If the arrays in `parts` have no first axis, or of different sizes, or of size
/// zero; if a part changes the structure of the model; and as
/// [`value_and_grad`](crate::value_and_grad()).
#[track_caller]
pub fn accumulate<M: Tree, B: Tree, R: Objective>(
    model: &mut M,
    parts: B,
    f: impl Fn(&mut M, B) -> R,
) -> (R, State) {
    accumulate_wrt(model, of_type::<Param>(), parts, f)
}

/// [`accumulate`] with respect to the leaves that a filter accepts.
///
/// # Panics
/// As [`accumulate`], for the accepted leaves.
#[track_caller]
pub fn accumulate_wrt<M: Tree, B: Tree, R: Objective>(
    model: &mut M,
    wrt: impl Filter,
    parts: B,
    f: impl Fn(&mut M, B) -> R,
) -> (R, State) {
    const OPERATION: &str = "accumulate";
    let at = Location::caller();
    let params = parameters(OPERATION, model, wrt);
    let count = count(&parts);
    let sums = params.map(|p| p.zeros_like().astype(summed_in(p.dtype())));
    let step = |(before, sums): (M, State), part: B| {
        let mut model = tree::map(&before, Array::clone);
        let current = State::of(&model).filter(|path, _| params.get(path).is_some());
        let (out, grads) = differentiate(OPERATION, at, &mut model, current, |m| f(m, part));
        if let Some(what) = difference(&before, &model) {
            panic!(
                "accumulate: a part changed the structure of the model: {what}\n  called at {at}\n  \
                 help: the function may change the model's arrays; change hyperparameters and modes \
                 before the call"
            );
        }
        let sums = sums.zip(&grads, |sum, g| sum + g.astype(sum.dtype()));
        ((model, sums), out)
    };
    let ((after, sums), outs) = scan_with(
        step,
        (nnx::copy(model), sums),
        parts,
        ScanOptions::default(),
    );
    nnx::replace(model, after);
    let grads = sums.zip(&params, |sum, p| (sum / count as f64).astype(p.dtype()));
    let loss = outs.loss().mean();
    (outs.with_loss(loss), grads)
}

/// The element type that gradients of this type are summed in.
fn summed_in(dtype: DType) -> DType {
    match dtype.size() < DType::F32.size() {
        true => DType::F32,
        false => dtype,
    }
}

/// The number of parts.
#[track_caller]
fn count<B: Tree>(parts: &B) -> usize {
    const HELP: &str =
        "help: split a batch with ramie::optim::microbatching::reshape_batch_axis(&batch, size, 0)";
    let mut first: Option<(String, usize)> = None;
    for (path, a) in tree::paths(parts).into_iter().zip(tree::leaves(parts)) {
        let Some(&n) = a.shape().first() else {
            panic!(
                "accumulate: `{path}` of the parts is {}, which has no first axis of parts\n  help: \
                 capture what all parts share in the function",
                a.aval()
            )
        };
        match &first {
            Some((other, count)) => assert!(
                n == *count,
                "accumulate: `{other}` has {count} parts and `{path}` has {n}\n  {HELP}"
            ),
            None => first = Some((path, n)),
        }
    }
    match first {
        Some((path, 0)) => panic!("accumulate: `{path}` has 0 parts\n  {HELP}"),
        Some((_, count)) => count,
        None => panic!("accumulate: the parts have no arrays\n  {HELP}"),
    }
}
