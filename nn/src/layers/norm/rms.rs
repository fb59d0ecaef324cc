//! `RMSNorm`: root mean square normalization.

use super::statistics::{Normalization, Statistics, positive_axes};
use super::{linen_feature_norm, norm_hyperparameters};
use crate::nnx::observed;
use crate::{Module, Param, Rngs, Vars};
use ramie_core::{Array, DType};

/// Divides each example by its root mean square (`nnx.RMSNorm`, `nn.RMSNorm`).
///
/// ```no_run
/// use ramie_core::{Array, DType};
/// use ramie_nn::{RMSNorm, Rngs};
/// let norm = RMSNorm::new(64, &mut Rngs::new(0));
/// let x = Array::ones(&[32, 64], DType::F32);
/// assert_eq!(norm.forward(&x).shape(), [32, 64]);
/// ```
#[derive(Clone, Debug, Module)]
pub struct RMSNorm {
    /// The scale of each feature, if any.
    pub scale: Option<Param>,
    /// The axes over which the statistics are computed.
    pub reduction_axes: Vec<isize>,
    /// The feature axes.
    pub feature_axes: Vec<isize>,
    /// The constant added to the mean square before the square root.
    pub epsilon: f64,
    /// The dtype of the result. Defaults to the dtype that the input and the parameters promote
    /// to.
    pub dtype: Option<DType>,
    /// How the mean square is computed.
    #[tree(fixed)]
    pub statistics: Statistics,
}

norm_hyperparameters! {
    /// Options of an [`RMSNorm`] layer.
    ///
    /// As a Linen module, its argument is an array, or an array and a mask.
    RMSNormConfig as "RMSNorm", epsilon 1e-6 {
        /// Sets the axes over which the statistics are computed. Defaults to the last axis.
        reduction_axes: [Vec<isize>] = vec![-1],
        /// Sets the feature axes. Defaults to the last axis.
        feature_axes: [Vec<isize>] = vec![-1],
    }
}

impl RMSNorm {
    /// Creates a layer for inputs of `num_features`, with scale one.
    #[track_caller]
    pub fn new(num_features: usize, rngs: &mut Rngs) -> RMSNorm {
        RMSNorm::config().build(num_features, rngs)
    }

    /// Returns the default options; [`build`](RMSNormConfig::build) creates the layer.
    pub fn config() -> RMSNormConfig {
        RMSNormConfig::new()
    }

    /// Normalizes the input; the shape is unchanged.
    ///
    /// # Panics
    /// Panics if the input does not have the layer's features, or lacks one of its axes.
    #[track_caller]
    pub fn forward(&self, x: &Array) -> Array {
        observed!(self, |layer, x| layer.forward_masked(x, None))
    }

    /// Like [`forward`](RMSNorm::forward), with an optional mask. The statistics only include
    /// elements where the mask, which broadcasts to the input, is true.
    ///
    /// # Panics
    /// Panics as [`forward`](RMSNorm::forward) does, and if the mask does not broadcast to the
    /// input.
    #[track_caller]
    pub fn forward_masked(&self, x: &Array, mask: Option<&Array>) -> Array {
        let class = RMSNormConfig::CLASS;
        let normalization = Normalization {
            class,
            reduction_axes: &positive_axes(class, x, &self.reduction_axes),
            feature_axes: &positive_axes(class, x, &self.feature_axes),
            scale: self.scale.as_ref(),
            bias: None,
            epsilon: self.epsilon,
            dtype: self.dtype,
        };
        normalization.by_own(x, mask, &self.statistics, false)
    }
}

impl RMSNormConfig {
    /// Builds the layer for inputs of `num_features`.
    ///
    /// A new scale takes a key from the stream `params`.
    #[track_caller]
    pub fn build<'a>(&self, num_features: usize, vars: impl Into<Vars<'a>>) -> RMSNorm {
        self.build_for(&[num_features], &mut vars.into())
    }

    #[track_caller]
    fn build_for(&self, features: &[usize], vars: &mut Vars<'_>) -> RMSNorm {
        RMSNorm {
            scale: self.scale(vars, features),
            reduction_axes: self.reduction_axes.clone(),
            feature_axes: self.feature_axes.clone(),
            epsilon: self.epsilon,
            dtype: self.dtype,
            statistics: self.statistics(),
        }
    }
}

linen_feature_norm!(RMSNormConfig);
