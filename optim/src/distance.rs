//! Step sizes by the distance from the beginning.

use crate::GradientTransformation;
use crate::extra_args::expect_params;
use crate::options::options;
use ramie_core::{Array, DType, State};
use ramie_derive::Tree;

/// The state of [`scale_by_distance_over_gradients`].
#[derive(Tree)]
pub struct ScaleByDistanceOverGradientsState {
    /// The greatest distance of each array from the beginning, 0-d each.
    pub max_dist: State,
    /// The sum of the squared norms of each array's gradients, one element each.
    pub grad_sum_of_squares: State,
    /// The parameters of the beginning.
    pub init_params: State,
}

options! {
    /// Scales each array's update by its greatest distance from the beginning
    /// over the root of the sum of squared gradients, so that no learning rate
    /// need be chosen.
    ///
    /// Its `update` panics if it is not given the parameters.
    ///
    /// Ivgi et al., *DoG is SGD's Best Friend*, 2023.
    scale_by_distance_over_gradients() -> ScaleByDistanceOverGradients {
        /// The first distance, as a part of the norm of the parameters.
        reps_rel: num = 1e-6,
        /// Added inside the square root.
        eps: num = 1e-8,
        /// The element type of the parameters kept.
        param_dtype: DType = DType::F32,
        /// Multiplies all steps.
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
                let updates = updates.zip(&rate, |g, rate| rate.reshape(&[]) * g);
                let init_params = state.init_params;
                (updates, ScaleByDistanceOverGradientsState { max_dist, grad_sum_of_squares, init_params })
            },
        )
    }
}
