//! `SwiGLU`: a gated linear unit.

use super::hyperparameters::{hyperparameters, linen_layer};
use super::{Linear, LinearConfig};
use crate::model::observed;
use crate::{Initializer, Module, Rngs, VarSource, init};
use ramie_core::lax::Precision;
use ramie_core::{Array, DType};

/// A gated linear unit: `silu(x · gate) * (x · value)`, the first half of the feed-forward block of
/// Llama and similar models (Shazeer, *GLU Variants Improve Transformer*, 2020). Flax has no such
/// layer.
///
/// ```no_run
/// use ramie_core::{Array, DType};
/// use ramie_nn::{Rngs, SwiGLU};
/// let layer = SwiGLU::new(64, 256, &mut Rngs::new(0));
/// let x = Array::zeros(&[32, 64], DType::F32);
/// assert_eq!(layer.forward(&x).shape(), [32, 256]);
/// ```
#[derive(Clone, Debug, Module)]
pub struct SwiGLU {
    /// The dense layer inside the activation.
    pub gate: Linear,
    /// The dense layer that the activation scales.
    pub value: Linear,
}

hyperparameters! {
    /// Options of a [`SwiGLU`] layer; also Linen's module `SwiGLU`.
    SwiGLUConfig as "SwiGLU" (features: usize) {
        /// Sets whether both dense layers have a bias. Defaults to `false`.
        use_bias: [bool] = false,
        /// Sets the dtype of the computation. Defaults to the dtype that the input and the
        /// parameters promote to.
        dtype: [Option<DType>] = None,
        /// Sets the dtype of the parameters. Defaults to `f32`.
        param_dtype: [DType] = DType::F32,
        /// Sets the precision of the products.
        precision: [Option<Precision>] = None,
        /// Sets the initializer of both kernels. Defaults to
        /// [`lecun_normal`](crate::init::lecun_normal).
        kernel_init: [Initializer] = init::lecun_normal(),
        /// Sets the initializer of both biases. Defaults to zeros.
        bias_init: [Initializer] = init::zeros(),
    }
}

impl SwiGLU {
    /// Creates a layer from `in_features` to `out_features` without biases. Its kernels are drawn
    /// from [`lecun_normal`](crate::init::lecun_normal).
    #[track_caller]
    pub fn new(in_features: usize, out_features: usize, rngs: &mut Rngs) -> SwiGLU {
        SwiGLU::features(out_features).build(in_features, rngs)
    }

    /// Returns the options of a layer with `out_features` outputs;
    /// [`build`](SwiGLUConfig::build) creates the layer.
    pub fn features(out_features: usize) -> SwiGLUConfig {
        SwiGLUConfig::new(out_features)
    }

    /// Maps an array `[…, in_features]` to `[…, out_features]`.
    ///
    /// # Panics
    /// Panics if the last axis of the input is not `in_features`.
    #[track_caller]
    pub fn forward(&self, x: &Array) -> Array {
        observed!(self, |layer, x| layer.compute(x))
    }

    #[track_caller]
    fn compute(&self, x: &Array) -> Array {
        self.gate.forward(x).silu() * self.value.forward(x)
    }
}

impl SwiGLUConfig {
    /// Builds the layer for inputs of `in_features`, with variables from `Rngs` or a scope.
    ///
    /// Each new parameter takes a key from the stream `params`.
    #[track_caller]
    pub fn build(&self, in_features: usize, vars: &mut impl VarSource) -> SwiGLU {
        let vars = &mut vars.vars();
        let linear = LinearConfig::new(self.features)
            .use_bias(self.use_bias)
            .dtype(self.dtype)
            .param_dtype(self.param_dtype)
            .precision(self.precision)
            .kernel_init(self.kernel_init.clone())
            .bias_init(self.bias_init.clone());
        SwiGLU {
            gate: vars.child("gate", |vars| linear.build(in_features, vars)),
            value: vars.child("value", |vars| linear.build(in_features, vars)),
        }
    }
}

linen_layer!(SwiGLUConfig of_features);
