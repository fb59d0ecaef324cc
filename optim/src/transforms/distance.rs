//! Step sizes from the distance to the initial parameters.

use crate::GradientTransformation;
use crate::base::extra_args::expect_params;
use crate::base::options::options;
use ramie_core::{Array, DType, State};
use ramie_derive::Tree;

/// The state of [`scale_by_distance_over_gradients`].
#[derive(Tree)]
pub struct ScaleByDistanceOverGradientsState {
    /// Maximum distance of each array from its initial value, 0-d each.
    pub max_dist: State,
    /// Sum of the squared norms of each array's gradients, one element each.
    pub grad_sum_of_squares: State,
    /// Initial parameters.
    pub init_params: State,
}

options! {
    /// Multiplies the update of each array by its maximum distance from the initial value over
    /// the root of the sum of squared gradients. No learning rate is needed.
    ///
    /// `update` panics if `params` is `None`.
    ///
    /// Ivgi et al., *DoG is SGD's Best Friend*, 2023.
    scale_by_distance_over_gradients() -> ScaleByDistanceOverGradients {
        /// Sets the initial distance of an array, as a fraction of one plus the norm of its
        /// parameter.
        reps_rel: num = 1e-6,
        /// Sets the constant added inside the square root.
        eps: num = 1e-8,
        /// Sets the dtype in which the initial parameters are stored.
        param_dtype: DType = DType::F32,
        /// Sets the factor that multiplies all steps.
        global_scale: num = 1.0,
    }
    |o| {
        let (reps, dtype) = (o.reps_rel.clone(), o.param_dtype);
        let length = |x: Array| x.square().sum().sqrt();
        GradientTransformation::new(
            move |params| ScaleByDistanceOverGradientsState {
                max_dist: params.map(|p| (length(p.clone()) + 1.0) * &reps),
                grad_sum_of_squares: params.map(|_| Array::zeros(&[1], DType::F32)),
                init_params: params.astype(dtype),
            },
            move |updates, state: ScaleByDistanceOverGradientsState, params| {
                let params = expect_params("scale_by_distance_over_gradients", params);
                let gone = params.zip(&state.init_params, |p, first| length(p - first));
                let max_dist = state.max_dist.zip(&gone, |d, now| d.maximum(now));
                let grad_sum_of_squares =
                    state.grad_sum_of_squares.zip(&updates, |sum, g| sum + g.square().sum());
                let rate = max_dist.zip(&grad_sum_of_squares, |d, sum| {
                    d / (sum + &o.eps).sqrt() * &o.global_scale
                });
                let updates = updates.zip(&rate, |g, rate| rate.reshape(()) * g);
                let init_params = state.init_params;
                (updates, ScaleByDistanceOverGradientsState { max_dist, grad_sum_of_squares, init_params })
            },
        )
    }
}
