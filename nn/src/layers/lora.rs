//! LoRA: low-rank adapters.

use super::dot_general::Multiply;
use super::hyperparameters::{affine_hyperparameters, hyperparameters, linen_layer};
use super::linear::affine;
use super::promote::{Promotion, promote};
use crate::init::{self, Initializer};
use crate::model::observed;
use crate::{Forward, Linear, LoraParam, Module, Param, PromoteDtypeFn, Rngs, VarSource};
use ramie_core::{Array, DType, PartitionSpec};

/// A low-rank adapter: the product of the input with two thin matrices, added to the output of
/// another layer (`nnx.LoRA`; Hu et al., 2021).
///
/// The second matrix is initially zero, so an adapted layer initially behaves as before. To
/// train only the adapters, take gradients with respect to [`LoraParam`]. It is a separate
/// kind: unlike in Flax, [`Param`] does not include it.
///
/// To adapt layers of a finished model by their paths, use [`apply_lora`](crate::apply_lora).
///
/// ```no_run
/// use ramie_core::{Array, DType};
/// use ramie_nn::nnx::of_type;
/// use ramie_nn::{Linear, Lora, LoraParam, Rngs, value_and_grad_wrt};
/// let rngs = &mut Rngs::new(0);
/// let trained = Linear::new(64, 32, rngs);
/// let mut adapted = Lora::wrap(trained, 64, 4, 32, rngs);
/// let x = Array::ones(&[8, 64], DType::F32);
/// let (_, grads) = value_and_grad_wrt(&mut adapted, of_type::<LoraParam>(), |m| {
///     m.forward(&x).square().mean()
/// });
/// assert_eq!(grads.len(), 2);
/// ```
#[doc(alias = "LoRA")]
#[derive(Clone, Debug, Module)]
pub struct Lora<B: Forward = Linear> {
    /// The first matrix, `[in_features, rank]`.
    pub lora_a: LoraParam,
    /// The second matrix, `[rank, out_features]`.
    pub lora_b: LoraParam,
    /// The layer whose output the product is added to, if any.
    pub base_module: Option<B>,
    /// The dtype of the computation. Defaults to the dtype that the input and the parameters
    /// promote to.
    pub dtype: Option<DType>,
    /// A custom rule by which the input and the parameters are converted, if any.
    #[tree(fixed)]
    pub promote_dtype: Option<PromoteDtypeFn>,
}

hyperparameters! {
    /// Options of a [`Lora`] adapter.
    ///
    /// Flax has no Linen version. Here the options are also a Linen module, whose variables are
    /// in the collection `lora_params`.
    LoraConfig as "LoRA" (lora_rank: usize, features: usize) {
        /// Sets the dtype of the computation. Defaults to the dtype that the input and the
        /// parameters promote to.
        dtype: [Option<DType>] = None,
        /// Sets a custom rule by which the input and the parameters are converted before the
        /// computation. Defaults to none.
        promote_dtype: [Option<PromoteDtypeFn>] = None,
        /// Sets the dtype of the parameters. Defaults to `f32`.
        param_dtype: [DType] = DType::F32,
        /// Sets the initializer of the first matrix. Defaults to
        /// [`he_uniform`](init::he_uniform).
        a_initializer: [Initializer] = init::he_uniform(),
        /// Sets the initializer of the second matrix. Defaults to zeros.
        b_initializer: [Initializer] = init::zeros(),
    }
}

impl Lora {
    /// Creates an adapter of rank `lora_rank` without a base layer.
    #[track_caller]
    pub fn new(in_features: usize, lora_rank: usize, out_features: usize, rngs: &mut Rngs) -> Lora {
        Lora::rank(lora_rank, out_features).build(in_features, rngs)
    }

    /// Returns the options of an adapter of rank `lora_rank`; [`build`](LoraConfig::build)
    /// creates it.
    pub fn rank(lora_rank: usize, out_features: usize) -> LoraConfig {
        LoraConfig::new(lora_rank, out_features)
    }
}

