//! `logsumexp`, `softmax`, one-hot encoding and standardization.

use super::Reduction;
use super::reduce::signed;
use crate::prim::elementwise::parts;
use crate::prim::operands;
use crate::{Array, DType, IntoArray, where_};

impl Array {
    /// Computes `log(Σ eˣ)` over an axis, axes or a [`Reduction`] without overflow. For complex
    /// numbers, the imaginary part of the result is between -π and π.
    ///
    /// # Panics
    /// Panics if an axis is out of range or given twice, if the mask is not boolean, or if an
    /// initial value is set.
    #[track_caller]
    pub fn logsumexp(&self, over: impl Into<Reduction>) -> Array {
        let (sum, shift) = shifted_sum(self, None, &over.into());
        let shift = shift.astype(sum.dtype());
        log_of_sum(&sum) + shift
    }

    /// Computes `log(Σ b eˣ)` over the elements that `over` selects. The result is NaN where a real
    /// sum is negative.
    ///
    /// # Panics
    /// Panics in the same cases as [`logsumexp`](Array::logsumexp), or if the shapes do not
    /// broadcast.
    #[track_caller]
    pub fn logsumexp_with(&self, over: impl Into<Reduction>, b: impl IntoArray) -> Array {
        let (sum, shift) = shifted_sum(self, Some(&b.into_array()), &over.into());
        if sum.dtype().is_complex() {
            let shift = shift.astype(sum.dtype());
            return sum.log() + shift;
        }
        where_(sum.lt(0), f64::NAN, log_of_sum(&sum.abs()) + shift)
    }

    /// Computes `log|Σ b eˣ|` over the elements that `over` selects, and the sign of the sum, which
    /// for complex numbers is a number of magnitude 1 (`return_sign=True` in JAX).
    ///
    /// # Panics
    /// Panics in the same cases as [`logsumexp`](Array::logsumexp), or if the shapes do not
    /// broadcast.
    #[track_caller]
    pub fn logsumexp_signed(
        &self,
        b: impl IntoArray,
        over: impl Into<Reduction>,
    ) -> (Array, Array) {
        let (sum, shift) = shifted_sum(self, Some(&b.into_array()), &over.into());
        (log_of_sum(&sum.abs()) + shift, sum.sign())
    }

    /// Computes the logarithm of the mean of `eˣ` over an axis, axes or a [`Reduction`] without
    /// overflow.
    ///
    /// # Panics
    /// Panics if an axis is out of range or given twice, if the mask is not boolean, or if an
    /// initial value is set.
    #[track_caller]
    pub fn logmeanexp(&self, over: impl Into<Reduction>) -> Array {
        let over = over.into();
        let log = self.logsumexp(&over);
        let count = over.count("logmeanexp", self, log.dtype().real());
        log - count.log()
    }

    /// Computes the softmax over an axis, axes or a [`Reduction`]: exponentials divided by their
    /// sum, which turns logits into probabilities. With a mask, elements where it is false are 0.
    ///
    /// # Panics
    /// Panics if an axis is out of range or given twice, if the mask is not boolean, or if an
    /// initial value is set.
    #[track_caller]
    pub fn softmax(&self, over: impl Into<Reduction>) -> Array {
        let over = over.into().kept();
        let powers = shifted("softmax", self, &over).exp();
        over.masked("softmax", &(&powers / powers.sum_over(&over)), 0)
    }

    /// Computes the logarithm of the [`softmax`](Array::softmax) without overflow. With a mask,
    /// elements where it is false are negative infinity.
    ///
    /// # Panics
    /// Panics if an axis is out of range or given twice, if the mask is not boolean, or if an
    /// initial value is set.
    #[track_caller]
    pub fn log_softmax(&self, over: impl Into<Reduction>) -> Array {
        let over = over.into().kept();
        let shifted = shifted("log_softmax", self, &over);
        let sum = shifted.exp().sum_over(&over);
        over.masked("log_softmax", &(shifted - sum.log()), f64::NEG_INFINITY)
    }

    /// Encodes integers as one-hot vectors along a new last axis of size `classes`: 1 at the
    /// index given by the integer, and 0 elsewhere. Integers outside `0..classes` give zeros.
    ///
    /// # Panics
    /// Panics if the elements are not integers.
    #[track_caller]
    pub fn one_hot(&self, classes: usize, dtype: DType) -> Array {
        self.one_hot_with(classes, dtype, -1)
    }

    /// Same as [`one_hot`](Array::one_hot), with the new axis at the index `axis` of the result.
    ///
    /// # Panics
    /// Panics if the elements are not integers, or if the axis is out of range.
    #[track_caller]
    pub fn one_hot_with(&self, classes: usize, dtype: DType, axis: isize) -> Array {
        parts::require_real("one_hot", &[self]);
        assert!(
            self.dtype().is_integer(),
            "one_hot: the classes are {}, expected integers\n  help: convert them with astype(DType::I32)",
            self.aval()
        );
        let at = self.new_axes("one_hot", &[axis])[0];
        let numbers = self.counting_to(classes).expand_dims(&[axis]);
        let mut shape = crate::typing::Dims::from_elem(1, numbers.ndim());
        shape[at] = classes;
        numbers
            .eq(Array::iota(&shape, at, numbers.dtype()))
            .astype(dtype)
    }

