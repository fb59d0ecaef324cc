//! `Linear`: a matrix and a bias.

use crate::init::{self, Initializer};
use crate::{Module, Param, Rngs};
use ramie_core::{Array, DType};

/// An affine map of the last axis: `y = x · kernel + bias`.
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
    /// `[in_features, out_features]`.
    pub kernel: Param,
    /// `[out_features]`, if there is one.
    pub bias: Option<Param>,
    /// The element type of the computation; by default the one that input and
    /// parameters promote to.
    pub dtype: Option<DType>,
}

/// The hyperparameters of a [`Linear`] layer; see [`Linear::features`].
#[derive(Clone)]
pub struct LinearConfig {
    features: usize,
    use_bias: bool,
    dtype: Option<DType>,
    param_dtype: DType,
    kernel_init: Initializer,
    bias_init: Initializer,
}

impl Linear {
    /// A layer from `in_features` to `out_features`, its kernel drawn from
    /// [`lecun_normal`](init::lecun_normal), its bias zero.
    #[track_caller]
    pub fn new(in_features: usize, out_features: usize, rngs: &mut Rngs) -> Linear {
        Linear::features(out_features).init(in_features, rngs)
    }

    /// The hyperparameters of a layer to `out_features`, to be changed before
    /// [`init`](LinearConfig::init) makes the layer.
    ///
    /// ```no_run
    /// use ramie_core::DType;
    /// use ramie_nn::{Linear, Rngs};
    /// let layer = Linear::features(10).without_bias().dtype(DType::BF16).init(64, &mut Rngs::new(0));
    /// ```
    pub fn features(out_features: usize) -> LinearConfig {
        LinearConfig {
            features: out_features,
            use_bias: true,
            dtype: None,
            param_dtype: DType::F32,
            kernel_init: init::lecun_normal(),
            bias_init: init::zeros(),
        }
    }

    /// `[…, in_features]` to `[…, out_features]`.
    ///
    /// # Panics
    /// If the last axis of the input is not `in_features`.
    #[track_caller]
    pub fn forward(&self, x: &Array) -> Array {
        let in_features = self.kernel.shape()[0];
        assert!(
            x.shape().last() == Some(&in_features),
            "Linear: the input is {}, expected a last axis of {in_features}\n  kernel {}\n  help: \
             give the layer the features of its input, or flatten the input first: x.flatten(1..)",
            x.aval(),
            self.kernel.aval()
        );
        let cast = |a: &Array| match self.dtype {
            Some(dtype) => a.astype(dtype),
            None => a.clone(),
        };
        let y = cast(x).matmul(cast(&self.kernel));
        match &self.bias {
            Some(bias) => y + cast(bias),
            None => y,
        }
    }
}

impl LinearConfig {
    /// No bias.
    #[must_use]
    pub fn without_bias(mut self) -> LinearConfig {
        self.use_bias = false;
        self
    }

    /// The element type of the computation.
    #[must_use]
    pub fn dtype(mut self, dtype: DType) -> LinearConfig {
        self.dtype = Some(dtype);
        self
    }

    /// The element type of the parameters, `f32` by default.
    #[must_use]
    pub fn param_dtype(mut self, dtype: DType) -> LinearConfig {
        self.param_dtype = dtype;
        self
    }

    /// How the kernel is drawn.
    #[must_use]
    pub fn kernel_init(mut self, init: Initializer) -> LinearConfig {
        self.kernel_init = init;
        self
    }

    /// How the bias is drawn.
    #[must_use]
    pub fn bias_init(mut self, init: Initializer) -> LinearConfig {
        self.bias_init = init;
        self
    }

    /// The layer, for inputs of `in_features`.
    ///
    /// Kernel and bias each take a key of the stream `params`.
    #[track_caller]
    pub fn init(&self, in_features: usize, rngs: &mut Rngs) -> Linear {
        let mut draw = |init: &Initializer, shape: &[usize]| {
            Param(init.draw(&rngs.params(), shape, self.param_dtype))
        };
        let kernel = draw(&self.kernel_init, &[in_features, self.features]);
        let bias = self
            .use_bias
            .then(|| draw(&self.bias_init, &[self.features]));
        Linear {
            kernel,
            bias,
            dtype: self.dtype,
        }
    }
}
