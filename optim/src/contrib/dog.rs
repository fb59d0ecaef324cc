//! Step sizes from the distance to the initial parameters, for all parameters together.

use crate::base::extra_args::expect_params;
use crate::base::given::{CheckedSetting, check_number};
use crate::base::options::{Predicate, options};
use crate::base::wide::number_dtype;
use crate::{
    GradientTransformation, Hyperparam, Schedule, chain, identity, scale_by_learning_rate, tree,
};
use ramie_core::{Array, DType, IntoArray, State, where_};
use ramie_derive::Tree;

/// The state of [`scale_by_dog`].
#[doc(alias = "DoGState")]
#[derive(Tree)]
pub struct DogState {
    /// Whether no step was made yet, 0-d `bool`.
    pub is_init_step: Array,
    /// Initial parameters.
    pub init_params: State,
    /// Maximum distance from the initial parameters, 0-d.
    pub max_dist: Array,
    /// Sum of the squared norms of all gradients, 0-d.
    pub sum_sq_norm_grads: Array,
}

/// The choice of the first step of [`scale_by_dog`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DogInit {
    /// Initial estimate of the distance.
    Distance(f64),
    /// Initial learning rate.
    LearningRate(f64),
    /// Initial estimate of the distance, as a multiple of one plus the norm of the parameters.
    Heuristic(f64),
}

impl CheckedSetting for DogInit {
    #[track_caller]
    fn given(self, name: &str) -> DogInit {
        let (DogInit::Distance(n) | DogInit::LearningRate(n) | DogInit::Heuristic(n)) = self;
        check_number(name, n);
        self
    }
}

fn number(value: impl Into<Hyperparam>, dtype: DType) -> Array {
    value.into().into_array().astype(dtype)
}

options! {
    /// Multiplies updates by the maximum distance from the initial parameters over the root of
    /// the sum of squared gradients.
    ///
    /// `update` panics if `params` is `None`.
    ///
    /// Ivgi et al., *DoG is SGD's Best Friend*, 2023.
    scale_by_dog() -> ScaleByDog {
        /// Sets how the first step is chosen.
        init_step: DogInit = DogInit::Heuristic(1e-6),
        /// Sets the constant added inside the square root.
        eps: num = 1e-8,
    }
    |o| {
        let init_step = o.init_step;
        GradientTransformation::new(
            move |params| {
                let dtype = number_dtype(params);
                DogState {
                    is_init_step: Array::scalar(true, DType::Bool),
                    init_params: params.clone(),
                    max_dist: match init_step {
                        DogInit::Distance(d) => number(d, dtype),
                        DogInit::LearningRate(_) => number(0.0, dtype),
                        DogInit::Heuristic(part) => ((tree::norm(params) + 1.0) * part).astype(dtype),
                    },
                    sum_sq_norm_grads: number(0.0, dtype),
                }
            },
            move |updates, state: DogState, params| {
                let params = expect_params("scale_by_dog", params);
                let max_dist = state.max_dist.maximum(tree::norm(&tree::sub(&state.init_params, params)));
                let sum_sq_norm_grads = &state.sum_sq_norm_grads + tree::squared_norm(&updates);
                let rate = &max_dist / (&sum_sq_norm_grads + &o.eps).sqrt();
                let rate = match init_step {
                    DogInit::LearningRate(first) => where_(&state.is_init_step, first, rate),
                    _ => rate,
                };
                let state = DogState {
                    is_init_step: Array::scalar(false, DType::Bool),
                    init_params: state.init_params,
                    max_dist,
                    sum_sq_norm_grads,
                };
                (tree::scale(rate, &updates), state)
            },
        )
    }
}

/// Returns weight decay if there is a strength, otherwise the identity.
fn maybe_decay(strength: Option<Hyperparam>, mask: Option<Predicate>) -> GradientTransformation {
    match strength {
        Some(strength) => crate::transforms::decay::decay(Schedule::from(strength), mask),
        None => identity(),
    }
}

