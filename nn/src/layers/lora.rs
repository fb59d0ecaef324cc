//! Low-rank adapters.

use super::dot_general::Multiply;
use super::hyperparameters::{hyperparameters, linen_layer};
use super::linear::affine;
use super::promote::promote;
use crate::init::{self, Initializer};
use crate::nnx::observed;
use crate::{Forward, Linear, LoraParam, Module, Param, Rngs, Vars};
use ramie_core::{Array, DType, PartitionSpec, Precision};

/// The product of an input with two thin matrices, added to what another layer
/// makes of the input (`nnx.LoRA`; Hu and others, 2021).
///
/// The second matrix is zero at first, so that a layer which it is added to does
/// at first what it did before. To train the adapters alone, take gradients with
/// respect to [`LoraParam`], which is a kind of its own: [`Param`] does not
/// include it (in Flax it does).
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
#[derive(Clone, Debug, Module)]
pub struct Lora<B: Forward = Linear> {
    /// `[in_features, rank]`.
    pub lora_a: LoraParam,
    /// `[rank, out_features]`.
    pub lora_b: LoraParam,
    /// The layer that the product is added to, if there is one.
    pub base_module: Option<B>,
    /// The element type of the computation; by default the one that input and
    /// parameters promote to.
    pub dtype: Option<DType>,
}

hyperparameters! {
    /// The hyperparameters of a [`Lora`] adapter.
    ///
    /// Flax's Linen has none; here it is a module of Linen too, whose variables
    /// are in the collection `lora_params`.
    LoraConfig as "LoRA" (lora_rank: usize, features: usize) {
        /// The element type of the computation; by default the one that input
        /// and parameters promote to.
        dtype: [Option<DType>] = None,
        /// The element type of the parameters, `f32` by default.
        param_dtype: [DType] = DType::F32,
        /// How the first matrix is drawn, [`he_uniform`](init::he_uniform) by
        /// default.
        a_initializer: [Initializer] = init::he_uniform(),
        /// How the second matrix is drawn, zeros by default.
        b_initializer: [Initializer] = init::zeros(),
    }
}

impl Lora {
    /// An adapter of this rank, without a layer that it is added to.
    #[track_caller]
    pub fn new(in_features: usize, lora_rank: usize, out_features: usize, rngs: &mut Rngs) -> Lora {
        Lora::rank(lora_rank, out_features).build(in_features, rngs)
    }

    /// The hyperparameters of an adapter of this rank, to be changed before
    /// [`build`](LoraConfig::build) makes it.
    pub fn rank(lora_rank: usize, out_features: usize) -> LoraConfig {
        LoraConfig::new(lora_rank, out_features)
    }
}

impl<B: Forward> Lora<B> {
    /// An adapter of this rank, added to what a layer makes of the same input.
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

    /// The same adapter, added to what another layer makes of the input.
    #[must_use]
    pub fn around<C: Forward>(self, base_module: C) -> Lora<C> {
        Lora {
            lora_a: self.lora_a,
            lora_b: self.lora_b,
            base_module: Some(base_module),
            dtype: self.dtype,
        }
    }

    /// `[…, in_features]` to `[…, out_features]`.
    ///
    /// # Panics
    /// If the last axis of the input is not `in_features`.
    #[track_caller]
    pub fn forward(&mut self, x: &Array) -> Array {
        let (x, low) = self.low_rank(x);
        match &mut self.base_module {
            Some(base) => low + base.forward(&x),
            None => low,
        }
    }

    /// The input in the type of the computation, and its product.
    #[track_caller]
    fn low_rank(&self, x: &Array) -> (Array, Array) {
        let in_features = self.lora_a.shape()[0];
        assert!(
            x.shape().last() == Some(&in_features),
            "Lora: the input is {}, expected a last axis of {in_features}\n  lora_a {}\n  help: give \
             the adapter the features of its input",
            x.aval(),
            self.lora_a.aval()
        );
        let [x, a, b] = promote(self.dtype, [x, &self.lora_a, &self.lora_b]);
        let low = x.matmul(&a).matmul(&b);
        (x, low)
    }
}

impl LoraConfig {
    /// The adapter, for inputs of `in_features`, its variables from `Rngs` or a
    /// scope.
    #[track_caller]
    pub fn build<'a>(&self, in_features: usize, vars: impl Into<Vars<'a>>) -> Lora {
        let vars = &mut vars.into();
        let (rank, dtype) = (self.lora_rank, self.param_dtype);
        Lora {
            lora_a: vars.drawn("lora_a", &self.a_initializer, &[in_features, rank], dtype),
            lora_b: vars.drawn("lora_b", &self.b_initializer, &[rank, self.features], dtype),
            base_module: None,
            dtype: self.dtype,
        }
    }
}

linen_layer!(LoraConfig of_features);

