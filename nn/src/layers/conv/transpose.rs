//! `ConvTranspose`: a transposed convolution layer.

use super::ConvPadding;
use super::window::{Batch, for_axes, masked};
use crate::layers::hyperparameters::{affine_hyperparameters, linen_layer};
use crate::layers::promote::{add_bias, promote_affine};
use crate::model::observed;
use crate::{Module, Param, Rngs, Sizes, VarSource};
use ramie_core::Array;
use ramie_core::lax::{Padding, conv_transpose};

/// A transposed convolution: each element of the input is spread over a window
/// (`nnx.ConvTranspose`, `nn.ConvTranspose`).
///
/// Named paddings are those of the convolution that this layer transposes; explicit numbers pad
/// the dilated input. Features come last, with any number of batch axes, including none.
///
/// ```no_run
/// use ramie_core::{Array, DType};
/// use ramie_nn::{ConvTranspose, Rngs};
/// let layer = ConvTranspose::features(8, [3, 3]).strides(2).build(16, &mut Rngs::new(0));
/// let images = Array::zeros(&[2, 7, 7, 16], DType::F32);
/// assert_eq!(layer.forward(&images).shape(), [2, 14, 14, 8]);
/// ```
#[derive(Clone, Debug, Module)]
pub struct ConvTranspose {
    /// The kernel, `[window.., in_features, out_features]`; with `transpose_kernel`,
    /// `[window.., out_features, in_features]`.
    pub kernel: Param,
    /// The bias, `[out_features]`, if any.
    pub bias: Option<Param>,
    /// A mask that the kernel is multiplied by, of the kernel's shape.
    pub mask: Option<Array>,
    /// The options of the layer. Changes of their public fields apply to later calls.
    pub config: ConvTransposeConfig,
}

affine_hyperparameters! {
    /// Options of a [`ConvTranspose`] layer; also Linen's module `ConvTranspose`.
    ConvTransposeConfig as "ConvTranspose" (features: usize, kernel_size: Sizes as into) {
        /// Sets a mask that the kernel is multiplied by, of the kernel's shape. Defaults to
        /// none.
        mask: [Option<Array>] = None,
    } calls {
        /// Sets the strides, which dilate the input. Defaults to 1.
        strides: [Sizes] = Sizes::One(1),
        /// Sets the padding of the spatial axes. Defaults to [`ConvPadding::Same`]. `Reflect`,
        /// `Causal` and `SameLower` are not supported.
        padding: [ConvPadding] = ConvPadding::Same,
        /// Sets the dilation of the kernel. Defaults to 1.
        kernel_dilation: [Sizes] = Sizes::One(1),
        /// Sets whether the kernel is that of the convolution that this layer transposes: its
        /// spatial axes are reversed and its feature axes swapped. Defaults to `false`.
        transpose_kernel: [bool] = false,
    }
}

impl ConvTranspose {
    /// Creates a layer from `in_features` to `out_features` with a window of `kernel_size`,
    /// which has a number for each spatial axis.
    #[track_caller]
    pub fn new(
        in_features: usize,
        out_features: usize,
        kernel_size: impl Into<Sizes>,
        rngs: &mut Rngs,
    ) -> ConvTranspose {
        ConvTranspose::features(out_features, kernel_size).build(in_features, rngs)
    }

    /// Returns the options of a layer with `out_features` outputs and a window of
    /// `kernel_size`; [`build`](ConvTransposeConfig::build) creates the layer.
    pub fn features(out_features: usize, kernel_size: impl Into<Sizes>) -> ConvTransposeConfig {
        ConvTransposeConfig::new(out_features, kernel_size)
    }

    /// Maps an array `[batch.., spatial.., in_features]` to
    /// `[batch.., spatial.., out_features]`.
    ///
    /// # Panics
    /// Panics if the input has too few axes or another number of features, or if the mask or
    /// the padding does not match the kernel.
    #[track_caller]
    pub fn forward(&self, x: &Array) -> Array {
        observed!(self, |layer, x| layer.compute(x))
    }

