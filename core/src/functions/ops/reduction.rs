//! Reductions with options: axes, mask, initial value and dtype.

use super::reduce::{combined, every, in_order, promoted, require_elements, restore, signed, wide};
use crate::dtypes::Scalar;
use crate::prim::reduce::{highest, lowest};
use crate::typing::Dims;
use crate::{Array, DType, IntoArray, concatenate, where_};
use smallvec::SmallVec;

/// The elements and options of a reduction such as [`Array::sum_over`]. An axis, or an array, a
/// slice or a vector of axes converts into it.
///
/// ```no_run
/// use ramie_core::options::Reduction;
/// use ramie_core::Array;
/// let x = Array::from([[1.0f32, 2.0], [3.0, 4.0]]);
/// assert_eq!(x.sum_over(-1).to_vec::<f32>(), [3.0, 7.0]);
/// assert_eq!(x.sum_over([0, 1]).item::<f32>(), 10.0);
/// let large = Reduction::over(1).keepdims().mask(&x.gt(1.0));
/// assert_eq!(x.sum_over(large).to_vec::<f32>(), [2.0, 7.0]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Reduction {
    axes: Option<SmallVec<[isize; 6]>>,
    keepdims: bool,
    mask: Option<Array>,
    initial: Option<Array>,
    dtype: Option<DType>,
    ddof: f64,
    mean: Option<Array>,
}

/// The primitives of reductions. Not functions as values, which would hide the caller's line.
#[derive(Clone, Copy)]
enum Method {
    Sum,
    Product,
    Max,
    Min,
    All,
    Any,
}

impl Method {
    fn name(self) -> &'static str {
        match self {
            Method::Sum => "sum",
            Method::Product => "prod",
            Method::Max => "max",
            Method::Min => "min",
            Method::All => "all",
            Method::Any => "any",
        }
    }

    fn identity(self, dtype: DType) -> Scalar {
        match self {
            Method::Sum => Scalar::Int(0),
            Method::Product => Scalar::Int(1),
            Method::Max => lowest(dtype),
            Method::Min => highest(dtype),
            Method::All => true.into(),
            Method::Any => false.into(),
        }
    }

    #[track_caller]
    fn reduce(self, x: &Array, axes: &[isize]) -> Array {
        match self {
            Method::Sum => x.reduce_sum(axes),
            Method::Product => x.reduce_prod(axes),
            Method::Max => x.reduce_max(axes),
            Method::Min => x.reduce_min(axes),
            Method::All => x.reduce_and(axes),
            Method::Any => x.reduce_or(axes),
        }
    }

    /// Combines an initial value with a result.
    #[track_caller]
    fn combine(self, initial: &Array, reduced: &Array) -> Array {
        match self {
            Method::Sum => initial.add(reduced),
            Method::Product => initial.mul(reduced),
            Method::Max => initial.maximum(reduced),
            Method::Min => initial.minimum(reduced),
            Method::All => initial.bitwise_and(reduced),
            Method::Any => initial.bitwise_or(reduced),
        }
    }
}

impl<A: AsRef<[isize]> + ?Sized> From<&A> for Reduction {
    fn from(axes: &A) -> Reduction {
        Reduction {
            axes: Some(axes.as_ref().into()),
            ..Reduction::default()
        }
    }
}

impl<const N: usize> From<[isize; N]> for Reduction {
    fn from(axes: [isize; N]) -> Reduction {
        Reduction::from(&axes)
    }
}

impl From<isize> for Reduction {
    fn from(axis: isize) -> Reduction {
        Reduction::from([axis])
    }
}

/// `None` stands for all axes, as JAX's `axis=None`.
impl From<Option<isize>> for Reduction {
    fn from(axis: Option<isize>) -> Reduction {
        axis.map(Reduction::from).unwrap_or_default()
    }
}

impl From<&Reduction> for Reduction {
    fn from(over: &Reduction) -> Reduction {
        over.clone()
    }
}

impl Reduction {
    /// Reduces all elements.
    pub fn all() -> Reduction {
        Reduction::default()
    }

    /// Reduces the given axis or axes. An empty list reduces nothing.
    pub fn over(axes: impl Into<Reduction>) -> Reduction {
        axes.into()
    }

    /// Keeps the reduced axes with size 1.
    #[must_use]
    pub fn keepdims(self) -> Reduction {
        Reduction {
            keepdims: true,
            ..self
        }
    }

    /// Reduces only the elements where the boolean `mask` is true (`where=` in NumPy). The mask
    /// must broadcast to the shape of the array.
    #[must_use]
    pub fn mask(self, mask: &Array) -> Reduction {
        Reduction {
            mask: Some(mask.clone()),
            ..self
        }
    }

