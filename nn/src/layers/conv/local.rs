//! `ConvLocal`: a convolution with unshared kernels.

use super::ConvPadding;
use super::window::{Batch, masked, window_hyperparameters};
use crate::layers::in_scope;
use crate::layers::promote::{add_bias, promote_affine};
use crate::linen;
use crate::model::observed;
use crate::{Module, Param, Sizes, VarSource};
use ramie_core::Array;
use ramie_core::lax::conv_general_dilated_local;
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
    /// [`conv_general_dilated_patches`](ramie_core::lax::conv_general_dilated_patches).
    pub kernel: Param,
    /// The bias, `[spatial.., out_features]`, if any.
    pub bias: Option<Param>,
    /// A mask that the kernel is multiplied by, of the kernel's shape.
    pub mask: Option<Array>,
    /// The options of the layer. Changes of their public fields apply to later calls.
    pub config: ConvLocalConfig,
}

window_hyperparameters! {
    /// Options of a [`ConvLocal`] layer; also Linen's module `ConvLocal`.
    ConvLocalConfig as "ConvLocal" {
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
        let windows = self.config.windows();
        let axes = windows.kernel_size.len();
        let places = self.kernel.shape();
        let in_features = places[axes] / windows.kernel_size.iter().product::<usize>().max(1);
        let batch = Batch::of(LAYER, x, axes, in_features);
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
        let ([x, kernel], bias) = promote_affine(
            self.config.promotion(),
            [&batch.x, &kernel],
            self.bias.as_deref(),
        );
        let (x, padding) = windows.padded(x);
        let how = windows.convolution(padding, None);
        let mut y = conv_general_dilated_local(&x, &kernel, &windows.kernel_size, &how);
        if let Some(bias) = bias {
            y = add_bias(y, &bias);
        }
        batch.restore(y)
    }
}

impl ConvLocalConfig {
    /// Builds the layer for inputs whose spatial sizes and features are `image`, with variables
    /// from `Rngs` or a scope.
    ///
    /// # Panics
    /// Panics if `image` does not have one size for each axis of the window plus the number of
    /// features, or if an option has another number of axes than the window.
    #[track_caller]
    pub fn build(&self, image: &[usize], vars: &mut impl VarSource) -> ConvLocal {
        let windows = self.windows();
        let (kernel_size, axes) = (&windows.kernel_size, windows.kernel_size.len());
        assert!(
            image.len() == axes + 1,
            "ConvLocal: an image of shape {image:?} does not match a window of \
             {kernel_size:?}\n  help: pass the sizes of the spatial axes and the number of \
             features: build(&[28, 28, 3], rngs)"
        );
        let places = windows.places(image);
        let window = kernel_size.iter().product::<usize>() * image[axes];
        let kernel = [&places[..], &[window, self.features]].concat();
        let bias = [&places[..], &[self.features]].concat();
        let vars = &mut vars.vars();
        let (kernel, bias) = self.kernel_and_bias(vars, &kernel, &bias);
        ConvLocal {
            kernel,
            bias,
            mask: self.mask.clone(),
            config: self.clone(),
        }
    }
}

impl linen::Module for ConvLocalConfig {
    #[track_caller]
    fn call(&self, scope: &mut linen::Scope, x: Array) -> Array {
        let image = self.kernel_size.list().len() + 1;
        let image = x.shape()[x.ndim().saturating_sub(image)..].to_vec();
        in_scope!(scope, |vars| self.build(&image, vars), |layer| layer
            .forward(&x))
    }
    fn class_name(&self) -> Cow<'static, str> {
        Cow::Borrowed(ConvLocalConfig::CLASS)
    }
}
