//! More activation functions (`jax.nn`).

use super::activation::above_infinity;
use crate::prim::elementwise::parts;
use crate::{Array, where_};

impl Array {
    /// Applies the rectified linear unit limited to 6, `min(max(x, 0), 6)`. Its derivative at 0
    /// and at 6 is 0.
    #[track_caller]
    pub fn relu6(&self) -> Array {
        let x = self.to_inexact();
        let flat = x.stop_gradient().maximum(0).minimum(6);
        where_(x.gt(0).logical_and(x.lt(6)), &x, flat)
    }

    /// Applies the continuously differentiable exponential linear unit: `x` if it is positive,
    /// otherwise `alpha · (exp(x / alpha) - 1)`.
    ///
    /// Barron, *Continuously Differentiable Exponential Linear Units*, 2017.
    #[track_caller]
    pub fn celu(&self, alpha: f64) -> Array {
        let x = self.to_inexact();
        x.maximum(0.0) + (x.minimum(0.0) / alpha).expm1() * alpha
    }

    /// Applies the soft-sign function, `x / (1 + |x|)`, to each element.
    #[track_caller]
    pub fn soft_sign(&self) -> Array {
        let x = self.to_inexact();
        &x / (x.abs() + 1.0)
    }

    /// Clips each element to the range from -1 to 1.
    #[track_caller]
    pub fn hard_tanh(&self) -> Array {
        where_(self.gt(1), 1, where_(self.lt(-1), -1, self))
    }

    /// Applies the piecewise linear sigmoid `relu6(x + 3) / 6` to each element.
    #[track_caller]
    pub fn hard_sigmoid(&self) -> Array {
        (self.to_inexact() + 3.0).relu6() / 6.0
    }

    /// Applies `x · hard_sigmoid(x)`, also called hard swish, to each element.
    ///
    /// Howard et al., *Searching for MobileNetV3*, 2019.
    #[track_caller]
    pub fn hard_silu(&self) -> Array {
        let x = self.to_inexact();
        above_infinity(&x) * x.hard_sigmoid()
    }

    /// Applies the sigmoid linear unit. Alias of [`silu`](Array::silu).
    #[track_caller]
    pub fn swish(&self) -> Array {
        self.silu()
    }

    /// Applies the hard swish function. Alias of [`hard_silu`](Array::hard_silu).
    #[track_caller]
    pub fn hard_swish(&self) -> Array {
        self.hard_silu()
    }

    /// Applies the mish function, `x · tanh(softplus(x))`, to each element.
    ///
    /// Misra, *Mish: A Self Regularized Non-Monotonic Activation Function*,
    /// 2019.
    #[track_caller]
    pub fn mish(&self) -> Array {
        let x = self.to_inexact();
        above_infinity(&x) * x.softplus().tanh()
    }

    /// Applies squareplus, `(x + √(x² + b)) / 2`, a smooth `relu`, to each element. `b` is
    /// usually 4.
    ///
    /// Barron, *Squareplus: A Softplus-Like Algebraic Rectifier*, 2021.
    #[track_caller]
    pub fn squareplus(&self, b: f64) -> Array {
        let x = self.to_inexact();
        (&x + (x.square() + b).sqrt()) / 2.0
    }

    /// Applies sparse plus to each element: 0 up to -1, `x` from 1 on, and a parabola between.
    #[track_caller]
    pub fn sparse_plus(&self) -> Array {
        let x = self.to_inexact();
        let middle = (&x + 1.0).integer_pow(2) / 4.0;
        where_(x.le(-1.0), 0.0, where_(x.ge(1.0), &x, middle))
    }

    /// Applies the sparse sigmoid to each element: 0 up to -1, 1 from 1 on, and linear between.
    ///
    /// # Panics
    /// Panics if the array is complex.
    #[track_caller]
    pub fn sparse_sigmoid(&self) -> Array {
        parts::require_real("sparse_sigmoid", &[self]);
        (self.to_inexact() + 1.0).clip(0.0, 2.0) * 0.5
    }

    /// Applies the gated linear unit: multiplies the first half of an axis by the sigmoid of the
    /// second half.
    ///
    /// Dauphin et al., *Language Modeling with Gated Convolutional Networks*,
    /// 2016.
    ///
    /// # Panics
    /// Panics if the axis is out of range or has an odd size.
    #[track_caller]
    pub fn glu(&self, axis: isize) -> Array {
        self.glu_by(axis, Array::sigmoid)
    }

    /// Multiplies the first half of an axis by `gate` of the second half. This is the family of
    /// gated linear units: `SwiGLU` with [`silu`](Array::silu), `GEGLU` with
    /// [`gelu`](Array::gelu), `ReGLU` with [`relu`](Array::relu).
    ///
    /// Shazeer, *GLU Variants Improve Transformer*, 2020.
    ///
    /// ```no_run
    /// use ramie_core::{Array, DType};
    /// let x = Array::ones(&[4, 16], DType::F32);
    /// assert_eq!(x.glu_by(-1, Array::silu).shape(), [4, 8]);
    /// ```
    ///
    /// # Panics
    /// Panics if the axis is out of range or has an odd size.
    #[track_caller]
    pub fn glu_by(&self, axis: isize, gate: impl FnOnce(&Array) -> Array) -> Array {
        let n = self.shape()[self.axis("glu", axis)];
        assert!(
            n.is_multiple_of(2),
            "glu: axis {axis} of {} has an odd size, {n}\n  help: the halves of the axis are \
             values and gates, so its size must be even",
            self.aval()
        );
        let halves = self.split(2, axis);
        &halves[0] * gate(&halves[1])
    }
}
