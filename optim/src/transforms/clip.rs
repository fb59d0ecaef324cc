//! Limits on the size of updates.

use crate::base::extra_args::expect_params;
use crate::base::given::CheckedSetting;
use crate::base::options::options;
use crate::base::wide::wide_state;
use crate::tree::abs_sq;
use crate::{GradientTransformation, Hyperparam, global_norm, tree};
use ramie_core::options::Reduction;
use ramie_core::{Array, IntoArray, State, vmap, where_};

/// Clips each element to the interval from `-max_delta` to `max_delta`.
#[track_caller]
pub fn clip(max_delta: impl Into<Hyperparam>) -> GradientTransformation {
    let max_delta = max_delta.into().given("max_delta");
    GradientTransformation::stateless(move |updates, _| {
        tree::clip(&updates, max_delta.negative(), &max_delta)
    })
}

/// Scales all updates down together so that their [`global_norm`] is at most `max_norm`.
///
/// Pascanu et al., *On the difficulty of training recurrent neural networks*,
/// 2013.
#[track_caller]
pub fn clip_by_global_norm(max_norm: impl Into<Hyperparam>) -> GradientTransformation {
    let max_norm = max_norm.into().given("max_norm");
    GradientTransformation::stateless(move |updates, _| {
        if updates.is_empty() {
            return updates;
        }
        let norm = global_norm(&updates);
        // A norm and a limit of 0 would give 0 / 0.
        let small = norm.le(&max_norm);
        updates.map(|u| where_(&small, u, (u / norm.astype(u.dtype())) * &max_norm))
    })
}

/// Scales each array down so that its root mean square is at most `threshold`.
///
/// Shazeer and Stern, *Adafactor*, 2018.
#[track_caller]
pub fn clip_by_block_rms(threshold: impl Into<Hyperparam>) -> GradientTransformation {
    let threshold = threshold.into().given("threshold");
    GradientTransformation::stateless(move |updates, _| {
        updates.map(|u| u / (abs_sq(u).mean().sqrt() / &threshold).maximum(1.0))
    })
}

/// Computes the norm of each unit of an array over `axes`, broadcast to the shape of the array.
///
/// The default axes are the first axis of arrays with two or three axes, and all axes but the
/// last (the outputs) of arrays with four or five. If at most one axis is longer than 1, the norm
/// is over all elements.
///
/// # Panics
/// Panics if `axes` is `None` and there is no default.
#[track_caller]
fn unitwise_norm(x: &Array, axes: Option<&[isize]>) -> Array {
    let over = match axes {
        Some(axes) => axes.into(),
        None if x.shape().iter().filter(|d| **d != 1).count() <= 1 => Reduction::all(),
        None => match x.ndim() {
            2 | 3 => Reduction::over(0),
            4 => Reduction::over([0, 1, 2]),
            5 => Reduction::over([0, 1, 2, 3]),
            _ => panic!(
                "adaptive_grad_clip: there are no default axes for {}\n  help: set the axes over \
                 which norms are computed, for example `.axes(Some(vec![0]))`",
                x.aval()
            ),
        },
    };
    let sum = abs_sq(x).sum_over(over.keepdims());
    sum.sqrt().broadcast_to(x.shape())
}

/// An optional list of axes.
type Axes = Option<Vec<isize>>;