    /// Standardizes the array over the given axes: subtracts the mean and divides by the standard
    /// deviation. `epsilon`, usually 1e-5, is added to the variance.
    ///
    /// The variance is the mean of squares minus the square of the mean, clipped at 0. Use
    /// [`Standardize`] for other options.
    ///
    /// # Panics
    /// Panics if an axis is out of range or named twice, or the array is complex.
    #[track_caller]
    pub fn standardize(&self, axes: &[isize], epsilon: f64) -> Array {
        Standardize::over(axes).epsilon(epsilon).of(self)
    }
}

/// Returns the largest element with the axes kept. No gradient flows through it.
#[track_caller]
fn peak(x: &Array, how: &Reduction) -> Array {
    let how = how.kept().initial(f64::NEG_INFINITY);
    how.largest(x).stop_gradient()
}

/// Subtracts the largest element, with negative infinity for the elements outside of the mask.
#[track_caller]
fn shifted(operation: &str, x: &Array, how: &Reduction) -> Array {
    how.refuse_initial(operation);
    how.axes_of(operation, x);
    let x = how.masked(operation, &x.to_inexact(), f64::NEG_INFINITY);
    &x - peak(&x, how)
}

/// Computes the logarithm of a sum of powers. That of 0, `log(0 + 0 · eˣ)`, does not depend on the
/// operands: its derivative is 0 instead of NaN.
#[track_caller]
fn log_of_sum(sum: &Array) -> Array {
    let zero = sum.eq(0);
    where_(&zero, f64::NEG_INFINITY, where_(&zero, 1, sum).log())
}

/// Computes `Σ b e^(x - m)` and the real shift `m`, the maximum of the real parts.
#[track_caller]
fn shifted_sum(x: &Array, b: Option<&Array>, how: &Reduction) -> (Array, Array) {
    how.refuse_initial("logsumexp");
    how.axes_of("logsumexp", x);
    let mut x = how.masked("logsumexp", &x.to_inexact(), 0);
    let mut factor = None;
    if let Some(b) = b {
        let (a, b) = operands::promote("logsumexp", &x, b);
        let b = b.to_inexact();
        x = where_(b.ne(0), a, f64::NEG_INFINITY);
        factor = Some(b);
    }
    let largest = peak(&x.real(), how);
    let shift = where_(largest.is_finite(), &largest, 0);
    let powers = (&x - &shift).exp();
    let powers = match &factor {
        Some(b) => powers * b,
        None => powers,
    };
    let sum = powers.sum_over(how);
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

/// Options of standardization; [`Array::standardize`] covers the common case.
///
/// ```no_run
/// use ramie_core::options::Standardize;
/// use ramie_core::Array;
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
    /// Creates options for the given axes, with an `epsilon` of 1e-5.
    pub fn over(axes: &[isize]) -> Standardize {
        Standardize {
            how: Reduction::over(axes).keepdims(),
            mean: None,
            variance: None,
            epsilon: 1e-5,
            stable: false,
        }
    }

    /// Sets the number that is added to the variance.
    #[must_use]
    pub fn epsilon(self, epsilon: f64) -> Standardize {
        Standardize { epsilon, ..self }
    }

    /// Sets the mean. Defaults to the mean of the elements.
    #[must_use]
    pub fn mean(self, mean: &Array) -> Standardize {
        Standardize {
            mean: Some(mean.clone()),
            ..self
        }
    }

    /// Sets the variance. Defaults to the variance of the elements.
    #[must_use]
    pub fn variance(self, variance: &Array) -> Standardize {
        Standardize {
            variance: Some(variance.clone()),
            ..self
        }
    }

    /// Computes mean and variance only from the elements where `mask` is true.
    #[must_use]
    pub fn mask(self, mask: &Array) -> Standardize {
        Standardize {
            how: self.how.mask(mask),
            ..self
        }
    }

    /// Computes the variance as the mean of squared distances from the mean, which is slower but
    /// more accurate if the mean is large.
    #[must_use]
    pub fn stable(self) -> Standardize {
        Standardize {
            stable: true,
            ..self
        }
    }

    /// Subtracts the mean and divides by the standard deviation.
    ///
    /// # Panics
    /// Panics if an axis is out of range or given twice, if the mask is not boolean, or if the
    /// array is complex and no variance is set.
    #[track_caller]
    pub fn of(&self, x: &Array) -> Array {
        self.how.axes_of("standardize", x);
        let x = x.to_inexact();
        if self.variance.is_none() {
            parts::require_real("standardize", &[&x]);
        }
        let mean = match &self.mean {
            Some(mean) => mean.clone(),
            None => x.mean_over(&self.how),
        };
        let variance = match &self.variance {
            Some(variance) => variance.clone(),
            None if self.stable => (&x - &mean).square().mean_over(&self.how),
            None => {
                // A maximum would halve the derivative where rounding gives exactly 0.
                let difference = x.square().mean_over(&self.how) - mean.square();
                where_(difference.lt(0), 0, difference)
            }
        };
        (&x - &mean) * (variance + self.epsilon).rsqrt()
    }
}