impl<B: Forward> Lora<B> {
    /// Creates an adapter of rank `lora_rank` that adds its output to that of `base_module`.
    #[track_caller]
    pub fn wrap(
        base_module: B,
        in_features: usize,
        lora_rank: usize,
        out_features: usize,
        rngs: &mut Rngs,
    ) -> Lora<B> {
        Lora::new(in_features, lora_rank, out_features, rngs).around(base_module)
    }

    /// Sets the layer whose output the adapter's is added to.
    #[must_use]
    pub fn around<C: Forward>(self, base_module: C) -> Lora<C> {
        Lora {
            lora_a: self.lora_a,
            lora_b: self.lora_b,
            base_module: Some(base_module),
            dtype: self.dtype,
            promote_dtype: self.promote_dtype,
        }
    }

    /// Maps an array `[…, in_features]` to `[…, out_features]`.
    ///
    /// # Panics
    /// Panics if the last axis of the input is not `in_features`.
    #[track_caller]
    pub fn forward(&mut self, x: &Array) -> Array {
        let (x, low) = self.low_rank(x);
        match &mut self.base_module {
            Some(base) => low + base.forward(&x),
            None => low,
        }
    }

    /// Returns the input in the dtype of the computation, and the output of the adapter.
    #[track_caller]
    fn low_rank(&self, x: &Array) -> (Array, Array) {
        let in_features = self.lora_a.shape()[0];
        assert!(
            x.shape().last() == Some(&in_features),
            "Lora: the input is {}, expected a last axis of {in_features}\n  lora_a {}\n  help: \
             create the adapter with the number of features of its input",
            x.aval(),
            self.lora_a.aval()
        );
        let how = Promotion::new(self.dtype, &self.promote_dtype);
        let [x, a, b] = promote(how, [x, &self.lora_a, &self.lora_b]);
        let low = x.matmul(&a).matmul(&b);
        (x, low)
    }
}

impl LoraConfig {
    /// Builds the adapter for inputs of `in_features`, with variables from `Rngs` or a scope.
    #[track_caller]
    pub fn build(&self, in_features: usize, vars: &mut impl VarSource) -> Lora {
        let vars = &mut vars.vars();
        let (rank, dtype) = (self.lora_rank, self.param_dtype);
        Lora {
            lora_a: vars.drawn("lora_a", &self.a_initializer, &[in_features, rank], dtype),
            lora_b: vars.drawn("lora_b", &self.b_initializer, &[rank, self.features], dtype),
            base_module: None,
            dtype: self.dtype,
            promote_dtype: self.promote_dtype.clone(),
        }
    }
}

linen_layer!(LoraConfig of_features);

/// A [`Linear`] layer with a [`Lora`] adapter (`nnx.LoRALinear`).
///
/// The kernel and the bias have the same paths as in `Linear`, so that the state of a `Linear`
/// can be loaded.
///
/// ```no_run
/// use ramie_nn::{LoraLinear, Rngs};
/// let layer = LoraLinear::new(64, 32, 4, &mut Rngs::new(0));
/// assert_eq!(layer.lora.lora_a.shape(), [64, 4]);
/// ```
#[derive(Clone, Debug, Module)]
pub struct LoraLinear {
    /// The kernel, `[in_features, out_features]`.
    pub kernel: Param,
    /// The bias, `[out_features]`, if any.
    pub bias: Option<Param>,
    /// The adapter.
    pub lora: Lora,
    /// The options of the layer. Changes of their public fields apply to later calls.
    pub config: LoraLinearConfig,
}

affine_hyperparameters! {
    /// Options of a [`LoraLinear`] layer. The dtypes and the precision do not apply to the adapter,
    /// which has its own dtypes.
    LoraLinearConfig as "LoRALinear" (features: usize, lora_rank: usize) {
        /// Sets the dtype of the adapter's computation. Defaults to the dtype that the input
        /// and the parameters promote to.
        lora_dtype: [Option<DType>] = None,
        /// Sets a custom rule by which the adapter converts the input and its parameters. Defaults
        /// to none.
        lora_promote_dtype: [Option<PromoteDtypeFn>] = None,
        /// Sets the dtype of the adapter's parameters. Defaults to `f32`.
        lora_param_dtype: [DType] = DType::F32,
        /// Sets the initializer of the adapter's first matrix. Defaults to
        /// [`he_uniform`](init::he_uniform).
        a_initializer: [Initializer] = init::he_uniform(),
        /// Sets the initializer of the adapter's second matrix. Defaults to zeros.
        b_initializer: [Initializer] = init::zeros(),
    } calls {
    }
}