options! {
    /// Scales the updates of each unit (such as the weights of a neuron) down to at most
    /// `clipping` times the norm of its parameters.
    ///
    /// `update` panics if `params` is `None`.
    ///
    /// ```
    /// use ramie_optim::{adaptive_grad_clip, chain, sgd};
    /// let tx = chain((adaptive_grad_clip(0.01), sgd(0.1)));
    /// ```
    ///
    /// Brock et al., *High-Performance Large-Scale Image Recognition Without
    /// Normalization*, 2021.
    adaptive_grad_clip(clipping: num) -> AdaptiveGradClip {
        /// Sets the lower bound of the norms of parameters. Smaller norms are replaced by it.
        eps: num = 1e-3,
        /// Sets the axes of a unit, over which norms are computed. `None` means the first axis of
        /// arrays with two or three axes, all axes but the last of arrays with four or five, and
        /// all axes of vectors.
        axes: Axes = None,
    }
    |o| GradientTransformation::stateless(move |updates, params| {
        let params = expect_params("adaptive_grad_clip", params);
        let axes = o.axes.as_deref();
        updates.zip(params, |g, p| {
            let norm = unitwise_norm(g, axes);
            let limit = unitwise_norm(p, axes).maximum(&o.eps) * &o.clipping;
            let clipped = g * (&limit / norm.maximum(1e-6));
            where_(norm.lt(&limit), g, clipped)
        })
    })
}

/// Returns the length of the first axis of all arrays, which must be equal.
#[track_caller]
fn batch_size(operation: &str, grads: &State) -> usize {
    let lengths = grads.arrays().iter().map(|g| g.shape().first().copied());
    let mut lengths: Vec<Option<usize>> = lengths.collect();
    lengths.dedup();
    match lengths[..] {
        [Some(n)] => n,
        _ => panic!(
            "{operation}: expected per-example gradients, stacked along the first axis of every \
             array, got {grads:?}\n  help: compute them with vmap(grad(loss))"
        ),
    }
}

/// Clips the gradients of each example, stacked along the first axis, to the norm `l2_norm_clip`
/// and sums them in at least `f32`. Returns the sums and the number of clipped examples.
///
/// Abadi et al., *Deep Learning with Differential Privacy*, 2016.
///
/// # Panics
/// Panics if the first axes of the arrays differ in length.
#[track_caller]
pub fn per_example_global_norm_clip(
    grads: &State,
    l2_norm_clip: impl Into<Hyperparam>,
) -> (State, Array) {
    batch_size("per_example_global_norm_clip", grads);
    let limit = l2_norm_clip.into();
    let grads = &*wide_state(grads);
    let norms = vmap(|g: State| tree::norm(&g))(grads.clone());
    let ratio = (&limit).into_array() / &norms;
    let multipliers = ratio.minimum(1.0);
    let multipliers = where_(multipliers.is_nan(), 1.0, multipliers);
    let clipped = multipliers.lt(1.0).astype(ramie_core::DType::I32).sum();
    // An example with an infinite norm is dropped; 0 times its gradient would be NaN.
    let kept = multipliers.ne(0);
    let sum = |g: &Array| {
        let axes: Vec<isize> = (1..g.ndim() as isize).collect();
        multipliers.tensordot(where_(kept.expand_dims(&axes), g, 0), 1)
    };
    (grads.map(sum), clipped)
}

/// Clips the per-example gradients of each array separately and sums them. The limits combine to
/// `global_l2_norm_clip`: they are equal if `uniform`, otherwise weighted by the sizes of the
/// arrays. Returns the sums and, for each array, the number of clipped examples.
///
/// McMahan et al., *Learning Differentially Private Recurrent Language
/// Models*, 2018.
///
/// # Panics
/// Panics if the first axes of the arrays differ in length.
#[track_caller]
pub fn per_example_layer_norm_clip(
    grads: &State,
    global_l2_norm_clip: f64,
    uniform: bool,
) -> (State, State) {
    let n = batch_size("per_example_layer_norm_clip", grads);
    let total = tree::size(grads) as f64 / n as f64;
    let clip = |path: &str, g: &Array| {
        let share = if uniform {
            1.0 / grads.len() as f64
        } else {
            (g.size() as f64 / n as f64) / total
        };
        let alone = State::from_iter([(path, g.clone())]);
        let (sum, clipped) =
            per_example_global_norm_clip(&alone, global_l2_norm_clip * share.sqrt());
        (sum.arrays()[0].clone(), clipped)
    };
    (
        grads.map_with_path(|path, g| clip(path, g).0),
        grads.map_with_path(|path, g| clip(path, g).1),
    )
}
