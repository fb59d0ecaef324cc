//! `Linear`: a dense layer.

use super::dot_general::Multiply;
use super::functions::DotGeneralFn;
use super::hyperparameters::{affine_hyperparameters, linen_layer};
use super::lora_adapter::{LoraAdapter, adapted};
use super::promote::{add_bias, promote_affine};
use crate::model::observed;
use crate::{Module, Param, Rngs, VarSource};
use ramie_core::lax::DotDimensionNumbers;
use ramie_core::{Array, PartitionSpec};

/// A dense layer: an affine map of the last axis, `y = x · kernel + bias` (`nnx.Linear`,
/// `nn.Dense`).
///
/// ```no_run
/// use ramie_core::{Array, DType};
/// use ramie_nn::{Linear, Rngs};
/// let layer = Linear::new(64, 10, &mut Rngs::new(0));
/// let x = Array::zeros(&[32, 64], DType::F32);
/// assert_eq!(layer.forward(&x).shape(), [32, 10]);
/// ```
#[derive(Clone, Debug, Module)]
pub struct Linear {
    /// The kernel, `[in_features, out_features]`.
    pub kernel: Param,
    /// The bias, `[out_features]`, if any.
    pub bias: Option<Param>,
    /// The options of the layer. Changes of their public fields apply to later calls.
    pub config: LinearConfig,
    /// A low-rank adapter, if [`apply_lora`](crate::apply_lora) added one.
    pub lora: Option<LoraAdapter>,
}

affine_hyperparameters! {
    /// Options of a [`Linear`] layer; also Linen's module `Dense`.
    ///
    /// ```no_run
    /// use ramie_core::DType;
    /// use ramie_nn::{Linear, Rngs};
    /// let layer = Linear::features(10).without_bias().dtype(DType::BF16).build(64, &mut Rngs::new(0));
    /// ```
    LinearConfig as "Dense" (features: usize) {
    } calls {
        /// Sets a custom product used instead of `dot_general`.
        dot_general: [Option<DotGeneralFn>] = None,
    }
}

impl Linear {
    /// Creates a layer from `in_features` to `out_features`. Its kernel is drawn from
    /// [`lecun_normal`](crate::init::lecun_normal), its bias is zero.
    #[track_caller]
    pub fn new(in_features: usize, out_features: usize, rngs: &mut Rngs) -> Linear {
        Linear::features(out_features).build(in_features, rngs)
    }

    /// Returns the options of a layer with `out_features` outputs;
    /// [`build`](LinearConfig::build) creates the layer.
    pub fn features(out_features: usize) -> LinearConfig {
        LinearConfig::new(out_features)
    }

    /// Maps an array `[…, in_features]` to `[…, out_features]`.
    ///
    /// # Panics
    /// Panics if the last axis of the input is not `in_features`.
    #[track_caller]
    pub fn forward(&self, x: &Array) -> Array {
        observed!(self, |layer, x| layer.multiply(x, None))
    }

    /// Like [`forward`](Linear::forward), with the result sharded by `out_sharding` over
    /// explicit axes of a mesh.
    ///
    /// ```no_run
    /// use ramie_core::sharding::{make_mesh_with, AxisType};
    /// use ramie_core::{set_mesh, Array, DType, P};
    /// use ramie_nn::{Linear, Rngs};
    /// let _current = set_mesh(make_mesh_with(&[2, 4], &["data", "model"], AxisType::Explicit)?);
    /// let layer = Linear::new(64, 32, &mut Rngs::new(0));
    /// let x = Array::full_with(&[8, 64], 0, DType::F32, P!["data", "model"]);
    /// let y = layer.forward_with(&x, P!["data", None]);
    /// # Ok::<(), ramie_core::Error>(())
    /// ```
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
        let how = Multiply {
            promotion: config.promotion(),
            precision: config.precision,
            preferred_element_type: config.preferred_element_type,
            dot_general: config.dot_general.as_ref(),
            out_sharding,
        };
        let y = affine("Linear", x, &self.kernel, self.bias.as_deref(), how);
        adapted(self.lora.as_ref(), y, x, &[x.ndim() - 1], config.dtype)
    }
}

/// Computes `x · kernel + bias` over the last axis.
#[track_caller]
pub(crate) fn affine(
    layer: &str,
    x: &Array,
    kernel: &Array,
    bias: Option<&Array>,
    how: Multiply<'_>,
) -> Array {
    let in_features = kernel.shape()[0];
    assert!(
        x.shape().last() == Some(&in_features),
        "{layer}: the input is {}, expected a last axis of {in_features}\n  kernel {}\n  help: \
         create the layer with the number of features of its input, or flatten the input first: \
         x.flatten(1..)",
        x.aval(),
        kernel.aval()
    );
    let ([x, kernel], bias) = promote_affine(how.promotion, [x, kernel], bias);
    let last = DotDimensionNumbers::new([&[x.ndim() - 1], &[0]], [&[], &[]]);
    let y = how.product(&x, &kernel, last);
    match bias {
        Some(bias) => add_bias(y, &bias),
        None => y,
    }
}

impl LinearConfig {
    /// Builds the layer for inputs of `in_features`, with variables from `Rngs` or a scope.
    ///
    /// Each new parameter takes a key from the stream `params`.
    #[track_caller]
    pub fn build(&self, in_features: usize, vars: &mut impl VarSource) -> Linear {
        let vars = &mut vars.vars();
        let kernel = [in_features, self.features];
        let (kernel, bias) = self.kernel_and_bias(vars, &kernel, &kernel[1..]);
        Linear {
            kernel,
            bias,
            config: self.clone(),
            lora: None,
        }
    }
}

linen_layer!(LinearConfig of_features);
