//! `RMSNorm`: root mean square normalization.

use super::statistics::{Normalization, positive_axes};
use super::{linen_feature_norm, norm_hyperparameters};
use crate::model::observed;
use crate::{Module, Param, Rngs, VarSource, Vars};
use ramie_core::Array;

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
    /// The options of the layer. Changes of their public fields apply to later calls.
    pub config: RMSNormConfig,
}

norm_hyperparameters! {
    /// Options of an [`RMSNorm`] layer, for which the variance is the mean square.
    ///
    /// As a Linen module, its argument is an array, or an array and a mask.
    RMSNormConfig as "RMSNorm", epsilon 1e-6 {
    } calls {
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
        let config = &self.config;
        let axes = positive_axes(class, x, &config.reduction_axes);
        let features = positive_axes(class, x, &config.feature_axes);
        let normalization = config.normalization(&axes, &features, self.scale.as_ref(), None);
        normalization.by_own(x, mask, false)
    }
}

impl RMSNormConfig {
    /// Builds the layer for inputs of `num_features`.
    ///
    /// A new scale takes a key from the stream `params`.
    #[track_caller]
    pub fn build(&self, num_features: usize, vars: &mut impl VarSource) -> RMSNorm {
        self.build_for(&[num_features], &mut vars.vars())
    }

    #[track_caller]
    fn build_for(&self, features: &[usize], vars: &mut Vars<'_>) -> RMSNorm {
        RMSNorm {
            scale: self.scale(vars, features),
            config: self.clone(),
        }
    }
}

linen_feature_norm!(RMSNormConfig);
