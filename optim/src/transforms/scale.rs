//! Scaling by a step size.

use crate::base::extra_args::expect_params;
use crate::base::given::CheckedSetting;
use crate::base::numerics::{count_zero, safe_increment, safe_norm, safe_root_mean_squares};
use crate::base::options::options;
use crate::{GradientTransformation, Hyperparam, Schedule, tree};
use ramie_core::options::Reduction;
use ramie_core::{Array, where_};
use ramie_derive::Tree;

/// Multiplies updates by a number.
#[track_caller]
pub fn scale(step_size: impl Into<Hyperparam>) -> GradientTransformation {
    let step_size = step_size.into().given("step_size");
    GradientTransformation::stateless(move |updates, _| updates.map(|u| u * &step_size))
}

/// The state of [`scale_by_schedule`].
#[derive(Tree)]
pub struct ScaleByScheduleState {
    /// Number of steps, 0-d `i32`.
    pub count: Array,
}

/// Multiplies updates by a number that depends on the step.
#[track_caller]
pub fn scale_by_schedule(step_size: impl Into<Schedule>) -> GradientTransformation {
    let step_size = step_size.into().given("step_size");
    GradientTransformation::new(
        |_| ScaleByScheduleState {
            count: count_zero(),
        },
        move |updates, state: ScaleByScheduleState, _| {
            let step_size = step_size.at(&state.count);
            let updates = updates.map(|u| step_size.astype(u.dtype()) * u);
            let count = safe_increment(&state.count);
            (updates, ScaleByScheduleState { count })
        },
    )
}

/// Multiplies updates by the negative learning rate, a constant or a schedule with its own count.
/// It is the last transformation of a minimizer.
#[track_caller]
pub fn scale_by_learning_rate(learning_rate: impl Into<Schedule>) -> GradientTransformation {
    scale_by_rate(learning_rate.into().given("learning_rate"), true)
}

/// Multiplies updates by the learning rate like [`scale_by_learning_rate`], without negating it if
/// `flip_sign` is false: the last transformation of a maximizer.
#[doc(alias = "flip_sign")]
#[track_caller]
pub fn scale_by_learning_rate_with(
    learning_rate: impl Into<Schedule>,
    flip_sign: bool,
) -> GradientTransformation {
    scale_by_rate(learning_rate.into().given("learning_rate"), flip_sign)
}

/// Multiplies updates by a constant or a schedule with its own count; `flip` negates it.
pub(crate) fn scale_by_rate(schedule: Schedule, flip: bool) -> GradientTransformation {
    match schedule.as_hyperparam() {
        Some(rate) if flip => scale(rate.negative()),
        Some(rate) => scale(rate),
        None if flip => scale_by_schedule(Schedule::new(move |count| -schedule.at(count))),
        None => scale_by_schedule(schedule),
    }
}

/// Replaces updates by their signs.
///
/// Bernstein et al., *signSGD: Compressed Optimisation for Non-Convex
/// Problems*, 2018.
pub fn scale_by_sign() -> GradientTransformation {
    GradientTransformation::stateless(|updates, _| updates.map(|u| u.sign()))
}

/// Multiplies the update of each array by the norm of its parameter, or by `min_scale` if the
/// norm is smaller.
///
/// `update` panics if `params` is `None`.
#[track_caller]
pub fn scale_by_param_block_norm(min_scale: impl Into<Hyperparam>) -> GradientTransformation {
    let min_scale = min_scale.into().given("min_scale");
    GradientTransformation::stateless(move |updates, params| {
        let params = expect_params("scale_by_param_block_norm", params);
        updates.zip(params, |u, p| u * safe_norm(p, &min_scale))
    })
}

/// Multiplies the update of each array by the root mean square of its parameter, or by
/// `min_scale` if that is smaller.
///
/// `update` panics if `params` is `None`.
#[track_caller]
pub fn scale_by_param_block_rms(min_scale: impl Into<Hyperparam>) -> GradientTransformation {
    let min_scale = min_scale.into().given("min_scale");
    GradientTransformation::stateless(move |updates, params| {
        let params = expect_params("scale_by_param_block_rms", params);
        updates.zip(params, |u, p| u * safe_root_mean_squares(p, &min_scale))
    })
}

options! {
    /// Multiplies the update of each array by the trust ratio
    /// `trust_coefficient · ‖p‖ / (‖u‖ + eps)`. If either norm is zero, the update does not
    /// change.
    ///
    /// `update` panics if `params` is `None`.
    ///
    /// You et al., *Large Batch Optimization for Deep Learning*, 2019.
    scale_by_trust_ratio() -> ScaleByTrustRatio {
        /// Sets the lower bound of the norms. Smaller norms are replaced by it.
        min_norm: num = 0.0,
        /// Sets the factor that multiplies the ratio.
        trust_coefficient: num = 1.0,
        /// Sets the constant added to the norm of the update.
        eps: num = 0.0,
    }
    |o| GradientTransformation::stateless(move |updates, params| {
        let params = expect_params("scale_by_trust_ratio", params);
        updates.zip(params, |u, p| {
            let (p_norm, u_norm) = (safe_norm(p, &o.min_norm), safe_norm(u, &o.min_norm));
            let ratio = &p_norm * &o.trust_coefficient / (&u_norm + &o.eps);
            let zero = p_norm.eq(0.0).bitwise_or(u_norm.eq(0.0));
            u * where_(&zero, Array::scalar(1.0, p.dtype()), ratio)
        })
    })
}

options! {
    /// Divides all updates by `(‖u‖ + eps) / scale_factor`, where `‖u‖` is their global norm.
    normalize_by_update_norm() -> NormalizeByUpdateNorm {
        /// Sets the norm of the updates after normalization.
        scale_factor: num = 1.0,
        /// Sets the constant added to the norm.
        eps: num = 1e-6,
    }
    |o| GradientTransformation::stateless(move |updates, _| {
        let norm = (tree::norm(&updates) + &o.eps) / &o.scale_factor;
        updates.map(|u| u / &norm)
    })
}

/// Subtracts the mean over all axes but the first from arrays with two or more axes.
///
/// Yong et al., *Gradient Centralization*, 2020.
pub fn centralize() -> GradientTransformation {
    GradientTransformation::stateless(|updates, _| {
        updates.map(|u| {
            let axes: Vec<isize> = (1..u.ndim() as isize).collect();
            if axes.is_empty() {
                u.clone()
            } else {
                u - u.mean_over(Reduction::over(&axes).keepdims())
            }
        })
    })
}
