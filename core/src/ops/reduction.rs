//! Reductions with options: some elements only, a start value, another type.

use super::reduce::{combined, every, in_order, promoted, require_elements, restore, signed, wide};
use crate::prim::reduce::{highest, lowest};
use crate::{Array, DType, Dims, IntoArray, Scalar, concatenate, where_};
use smallvec::SmallVec;

/// What a reduction such as [`Array::sum_with`] goes over, and how.
///
/// ```no_run
/// use ramie_core::{Array, Reduction};
/// let x = Array::from([[1.0f32, 2.0], [3.0, 4.0]]);
/// let large = Reduction::over(&[1]).keepdims().mask(&x.gt(1.0));
/// assert_eq!(x.sum_with(&large).to_vec::<f32>(), [2.0, 7.0]);
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

impl Reduction {
    /// Over all elements.
    pub fn all() -> Reduction {
        Reduction::default()
    }

    /// Over the named axes; none combine nothing.
    pub fn over(axes: &[isize]) -> Reduction {
        Reduction {
            axes: Some(axes.into()),
            ..Reduction::default()
        }
    }

    /// Axes stay, with size 1.
    #[must_use]
    pub fn keepdims(self) -> Reduction {
        Reduction {
            keepdims: true,
            ..self
        }
    }

    /// Only the elements where `mask`, which broadcasts to the array, is true
    /// (`where=` of NumPy).
    #[must_use]
    pub fn mask(self, mask: &Array) -> Reduction {
        Reduction {
            mask: Some(mask.clone()),
            ..self
        }
    }

    /// A 0-d value that is combined with the elements.
    #[must_use]
    pub fn initial(self, value: impl IntoArray) -> Reduction {
        Reduction {
            initial: Some(value.into_array()),
            ..self
        }
    }

    /// The element type of the result, in which elements are combined.
    #[must_use]
    pub fn dtype(self, dtype: DType) -> Reduction {
        Reduction {
            dtype: Some(dtype),
            ..self
        }
    }

    /// What variances take off the number of elements; 1 gives the unbiased
    /// estimate.
    #[must_use]
    pub fn ddof(self, ddof: f64) -> Reduction {
        Reduction { ddof, ..self }
    }

    /// The mean that variances are taken about, with the reduced axes of size
    /// 1; without it the mean of the elements.
    #[must_use]
    pub fn mean(self, mean: &Array) -> Reduction {
        Reduction {
            mean: Some(mean.clone()),
            ..self
        }
    }

    /// The axes that it goes over in an array, in order.
    #[track_caller]
    pub(crate) fn axes_of(&self, operation: &str, x: &Array) -> Dims {
        match &self.axes {
            None => every(x),
            Some(axes) => in_order(operation, x, axes),
        }
    }

    /// The array with what the mask leaves out replaced.
    #[track_caller]
    pub(crate) fn masked(&self, operation: &str, x: &Array, other: impl Into<Scalar>) -> Array {
        let Some(mask) = &self.mask else {
            return x.clone();
        };
        assert!(
            mask.dtype() == DType::Bool,
            "{operation}: the mask is {}, expected truth values\n  help: compare: x.ne(0)",
            mask.aval()
        );
        where_(mask, x, Array::scalar(other, x.dtype()))
    }

    /// The same reduction that keeps its axes.
    pub(crate) fn kept(&self) -> Reduction {
        self.clone().keepdims()
    }

    /// Whether reduced axes stay.
    pub(crate) fn keeps(&self) -> bool {
        self.keepdims
    }

    /// The same reduction of all elements, whatever the mask says.
    pub(crate) fn unmasked(&self) -> Reduction {
        Reduction {
            mask: None,
            ..self.clone()
        }
    }

    /// Whether there is a start value.
    pub(crate) fn has_initial(&self) -> bool {
        self.initial.is_some()
    }

    /// The type that is computed in, and that of the result, for floats.
    pub(crate) fn float_types(&self, x: &Array) -> (DType, DType) {
        match self.dtype {
            Some(dtype) => (dtype, dtype),
            None => {
                let natural = x.to_inexact().dtype();
                (wide(natural), natural)
            }
        }
    }

