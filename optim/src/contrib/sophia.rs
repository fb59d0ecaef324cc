//! Sophia: clipped steps, divided by the diagonal of the Hessian.

use crate::base::extra_args::expect_params;
use crate::base::moments::{bias_correction, update_moment};
use crate::base::numerics::{count_zero, safe_increment};
use crate::base::options::options;
use crate::{ExtraArgs, GradientTransformation, OptState, Scaled, Schedule, tree};
use ramie_core::lax::cond;
use ramie_core::random::{self, Key};
use ramie_core::{Array, DType, State, grad, jvp};
use ramie_derive::Tree;

/// The state of [`hutchinson_estimator_diag_hessian`].
#[derive(Tree)]
pub struct HutchinsonState {
    /// RNG key of the random signs of the following steps.
    pub key: Key,
}

/// Replaces updates by an estimate of the diagonal of the objective's Hessian, `r · (H r)` for
/// random signs `r`.
///
/// `update` panics if `params` is `None` or [`ExtraArgs::value_fn`] is missing.
///
/// Hutchinson, *A stochastic estimator of the trace of the influence matrix*,
/// 1989.
pub fn hutchinson_estimator_diag_hessian(key: Key) -> GradientTransformation {
    const NAME: &str = "hutchinson_estimator_diag_hessian";
    GradientTransformation::with_extra_args(
        move |_| HutchinsonState { key: key.clone() },
        |_, state: HutchinsonState, params, extra: &ExtraArgs<'_>| {
            let params = expect_params(NAME, params);
            let value_fn = extra.expect_value_fn(NAME);
            let [key, sub] = state.key.split_into::<2>();
            let signs = tree::random_like(&sub, params, |key, p| {
                random::rademacher(key, p.shape(), DType::F32).astype(p.dtype())
            });
            let gradient = |p: State| grad(|p: State| value_fn(&p))(p);
            let (_, product) = jvp(gradient, params.clone(), signs.clone());
            (tree::mul(&product, &signs), HutchinsonState { key })
        },
    )
}

/// The state of [`scale_by_sophia`].
#[derive(Tree)]
pub struct SophiaState {
    /// Number of steps, 0-d `i32`.
    pub count: Array,
    /// Decaying mean of the updates.
    pub mu: State,
    /// Decaying mean of the diagonal of the Hessian.
    pub nu: State,
    /// The state of the Hessian estimator.
    pub hessian_fn_state: OptState,
}

fn hutchinson() -> GradientTransformation {
    hutchinson_estimator_diag_hessian(random::key(0))
}

/// An optional number.
type MaybeNumber = Option<f64>;

options! {
    /// Divides the mean of the updates by the diagonal of the Hessian and clips the steps.
    ///
    /// `update` panics if `params` is `None` or [`ExtraArgs::value_fn`] is missing.
    ///
    /// Liu et al., *Sophia: A Scalable Stochastic Second-order Optimizer for
    /// Language Model Pre-training*, 2023.
    scale_by_sophia() -> ScaleBySophia in Scaled {
        /// Sets the decay rate of the mean of the updates.
        b1: num = 0.965,
        /// Sets the decay rate of the mean of the diagonal.
        b2: num = 0.99,
        /// Sets the lower bound of the denominator.
        eps: num = 1e-8,
        /// Sets the factor that multiplies the diagonal.
        gamma: num = 0.01,
        /// Sets the maximum step of an element. `None` means no limit.
        clip_threshold: MaybeNumber = Some(1.0),
        /// Sets the number of steps between two estimates of the diagonal.
        update_interval: count = 10,
        /// Sets the transformation that estimates the diagonal. Defaults to
        /// `hutchinson_estimator_diag_hessian` with the key `random::key(0)`.
        hessian_diagonal_fn: tx = hutchinson(),
        /// Sets the dtype of the mean. Defaults to that of the parameters, but at least `f32`.
        mu_dtype: dtype,
    }
    |o| {
        let (first, dtype) = (o.hessian_diagonal_fn.clone(), o.mu_dtype);
        GradientTransformation::with_extra_args(
            move |params| SophiaState {
                count: count_zero(),
                mu: tree::zeros_like(params, dtype),
                nu: params.zeros_like(),
                hessian_fn_state: first.init(params),
            },
            move |grads, state: SophiaState, params, extra: &ExtraArgs<'_>| {
                let params = expect_params("scale_by_sophia", params);
                let count = safe_increment(&state.count);
                let mu = update_moment(&grads, &state.mu, &o.b1, 1);
                let mean = bias_correction(&mu, &o.b1, &count);
                let steps = mean.zip(&state.nu, |m, h| m / (h * &o.gamma).maximum(&o.eps));
                let steps = match o.clip_threshold {
                    Some(most) => tree::clip(&steps, -most, most),
                    None => steps,
                };
                let due = state.count.remainder(o.update_interval as i32).eq(0);
                let (hessian_fn_state, nu) = cond(
                    due,
                    |(h, nu): (OptState, State)| {
                        let (diagonal, h) =
                            o.hessian_diagonal_fn.update_with(grads.clone(), h, Some(params), extra);
                        (h, update_moment(&diagonal, &nu, &o.b2, 1))
                    },
                    |s| s,
                    (state.hessian_fn_state, state.nu),
                );
                let mu = tree::cast(&mu, dtype);
                (steps, SophiaState { count, mu, nu, hessian_fn_state })
            },
        )
    }
}

/// The options of [`sophia`].
pub type Sophia = Scaled<ScaleBySophia>;

/// Creates a Sophia optimizer, which takes clipped steps, divided by an estimate of the
/// diagonal of the Hessian.
///
/// `update` panics if `params` is `None` or [`ExtraArgs::value_fn`] is missing.
///
/// ```
/// use ramie_optim::contrib::sophia;
/// let tx = sophia(1e-3);
/// ```
///
/// The weight decay defaults to 1e-4.
///
/// Liu et al., *Sophia: A Scalable Stochastic Second-order Optimizer for
/// Language Model Pre-training*, 2023.
#[track_caller]
pub fn sophia(learning_rate: impl Into<Schedule>) -> Sophia {
    Scaled::new(scale_by_sophia(), learning_rate).weight_decay(1e-4)
}
