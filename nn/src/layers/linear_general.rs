//! `LinearGeneral`: a dense layer over several axes.

use super::dot_general::Multiply;
use super::functions::DotGeneralFn;
use super::hyperparameters::affine_hyperparameters;
use super::lora_adapter::{LoraAdapter, adapted};
use super::promote::promote_affine;
use crate::layers::in_scope;
use crate::linen;
use crate::model::observed;
use crate::{Module, Param, Rngs, Sizes, VarSource};
use ramie_core::lax::DotDimensionNumbers;
use ramie_core::{Array, PartitionSpec};
use std::borrow::Cow;

/// An affine map of any set of axes, which are replaced by new axes at the end
/// (`nnx.LinearGeneral`, `nn.DenseGeneral`).
///
/// ```no_run
/// use ramie_core::{Array, DType};
/// use ramie_nn::{LinearGeneral, Rngs};
/// // Map two axes of sizes 2 and 3 to two others.
/// let layer = LinearGeneral::features([4, 5])
///     .axis(&[1, -1])
///     .build([2, 3], &mut Rngs::new(0));
/// let x = Array::zeros(&[16, 2, 3], DType::F32);
/// assert_eq!(layer.forward(&x).shape(), [16, 4, 5]);
/// ```
#[derive(Clone, Debug, Module)]
pub struct LinearGeneral {
    /// The kernel, `[batch.., in_features.., out_features..]`.
    pub kernel: Param,
    /// The bias, `[batch.., out_features..]`, if any.
    pub bias: Option<Param>,
    /// The options of the layer. Changes of their public fields apply to later calls.
    pub config: LinearGeneralConfig,
    /// A low-rank adapter, if [`apply_lora`](crate::apply_lora) added one.
    pub lora: Option<LoraAdapter>,
}

affine_hyperparameters! {
    /// Options of a [`LinearGeneral`] layer; also Linen's module `DenseGeneral`.
    ///
    /// The kernel is drawn as a matrix of all inputs by all outputs, and the bias as a vector.
    LinearGeneralConfig as "DenseGeneral" (features: Sizes as into) {
    } calls {
        /// Sets the axes to map. Negative axes count from the end. Defaults to the last axis.
        /// Their order does not matter: they are used in the order of the input.
        axis: [Vec<isize>] = vec![-1],
        /// Sets the number of leading batch axes, whose elements have separate parameters:
        /// Flax's `batch_dims=(0, 1)` is 2. Defaults to 0.
        batch_dims: [usize] = 0,
        /// Sets a custom product used instead of `dot_general`.
        dot_general: [Option<DotGeneralFn>] = None,
    }
}

impl LinearGeneral {
    /// Creates a layer that maps the last axes, of sizes `in_features`, to `out_features`.
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

    /// Returns the options of a layer with these output features;
    /// [`build`](LinearGeneralConfig::build) creates the layer.
    pub fn features(out_features: impl Into<Sizes>) -> LinearGeneralConfig {
        LinearGeneralConfig::new(out_features)
    }

    /// Maps the configured axes to the output features, which are the last axes of the result.
    ///
    /// # Panics
    /// Panics if the sizes of these axes are not the layer's input features.
    #[track_caller]
    pub fn forward(&self, x: &Array) -> Array {
        observed!(self, |layer, x| layer.multiply(x, None))
    }

    /// Like [`forward`](LinearGeneral::forward), with the result sharded by `out_sharding` over
    /// explicit axes of a mesh.
    ///
    /// # Panics
    /// Panics as `forward` does, or if `out_sharding` does not match the mesh or the shape.
    #[track_caller]
    pub fn forward_with(&self, x: &Array, out_sharding: impl Into<PartitionSpec>) -> Array {
        self.multiply(x, Some(&out_sharding.into()))
    }

    #[track_caller]
    fn multiply(&self, x: &Array, out_sharding: Option<&PartitionSpec>) -> Array {
        let config = &self.config;
        let batch_dims = config.batch_dims;
        let axes = normal_axes(&config.axis, batch_dims, x);
        let batch: Vec<usize> = (0..batch_dims).collect();
        let leading = batch_dims + axes.len();
        let inputs: Vec<usize> = (batch_dims..leading).collect();
        let kernel_shape = self.kernel.shape();
        let sizes: Vec<usize> = batch.iter().chain(&axes).map(|&a| x.shape()[a]).collect();
        assert!(
            sizes == kernel_shape[..leading],
            "LinearGeneral: the input is {}, whose axes {:?} have sizes {sizes:?}, expected \
             {:?}\n  kernel {}\n  help: create the layer with the sizes of its input, or select \
             other axes",
            x.aval(),
            [&batch[..], &axes].concat(),
            &kernel_shape[..leading],
            self.kernel.aval()
        );
        let ([operand, kernel], bias) =
            promote_affine(config.promotion(), [x, &self.kernel], self.bias.as_deref());
        let how = Multiply {
            promotion: config.promotion(),
            precision: config.precision,
            preferred_element_type: config.preferred_element_type,
            dot_general: config.dot_general.as_ref(),
            out_sharding,
        };
        let numbers = DotDimensionNumbers::new([&axes, &inputs], [&batch, &batch]);
        let y = how.product(&operand, &kernel, numbers);
        let y = adapted(self.lora.as_ref(), y, x, &axes, config.dtype);
        let Some(bias) = bias else {
            return y;
        };
        // Insert axes of size 1 between the batch axes and the features.
        let mut shape = vec![1; y.ndim()];
        let features = &kernel_shape[leading..];
        shape[..batch_dims].copy_from_slice(&kernel_shape[..batch_dims]);
        let first = y.ndim() - features.len();
        shape[first..].copy_from_slice(features);
        y + bias.reshape(&shape)
    }
}