    /// The type that a variance is computed in, and that of the result, which is
    /// real unless a complex type was asked for.
    #[track_caller]
    pub(crate) fn variance_types(&self, operation: &str, x: &Array) -> (DType, DType) {
        let (computed, out) = self.float_types(x);
        assert!(
            computed.is_complex() || !x.dtype().is_complex(),
            "{operation}: the type {out} was asked for the variance of {}\n  help: leave the type \
             out: the variance of complex numbers is real",
            x.aval()
        );
        match self.dtype {
            Some(_) => (computed, out),
            None => (computed, out.real()),
        }
    }

    /// How many elements each result combines.
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

    /// A reduced array with its axes back where they stay.
    #[track_caller]
    fn finish(&self, axes: &[usize], reduced: &Array) -> Array {
        if self.keepdims {
            restore(reduced, axes)
        } else {
            reduced.clone()
        }
    }

    /// Reduces by a primitive: `identity` stands for what is masked, `combine`
    /// takes the start value in.
    #[track_caller]
    fn apply(
        &self,
        operation: &str,
        x: &Array,
        identity: Scalar,
        reduce: fn(&Array, &[isize]) -> Array,
        combine: fn(&Array, &Array) -> Array,
    ) -> Array {
        let axes = self.axes_of(operation, x);
        let reduced = reduce(&self.masked(operation, x, identity), &signed(&axes));
        let reduced = match &self.initial {
            None => reduced,
            Some(initial) => {
                assert!(
                    initial.ndim() == 0,
                    "{operation}: the start value is {}, expected a 0-d one\n  help: combine \
                     arrays with the result",
                    initial.aval()
                );
                combine(&initial.astype(x.dtype()), &reduced)
            }
        };
        self.finish(&axes, &reduced)
    }

    /// A sum or product: in 32 bits or more, unless a type was asked for.
    #[track_caller]
    fn accumulate(
        &self,
        operation: &str,
        x: &Array,
        identity: i64,
        reduce: fn(&Array, &[isize]) -> Array,
        combine: fn(&Array, &Array) -> Array,
    ) -> Array {
        let natural = promoted(x.dtype());
        let (computed, out) = match self.dtype {
            Some(dtype) => (dtype, dtype),
            None => (wide(natural), natural),
        };
        // Truth values as a result combine by `or` and `and`, as NumPy's do.
        let number = if computed == DType::Bool {
            DType::I32
        } else {
            computed
        };
        let x = x.astype(computed).astype(number);
        let identity = Scalar::Int(identity);
        self.apply(operation, &x, identity, reduce, combine)
            .astype(out)
    }

    /// Refuses to choose among no elements.
    #[track_caller]
    fn require_choice(&self, operation: &str, x: &Array) {
        if self.initial.is_some() {
            return;
        }
        assert!(
            self.mask.is_none(),
            "{operation}: with a mask there may be no element to choose\n  help: say what is chosen \
             then: Reduction::initial"
        );
        require_elements(operation, x, &self.axes_of(operation, x));
    }

    #[track_caller]
    pub(crate) fn total(&self, x: &Array) -> Array {
        self.accumulate("sum", x, 0, Array::reduce_sum, |a, b| a + b)
    }

    #[track_caller]
    pub(crate) fn product(&self, x: &Array) -> Array {
        self.accumulate("prod", x, 1, Array::reduce_prod, |a, b| a * b)
    }

    #[track_caller]
    pub(crate) fn largest(&self, x: &Array) -> Array {
        self.require_choice("max", x);
        let identity = lowest(x.dtype());
        self.apply("max", x, identity, Array::reduce_max, |a, b| a.maximum(b))
    }

    #[track_caller]
    pub(crate) fn smallest(&self, x: &Array) -> Array {
        self.require_choice("min", x);
        let identity = highest(x.dtype());
        self.apply("min", x, identity, Array::reduce_min, |a, b| a.minimum(b))
    }

    #[track_caller]
    pub(crate) fn every_true(&self, x: &Array) -> Array {
        let x = x.astype(DType::Bool);
        let and = |a: &Array, b: &Array| a.bitwise_and(b);
        self.apply("all", &x, true.into(), Array::reduce_and, and)
    }