    /// Sets a 0-d initial value that is combined with the elements. Functions without this option
    /// in NumPy, such as means, variances, norms and `softmax`, panic.
    #[must_use]
    pub fn initial(self, value: impl IntoArray) -> Reduction {
        Reduction {
            initial: Some(value.into_array()),
            ..self
        }
    }

    /// Sets the dtype of the computation and of the result. Variances with a 16-bit float dtype are
    /// computed in `f32` and rounded once. For positions such as [`Array::argmax`], sets the dtype of
    /// the index.
    #[must_use]
    pub fn dtype(self, dtype: DType) -> Reduction {
        Reduction {
            dtype: Some(dtype),
            ..self
        }
    }

    /// Sets the number that variances subtract from the number of elements. Defaults to 0; 1
    /// gives the unbiased estimate.
    #[must_use]
    pub fn ddof(self, ddof: f64) -> Reduction {
        Reduction { ddof, ..self }
    }

    /// Sets the mean that variances are computed about, with the reduced axes kept at size 1.
    /// Defaults to the mean of the elements.
    #[must_use]
    pub fn mean(self, mean: &Array) -> Reduction {
        Reduction {
            mean: Some(mean.clone()),
            ..self
        }
    }

    /// Returns the reduced axes of `x`, in the order in which they were given.
    pub fn axes(&self, x: &Array) -> SmallVec<[isize; 6]> {
        self.axes.clone().unwrap_or_else(|| signed(&every(x)))
    }

    /// Returns the mask, if one is set.
    pub fn selection(&self) -> Option<&Array> {
        self.mask.as_ref()
    }

    /// Returns the axes as given, for functions that support axes and `keepdims` only.
    ///
    /// # Panics
    /// Panics if another option is set.
    #[track_caller]
    pub(crate) fn plain_axes(&self, operation: &str, x: &Array) -> SmallVec<[isize; 6]> {
        self.refuse_options(operation);
        self.axes(x)
    }

    /// Panics if an option other than axes and `keepdims` is set.
    #[track_caller]
    pub(super) fn refuse_options(&self, operation: &str) {
        assert!(
            self.mask.is_none()
                && self.initial.is_none()
                && self.dtype.is_none()
                && self.mean.is_none()
                && self.ddof == 0.0,
            "{operation}: got {self:?}, expected only axes and keepdims\n  help: call \
             where_(mask, x, other) or x.astype(dtype) before {operation}"
        );
    }

    /// Returns the axes as given, or `None` for all.
    pub(super) fn given_axes(&self) -> Option<&[isize]> {
        self.axes.as_deref()
    }

    /// Returns the same reduction without its dtype, and the dtype.
    pub(super) fn without_dtype(&self) -> (Reduction, Option<DType>) {
        let mut other = self.clone();
        let dtype = other.dtype.take();
        (other, dtype)
    }

    /// Panics if an initial value is set, for functions that have no use for one.
    #[track_caller]
    pub(crate) fn refuse_initial(&self, operation: &str) {
        assert!(
            self.initial.is_none(),
            "{operation}: got an initial value, which {operation} does not support\n  help: omit \
             Reduction::initial"
        );
    }

    /// Returns the sorted axes that the reduction covers in `x`.
    #[track_caller]
    pub(crate) fn axes_of(&self, operation: &str, x: &Array) -> Dims {
        match &self.axes {
            None => every(x),
            Some(axes) => in_order(operation, x, axes),
        }
    }

    /// Replaces the masked-out elements of `x` by `other`.
    #[track_caller]
    pub(crate) fn masked(&self, operation: &str, x: &Array, other: impl Into<Scalar>) -> Array {
        let Some(mask) = &self.mask else {
            return x.clone();
        };
        assert!(
            mask.dtype() == DType::Bool,
            "{operation}: the mask is {}, expected booleans\n  help: compare: x.ne(0)",
            mask.aval()
        );
        where_(mask, x, Array::scalar(other, x.dtype()))
    }

    /// Returns the same reduction with `keepdims` set.
    pub(crate) fn kept(&self) -> Reduction {
        self.clone().keepdims()
    }

    /// Returns whether the reduced axes are kept.
    pub(crate) fn keeps(&self) -> bool {
        self.keepdims
    }

    /// Returns the same reduction without its mask.
    pub(crate) fn unmasked(&self) -> Reduction {
        Reduction {
            mask: None,
            ..self.clone()
        }
    }

    /// Returns whether an initial value is set.
    pub(crate) fn has_initial(&self) -> bool {
        self.initial.is_some()
    }

