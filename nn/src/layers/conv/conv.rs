//! `Conv`: a convolution layer.

use super::ConvPadding;
use super::window::{Batch, masked, window_hyperparameters};
use crate::layers::dot_general::sharded;
use crate::layers::functions::ConvGeneralDilatedFn;
use crate::layers::hyperparameters::linen_layer;
use crate::layers::promote::{add_bias, promote_affine};
use crate::model::observed;
use crate::{Module, Param, Rngs, Sizes, VarSource};
use ramie_core::lax::conv_general_dilated;
use ramie_core::{Array, PartitionSpec};

/// A convolution over any number of spatial axes (`nnx.Conv`, `nn.Conv`).
///
/// Features come last: the input is `[batch.., spatial.., in_features]`, with any number of
/// batch axes, including none.
///
/// ```no_run
/// use ramie_core::{Array, DType};
/// use ramie_nn::{Conv, Rngs};
/// let rngs = &mut Rngs::new(0);
/// let layer = Conv::new(3, 16, [3, 3], rngs);
/// let images = Array::zeros(&[8, 28, 28, 3], DType::F32);
/// assert_eq!(layer.forward(&images).shape(), [8, 28, 28, 16]);
/// let halved = Conv::features(32, [3, 3]).strides(2).build(16, rngs);
/// ```
#[derive(Clone, Debug, Module)]
pub struct Conv {
    /// The kernel, `[window.., in_features / feature_group_count, out_features]`.
    pub kernel: Param,
    /// The bias, `[out_features]`, if any.
    pub bias: Option<Param>,
    /// A mask that the kernel is multiplied by, of the kernel's shape.
    pub mask: Option<Array>,
    /// The options of the layer. Changes of their public fields apply to later calls.
    pub config: ConvConfig,
}

window_hyperparameters! {
    /// Options of a [`Conv`] layer; also Linen's module `Conv`.
    ///
    /// Options per spatial axis also accept a single number for all axes: `.strides(2)` or
    /// `.strides([2, 1])`.
    ConvConfig as "Conv" {
        /// Sets the number of groups that the features are divided into; each has its own
        /// kernel. As many groups as input features give a depthwise convolution. Defaults to
        /// 1.
        feature_group_count: [usize] = 1,
        /// Sets a custom convolution used instead of `conv_general_dilated`. Defaults to none.
        conv_general_dilated: [Option<ConvGeneralDilatedFn>] = None,
    }
}

impl Conv {
    /// Creates a layer from `in_features` to `out_features` with a window of `kernel_size`,
    /// which has a number for each spatial axis. Strides are 1 and the result has the spatial
    /// size of the input.
    #[track_caller]
    pub fn new(
        in_features: usize,
        out_features: usize,
        kernel_size: impl Into<Sizes>,
        rngs: &mut Rngs,
    ) -> Conv {
        Conv::features(out_features, kernel_size).build(in_features, rngs)
    }

    /// Returns the options of a layer with `out_features` outputs and a window of
    /// `kernel_size`; [`build`](ConvConfig::build) creates the layer.
    pub fn features(out_features: usize, kernel_size: impl Into<Sizes>) -> ConvConfig {
        ConvConfig::new(out_features, kernel_size)
    }

    /// Maps an array `[batch.., spatial.., in_features]` to
    /// `[batch.., spatial.., out_features]`.
    ///
    /// # Panics
    /// Panics if the input has too few axes or another number of features, or if the mask or
    /// the padding does not match the kernel.
    #[track_caller]
    pub fn forward(&self, x: &Array) -> Array {
        observed!(self, |layer, x| layer.convolve(x, None))
    }

    /// Like [`forward`](Conv::forward), with the result sharded by `out_sharding` over explicit
    /// axes of a mesh. The spec is for a result with one batch axis.
    ///
    /// # Panics
    /// Panics as `forward` does, or if `out_sharding` does not match the mesh or the shape.
    #[track_caller]
    pub fn forward_with(&self, x: &Array, out_sharding: impl Into<PartitionSpec>) -> Array {
        self.convolve(x, Some(&out_sharding.into()))
    }

    #[track_caller]
    fn convolve(&self, x: &Array, out_sharding: Option<&PartitionSpec>) -> Array {
        let (axes, config) = (self.kernel.ndim() - 2, &self.config);
        let windows = config.windows();
        let in_features = self.kernel.shape()[axes] * config.feature_group_count;
        let batch = Batch::of("Conv", x, axes, in_features);
        let kernel = masked("Conv", &self.kernel, self.mask.as_ref());
        let ([x, kernel], bias) = promote_affine(
            config.promotion(),
            [&batch.x, &kernel],
            self.bias.as_deref(),
        );
        let (x, padding) = windows.padded(x);
        let of = |spec| windows.convolution(padding, spec);
        let groups = config.feature_group_count;
        let mut y = match &config.conv_general_dilated {
            Some(f) => {
                let y = f.call(&x, &kernel, &of(None).feature_group_count(groups));
                sharded(y, out_sharding.cloned())
            }
            None => {
                let how = of(out_sharding).feature_group_count(groups);
                conv_general_dilated(&x, &kernel, &how)
            }
        };
        if let Some(bias) = bias {
            y = add_bias(y, &bias);
        }
        batch.restore(y)
    }
}

impl ConvConfig {
    /// Builds the layer for inputs of `in_features`, with variables from `Rngs` or a scope.
    ///
    /// # Panics
    /// Panics if the number of groups does not divide the numbers of features, or if an option
    /// has another number of axes than the window.
    #[track_caller]
    pub fn build(&self, in_features: usize, vars: &mut impl VarSource) -> Conv {
        let groups = self.feature_group_count;
        assert!(
            groups > 0
                && in_features.is_multiple_of(groups)
                && self.features.is_multiple_of(groups),
            "Conv: {groups} groups do not divide {in_features} input features and {} output \
             features\n  help: use a feature_group_count that divides both",
            self.features
        );
        let vars = &mut vars.vars();
        let mut kernel = self.windows().kernel_size;
        kernel.extend([in_features / groups, self.features]);
        let (kernel, bias) = self.kernel_and_bias(vars, &kernel, &[self.features]);
        Conv {
            kernel,
            bias,
            mask: self.mask.clone(),
            config: self.clone(),
        }
    }
}

linen_layer!(ConvConfig of_features);
