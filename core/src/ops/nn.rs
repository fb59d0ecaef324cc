//! More activation functions (`jax.nn`).

use crate::{Array, where_};

impl Array {
    /// The rectified linear unit cut off at 6. Its derivative at 0 and at 6 is
    /// 0.
    #[track_caller]
    pub fn relu6(&self) -> Array {
        let x = self.to_inexact();
        let flat = x.stop_gradient().maximum(0).minimum(6);
        where_(&x.gt(0).logical_and(x.lt(6)), &x, flat)
    }

    /// The continuously differentiable exponential linear unit: `x` where it is
    /// positive, else `alpha · (exp(x / alpha) - 1)`.
    ///
    /// Barron, *Continuously Differentiable Exponential Linear Units*, 2017.
    #[track_caller]
    pub fn celu(&self, alpha: f64) -> Array {
        let x = self.to_inexact();
        x.maximum(0.0) + (x.minimum(0.0) / alpha).expm1() * alpha
    }

    /// `x / (1 + |x|)`.
    #[track_caller]
    pub fn soft_sign(&self) -> Array {
        let x = self.to_inexact();
        &x / (x.abs() + 1.0)
    }

    /// `x` between -1 and 1, cut off there.
    #[track_caller]
    pub fn hard_tanh(&self) -> Array {
        where_(&self.gt(1), 1, where_(&self.lt(-1), -1, self))
    }

    /// A sigmoid of straight lines: `relu6(x + 3) / 6`.
    #[track_caller]
    pub fn hard_sigmoid(&self) -> Array {
        (self.to_inexact() + 3.0).relu6() / 6.0
    }

    /// `x · hard_sigmoid(x)`, also called hard swish.
    ///
    /// Howard et al., *Searching for MobileNetV3*, 2019.
    #[track_caller]
    pub fn hard_silu(&self) -> Array {
        let x = self.to_inexact();
        &x * x.hard_sigmoid()
    }

    /// Another name of [`silu`](Array::silu).
    #[track_caller]
    pub fn swish(&self) -> Array {
        self.silu()
    }

    /// Another name of [`hard_silu`](Array::hard_silu).
    #[track_caller]
    pub fn hard_swish(&self) -> Array {
        self.hard_silu()
    }

    /// `x · tanh(softplus(x))`.
    ///
    /// Misra, *Mish: A Self Regularized Non-Monotonic Activation Function*,
    /// 2019.
    #[track_caller]
    pub fn mish(&self) -> Array {
        let x = self.to_inexact();
        &x * x.softplus().tanh()
    }

    /// `(x + √(x² + b)) / 2`, a smooth `relu`; `b` is usually 4.
    ///
    /// Barron, *Squareplus: A Softplus-Like Algebraic Rectifier*, 2021.
    #[track_caller]
    pub fn squareplus(&self, b: f64) -> Array {
        let x = self.to_inexact();
        (&x + (x.square() + b).sqrt()) / 2.0
    }

    /// 0 up to -1, `x` from 1 on, and a parabola between.
    #[track_caller]
    pub fn sparse_plus(&self) -> Array {
        let x = self.to_inexact();
        let middle = (&x + 1.0).integer_pow(2) / 4.0;
        where_(&x.le(-1.0), 0.0, where_(&x.ge(1.0), &x, middle))
    }

    /// 0 up to -1, 1 from 1 on, and a line between.
    ///
    /// # Panics
    /// If the array is complex.
    #[track_caller]
    pub fn sparse_sigmoid(&self) -> Array {
        crate::ops::require_real("sparse_sigmoid", &[self]);
        (self.to_inexact() + 1.0).clip(0.0, 2.0) * 0.5
    }

    /// The gated linear unit: the first half of an axis times the sigmoid of
    /// the second.
    ///
    /// Dauphin et al., *Language Modeling with Gated Convolutional Networks*,
    /// 2016.
    ///
    /// # Panics
    /// If the axis is out of range or has an odd size.
    #[track_caller]
    pub fn glu(&self, axis: isize) -> Array {
        self.glu_by(axis, Array::sigmoid)
    }

    /// The first half of an axis times a function of the second: the family of
    /// gated linear units, `SwiGLU` with [`silu`](Array::silu), `GEGLU` with
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
    /// If the axis is out of range or has an odd size.
    #[track_caller]
    pub fn glu_by(&self, axis: isize, gate: impl FnOnce(&Array) -> Array) -> Array {
        let n = self.shape()[self.axis("glu", axis)];
        assert!(
            n.is_multiple_of(2),
            "glu: axis {axis} of {} has an odd size, {n}\n  help: its halves are values and gates: \
             the axis must have twice the size of the result",
            self.aval()
        );
        let halves = self.split(2, axis);
        &halves[0] * gate(&halves[1])
    }
}
