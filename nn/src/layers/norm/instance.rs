//! `InstanceNorm`: instance normalization.

use super::statistics::{Normalization, positive_axes};
use super::{biased_norm_hyperparameters, linen_feature_norm};
use crate::model::observed;
use crate::{Module, Param, Rngs, VarSource, Vars};
use ramie_core::Array;

/// Normalizes each channel of each example by its own mean and variance (`nnx.InstanceNorm`,
/// `nn.InstanceNorm`). The first axis is the batch.
///
/// ```no_run
/// use ramie_core::{Array, DType};
/// use ramie_nn::{InstanceNorm, Rngs};
/// let norm = InstanceNorm::new(3, &mut Rngs::new(0));
/// let x = Array::zeros(&[8, 16, 16, 3], DType::F32);
/// assert_eq!(norm.forward(&x).shape(), x.shape());
/// ```
#[derive(Clone, Debug, Module)]
pub struct InstanceNorm {
    /// The scale of each feature, if any.
    pub scale: Option<Param>,
    /// The bias of each feature, if any.
    pub bias: Option<Param>,
    /// The options of the layer. Changes of their public fields apply to later calls.
    pub config: InstanceNormConfig,
}

biased_norm_hyperparameters! {
    /// Options of an [`InstanceNorm`] layer.
    ///
    /// As a Linen module, its argument is an array, or an array and a mask.
    InstanceNormConfig as "InstanceNorm", epsilon 1e-6 {
    } calls {
        /// Sets the feature axes. Defaults to the last axis.
        feature_axes: [Vec<isize>] = vec![-1],
    }
}

impl InstanceNorm {
    /// Creates a layer for inputs of `num_features`, with scale one and bias zero.
    #[track_caller]
    pub fn new(num_features: usize, rngs: &mut Rngs) -> InstanceNorm {
        InstanceNorm::config().build(num_features, rngs)
    }

    /// Returns the default options; [`build`](InstanceNormConfig::build) creates the layer.
    pub fn config() -> InstanceNormConfig {
        InstanceNormConfig::new()
    }

    /// Normalizes the input; the shape is unchanged.
    ///
    /// # Panics
    /// Panics if the input does not have the layer's features, lacks one of its axes, or if its
    /// first axis is a feature axis.
    #[track_caller]
    pub fn forward(&self, x: &Array) -> Array {
        observed!(self, |layer, x| layer.forward_masked(x, None))
    }

    /// Like [`forward`](InstanceNorm::forward), with an optional mask. The statistics only
    /// include elements where the mask, which broadcasts to the input, is true.
    ///
    /// # Panics
    /// Panics as [`forward`](InstanceNorm::forward) does, and if the mask does not broadcast to
    /// the input.
    #[track_caller]
    pub fn forward_masked(&self, x: &Array, mask: Option<&Array>) -> Array {
        let class = InstanceNormConfig::CLASS;
        let features = positive_axes(class, x, &self.config.feature_axes);
        assert!(
            !features.contains(&0),
            "{class}: the first axis of the input {} cannot be a feature axis\n  help: move the \
             features to another axis; the first one is the batch",
            x.aval()
        );
        let axes: Vec<usize> = (1..x.ndim()).filter(|a| !features.contains(a)).collect();
        let (scale, bias) = (self.scale.as_ref(), self.bias.as_ref());
        let normalization = self.config.normalization(&axes, &features, scale, bias);
        normalization.by_own(x, mask, true)
    }
}

impl InstanceNormConfig {
    /// Builds the layer for inputs of `num_features`.
    ///
    /// Each new parameter takes a key from the stream `params`.
    #[track_caller]
    pub fn build(&self, num_features: usize, vars: &mut impl VarSource) -> InstanceNorm {
        self.build_for(&[num_features], &mut vars.vars())
    }

    #[track_caller]
    fn build_for(&self, features: &[usize], vars: &mut Vars<'_>) -> InstanceNorm {
        InstanceNorm {
            scale: self.scale(vars, features),
            bias: self.bias(vars, features),
            config: self.clone(),
        }
    }
}

linen_feature_norm!(InstanceNormConfig);
