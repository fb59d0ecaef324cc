//! `LayerNorm`: layer normalization.

use super::statistics::{Normalization, positive_axes};
use super::{biased_norm_hyperparameters, linen_feature_norm};
use crate::model::observed;
use crate::{Module, Param, Rngs, VarSource, Vars};
use ramie_core::Array;

/// Normalizes each example by its own mean and variance (`nnx.LayerNorm`, `nn.LayerNorm`).
///
/// ```no_run
/// use ramie_core::{Array, DType};
/// use ramie_nn::{LayerNorm, Rngs};
/// let norm = LayerNorm::new(64, &mut Rngs::new(0));
/// let x = Array::zeros(&[32, 64], DType::F32);
/// assert_eq!(norm.forward(&x).shape(), [32, 64]);
/// ```
#[derive(Clone, Debug, Module)]
pub struct LayerNorm {
    /// The scale of each feature, if any.
    pub scale: Option<Param>,
    /// The bias of each feature, if any.
    pub bias: Option<Param>,
    /// The options of the layer. Changes of their public fields apply to later calls.
    pub config: LayerNormConfig,
}

biased_norm_hyperparameters! {
    /// Options of a [`LayerNorm`] layer.
    ///
    /// As a Linen module, its argument is an array, or an array and a mask.
    LayerNormConfig as "LayerNorm", epsilon 1e-6 {
    } calls {
        /// Sets the axes over which the statistics are computed. Defaults to the last axis.
        reduction_axes: [Vec<isize>] = vec![-1],
        /// Sets the feature axes. Defaults to the last axis.
        feature_axes: [Vec<isize>] = vec![-1],
    }
}

impl LayerNorm {
    /// Creates a layer for inputs of `num_features`, with scale one and bias zero.
    #[track_caller]
    pub fn new(num_features: usize, rngs: &mut Rngs) -> LayerNorm {
        LayerNorm::config().build(num_features, rngs)
    }

    /// Returns the default options; [`build`](LayerNormConfig::build) creates the layer.
    pub fn config() -> LayerNormConfig {
        LayerNormConfig::new()
    }

    /// Normalizes the input; the shape is unchanged.
    ///
    /// # Panics
    /// Panics if the input does not have the layer's features, or lacks one of its axes.
    #[track_caller]
    pub fn forward(&self, x: &Array) -> Array {
        observed!(self, |layer, x| layer.forward_masked(x, None))
    }

    /// Like [`forward`](LayerNorm::forward), with an optional mask. The statistics only include
    /// elements where the mask, which broadcasts to the input, is true.
    ///
    /// # Panics
    /// Panics as [`forward`](LayerNorm::forward) does, and if the mask does not broadcast to
    /// the input.
    #[track_caller]
    pub fn forward_masked(&self, x: &Array, mask: Option<&Array>) -> Array {
        let class = LayerNormConfig::CLASS;
        let config = &self.config;
        let axes = positive_axes(class, x, &config.reduction_axes);
        let features = positive_axes(class, x, &config.feature_axes);
        let normalization =
            config.normalization(&axes, &features, self.scale.as_ref(), self.bias.as_ref());
        normalization.by_own(x, mask, true)
    }
}

impl LayerNormConfig {
    /// Builds the layer for inputs of `num_features`.
    ///
    /// Each new parameter takes a key from the stream `params`.
    #[track_caller]
    pub fn build(&self, num_features: usize, vars: &mut impl VarSource) -> LayerNorm {
        self.build_for(&[num_features], &mut vars.vars())
    }

    #[track_caller]
    fn build_for(&self, features: &[usize], vars: &mut Vars<'_>) -> LayerNorm {
        LayerNorm {
            scale: self.scale(vars, features),
            bias: self.bias(vars, features),
            config: self.clone(),
        }
    }
}

linen_feature_norm!(LayerNormConfig);
