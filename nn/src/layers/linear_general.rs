//! `LinearGeneral`: an affine map of several axes.

use super::dot_general::{DotGeneralFn, Multiply};
use super::hyperparameters::hyperparameters;
use super::promote::promote_affine;
use crate::init::{self, Initializer};
use crate::linen;
use crate::nnx::observed;
use crate::{Module, Param, Rngs, Sizes, Vars};
use ramie_core::{Array, DType, DotDimensionNumbers, PartitionSpec, Precision};
use std::borrow::Cow;

/// An affine map of any axes, which are replaced by new ones at the end
/// (`nnx.LinearGeneral`, `nn.DenseGeneral`).
///
/// ```no_run
/// use ramie_core::{Array, DType};
/// use ramie_nn::{LinearGeneral, Rngs};
/// // Two axes, of 2 and 3 features, to two others.
/// let layer = LinearGeneral::features([4, 5])
///     .axis(&[1, -1])
///     .build([2, 3], &mut Rngs::new(0));
/// let x = Array::zeros(&[16, 2, 3], DType::F32);
/// assert_eq!(layer.forward(&x).shape(), [16, 4, 5]);
/// ```
#[derive(Clone, Debug, Module)]
pub struct LinearGeneral {
    /// `[batch.., in_features.., out_features..]`.
    pub kernel: Param,
    /// `[batch.., out_features..]`, if there is one.
    pub bias: Option<Param>,
    /// The axes that are mapped; negative ones are counted from the end.
    pub axis: Vec<isize>,
    /// How many leading axes have parameters of their own for each element.
    pub batch_dims: usize,
    /// The element type of the computation; by default the one that input and
    /// parameters promote to.
    pub dtype: Option<DType>,
    /// The precision of the product.
    #[tree(fixed)]
    pub precision: Option<Precision>,
    /// The element type that products are summed in, and the result has.
    pub preferred_element_type: Option<DType>,
    /// Another product in the place of `dot_general`.
    #[tree(fixed)]
    pub dot_general: Option<DotGeneralFn>,
}

hyperparameters! {
    /// The hyperparameters of a [`LinearGeneral`] layer, which is Linen's module
    /// `DenseGeneral`.
    LinearGeneralConfig as "DenseGeneral" (features: Sizes as into) {
        /// The axes that are mapped, by default the last; negative ones are
        /// counted from the end. They are taken in the order of the input.
        axis: [Vec<isize>] = vec![-1],
        /// How many leading axes of the input have parameters of their own for
        /// each element: Flax's `batch_dims=(0, 1)` is 2.
        batch_dims: [usize] = 0,
        /// Whether there is a bias; there is by default.
        use_bias: [bool] = true,
        /// The element type of the computation; by default the one that input
        /// and parameters promote to.
        dtype: [Option<DType>] = None,
        /// The element type of the parameters, `f32` by default.
        param_dtype: [DType] = DType::F32,
        /// The precision of the product.
        precision: [Option<Precision>] = None,
        /// The element type that products are summed in, and the result has.
        preferred_element_type: [Option<DType>] = None,
        /// Another product in the place of `dot_general`.
        dot_general: [Option<DotGeneralFn>] = None,
        /// How the kernel is drawn, [`lecun_normal`](init::lecun_normal) by
        /// default, as a matrix of all inputs by all outputs.
        kernel_init: [Initializer] = init::lecun_normal(),
        /// How the bias is drawn, as a vector; zeros by default.
        bias_init: [Initializer] = init::zeros(),
    }
}

impl LinearGeneral {
    /// A layer that maps the last axes, `in_features`, to `out_features`.
    ///
    /// ```no_run
    /// use ramie_nn::{LinearGeneral, Rngs};
    /// let heads = LinearGeneral::new(64, [4, 16], &mut Rngs::new(0));
    /// let merge = LinearGeneral::new([4, 16], 64, &mut Rngs::new(1));
    /// ```
    #[track_caller]
    pub fn new(
        in_features: impl Into<Sizes>,
        out_features: impl Into<Sizes>,
        rngs: &mut Rngs,
    ) -> LinearGeneral {
        let in_features = in_features.into();
        let axes: Vec<isize> = (1..=in_features.list().len() as isize)
            .map(|i| -i)
            .collect();
        let config = LinearGeneral::features(out_features).axis(&axes);
        config.build(in_features, rngs)
    }

    /// The hyperparameters of a layer to these features, to be changed before
    /// [`build`](LinearGeneralConfig::build) makes the layer.
    pub fn features(out_features: impl Into<Sizes>) -> LinearGeneralConfig {
        LinearGeneralConfig::new(out_features)
    }

    /// The axes replaced by the output features, which come last.
    ///
    /// # Panics
    /// If the input does not have the features along the axes.
    #[track_caller]
    pub fn forward(&self, x: &Array) -> Array {
        observed!(self, |layer, x| layer.multiply(x, None))
    }

    /// [`forward`](LinearGeneral::forward) with the result sharded by
    /// `out_sharding` over explicit axes of a mesh.
    ///
    /// # Panics
    /// As `forward`, or if `out_sharding` does not fit the mesh or the shape.
    #[track_caller]
    pub fn forward_sharded(&self, x: &Array, out_sharding: impl Into<PartitionSpec>) -> Array {
        self.multiply(x, Some(&out_sharding.into()))
    }

