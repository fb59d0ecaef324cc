//! `Conv`: a convolution layer.

use super::ConvPadding;
use super::window::{Batch, Windows, for_axes, masked};
use crate::init::{self, Initializer};
use crate::layers::hyperparameters::{hyperparameters, linen_layer};
use crate::layers::promote::promote_affine;
use crate::nnx::observed;
use crate::{Module, Param, Rngs, Sizes, Vars};
use ramie_core::{Array, DType, PartitionSpec, Precision, conv_general_dilated};

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
    /// The stride along each spatial axis.
    pub strides: Vec<usize>,
    /// The padding of the spatial axes.
    #[tree(fixed)]
    pub padding: ConvPadding,
    /// The dilation of the input along each spatial axis.
    pub input_dilation: Vec<usize>,
    /// The dilation of the kernel along each spatial axis.
    pub kernel_dilation: Vec<usize>,
    /// Number of groups that the features are divided into; each has its own kernel.
    pub feature_group_count: usize,
    /// The dtype of the computation. Defaults to the dtype that the input and the parameters
    /// promote to.
    pub dtype: Option<DType>,
    /// The precision of the products.
    #[tree(fixed)]
    pub precision: Option<Precision>,
    /// The dtype in which products are accumulated and returned.
    pub preferred_element_type: Option<DType>,
}

hyperparameters! {
    /// Options of a [`Conv`] layer; also Linen's module `Conv`.
    ///
    /// Options per spatial axis also accept a single number for all axes: `.strides(2)` or
    /// `.strides([2, 1])`.
    ConvConfig as "Conv" (features: usize, kernel_size: Sizes as into) {
        /// Sets the strides. Defaults to 1.
        strides: [Sizes] = Sizes::One(1),
        /// Sets the padding of the spatial axes. Defaults to [`ConvPadding::Same`].
        padding: [ConvPadding] = ConvPadding::Same,
        /// Sets the dilation of the input, for transposed convolutions. Defaults to 1.
        input_dilation: [Sizes] = Sizes::One(1),
        /// Sets the dilation of the kernel, for atrous convolutions. Defaults to 1.
        kernel_dilation: [Sizes] = Sizes::One(1),
        /// Sets the number of groups that the features are divided into; each has its own
        /// kernel. As many groups as input features give a depthwise convolution. Defaults to
        /// 1.
        feature_group_count: [usize] = 1,
        /// Sets whether the layer has a bias. Defaults to `true`.
        use_bias: [bool] = true,
        /// Sets a mask that the kernel is multiplied by, of the kernel's shape. Defaults to
        /// none.
        mask: [Option<Array>] = None,
        /// Sets the dtype of the computation. Defaults to the dtype that the input and the
        /// parameters promote to.
        dtype: [Option<DType>] = None,
        /// Sets the dtype of the parameters. Defaults to `f32`.
        param_dtype: [DType] = DType::F32,
        /// Sets the precision of the products.
        precision: [Option<Precision>] = None,
        /// Sets the dtype in which products are accumulated and returned.
        preferred_element_type: [Option<DType>] = None,
        /// Sets the initializer of the kernel. Defaults to
        /// [`lecun_normal`](init::lecun_normal).
        kernel_init: [Initializer] = init::lecun_normal(),
        /// Sets the initializer of the bias. Defaults to zeros.
        bias_init: [Initializer] = init::zeros(),
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
    pub fn forward_sharded(&self, x: &Array, out_sharding: impl Into<PartitionSpec>) -> Array {
        self.convolve(x, Some(&out_sharding.into()))
    }

    #[track_caller]
    fn convolve(&self, x: &Array, out_sharding: Option<&PartitionSpec>) -> Array {
        let axes = self.kernel.ndim() - 2;
        let windows = Windows {
            layer: "Conv",
            kernel_size: &self.kernel.shape()[..axes],
            strides: &self.strides,
            padding: &self.padding,
            input_dilation: &self.input_dilation,
            kernel_dilation: &self.kernel_dilation,
            precision: self.precision,
            preferred_element_type: self.preferred_element_type,
            out_sharding,
        };
        let in_features = self.kernel.shape()[axes] * self.feature_group_count;
        let batch = Batch::of("Conv", x, axes, in_features);
        let kernel = masked("Conv", &self.kernel, self.mask.as_ref());
        let ([x, kernel], bias) =
            promote_affine(self.dtype, [&batch.x, &kernel], self.bias.as_deref());
        let (x, padding) = windows.padded(x);
        let how = windows
            .convolution(padding)
            .feature_group_count(self.feature_group_count);
        let mut y = conv_general_dilated(&x, &kernel, &how);
        if let Some(bias) = bias {
            y += bias;
        }
        batch.restore(y)
    }
}

impl ConvConfig {
    /// Disables the bias.
    #[must_use]
    pub fn without_bias(self) -> ConvConfig {
        self.use_bias(false)
    }

    /// Builds the layer for inputs of `in_features`, with variables from `Rngs` or a scope.
    ///
    /// # Panics
    /// Panics if the number of groups does not divide the numbers of features, or if an option
    /// has another number of axes than the window.
    #[track_caller]
    pub fn build<'a>(&self, in_features: usize, vars: impl Into<Vars<'a>>) -> Conv {
        let groups = self.feature_group_count;
        assert!(
            groups > 0
                && in_features.is_multiple_of(groups)
                && self.features.is_multiple_of(groups),
            "Conv: {groups} groups do not divide {in_features} input features and {} output \
             features\n  help: use a feature_group_count that divides both",
            self.features
        );
        let vars = &mut vars.into();
        let axes = self.kernel_size.list().len();
        let mut kernel = for_axes("Conv", "kernel_size", &self.kernel_size, axes);
        kernel.extend([in_features / groups, self.features]);
        Conv {
            kernel: vars.param("kernel", &self.kernel_init, &kernel, self.param_dtype),
            bias: vars.param_if(
                self.use_bias,
                "bias",
                &self.bias_init,
                &[self.features],
                self.param_dtype,
            ),
            mask: self.mask.clone(),
            strides: for_axes("Conv", "strides", &self.strides, axes),
            padding: self.padding.clone(),
            input_dilation: for_axes("Conv", "input_dilation", &self.input_dilation, axes),
            kernel_dilation: for_axes("Conv", "kernel_dilation", &self.kernel_dilation, axes),
            feature_group_count: groups,
            dtype: self.dtype,
            precision: self.precision,
            preferred_element_type: self.preferred_element_type,
        }
    }
}

linen_layer!(ConvConfig of_features);