    /// Returns the dtypes of the computation and of the result for floats.
    pub(crate) fn float_types(&self, x: &Array) -> (DType, DType) {
        match self.dtype {
            Some(dtype) => (dtype, dtype),
            None => {
                let natural = x.to_inexact().dtype();
                (wide(natural), natural)
            }
        }
    }

    /// Returns the dtypes of a variance's computation and result. The result is real unless a
    /// complex dtype was requested.
    #[track_caller]
    pub(crate) fn variance_types(&self, operation: &str, x: &Array) -> (DType, DType) {
        let (computed, out) = self.float_types(x);
        let computed = wide(computed);
        assert!(
            computed.is_complex() || !x.dtype().is_complex(),
            "{operation}: the dtype {out} was requested for the variance of {}\n  help: omit the \
             dtype; the variance of complex numbers is real",
            x.aval()
        );
        match self.dtype {
            Some(_) => (computed, out),
            None => (computed, out.real()),
        }
    }

    /// Counts the elements reduced into each result.
    #[track_caller]
    pub(crate) fn count(&self, operation: &str, x: &Array, dtype: DType) -> Array {
        let axes = self.axes_of(operation, x);
        match &self.mask {
            None => Array::scalar(combined(x, &axes) as f64, dtype),
            Some(mask) => {
                let mask = mask.broadcast_to(x.shape()).astype(dtype);
                self.finish(&axes, &mask.reduce_sum(&signed(&axes)))
            }
        }
    }

    /// Restores the reduced axes if `keepdims` is set.
    #[track_caller]
    fn finish(&self, axes: &[usize], reduced: &Array) -> Array {
        if self.keepdims {
            restore(reduced, axes)
        } else {
            reduced.clone()
        }
    }

    /// Reduces with a primitive. Masked elements are replaced by the identity of the method.
    #[track_caller]
    fn apply(&self, method: Method, x: &Array) -> Array {
        let operation = method.name();
        let axes = self.axes_of(operation, x);
        let x = &self.masked(operation, x, method.identity(x.dtype()));
        let reduced = method.reduce(x, &signed(&axes));
        let reduced = match &self.initial {
            None => reduced,
            Some(initial) => {
                assert!(
                    initial.ndim() == 0,
                    "{operation}: the initial value is {}, expected a 0-d array\n  help: combine \
                     arrays with the result",
                    initial.aval()
                );
                method.combine(&initial.astype(x.dtype()), &reduced)
            }
        };
        self.finish(&axes, &reduced)
    }

    /// Computes a sum or product, in at least 32 bits unless a dtype was requested.
    #[track_caller]
    fn accumulate(&self, method: Method, x: &Array) -> Array {
        let natural = promoted(x.dtype());
        let (computed, out) = match self.dtype {
            Some(dtype) => (dtype, dtype),
            None => (wide(natural), natural),
        };
        // A boolean result combines by `or` and `and`, as in NumPy.
        let number = if computed == DType::Bool {
            DType::I32
        } else {
            computed
        };
        let x = x.astype(computed).astype(number);
        self.apply(method, &x).astype(out)
    }

    /// Panics if there are no elements to choose from and no initial value is set.
    #[track_caller]
    fn require_choice(&self, operation: &str, x: &Array) {
        if self.initial.is_some() {
            return;
        }
        assert!(
            self.mask.is_none(),
            "{operation}: with a mask there may be no element to choose\n  help: set the value \
             for this case with Reduction::initial"
        );
        require_elements(operation, x, &self.axes_of(operation, x));
    }

    #[track_caller]
    pub(crate) fn total(&self, x: &Array) -> Array {
        if x.dtype() == DType::Bool && self.dtype.is_none() {
            x.expect_i32_count("sum", combined(x, &self.axes_of("sum", x)));
        }
        self.accumulate(Method::Sum, x)
    }

    #[track_caller]
    pub(crate) fn product(&self, x: &Array) -> Array {
        self.accumulate(Method::Product, x)
    }

    #[track_caller]
    pub(crate) fn largest(&self, x: &Array) -> Array {
        self.require_choice("max", x);
        self.apply(Method::Max, x)
    }

    #[track_caller]
    pub(crate) fn smallest(&self, x: &Array) -> Array {
        self.require_choice("min", x);
        self.apply(Method::Min, x)
    }

    #[track_caller]
    pub(crate) fn range(&self, x: &Array) -> Array {
        self.require_choice("ptp", x);
        self.largest(x) - self.smallest(x)
    }