    #[track_caller]
    fn multiply(&self, x: &Array, out_sharding: Option<&PartitionSpec>) -> Array {
        let axes = normal_axes(&self.axis, self.batch_dims, x);
        let batch: Vec<usize> = (0..self.batch_dims).collect();
        let inputs: Vec<usize> = (self.batch_dims..self.batch_dims + axes.len()).collect();
        let leading = self.batch_dims + axes.len();
        let kernel_shape = self.kernel.shape();
        let sizes: Vec<usize> = batch.iter().chain(&axes).map(|&a| x.shape()[a]).collect();
        assert!(
            sizes == kernel_shape[..leading],
            "LinearGeneral: the input is {}, of which the axes {:?} have sizes {sizes:?}, expected \
             {:?}\n  kernel {}\n  help: give the layer the features of its input, or other axes",
            x.aval(),
            [&batch[..], &axes].concat(),
            &kernel_shape[..leading],
            self.kernel.aval()
        );
        let ([x, kernel], bias) =
            promote_affine(self.dtype, [x, &self.kernel], self.bias.as_deref());
        let how = Multiply {
            dtype: self.dtype,
            precision: self.precision,
            preferred_element_type: self.preferred_element_type,
            dot_general: self.dot_general.as_ref(),
            out_sharding,
        };
        let numbers = DotDimensionNumbers::new([&axes, &inputs], [&batch, &batch]);
        let y = how.product(&x, &kernel, numbers);
        let Some(bias) = bias else {
            return y;
        };
        // Ones between the batch axes and the features.
        let mut shape = vec![1; y.ndim()];
        let features = &kernel_shape[leading..];
        shape[..self.batch_dims].copy_from_slice(&kernel_shape[..self.batch_dims]);
        let first = y.ndim() - features.len();
        shape[first..].copy_from_slice(features);
        y + bias.reshape(&shape)
    }
}

/// The axes of an input that are mapped, in its order.
#[track_caller]
fn normal_axes(axes: &[isize], batch_dims: usize, x: &Array) -> Vec<usize> {
    let rank = x.ndim() as isize;
    let mut normal: Vec<usize> = Vec::with_capacity(axes.len());
    for &axis in axes {
        let at = if axis < 0 { axis + rank } else { axis };
        let fits = (batch_dims as isize..rank).contains(&at) && !normal.contains(&(at as usize));
        assert!(
            fits,
            "LinearGeneral: axis {axis} of {} cannot be mapped\n  got axes {axes:?} and {batch_dims} \
             batch axes\n  help: name each axis once, and none of the batch axes, which come first",
            x.aval()
        );
        normal.push(at as usize);
    }
    normal.sort_unstable();
    normal
}

impl LinearGeneralConfig {
    /// No bias.
    #[must_use]
    pub fn without_bias(self) -> LinearGeneralConfig {
        self.use_bias(false)
    }

    /// The layer, for inputs with these features along the axes, in the order of
    /// the input; its variables from `Rngs` or a scope.
    ///
    /// # Panics
    /// If there is not one number for each axis; or if there are batch axes,
    /// for which [`build_batched`](LinearGeneralConfig::build_batched) is.
    #[track_caller]
    pub fn build<'a>(
        &self,
        in_features: impl Into<Sizes>,
        vars: impl Into<Vars<'a>>,
    ) -> LinearGeneral {
        self.build_batched(&[], in_features, vars)
    }

    /// The layer for inputs whose leading axes are of these sizes, each element
    /// with parameters of its own.
    ///
    /// # Panics
    /// If there is not one number for each of the axes and of the batch axes.
    #[track_caller]
    pub fn build_batched<'a>(
        &self,
        batch: &[usize],
        in_features: impl Into<Sizes>,
        vars: impl Into<Vars<'a>>,
    ) -> LinearGeneral {
        let (inputs, outputs) = (in_features.into().list(), self.features.list());
        assert!(
            inputs.len() == self.axis.len() && batch.len() == self.batch_dims,
            "LinearGeneral: got {} input features and {} sizes of batch axes, expected {} and {}\n  \
             help: give one number for each of the axes {:?}; `batch_dims` says how many leading \
             axes are batch axes, and build_batched takes their sizes",
            inputs.len(),
            batch.len(),
            self.axis.len(),
            self.batch_dims,
            self.axis
        );
        let vars = &mut vars.into();
        let size = |sizes: &[usize]| -> usize { sizes.iter().product() };
        let kernel_init = self
            .kernel_init
            .drawn_as(vec![size(batch) * size(&inputs), size(&outputs)]);
        let bias_init = self.bias_init.drawn_as(vec![size(batch) * size(&outputs)]);
        let kernel = [batch, &inputs, &outputs].concat();
        let bias = [batch, &outputs].concat();
        LinearGeneral {
            kernel: vars.param("kernel", &kernel_init, &kernel, self.param_dtype),
            bias: vars.param_if(self.use_bias, "bias", &bias_init, &bias, self.param_dtype),
            axis: self.axis.clone(),
            batch_dims: self.batch_dims,
            dtype: self.dtype,
            precision: self.precision,
            preferred_element_type: self.preferred_element_type,
            dot_general: self.dot_general.clone(),
        }
    }
}

impl linen::Module for LinearGeneralConfig {
    fn call(&self, scope: &mut linen::Scope, x: Array) -> Array {
        let axes = normal_axes(&self.axis, self.batch_dims, &x);
        let inputs: Vec<usize> = axes.iter().map(|&a| x.shape()[a]).collect();
        let batch = &x.shape()[..self.batch_dims];
        linen::in_scope!(
            scope,
            |vars| self.build_batched(batch, inputs, vars),
            |layer| layer.forward(&x),
        )
    }
    fn class_name(&self) -> Cow<'static, str> {
        Cow::Borrowed(LinearGeneralConfig::CLASS)
    }
}
