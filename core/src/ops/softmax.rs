//! Exponentials over axes: `logsumexp`, `softmax`, and standardization.

use super::Reduction;
use super::reduce::signed;
use crate::{Array, DType, IntoArray, where_};

impl Array {
    /// `log(Σ eˣ)` over an axis, which disappears; without overflow. That of complex
    /// numbers has an imaginary part from -π to π.
    ///
    /// # Panics
    /// If the axis is out of range.
    #[track_caller]
    pub fn logsumexp(&self, axis: isize) -> Array {
        self.logsumexp_with(&Reduction::over(&[axis]))
    }

    /// [`logsumexp`](Array::logsumexp) over what `how` says.
    ///
    /// # Panics
    /// If an axis is out of range or named twice, or the mask holds no truth
    /// values.
    #[track_caller]
    pub fn logsumexp_with(&self, how: &Reduction) -> Array {
        let (sum, shift) = shifted_sum(self, None, how);
        let shift = shift.astype(sum.dtype());
        sum.log() + shift
    }

    /// `log(Σ b eˣ)` over what `how` says; NaN where a real sum is negative.
    ///
    /// # Panics
    /// As [`logsumexp_with`](Array::logsumexp_with); if the shapes do not
    /// broadcast.
    #[track_caller]
    pub fn logsumexp_weighted(&self, b: impl IntoArray, how: &Reduction) -> Array {
        let (sum, shift) = shifted_sum(self, Some(&b.into_array()), how);
        if sum.dtype().is_complex() {
            let shift = shift.astype(sum.dtype());
            return sum.log() + shift;
        }
        where_(&sum.lt(0), f64::NAN, sum.abs().log() + shift)
    }

    /// `log|Σ b eˣ|` over what `how` says, and the sign of the sum, which for complex
    /// numbers has magnitude 1 (`return_sign=True` of JAX).
    ///
    /// # Panics
    /// As [`logsumexp_with`](Array::logsumexp_with); if the shapes do not
    /// broadcast.
    #[track_caller]
    pub fn logsumexp_signed(&self, b: impl IntoArray, how: &Reduction) -> (Array, Array) {
        let (sum, shift) = shifted_sum(self, Some(&b.into_array()), how);
        (sum.abs().log() + shift, sum.sign())
    }

    /// The logarithm of the mean of `eˣ` over an axis, which disappears; without
    /// overflow.
    ///
    /// # Panics
    /// If the axis is out of range.
    #[track_caller]
    pub fn logmeanexp(&self, axis: isize) -> Array {
        self.logmeanexp_with(&Reduction::over(&[axis]))
    }

    /// [`logmeanexp`](Array::logmeanexp) over what `how` says.
    ///
    /// # Panics
    /// If an axis is out of range or named twice, or the mask holds no truth
    /// values.
    #[track_caller]
    pub fn logmeanexp_with(&self, how: &Reduction) -> Array {
        let log = self.logsumexp_with(how);
        let count = how.count("logmeanexp", self, log.dtype().real());
        log - count.log()
    }

    /// Exponentials divided by their sum over an axis: probabilities from
    /// logits.
    ///
    /// # Panics
    /// If the axis is out of range.
    #[track_caller]
    pub fn softmax(&self, axis: isize) -> Array {
        self.softmax_axes(&[axis])
    }

    /// [`softmax`](Array::softmax) over several axes together.
    ///
    /// # Panics
    /// If an axis is out of range or named twice.
    #[track_caller]
    pub fn softmax_axes(&self, axes: &[isize]) -> Array {
        let x = self.to_inexact();
        let powers = (&x - peak(&x, &Reduction::over(axes))).exp();
        &powers / powers.sum_keepdims(axes)
    }

    /// [`softmax`](Array::softmax) over axes of the elements where `mask` is
    /// true; 0 elsewhere.
    ///
    /// # Panics
    /// If an axis is out of range or named twice, or the mask holds no truth
    /// values.
    #[track_caller]
    pub fn softmax_where(&self, axes: &[isize], mask: &Array) -> Array {
        let how = Reduction::over(axes).keepdims().mask(mask);
        let x = where_(mask, self.to_inexact(), f64::NEG_INFINITY);
        let powers = (&x - peak(&x, &how)).exp();
        where_(mask, &powers / powers.sum_with(&how), 0)
    }

    /// The logarithm of [`softmax`](Array::softmax), without overflow.
    ///
    /// # Panics
    /// If the axis is out of range.
    #[track_caller]
    pub fn log_softmax(&self, axis: isize) -> Array {
        self.log_softmax_axes(&[axis])
    }

    /// [`log_softmax`](Array::log_softmax) over several axes together.
    ///
    /// # Panics
    /// If an axis is out of range or named twice.
    #[track_caller]
    pub fn log_softmax_axes(&self, axes: &[isize]) -> Array {
        let x = self.to_inexact();
        let shifted = &x - peak(&x, &Reduction::over(axes));
        let sum = shifted.exp().sum_keepdims(axes);
        shifted - sum.log()
    }

    /// [`log_softmax`](Array::log_softmax) over axes of the elements where
    /// `mask` is true; negative infinity elsewhere.
    ///
    /// # Panics
    /// If an axis is out of range or named twice, or the mask holds no truth
    /// values.
    #[track_caller]
    pub fn log_softmax_where(&self, axes: &[isize], mask: &Array) -> Array {
        let how = Reduction::over(axes).keepdims().mask(mask);
        let x = where_(mask, self.to_inexact(), f64::NEG_INFINITY);
        let shifted = &x - peak(&x, &how);
        let sum = shifted.exp().sum_with(&how);
        where_(mask, shifted - sum.log(), f64::NEG_INFINITY)
    }