/// Returns the axes of the input to map, as non-negative numbers in ascending order.
#[track_caller]
fn normal_axes(axes: &[isize], batch_dims: usize, x: &Array) -> Vec<usize> {
    let rank = x.ndim() as isize;
    let mut normal: Vec<usize> = Vec::with_capacity(axes.len());
    for &axis in axes {
        let at = if axis < 0 { axis + rank } else { axis };
        let fits = (batch_dims as isize..rank).contains(&at) && !normal.contains(&(at as usize));
        assert!(
            fits,
            "LinearGeneral: axis {axis} of {} cannot be mapped\n  got axes {axes:?} and \
             {batch_dims} batch axes\n  help: list each axis once, without the batch axes, which \
             come first",
            x.aval()
        );
        normal.push(at as usize);
    }
    normal.sort_unstable();
    normal
}

impl LinearGeneralConfig {
    /// Builds the layer with variables from `Rngs` or a scope. `in_features` are the sizes of
    /// the mapped axes, in the order of the input.
    ///
    /// # Panics
    /// Panics if the number of sizes differs from the number of axes. Also panics if the layer
    /// has batch axes; use [`build_batched`](LinearGeneralConfig::build_batched) for these.
    #[track_caller]
    pub fn build(&self, in_features: impl Into<Sizes>, vars: &mut impl VarSource) -> LinearGeneral {
        self.build_batched(&[], in_features, vars)
    }

    /// Builds the layer for inputs with leading batch axes of sizes `batch`. Each of their
    /// elements has separate parameters.
    ///
    /// # Panics
    /// Panics if the number of sizes differs from the number of axes, or that of batch sizes
    /// from the number of batch axes.
    #[track_caller]
    pub fn build_batched(
        &self,
        batch: &[usize],
        in_features: impl Into<Sizes>,
        vars: &mut impl VarSource,
    ) -> LinearGeneral {
        let (inputs, outputs) = (in_features.into().list(), self.features.list());
        assert!(
            inputs.len() == self.axis.len() && batch.len() == self.batch_dims,
            "LinearGeneral: got {} input features and {} sizes of batch axes, expected {} and \
             {}\n  help: pass one number for each of the axes {:?}; `batch_dims` is the number \
             of leading batch axes, whose sizes are an argument of build_batched",
            inputs.len(),
            batch.len(),
            self.axis.len(),
            self.batch_dims,
            self.axis
        );
        let vars = &mut vars.vars();
        let size = |sizes: &[usize]| -> usize { sizes.iter().product() };
        let (rows, columns) = (size(batch) * size(&inputs), size(&outputs));
        let drawn = self
            .clone()
            .kernel_init(self.kernel_init.drawn_as(vec![rows, columns]))
            .bias_init(self.bias_init.drawn_as(vec![size(batch) * columns]));
        let kernel = [batch, &inputs, &outputs].concat();
        let bias = [batch, &outputs].concat();
        let (kernel, bias) = drawn.kernel_and_bias(vars, &kernel, &bias);
        LinearGeneral {
            kernel,
            bias,
            config: self.clone(),
            lora: None,
        }
    }
}

impl linen::Module for LinearGeneralConfig {
    #[track_caller]
    fn call(&self, scope: &mut linen::Scope, x: Array) -> Array {
        let axes = normal_axes(&self.axis, self.batch_dims, &x);
        let inputs: Vec<usize> = axes.iter().map(|&a| x.shape()[a]).collect();
        let batch = &x.shape()[..self.batch_dims];
        in_scope!(
            scope,
            |vars| self.build_batched(batch, inputs, vars),
            |layer| layer.forward(&x),
        )
    }
    fn class_name(&self) -> Cow<'static, str> {
        Cow::Borrowed(LinearGeneralConfig::CLASS)
    }
}
