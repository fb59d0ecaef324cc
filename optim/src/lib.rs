//! Composable gradient transformations, schedules and losses, modeled on Optax.
//!
//! An optimizer is a [`GradientTransformation`]: `init` creates its state from the parameters,
//! and `update` turns gradients into updates. Larger optimizers are chains of smaller
//! transformations: [`adamw`] is
//! `chain((scale_by_adam(), add_decayed_weights(…), scale_by_learning_rate(…)))`.
//!
//! A function with options returns a builder named after it. The builder has one method for each
//! option and converts into a transformation: `adam(1e-3).b2(0.99)`.
//!
//! Most users use this crate through `ramie`, which re-exports it.
#![forbid(unsafe_code)]

mod alias;
pub mod assignment;
mod base;
pub mod contrib;
pub mod losses;
pub mod microbatching;
pub mod perturbations;
pub mod projections;
pub mod schedules;
pub mod second_order;
mod transforms;
pub mod tree;

pub use alias::*;
pub use base::extra_args::ExtraArgs;
pub use base::hyperparam::Hyperparam;
pub use base::linear_algebra::{
    InversePthRoot, PowerIteration, matrix_inverse_pth_root, nnls, power_iteration,
    power_iteration_of,
};
pub use base::moments::{
    bias_correction, update_infinity_moment, update_moment, update_moment_per_elem_norm,
};
pub use base::numerics::{
    global_norm, safe_increment, safe_norm, safe_norm_over, safe_root_mean_squares, scale_gradient,
};
pub use base::rounding::{KahanSummationState, StochasticRoundingState};
pub use base::state_dtype::{StateDtypeState, state_dtype};
pub use base::transformation::{GradientTransformation, OptState, identity, set_to_zero};
pub use base::update::{apply_updates, incremental_update, periodic_update};
pub use losses::{
    cosine_distance, cosine_similarity, ctc_loss, hinge_loss, huber_loss, kl_divergence, l2_loss,
    log_cosh, poly_loss_cross_entropy, quantile_loss, safe_softmax_cross_entropy,
    sigmoid_binary_cross_entropy, sigmoid_focal_loss, smooth_labels, softmax_cross_entropy,
    softmax_cross_entropy_with_integer_labels, squared_error,
};
pub use microbatching::microbatch;
pub use schedules::{
    Schedule, constant_schedule, cosine_decay_schedule, exponential_decay, join_schedules,
    linear_schedule, piecewise_constant_schedule, polynomial_schedule,
    warmup_cosine_decay_schedule,
};
pub use transforms::adam::{
    ScaleByAdam, ScaleByAdamState, ScaleByAdamax, ScaleByAmsgrad, ScaleByAmsgradState,
    ScaleByRadam, ScaleByYogi, scale_by_adam, scale_by_adamax, scale_by_amsgrad, scale_by_radam,
    scale_by_yogi,
};
pub use transforms::adan::{ScaleByAdan, ScaleByAdanState, scale_by_adan};
pub use transforms::belief::{ScaleByBelief, ScaleByBeliefState, scale_by_belief};
pub use transforms::chain::{Transformations, chain, named_chain};
pub use transforms::clip::{
    AdaptiveGradClip, adaptive_grad_clip, clip, clip_by_block_rms, clip_by_global_norm,
    per_example_global_norm_clip, per_example_layer_norm_clip,
};
pub use transforms::condition::{
    ApplyIfFiniteState, ConditionallyMaskState, ConditionallyTransformState, apply_if_finite,
    conditionally_mask, conditionally_transform,
};
pub use transforms::constrain::{ZeroNansState, keep_params_nonnegative, zero_nans};
pub use transforms::decay::{WeightDecaySchedule, add_decayed_weights, add_decayed_weights_with};
pub use transforms::distance::{
    ScaleByDistanceOverGradients, ScaleByDistanceOverGradientsState,
    scale_by_distance_over_gradients,
};
pub use transforms::factored::{FactoredState, ScaleByFactoredRms, scale_by_factored_rms};
pub use transforms::flatten::flatten;
pub use transforms::inject::{
    Hyperparams, InjectHyperparams, InjectHyperparamsState, StatefulSchedule, inject_hyperparams,
};
pub use transforms::lbfgs::{ScaleByLbfgs, ScaleByLbfgsState, scale_by_lbfgs};
pub use transforms::linesearch::{
    BacktrackingLinesearchInfo, InitialGuess, ScaleByBacktrackingLinesearch,
    ScaleByBacktrackingLinesearchState, ScaleByZoomLinesearch, ScaleByZoomLinesearchState,
    ZoomLinesearchInfo, scale_by_backtracking_linesearch, scale_by_zoom_linesearch,
    value_and_grad_from_state,
};
pub use transforms::lion::{LionMode, ScaleByLion, ScaleByLionState, scale_by_lion};
pub use transforms::lookahead::{
    Lookahead, LookaheadParams, LookaheadState, SyncPeriod, lookahead,
};
pub use transforms::low_precision::{kahan_summation, stochastic_rounding};
pub use transforms::masked::{Mask, MaskedState, freeze, masked, masked_by};
pub use transforms::momentum::{
    ApplyEveryState, Ema, EmaState, Trace, TraceState, apply_every, ema, trace,
};
pub use transforms::monitor::{
    MonitorState, SnapshotState, measure, measure_with_ema, monitor, snapshot,
};
pub use transforms::multi_steps::{
    MultiSteps, MultiStepsState, multi_steps, multi_steps_by, skip_large_updates, skip_not_finite,
};
pub use transforms::noise::{AddNoiseState, add_noise};
pub use transforms::novograd::{ScaleByNovograd, ScaleByNovogradState, scale_by_novograd};
pub use transforms::optimistic::{
    ScaleByOptimisticGradient, ScaleByOptimisticGradientState, scale_by_optimistic_gradient,
};
pub use transforms::partition::{PartitionState, partition, selective_transform};
pub use transforms::polyak::{PolyakVariant, ScaleByPolyak, scale_by_polyak};
pub use transforms::rms::{
    ScaleByAdaDeltaState, ScaleByAdadelta, ScaleByRStdDevState, ScaleByRStdDevWithCountState,
    ScaleByRms, ScaleByRmsState, ScaleByRmsWithCountState, ScaleByRss, ScaleByRssState,
    ScaleByStddev, scale_by_adadelta, scale_by_rms, scale_by_rss, scale_by_stddev,
};
pub use transforms::rprop::{ScaleByRprop, ScaleByRpropState, scale_by_rprop};
pub use transforms::scale::{
    NormalizeByUpdateNorm, ScaleByScheduleState, ScaleByTrustRatio, centralize,
    normalize_by_update_norm, scale, scale_by_learning_rate, scale_by_learning_rate_with,
    scale_by_param_block_norm, scale_by_param_block_rms, scale_by_schedule, scale_by_sign,
    scale_by_trust_ratio,
};
pub use transforms::scaled::Scaled;
pub use transforms::sm3::{ScaleBySm3, ScaleBySm3State, scale_by_sm3};
