//! Activation functions (`jax.nn`).

use crate::dtypes::finfo;
use crate::prim::elementwise::parts;
use crate::{Array, where_};

/// The parameter `alpha` of [`Array::selu`].
const SELU_ALPHA: f64 = 1.673_263_242_354_377_2;
/// The scale of [`Array::selu`].
const SELU_SCALE: f64 = 1.050_700_987_355_480_5;

/// The option of [`Array::gelu_with`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Exact;

impl Array {
    /// Applies the rectified linear unit, `max(x, 0)`, to each element. Its derivative at 0 is 0.
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// assert_eq!(Array::from([-1.0f32, 2.0]).relu().to_vec::<f32>(), [0.0, 2.0]);
    /// ```
    #[track_caller]
    pub fn relu(&self) -> Array {
        // NaN stays NaN, with a derivative of 0 as in JAX.
        let flat = self.stop_gradient().maximum(0);
        where_(self.gt(0), self, flat)
    }

    /// Applies the leaky rectified linear unit: `x` if it is positive, otherwise
    /// `negative_slope · x`.
    #[track_caller]
    pub fn leaky_relu(&self, negative_slope: f64) -> Array {
        let x = self.to_inexact();
        where_(x.ge(0), &x, &x * negative_slope)
    }

    /// Applies the exponential linear unit: `x` if it is positive, otherwise `alpha · (eˣ - 1)`.
    #[track_caller]
    pub fn elu(&self, alpha: f64) -> Array {
        let x = self.to_inexact();
        let positive = x.gt(0);
        // `expm1` never receives a large operand, whose derivative would overflow.
        let below = where_(&positive, 0, &x);
        where_(&positive, &x, below.expm1() * alpha)
    }

    /// Applies the scaled exponential linear unit, which preserves mean 0 and variance 1 across
    /// layers.
    ///
    /// Klambauer et al., *Self-Normalizing Neural Networks*, 2017.
    #[track_caller]
    pub fn selu(&self) -> Array {
        self.elu(SELU_ALPHA) * SELU_SCALE
    }

    /// Applies the Gaussian error linear unit in its usual approximation by `tanh`.
    ///
    /// Hendrycks and Gimpel, *Gaussian Error Linear Units*, 2016.
    #[track_caller]
    pub fn gelu(&self) -> Array {
        let x = self.to_inexact();
        let inner = (&x + x.integer_pow(3) * 0.044715) * (2.0 / std::f64::consts::PI).sqrt();
        above_infinity(&x) * ((inner.tanh() + 1.0) * 0.5)
    }

    /// Applies the exact Gaussian error linear unit, `x · Φ(x)`, where `Φ` is the cumulative
    /// distribution function of the standard normal distribution (`jax.nn.gelu` with
    /// `approximate=False`).
    ///
    /// # Panics
    /// Panics if the array is complex; [`gelu`](Array::gelu) accepts complex numbers.
    #[track_caller]
    pub fn gelu_with(&self, _: Exact) -> Array {
        parts::require_real("gelu_with", &[self]);
        let x = self.to_inexact();
        above_infinity(&x) * 0.5 * (-&x * std::f64::consts::FRAC_1_SQRT_2).erfc()
    }

    /// Applies the sigmoid function, `1 / (1 + e⁻ˣ)`, to each element.
    #[track_caller]
    pub fn sigmoid(&self) -> Array {
        self.logistic()
    }

    /// Applies the sigmoid linear unit (swish), `x · sigmoid(x)`, to each element.
    #[track_caller]
    pub fn silu(&self) -> Array {
        let x = self.to_inexact();
        above_infinity(&x) * x.logistic()
    }

    /// Computes `log(1 + eˣ)` of each element without overflow.
    #[track_caller]
    pub fn softplus(&self) -> Array {
        self.logaddexp(0.0)
    }

    /// Computes `log(sigmoid(x))` of each element without overflow.
    #[track_caller]
    pub fn log_sigmoid(&self) -> Array {
        -(-self.to_inexact()).softplus()
    }
}

/// Returns real numbers with the smallest finite one in place of negative infinity, whose product
/// with a factor of 0 would be NaN instead of the limit 0.
#[track_caller]
pub(super) fn above_infinity(x: &Array) -> Array {
    if x.dtype().is_complex() {
        x.clone()
    } else {
        x.maximum(finfo(x.dtype()).min)
    }
}