options! {
    /// Creates a DoG optimizer: gradient descent with a learning rate computed from the distance
    /// to the initial parameters. Use an average of the parameters for evaluation.
    ///
    /// `update` panics if `params` is `None`.
    ///
    /// ```
    /// use ramie_optim::contrib::dog;
    /// let tx = dog();
    /// ```
    ///
    /// Ivgi et al., *DoG is SGD's Best Friend*, 2023.
    dog() -> Dog {
        /// Sets the factor that multiplies the estimated learning rate.
        learning_rate: schedule = 1.0,
        /// Sets how the first step is chosen.
        init_step: DogInit = DogInit::Heuristic(1e-6),
        /// Sets the constant added inside the square root.
        eps: num = 1e-8,
        /// Sets the strength of weight decay. Defaults to no weight decay.
        weight_decay: optional,
        /// Sets the predicate that selects the parameters to decay by path and array. Defaults to
        /// all.
        mask: mask,
    }
    |o| chain((
        maybe_decay(o.weight_decay, o.mask),
        ScaleByDog { init_step: o.init_step, eps: o.eps },
        scale_by_learning_rate(o.learning_rate),
    ))
}

/// The state of [`scale_by_dowg`].
#[doc(alias = "DoWGState")]
#[derive(Tree)]
pub struct DowgState {
    /// Initial parameters.
    pub init_params: State,
    /// Weighted sum of the squared norms of all gradients, 0-d.
    pub weighted_sq_norm_grads: Array,
    /// Largest squared distance from the initial parameters, 0-d.
    pub estim_sq_dist: Array,
}

options! {
    /// Multiplies updates like [`scale_by_dog`], with gradients weighted by the distance.
    ///
    /// `update` panics if `params` is `None`.
    ///
    /// Khaled et al., *DoWG Unleashed*, 2023.
    scale_by_dowg() -> ScaleByDowg {
        /// Sets the initial estimate of the squared distance. Defaults to `eps`.
        init_estim_sq_dist: optional,
        /// Sets the constant added to the denominator.
        eps: num = 1e-4,
    }
    |o| {
        let first = o.init_estim_sq_dist.clone().unwrap_or_else(|| o.eps.clone());
        GradientTransformation::new(
            move |params| {
                let dtype = number_dtype(params);
                DowgState {
                    init_params: params.clone(),
                    weighted_sq_norm_grads: number(0.0, dtype),
                    estim_sq_dist: number(&first, dtype),
                }
            },
            move |updates, state: DowgState, params| {
                let params = expect_params("scale_by_dowg", params);
                let gone = tree::squared_norm(&tree::sub(&state.init_params, params));
                let estim_sq_dist = state.estim_sq_dist.maximum(gone);
                let weighted_sq_norm_grads =
                    &estim_sq_dist * tree::squared_norm(&updates) + &state.weighted_sq_norm_grads;
                let rate = &estim_sq_dist / (weighted_sq_norm_grads.sqrt() + &o.eps);
                let init_params = state.init_params;
                let state = DowgState { init_params, weighted_sq_norm_grads, estim_sq_dist };
                (tree::scale(rate, &updates), state)
            },
        )
    }
}

options! {
    /// Creates a DoWG optimizer: [`dog`] with gradients weighted by the distance.
    ///
    /// `update` panics if `params` is `None`.
    ///
    /// ```
    /// use ramie_optim::contrib::dowg;
    /// let tx = dowg();
    /// ```
    ///
    /// Khaled et al., *DoWG Unleashed*, 2023.
    dowg() -> Dowg {
        /// Sets the factor that multiplies the estimated learning rate.
        learning_rate: schedule = 1.0,
        /// Sets the initial estimate of the squared distance. Defaults to `eps`.
        init_estim_sq_dist: optional,
        /// Sets the constant added to the denominator.
        eps: num = 1e-4,
        /// Sets the strength of weight decay. Defaults to no weight decay.
        weight_decay: optional,
        /// Sets the predicate that selects the parameters to decay by path and array. Defaults to
        /// all.
        mask: mask,
    }
    |o| chain((
        maybe_decay(o.weight_decay, o.mask),
        ScaleByDowg { init_estim_sq_dist: o.init_estim_sq_dist, eps: o.eps },
        scale_by_learning_rate(o.learning_rate),
    ))
}
