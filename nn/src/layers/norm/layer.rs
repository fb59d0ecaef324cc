//! `LayerNorm`: layer normalization.

use super::statistics::{Normalization, Statistics, positive_axes};
use super::{biased_norm_hyperparameters, linen_feature_norm};
use crate::nnx::observed;
use crate::{Module, Param, Rngs, Vars};
use ramie_core::{Array, DType};

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
    /// The axes over which the statistics are computed.
    pub reduction_axes: Vec<isize>,
    /// The feature axes.
    pub feature_axes: Vec<isize>,
    /// The constant added to the variance before the square root.
    pub epsilon: f64,
    /// The dtype of the result. Defaults to the dtype that the input and the parameters promote
    /// to.
    pub dtype: Option<DType>,
    /// How mean and variance are computed.
    #[tree(fixed)]
    pub statistics: Statistics,
}

biased_norm_hyperparameters! {
    /// Options of a [`LayerNorm`] layer.
    ///
    /// As a Linen module, its argument is an array, or an array and a mask.
    LayerNormConfig as "LayerNorm", epsilon 1e-6 {
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
        let normalization = Normalization {
            class,
            reduction_axes: &positive_axes(class, x, &self.reduction_axes),
            feature_axes: &positive_axes(class, x, &self.feature_axes),
            scale: self.scale.as_ref(),
            bias: self.bias.as_ref(),
            epsilon: self.epsilon,
            dtype: self.dtype,
        };
        normalization.by_own(x, mask, &self.statistics, true)
    }
}

impl LayerNormConfig {
    /// Builds the layer for inputs of `num_features`.
    ///
    /// Each new parameter takes a key from the stream `params`.
    #[track_caller]
    pub fn build<'a>(&self, num_features: usize, vars: impl Into<Vars<'a>>) -> LayerNorm {
        self.build_for(&[num_features], &mut vars.into())
    }

    #[track_caller]
    fn build_for(&self, features: &[usize], vars: &mut Vars<'_>) -> LayerNorm {
        LayerNorm {
            scale: self.scale(vars, features),
            bias: self.bias(vars, features),
            reduction_axes: self.reduction_axes.clone(),
            feature_axes: self.feature_axes.clone(),
            epsilon: self.epsilon,
            dtype: self.dtype,
            statistics: self.statistics(),
        }
    }
}

linen_feature_norm!(LayerNormConfig);