/// A [`Linear`] layer and a [`Lora`] adapter of it (`nnx.LoRALinear`).
///
/// The kernel and bias have the paths that they have in `Linear`, so that its
/// state may be loaded.
///
/// ```no_run
/// use ramie_nn::{LoraLinear, Rngs};
/// let layer = LoraLinear::new(64, 32, 4, &mut Rngs::new(0));
/// assert_eq!(layer.lora.lora_a.shape(), [64, 4]);
/// ```
#[derive(Clone, Debug, Module)]
pub struct LoraLinear {
    /// `[in_features, out_features]`.
    pub kernel: Param,
    /// `[out_features]`, if there is one.
    pub bias: Option<Param>,
    /// The adapter.
    pub lora: Lora,
    /// The element type of the computation but for the adapter's; by default the
    /// one that input and parameters promote to.
    pub dtype: Option<DType>,
    /// The precision of the product.
    #[tree(fixed)]
    pub precision: Option<Precision>,
}

hyperparameters! {
    /// The hyperparameters of a [`LoraLinear`] layer.
    LoraLinearConfig as "LoRALinear" (features: usize, lora_rank: usize) {
        /// Whether there is a bias; there is by default.
        use_bias: [bool] = true,
        /// The element type of the computation but for the adapter's; by default
        /// the one that input and parameters promote to.
        dtype: [Option<DType>] = None,
        /// The element type of the parameters but for the adapter's, `f32` by
        /// default.
        param_dtype: [DType] = DType::F32,
        /// The precision of the product.
        precision: [Option<Precision>] = None,
        /// How the kernel is drawn, [`lecun_normal`](init::lecun_normal) by
        /// default.
        kernel_init: [Initializer] = init::lecun_normal(),
        /// How the bias is drawn, zeros by default.
        bias_init: [Initializer] = init::zeros(),
        /// The element type that the adapter computes in; by default the one
        /// that input and parameters promote to.
        lora_dtype: [Option<DType>] = None,
        /// The element type of the adapter's parameters, `f32` by default.
        lora_param_dtype: [DType] = DType::F32,
        /// How the adapter's first matrix is drawn,
        /// [`he_uniform`](init::he_uniform) by default.
        a_initializer: [Initializer] = init::he_uniform(),
        /// How the adapter's second matrix is drawn, zeros by default.
        b_initializer: [Initializer] = init::zeros(),
    }
}

impl LoraLinear {
    /// A layer from `in_features` to `out_features` with an adapter of this rank.
    #[track_caller]
    pub fn new(
        in_features: usize,
        out_features: usize,
        lora_rank: usize,
        rngs: &mut Rngs,
    ) -> LoraLinear {
        LoraLinear::features(out_features, lora_rank).build(in_features, rngs)
    }

    /// The hyperparameters of a layer to `out_features` with an adapter of this
    /// rank, to be changed before [`build`](LoraLinearConfig::build) makes the
    /// layer.
    pub fn features(out_features: usize, lora_rank: usize) -> LoraLinearConfig {
        LoraLinearConfig::new(out_features, lora_rank)
    }

    /// `[…, in_features]` to `[…, out_features]`.
    ///
    /// # Panics
    /// If the last axis of the input is not `in_features`.
    #[track_caller]
    pub fn forward(&self, x: &Array) -> Array {
        observed!(self, |layer, x| layer.multiply(x, None))
    }

    /// [`forward`](LoraLinear::forward) with the result of the layer sharded by
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
        let how = Multiply {
            dtype: self.dtype,
            precision: self.precision,
            preferred_element_type: None,
            dot_general: None,
            out_sharding,
        };
        let y = affine("LoraLinear", x, &self.kernel, self.bias.as_deref(), how);
        y + self.lora.low_rank(x).1
    }

    /// The layer without the adapter, which has become part of the kernel.
    ///
    /// The sum is rounded to the type of the kernel.
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
            dtype: self.dtype,
            precision: self.precision,
            preferred_element_type: None,
            dot_general: None,
        }
    }
}

impl LoraLinearConfig {
    /// No bias.
    #[must_use]
    pub fn without_bias(self) -> LoraLinearConfig {
        self.use_bias(false)
    }

    /// The layer, for inputs of `in_features`, its variables from `Rngs` or a
    /// scope.
    #[track_caller]
    pub fn build<'a>(&self, in_features: usize, vars: impl Into<Vars<'a>>) -> LoraLinear {
        let vars = &mut vars.into();
        let kernel = [in_features, self.features];
        let mut lora = LoraConfig::new(self.lora_rank, self.features)
            .param_dtype(self.lora_param_dtype)
            .a_initializer(self.a_initializer.clone())
            .b_initializer(self.b_initializer.clone());
        lora.dtype = self.lora_dtype;
        LoraLinear {
            kernel: vars.param("kernel", &self.kernel_init, &kernel, self.param_dtype),
            bias: vars.param_if(
                self.use_bias,
                "bias",
                &self.bias_init,
                &kernel[1..],
                self.param_dtype,
            ),
            lora: vars.child("lora", |vars| lora.build(in_features, vars)),
            dtype: self.dtype,
            precision: self.precision,
        }
    }
}

linen_layer!(LoraLinearConfig of_features);