    #[track_caller]
    fn compute(&self, x: &Array) -> Array {
        const LAYER: &str = "ConvTranspose";
        let (axes, config) = (self.kernel.ndim() - 2, &self.config);
        let in_features = self.kernel.shape()[axes + usize::from(config.transpose_kernel)];
        let batch = Batch::of(LAYER, x, axes, in_features);
        let kernel = masked(LAYER, &self.kernel, self.mask.as_ref());
        let ([x, kernel], bias) = promote_affine(
            config.promotion(),
            [&batch.x, &kernel],
            self.bias.as_deref(),
        );
        let how = ramie_core::options::ConvTranspose::new()
            .strides(&config.for_axes("strides", &config.strides))
            .padding(config.core_padding(axes))
            .rhs_dilation(&config.for_axes("kernel_dilation", &config.kernel_dilation))
            .transpose_kernel(config.transpose_kernel)
            .precision(config.precision)
            .preferred_element_type(config.preferred_element_type);
        let mut y = conv_transpose(&x, &kernel, &how);
        if config.padding == ConvPadding::Circular {
            y = config.wrapped(&x, y);
        }
        if let Some(bias) = bias {
            y = add_bias(y, &bias);
        }
        batch.restore(y)
    }
}

impl ConvTransposeConfig {
    /// Returns a number for each spatial axis.
    #[track_caller]
    fn for_axes(&self, what: &str, sizes: &Sizes) -> Vec<usize> {
        for_axes(Self::CLASS, what, sizes, self.kernel_size.list().len())
    }

    #[track_caller]
    fn core_padding(&self, axes: usize) -> Padding {
        match &self.padding {
            ConvPadding::Same => Padding::Same,
            ConvPadding::Valid | ConvPadding::Circular => Padding::Valid,
            other => match other.numbers("ConvTranspose", axes) {
                Some(pairs) => Padding::Explicit(pairs.into_iter().collect()),
                None => panic!(
                    "ConvTranspose: {other:?} padding is not supported for transposed \
                     convolutions\n  help: use ConvPadding::Same, Valid or Circular, or explicit \
                     numbers"
                ),
            },
        }
    }

    /// Wraps a result with valid padding to the period of the dilated input: elements beyond
    /// one end are added at the other.
    fn wrapped(&self, x: &Array, y: Array) -> Array {
        let spatial = 1..y.ndim() - 1;
        let strides = self.for_axes("strides", &self.strides);
        let periods: Vec<usize> = spatial
            .clone()
            .map(|d| x.shape()[d] * strides[d - 1])
            .collect();
        // Pad the result with zeros to a whole number of periods, half of them on each side, so
        // that the first period starts at the center of the first element's window.
        let mut widths = vec![(0, 0); y.ndim()];
        for d in spatial.clone() {
            let period = periods[d - 1] as isize;
            let missing = (period - y.shape()[d] as isize).rem_euclid(2 * period) as usize;
            let (less, more) = (missing / 2, missing.div_ceil(2));
            widths[d] = if self.transpose_kernel {
                (less, more)
            } else {
                (more, less)
            };
        }
        let mut y = y.pad(&widths, 0);
        for d in spatial {
            let mut shape = y.shape().to_vec();
            let period = periods[d - 1];
            shape.splice(d..=d, [shape[d] / period.max(1), period]);
            y = y.reshape(&shape).sum_over(d as isize);
        }
        y
    }

    /// Builds the layer for inputs of `in_features`, with variables from `Rngs` or a scope.
    ///
    /// # Panics
    /// Panics if an option has another number of axes than the window.
    #[track_caller]
    pub fn build(&self, in_features: usize, vars: &mut impl VarSource) -> ConvTranspose {
        let vars = &mut vars.vars();
        let mut kernel = self.for_axes("kernel_size", &self.kernel_size);
        self.for_axes("strides", &self.strides);
        self.for_axes("kernel_dilation", &self.kernel_dilation);
        kernel.extend(if self.transpose_kernel {
            [self.features, in_features]
        } else {
            [in_features, self.features]
        });
        let (kernel, bias) = self.kernel_and_bias(vars, &kernel, &[self.features]);
        ConvTranspose {
            kernel,
            bias,
            mask: self.mask.clone(),
            config: self.clone(),
        }
    }
}

linen_layer!(ConvTransposeConfig of_features);
