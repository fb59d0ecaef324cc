//! `ConvLocal`: a convolution with unshared kernels.

use super::ConvPadding;
use super::window::{Batch, Windows, for_axes, masked};
use crate::init::{self, Initializer};
use crate::layers::hyperparameters::hyperparameters;
use crate::layers::promote::promote_affine;
use crate::linen;
use crate::nnx::observed;
use crate::{Module, Param, Sizes, Vars};
use ramie_core::{Array, DType, Precision, conv_general_dilated_local};
use std::borrow::Cow;

/// A locally connected layer: a convolution with a separate kernel at each position of the
/// result (`nn.ConvLocal`; NNX has none).
///
/// ```no_run
/// use ramie_core::{Array, DType};
/// use ramie_nn::{ConvLocal, Rngs};
/// let layer = ConvLocal::features(4, [3, 3]).build(&[6, 6, 8], &mut Rngs::new(0));
/// assert_eq!(layer.kernel.shape(), [6, 6, 72, 4]);
/// let images = Array::zeros(&[2, 6, 6, 8], DType::F32);
/// assert_eq!(layer.forward(&images).shape(), [2, 6, 6, 4]);
/// ```
#[derive(Clone, Debug, Module)]
pub struct ConvLocal {
    /// The kernels, `[spatial.., window · in_features, out_features]`. The elements and
    /// features of a window are in the order of
    /// [`conv_general_dilated_patches`](ramie_core::conv_general_dilated_patches).
    pub kernel: Param,
    /// The bias, `[spatial.., out_features]`, if any.
    pub bias: Option<Param>,
    /// A mask that the kernel is multiplied by, of the kernel's shape.
    pub mask: Option<Array>,
    /// The size of the window along each spatial axis.
    pub kernel_size: Vec<usize>,
    /// The stride along each spatial axis.
    pub strides: Vec<usize>,
    /// The padding of the spatial axes.
    #[tree(fixed)]
    pub padding: ConvPadding,
    /// The dilation of the input along each spatial axis.
    pub input_dilation: Vec<usize>,
    /// The dilation of the kernel along each spatial axis.
    pub kernel_dilation: Vec<usize>,
    /// The dtype of the computation. Defaults to the dtype that the input and the parameters
    /// promote to.
    pub dtype: Option<DType>,
    /// The precision of the products.
    #[tree(fixed)]
    pub precision: Option<Precision>,
}

hyperparameters! {
    /// Options of a [`ConvLocal`] layer; also Linen's module `ConvLocal`.
    ConvLocalConfig as "ConvLocal" (features: usize, kernel_size: Sizes as into) {
        /// Sets the strides. Defaults to 1.
        strides: [Sizes] = Sizes::One(1),
        /// Sets the padding of the spatial axes. Defaults to [`ConvPadding::Same`].
        padding: [ConvPadding] = ConvPadding::Same,
        /// Sets the dilation of the input. Defaults to 1.
        input_dilation: [Sizes] = Sizes::One(1),
        /// Sets the dilation of the kernel. Defaults to 1.
        kernel_dilation: [Sizes] = Sizes::One(1),
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
        /// Sets the initializer of the kernel. Defaults to
        /// [`lecun_normal`](init::lecun_normal).
        kernel_init: [Initializer] = init::lecun_normal(),
        /// Sets the initializer of the bias. Defaults to zeros.
        bias_init: [Initializer] = init::zeros(),
    }
}

impl ConvLocal {
    /// Returns the options of a layer with `out_features` outputs and a window of
    /// `kernel_size`.
    pub fn features(out_features: usize, kernel_size: impl Into<Sizes>) -> ConvLocalConfig {
        ConvLocalConfig::new(out_features, kernel_size)
    }

    /// Maps an array `[batch.., spatial.., in_features]` to
    /// `[batch.., spatial.., out_features]`.
    ///
    /// # Panics
    /// Panics if the spatial sizes or features of the input are not those that the layer was
    /// built for.
    #[track_caller]
    pub fn forward(&self, x: &Array) -> Array {
        observed!(self, |layer, x| layer.compute(x))
    }