    #[track_caller]
    pub(crate) fn nonzero(&self, x: &Array) -> Array {
        self.refuse_initial("count_nonzero");
        let axes = self.axes_of("count_nonzero", x);
        x.expect_i32_count("count_nonzero", combined(x, &axes));
        self.total(&x.astype(DType::Bool))
    }

    #[track_caller]
    pub(crate) fn euclidean(&self, x: &Array) -> Array {
        self.refuse_initial("norm");
        self.total(&x.to_inexact().squared_magnitude()).sqrt()
    }

    #[track_caller]
    pub(crate) fn every_true(&self, x: &Array) -> Array {
        self.apply(Method::All, &x.astype(DType::Bool))
    }

    #[track_caller]
    pub(crate) fn some_true(&self, x: &Array) -> Array {
        self.apply(Method::Any, &x.astype(DType::Bool))
    }

    #[track_caller]
    pub(crate) fn average(&self, x: &Array) -> Array {
        self.refuse_initial("mean");
        let (computed, out) = self.float_types(x);
        let count = self.count("mean", x, computed);
        (self.in_dtype(computed).total(x) / count).astype(out)
    }

    #[track_caller]
    pub(crate) fn variance(&self, x: &Array) -> Array {
        self.refuse_initial("var");
        let (computed, out) = self.variance_types("var", x);
        // The derivative of the square of an omitted element that is NaN would be 0 · NaN.
        let x = self.masked("var", &x.astype(computed), 0);
        let mean = match &self.mean {
            Some(mean) => mean.clone(),
            None => self.in_dtype(computed).kept().average(&x),
        };
        let squares = (&x - mean.astype(x.dtype())).squared_magnitude();
        let total = self.in_dtype(squares.dtype()).total(&squares);
        if self.mask.is_none() {
            let divisor = combined(&x, &self.axes_of("var", &x)) as f64 - self.ddof;
            return if divisor > 0.0 {
                (total / divisor).astype(out)
            } else {
                where_(Array::from(false), total, f64::NAN).astype(out)
            };
        }
        let divisor = self.count("var", &x, squares.dtype()) - self.ddof;
        where_(divisor.gt(0), total / &divisor, f64::NAN).astype(out)
    }

    #[track_caller]
    pub(crate) fn deviation(&self, x: &Array) -> Array {
        self.variance(x).sqrt()
    }

    /// Returns the number that variances subtract from the number of elements.
    pub(crate) fn freedom(&self) -> f64 {
        self.ddof
    }

    /// Returns the mean that variances are computed about, if it was set.
    pub(crate) fn given_mean(&self) -> Option<&Array> {
        self.mean.as_ref()
    }

    /// Returns the same reduction with another dtype.
    pub(crate) fn in_dtype(&self, dtype: DType) -> Reduction {
        self.clone().dtype(dtype)
    }
}

/// The option of [`Array::cumulative_sum_with`] and [`Array::cumulative_prod_with`]: the result
/// starts with the initial value (`include_initial=True` in JAX).
#[derive(Clone, Copy, Debug, Default)]
pub struct IncludeInitial;

impl Array {
    /// Computes the cumulative sum along an axis, in at least 32 bits (`jnp.cumulative_sum`).
    ///
    /// # Panics
    /// Panics if the axis is out of range.
    #[track_caller]
    pub fn cumulative_sum(&self, axis: isize) -> Array {
        self.astype(promoted(self.dtype())).cumsum(axis)
    }

    /// Same as [`cumulative_sum`](Array::cumulative_sum), starting with a 0.
    ///
    /// # Panics
    /// Panics if the axis is out of range.
    #[track_caller]
    pub fn cumulative_sum_with(&self, axis: isize, _: IncludeInitial) -> Array {
        start(&self.cumulative_sum(axis), 0, axis)
    }

    /// Computes the cumulative product along an axis (`jnp.cumulative_prod`).
    ///
    /// # Panics
    /// Panics if the axis is out of range.
    #[track_caller]
    pub fn cumulative_prod(&self, axis: isize) -> Array {
        self.cumprod(axis)
    }

    /// Same as [`cumulative_prod`](Array::cumulative_prod), starting with a 1.
    ///
    /// # Panics
    /// Panics if the axis is out of range.
    #[track_caller]
    pub fn cumulative_prod_with(&self, axis: isize, _: IncludeInitial) -> Array {
        start(&self.cumprod(axis), 1, axis)
    }
}

/// Prepends `value` along an axis.
#[track_caller]
fn start(x: &Array, value: i64, axis: isize) -> Array {
    let at = x.axis("cumulative", axis);
    let mut shape: Dims = x.shape().into();
    shape[at] = 1;
    concatenate(&[Array::full(&shape, value, x.dtype()), x.clone()], axis)
}
