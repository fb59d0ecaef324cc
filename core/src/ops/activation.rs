//! Activation functions and what belongs to them (`jax.nn`).

use crate::{Array, where_};

/// `alpha` of [`Array::selu`].
const SELU_ALPHA: f64 = 1.673_263_242_354_377_2;
/// The scale of [`Array::selu`].
const SELU_SCALE: f64 = 1.050_700_987_355_480_5;

impl Array {
    /// The rectified linear unit, `max(x, 0)`. Its derivative at 0 is 0.
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// assert_eq!(Array::from([-1.0f32, 2.0]).relu().to_vec::<f32>(), [0.0, 2.0]);
    /// ```
    #[track_caller]
    pub fn relu(&self) -> Array {
        // NaN stays NaN, with a derivative of 0 as in JAX.
        let flat = self.stop_gradient().maximum(0);
        where_(&self.gt(0), self, flat)
    }

    /// `x` where it is positive, else `negative_slope · x`.
    #[track_caller]
    pub fn leaky_relu(&self, negative_slope: f64) -> Array {
        let x = self.to_inexact();
        where_(&x.ge(0), &x, &x * negative_slope)
    }

    /// The exponential linear unit: `x` where it is positive, else
    /// `alpha · (eˣ - 1)`.
    #[track_caller]
    pub fn elu(&self, alpha: f64) -> Array {
        let x = self.to_inexact();
        let positive = x.gt(0);
        // `expm1` sees no large operand whose derivative would overflow.
        let below = where_(&positive, 0, &x);
        where_(&positive, &x, below.expm1() * alpha)
    }

    /// The scaled exponential linear unit, which keeps mean 0 and variance 1
    /// from layer to layer.
    ///
    /// Klambauer et al., *Self-Normalizing Neural Networks*, 2017.
    #[track_caller]
    pub fn selu(&self) -> Array {
        self.elu(SELU_ALPHA) * SELU_SCALE
    }

    /// The Gaussian error linear unit by its usual approximation with `tanh`.
    ///
    /// Hendrycks and Gimpel, *Gaussian Error Linear Units*, 2016.
    #[track_caller]
    pub fn gelu(&self) -> Array {
        let x = self.to_inexact();
        let inner = (&x + x.integer_pow(3) * 0.044715) * (2.0 / std::f64::consts::PI).sqrt();
        &x * ((inner.tanh() + 1.0) * 0.5)
    }

    /// The Gaussian error linear unit, `x · Φ(x)` with the normal distribution
    /// function `Φ`.
    ///
    /// # Panics
    /// If the array is complex; [`gelu`](Array::gelu) takes complex numbers.
    #[track_caller]
    pub fn gelu_exact(&self) -> Array {
        crate::ops::require_real("gelu_exact", &[self]);
        let x = self.to_inexact();
        &x * 0.5 * (-&x * std::f64::consts::FRAC_1_SQRT_2).erfc()
    }

    /// The sigmoid function, `1 / (1 + e⁻ˣ)`.
    #[track_caller]
    pub fn sigmoid(&self) -> Array {
        self.logistic()
    }

    /// The sigmoid linear unit (swish), `x · sigmoid(x)`.
    #[track_caller]
    pub fn silu(&self) -> Array {
        let x = self.to_inexact();
        &x * x.logistic()
    }

    /// `log(1 + eˣ)`, without overflow.
    #[track_caller]
    pub fn softplus(&self) -> Array {
        self.logaddexp(0.0)
    }

    /// `log(sigmoid(x))`, without overflow.
    #[track_caller]
    pub fn log_sigmoid(&self) -> Array {
        -(-self.to_inexact()).softplus()
    }
}