impl LoraLinear {
    /// Creates a layer from `in_features` to `out_features` with an adapter of rank
    /// `lora_rank`.
    #[track_caller]
    pub fn new(
        in_features: usize,
        out_features: usize,
        lora_rank: usize,
        rngs: &mut Rngs,
    ) -> LoraLinear {
        LoraLinear::features(out_features, lora_rank).build(in_features, rngs)
    }

    /// Returns the options of a layer with `out_features` outputs and an adapter of rank
    /// `lora_rank`; [`build`](LoraLinearConfig::build) creates the layer.
    pub fn features(out_features: usize, lora_rank: usize) -> LoraLinearConfig {
        LoraLinearConfig::new(out_features, lora_rank)
    }

    /// Maps an array `[…, in_features]` to `[…, out_features]`.
    ///
    /// # Panics
    /// Panics if the last axis of the input is not `in_features`.
    #[track_caller]
    pub fn forward(&self, x: &Array) -> Array {
        observed!(self, |layer, x| layer.multiply(x, None))
    }

    /// Like [`forward`](LoraLinear::forward), with the output of the base layer sharded by
    /// `out_sharding` over explicit axes of a mesh.
    ///
    /// # Panics
    /// Panics as `forward` does, or if `out_sharding` does not match the mesh or the shape.
    #[track_caller]
    pub fn forward_with(&self, x: &Array, out_sharding: impl Into<PartitionSpec>) -> Array {
        self.multiply(x, Some(&out_sharding.into()))
    }

    #[track_caller]
    fn multiply(&self, x: &Array, out_sharding: Option<&PartitionSpec>) -> Array {
        let how = Multiply {
            promotion: self.config.promotion(),
            precision: self.config.precision,
            preferred_element_type: self.config.preferred_element_type,
            dot_general: None,
            out_sharding,
        };
        let y = affine("LoraLinear", x, &self.kernel, self.bias.as_deref(), how);
        y + self.lora.low_rank(x).1
    }

    /// Returns the layer with its adapter merged into the kernel.
    ///
    /// The sum is rounded to the dtype of the kernel.
    #[must_use]
    #[track_caller]
    pub fn merged(&self) -> Linear {
        let (a, b) = (&*self.lora.lora_a, &*self.lora.lora_b);
        let [a, b] = promote(self.lora.dtype, [a, b]);
        let mut kernel = self.kernel.clone();
        kernel.set((&*self.kernel + a.matmul(&b)).astype(self.kernel.dtype()));
        Linear {
            kernel,
            bias: self.bias.clone(),
            config: Linear::features(self.config.features)
                .dtype(self.config.dtype)
                .promote_dtype(self.config.promote_dtype.clone())
                .precision(self.config.precision)
                .preferred_element_type(self.config.preferred_element_type),
            lora: None,
        }
    }
}

impl LoraLinearConfig {
    /// Builds the layer for inputs of `in_features`, with variables from `Rngs` or a scope.
    #[track_caller]
    pub fn build(&self, in_features: usize, vars: &mut impl VarSource) -> LoraLinear {
        let vars = &mut vars.vars();
        let kernel = [in_features, self.features];
        let lora = LoraConfig::new(self.lora_rank, self.features)
            .dtype(self.lora_dtype)
            .promote_dtype(self.lora_promote_dtype.clone())
            .param_dtype(self.lora_param_dtype)
            .a_initializer(self.a_initializer.clone())
            .b_initializer(self.b_initializer.clone());
        let (kernel, bias) = self.kernel_and_bias(vars, &kernel, &kernel[1..]);
        LoraLinear {
            kernel,
            bias,
            lora: vars.child("lora", |vars| lora.build(in_features, vars)),
            config: self.clone(),
        }
    }
}

linen_layer!(LoraLinearConfig of_features);
