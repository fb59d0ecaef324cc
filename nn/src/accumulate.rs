//! Gradient accumulation over microbatches.

use crate::Param;
use crate::model::{self, Filter, of_type};
use crate::value_and_grad::{differentiate, parameters};
use crate::wide::{wide, wide_dtype};
use ramie_core::lax::scan_with;
use ramie_core::options::ScanOptions;
use ramie_core::typing::Objective;
use ramie_core::{State, Tree, tree};
use std::panic::Location;

/// Computes the value and gradient of a function over a large batch, one microbatch at a time.
///
/// Each array in `parts` has a leading axis of microbatches: `[microbatches, examples, ..]`. A
/// `scan` calls `f` with the model and one microbatch per step. The program therefore needs the
/// memory of one microbatch, and its size does not grow with their number.
/// [`reshape_batch_axis`](ramie_optim::microbatching::reshape_batch_axis) splits a batch into
/// microbatches; a data loader's `stack` combines several batches.
///
/// The model's state carries over from one microbatch to the next: dropout draws new keys and
/// batch statistics are updated for each of them. Afterwards `model` has the state after the
/// last microbatch. The parameters do not change; pass the result to an optimizer for one step.
///
/// The loss and the gradients are means over the microbatches. If these have equal sizes and
/// the loss is a mean over examples, the result equals that of the whole batch, unless the
/// model normalizes with batch statistics. Gradients narrower than `f32` are summed in `f32`.
/// If `f` returns `(loss, aux)`, `aux` gets a leading axis of microbatches.
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
/// let y = x.sum_over(1).expand_dims(&[1]);
///
/// let parts = reshape_batch_axis(&(x, y), 8, 0); // 4 microbatches of 8 examples
/// let (loss, grads) = nn::accumulate(&mut model, parts, |m, (x, y)| {
///     (m.forward(&x) - y).square().mean()
/// });
/// optimizer.update(&mut model, grads);
/// assert_eq!(loss.ndim(), 0);
/// assert_eq!(State::of(&model)["dropout.rngs.count"].item::<u32>(), 4);
/// ```
///
/// In Linen style, [`Variables`](crate::linen::Variables) are the model, and RNG keys are split
/// into microbatches like other inputs:
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
/// Panics if `parts` has no arrays, or if their leading axes are missing, empty or of different
/// sizes. Also panics if a microbatch changes the structure of the model, and as
/// [`value_and_grad`](crate::value_and_grad()) does.
#[track_caller]
pub fn accumulate<M: Tree, B: Tree, R: Objective>(
    model: &mut M,
    parts: B,
    f: impl Fn(&mut M, B) -> R,
) -> (R, State) {
    accumulate_wrt(model, of_type::<Param>(), parts, f)
}

/// Like [`accumulate`], but differentiates with respect to the leaves that a filter accepts.
///
/// # Panics
/// Panics as [`accumulate`] does, for the accepted leaves.
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
    let sums = params.map(|p| p.zeros_like().astype(wide_dtype(p.dtype())));
    let step = |(before, sums): (M, State), part: B| {
        let mut model = tree::copy(&before);
        let current = State::of(&model).filter(|path, _| params.get(path).is_some());
        let (out, grads) = differentiate(OPERATION, at, &mut model, current, |m| f(m, part));
        if let Some(lines) = tree::structure_mismatch(["before", "after"], &before, &model) {
            panic!(
                "accumulate: a microbatch changed the structure of the model\n  {lines}\n  called \
                 at {at}\n  help: the function may only change the model's arrays; change \
                 hyperparameters and modes before the call"
            );
        }
        let sums = sums.zip(&grads, |sum, g| sum + g.astype(sum.dtype()));
        ((model, sums), out)
    };
    let ((after, sums), outs) = scan_with(
        step,
        (model::copy(model), sums),
        parts,
        ScanOptions::default(),
    );
    model::replace(model, after);
    let grads = sums.zip(&params, |sum, p| (sum / count as f64).astype(p.dtype()));
    let losses = outs.loss();
    let loss = wide(losses).mean().astype(losses.dtype());
    (outs.with_loss(loss), grads)
}

/// Returns the number of microbatches.
#[track_caller]
fn count<B: Tree>(parts: &B) -> usize {
    const HELP: &str =
        "help: split a batch with ramie::optim::microbatching::reshape_batch_axis(&batch, size, 0)";
    let mut first: Option<(String, usize)> = None;
    for (path, a) in tree::paths(parts).into_iter().zip(tree::leaves(parts)) {
        let Some(&n) = a.shape().first() else {
            panic!(
                "accumulate: `{path}` is {}, but must have a leading axis of microbatches\n  \
                 help: capture arrays that all microbatches share in the function",
                a.aval()
            )
        };
        match &first {
            Some((other, count)) => assert!(
                n == *count,
                "accumulate: `{other}` has {count} microbatches, but `{path}` has {n}\n  {HELP}"
            ),
            None => first = Some((path, n)),
        }
    }
    match first {
        Some((path, 0)) => panic!("accumulate: `{path}` has 0 microbatches\n  {HELP}"),
        Some((_, count)) => count,
        None => panic!("accumulate: the microbatches contain no arrays\n  {HELP}"),
    }
}