    /// Integers as rows that are 1 at the place that they name and 0
    /// elsewhere; a last axis of `classes` is added. A number that is no class
    /// gives a row of zeros.
    ///
    /// # Panics
    /// If the array does not hold integers.
    #[track_caller]
    pub fn one_hot(&self, classes: usize, dtype: DType) -> Array {
        self.one_hot_along(classes, -1, dtype)
    }

    /// [`one_hot`](Array::one_hot) with the axis of classes at another place of
    /// the result.
    ///
    /// # Panics
    /// If the array does not hold integers, or the axis is out of range.
    #[track_caller]
    pub fn one_hot_along(&self, classes: usize, axis: isize, dtype: DType) -> Array {
        super::require_real("one_hot", &[self]);
        assert!(
            self.dtype().is_integer(),
            "one_hot: the classes are {}, expected integers\n  help: convert them with astype(DType::I32)",
            self.aval()
        );
        let numbers = self.counting_to(classes).expand_dims(&[axis]);
        let at = numbers.axis("one_hot", axis);
        let mut shape = crate::Dims::from_elem(1, numbers.ndim());
        shape[at] = classes;
        numbers
            .eq(Array::iota(&shape, at, numbers.dtype()))
            .astype(dtype)
    }

    /// The array less its mean over the named axes, divided by its standard
    /// deviation there; `epsilon`, usually 1e-5, is added to the variance.
    ///
    /// The variance is the mean of squares less the square of the mean, and not
    /// below 0. [`Standardize`] has more choices.
    ///
    /// # Panics
    /// If an axis is out of range or named twice, or the array is complex.
    #[track_caller]
    pub fn standardize(&self, axes: &[isize], epsilon: f64) -> Array {
        Standardize::over(axes).epsilon(epsilon).of(self)
    }
}

/// The largest element, which the result does not depend on; axes stay.
#[track_caller]
fn peak(x: &Array, how: &Reduction) -> Array {
    let how = how.kept().initial(f64::NEG_INFINITY);
    how.largest(x).stop_gradient()
}

/// `Σ b e^(x - m)` and the real `m`, the largest of the real parts.
#[track_caller]
fn shifted_sum(x: &Array, b: Option<&Array>, how: &Reduction) -> (Array, Array) {
    let mut x = how.masked("logsumexp", &x.to_inexact(), 0);
    let mut factor = None;
    if let Some(b) = b {
        let (a, b) = super::promote("logsumexp", &x, b);
        let b = b.to_inexact();
        x = where_(&b.ne(0), a, f64::NEG_INFINITY);
        factor = Some(b);
    }
    let largest = peak(&x.real(), how);
    let shift = where_(&largest.is_finite(), &largest, 0);
    let powers = (&x - &shift).exp();
    let powers = match &factor {
        Some(b) => powers * b,
        None => powers,
    };
    let sum = powers.sum_with(how);
    let shift = if how.keeps() {
        shift
    } else {
        let axes = signed(&how.axes_of("logsumexp", &x));
        if axes.is_empty() {
            shift
        } else {
            shift.squeeze(&axes)
        }
    };
    (sum, shift)
}

/// How arrays are standardized; [`Array::standardize`] is the usual choice.
///
/// ```no_run
/// use ramie_core::{Array, Standardize};
/// let x = Array::from([[1.0f32, 3.0], [5.0, 7.0]]);
/// let y = Standardize::over(&[-1]).stable().of(&x);
/// assert_eq!(y.shape(), [2, 2]);
/// ```
#[derive(Clone, Debug)]
pub struct Standardize {
    how: Reduction,
    mean: Option<Array>,
    variance: Option<Array>,
    epsilon: f64,
    stable: bool,
}

impl Standardize {
    /// Over the named axes, with 1e-5 added to the variance.
    pub fn over(axes: &[isize]) -> Standardize {
        Standardize {
            how: Reduction::over(axes).keepdims(),
            mean: None,
            variance: None,
            epsilon: 1e-5,
            stable: false,
        }
    }

    /// What is added to the variance.
    #[must_use]
    pub fn epsilon(self, epsilon: f64) -> Standardize {
        Standardize { epsilon, ..self }
    }

    /// The mean, instead of that of the elements.
    #[must_use]
    pub fn mean(self, mean: &Array) -> Standardize {
        Standardize {
            mean: Some(mean.clone()),
            ..self
        }
    }

    /// The variance, instead of that of the elements.
    #[must_use]
    pub fn variance(self, variance: &Array) -> Standardize {
        Standardize {
            variance: Some(variance.clone()),
            ..self
        }
    }

    /// Mean and variance are of the elements where `mask` is true.
    #[must_use]
    pub fn mask(self, mask: &Array) -> Standardize {
        Standardize {
            how: self.how.mask(mask),
            ..self
        }
    }

    /// The variance is the mean of squared distances from the mean, which is
    /// more exact where the mean is large, and slower.
    #[must_use]
    pub fn stable(self) -> Standardize {
        Standardize {
            stable: true,
            ..self
        }
    }

    /// The array less its mean, divided by its standard deviation.
    ///
    /// # Panics
    /// If an axis is out of range or named twice, the mask holds no booleans, or the
    /// array is complex and no variance is given.
    #[track_caller]
    pub fn of(&self, x: &Array) -> Array {
        let x = x.to_inexact();
        if self.variance.is_none() {
            super::require_real("standardize", &[&x]);
        }
        let mean = match &self.mean {
            Some(mean) => mean.clone(),
            None => x.mean_with(&self.how),
        };
        let variance = match &self.variance {
            Some(variance) => variance.clone(),
            None if self.stable => (&x - &mean).square().mean_with(&self.how),
            None => (x.square().mean_with(&self.how) - mean.square()).maximum(0),
        };
        (&x - &mean) * (variance + self.epsilon).rsqrt()
    }
}