    #[track_caller]
    pub(crate) fn some_true(&self, x: &Array) -> Array {
        let x = x.astype(DType::Bool);
        let or = |a: &Array, b: &Array| a.bitwise_or(b);
        self.apply("any", &x, false.into(), Array::reduce_or, or)
    }

    #[track_caller]
    pub(crate) fn average(&self, x: &Array) -> Array {
        let (computed, out) = self.float_types(x);
        let count = self.count("mean", x, computed);
        (self.in_dtype(computed).total(x) / count).astype(out)
    }

    #[track_caller]
    pub(crate) fn variance(&self, x: &Array) -> Array {
        let (computed, out) = self.variance_types("var", x);
        let x = x.astype(wide(computed));
        let within = self.in_dtype(x.dtype());
        let mean = match &self.mean {
            Some(mean) => mean.clone(),
            None => within.kept().average(&x),
        };
        let squares = (&x - mean.astype(x.dtype())).squared_magnitude();
        let divisor = self.count("var", &x, squares.dtype()) - self.ddof;
        let variance = self.in_dtype(squares.dtype()).total(&squares) / &divisor;
        where_(&divisor.gt(0), &variance, f64::NAN).astype(out)
    }

    /// What variances take off the number of elements.
    pub(crate) fn freedom(&self) -> f64 {
        self.ddof
    }

    /// The mean that variances are taken about, if it is given.
    pub(crate) fn given_mean(&self) -> Option<&Array> {
        self.mean.as_ref()
    }

    /// The same in another type.
    pub(crate) fn in_dtype(&self, dtype: DType) -> Reduction {
        self.clone().dtype(dtype)
    }
}

macro_rules! with_options {
    ($($(#[$doc:meta])* $f:ident = $rule:ident;)*) => {
        impl Array { $(
            $(#[$doc])*
            ///
            /// # Panics
            /// If an axis is out of range or named twice, the mask holds no truth
            /// values, or there is no element to choose.
            #[track_caller]
            pub fn $f(&self, how: &Reduction) -> Array {
                how.$rule(self)
            }
        )* }
    };
}

with_options! {
    /// The sum of elements, over what `how` says.
    sum_with = total;
    /// The product of elements, over what `how` says.
    prod_with = product;
    /// The mean of elements, over what `how` says; NaN of none.
    mean_with = average;
    /// The variance of elements, over what `how` says, with its `ddof` taken
    /// off their number; NaN where nothing is left.
    var_with = variance;
    /// The largest element, over what `how` says; NaN wins.
    max_with = largest;
    /// The smallest element, over what `how` says; NaN wins.
    min_with = smallest;
    /// Whether every element is true or not zero, over what `how` says.
    all_with = every_true;
    /// Whether some element is true or not zero, over what `how` says.
    any_with = some_true;
}

impl Array {
    /// The standard deviation, the root of [`var_with`](Array::var_with).
    ///
    /// # Panics
    /// As `var_with`.
    #[track_caller]
    pub fn std_with(&self, how: &Reduction) -> Array {
        self.var_with(how).sqrt()
    }

    /// The sums of the elements up to each one along an axis, in 32 bits or
    /// more; with `initial`, a 0 comes first (`jnp.cumulative_sum`).
    ///
    /// # Panics
    /// If the axis is out of range.
    #[track_caller]
    pub fn cumulative_sum(&self, axis: isize, initial: bool) -> Array {
        let sums = self.astype(promoted(self.dtype())).cumsum(axis);
        if initial { start(&sums, 0, axis) } else { sums }
    }

    /// The products of the elements up to each one along an axis; with
    /// `initial`, a 1 comes first (`jnp.cumulative_prod`).
    ///
    /// # Panics
    /// If the axis is out of range.
    #[track_caller]
    pub fn cumulative_prod(&self, axis: isize, initial: bool) -> Array {
        let products = self.cumprod(axis);
        if initial {
            start(&products, 1, axis)
        } else {
            products
        }
    }
}

/// The array with `value` put before it along an axis.
#[track_caller]
fn start(x: &Array, value: i64, axis: isize) -> Array {
    let at = x.axis("cumulative", axis);
    let mut shape: Dims = x.shape().into();
    shape[at] = 1;
    concatenate(&[Array::full(&shape, value, x.dtype()), x.clone()], axis)
}