    #[track_caller]
    fn compute(&self, x: &Array) -> Array {
        const LAYER: &str = "ConvLocal";
        let axes = self.kernel_size.len();
        let places = self.kernel.shape();
        let in_features = places[axes] / self.kernel_size.iter().product::<usize>().max(1);
        let batch = Batch::of(LAYER, x, axes, in_features);
        let windows = self.windows();
        let got = windows.places(&batch.x.shape()[1..]);
        assert!(
            got == places[..axes],
            "ConvLocal: the input {} has {got:?} window positions, expected {:?}\n  kernel {}\n  \
             help: pass inputs of the size that the layer was built for, because it has a kernel \
             for each position",
            batch.x.aval(),
            &places[..axes],
            self.kernel.aval()
        );
        let kernel = masked(LAYER, &self.kernel, self.mask.as_ref());
        let ([x, kernel], bias) =
            promote_affine(self.dtype, [&batch.x, &kernel], self.bias.as_deref());
        let (x, padding) = windows.padded(x);
        let how = windows.convolution(padding);
        let mut y = conv_general_dilated_local(&x, &kernel, &self.kernel_size, &how);
        if let Some(bias) = bias {
            y += bias;
        }
        batch.restore(y)
    }

    fn windows(&self) -> Windows<'_> {
        Windows {
            layer: "ConvLocal",
            kernel_size: &self.kernel_size,
            strides: &self.strides,
            padding: &self.padding,
            input_dilation: &self.input_dilation,
            kernel_dilation: &self.kernel_dilation,
            precision: self.precision,
            preferred_element_type: None,
            out_sharding: None,
        }
    }
}

impl ConvLocalConfig {
    /// Disables the bias.
    #[must_use]
    pub fn without_bias(self) -> ConvLocalConfig {
        self.use_bias(false)
    }

    /// Builds the layer for inputs whose spatial sizes and features are `image`, with variables
    /// from `Rngs` or a scope.
    ///
    /// # Panics
    /// Panics if `image` does not have one size for each axis of the window plus the number of
    /// features, or if an option has another number of axes than the window.
    #[track_caller]
    pub fn build<'a>(&self, image: &[usize], vars: impl Into<Vars<'a>>) -> ConvLocal {
        let axes = self.kernel_size.list().len();
        let kernel_size = for_axes("ConvLocal", "kernel_size", &self.kernel_size, axes);
        assert!(
            image.len() == axes + 1,
            "ConvLocal: an image of shape {image:?} does not match a window of \
             {kernel_size:?}\n  help: pass the sizes of the spatial axes and the number of \
             features: build(&[28, 28, 3], rngs)"
        );
        let (strides, input_dilation, kernel_dilation) = (
            for_axes("ConvLocal", "strides", &self.strides, axes),
            for_axes("ConvLocal", "input_dilation", &self.input_dilation, axes),
            for_axes("ConvLocal", "kernel_dilation", &self.kernel_dilation, axes),
        );
        let windows = Windows {
            layer: "ConvLocal",
            kernel_size: &kernel_size,
            strides: &strides,
            padding: &self.padding,
            input_dilation: &input_dilation,
            kernel_dilation: &kernel_dilation,
            precision: None,
            preferred_element_type: None,
            out_sharding: None,
        };
        let places = windows.places(image);
        let window = kernel_size.iter().product::<usize>() * image[axes];
        let kernel = [&places[..], &[window, self.features]].concat();
        let bias = [&places[..], &[self.features]].concat();
        let vars = &mut vars.into();
        ConvLocal {
            kernel: vars.param("kernel", &self.kernel_init, &kernel, self.param_dtype),
            bias: vars.param_if(
                self.use_bias,
                "bias",
                &self.bias_init,
                &bias,
                self.param_dtype,
            ),
            mask: self.mask.clone(),
            kernel_size,
            strides,
            padding: self.padding.clone(),
            input_dilation,
            kernel_dilation,
            dtype: self.dtype,
            precision: self.precision,
        }
    }
}

impl linen::Module for ConvLocalConfig {
    #[track_caller]
    fn call(&self, scope: &mut linen::Scope, x: Array) -> Array {
        let image = self.kernel_size.list().len() + 1;
        let image = x.shape()[x.ndim().saturating_sub(image)..].to_vec();
        linen::in_scope!(scope, |vars| self.build(&image, vars), |layer| layer
            .forward(&x))
    }
    fn class_name(&self) -> Cow<'static, str> {
        Cow::Borrowed(ConvLocalConfig::CLASS)
    }
}
