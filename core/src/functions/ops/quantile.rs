//! Quantiles, percentiles and medians.

use super::Reduction;
use super::reduce::{in_order, reductions, restore};
use super::statistics::broadcast_weights;
use crate::dtypes::finfo;
use crate::lax::sort;
use crate::prim::elementwise::parts::require_real;
use crate::prim::index::positions::index_dtype;
use crate::prim::operands::promote_all;
use crate::typing::Dims;
use crate::{Array, DType, IntoArray, where_};

/// The value of a quantile that falls between two elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QuantileMethod {
    /// Linear interpolation.
    Linear,
    /// The lower element.
    Lower,
    /// The higher element.
    Higher,
    /// The midpoint of both elements.
    Midpoint,
    /// The nearest element; the lower element at half distance.
    Nearest,
    /// The first element at which the cumulative weight reaches the requested fraction.
    InvertedCdf,
}

/// Options of quantiles such as [`Array::quantile_over`]. An axis, axes or a [`Reduction`] with
/// axes and `keepdims` converts into it.
///
/// ```no_run
/// use ramie_core::numpy::QuantileMethod;
/// use ramie_core::options::Quantile;
/// use ramie_core::Array;
/// let x = Array::from([[1.0f32, 2.0, 4.0]]);
/// assert_eq!(x.quantile_over(0.5, -1).to_vec::<f32>(), [2.0]);
/// let low = x.quantile_over(0.6, Quantile::over(-1).method(QuantileMethod::Lower));
/// assert_eq!(low.to_vec::<f32>(), [2.0]);
/// ```
#[derive(Clone, Debug)]
pub struct Quantile {
    method: QuantileMethod,
    over: Reduction,
    ignore_nan: bool,
    weights: Option<Array>,
}

impl<R: Into<Reduction>> From<R> for Quantile {
    fn from(over: R) -> Quantile {
        Quantile {
            method: QuantileMethod::Linear,
            over: over.into(),
            ignore_nan: false,
            weights: None,
        }
    }
}

impl Quantile {
    /// Creates options for quantiles of all elements with linear interpolation.
    pub fn all() -> Quantile {
        Reduction::all().into()
    }

    /// Creates options for quantiles over the given axes with linear interpolation.
    pub fn over(over: impl Into<Reduction>) -> Quantile {
        over.into().into()
    }

    /// Sets the value of a quantile between two elements.
    #[must_use]
    pub fn method(self, method: QuantileMethod) -> Quantile {
        Quantile { method, ..self }
    }

    /// Ignores NaN elements.
    fn ignore_nan(self) -> Quantile {
        Quantile {
            ignore_nan: true,
            ..self
        }
    }

    /// Sets a weight for each element, or for each index along the reduced axes in increasing
    /// order. Requires [`QuantileMethod::InvertedCdf`]. The result has the dtype that the array and
    /// the weights promote to.
    #[must_use]
    pub fn weights(self, weights: &Array) -> Quantile {
        Quantile {
            weights: Some(weights.clone()),
            ..self
        }
    }

    /// Computes the quantiles `q`, numbers from 0 to 1. If there are no elements along the axes,
    /// the result is NaN, without the axis of `q` (as in NumPy), if NaN elements are ignored.
    #[track_caller]
    fn of(&self, x: &Array, q: impl IntoArray) -> Array {
        let (q, (x, weights)) = (q.into_array(), self.promoted(x));
        require_real("quantile", &[&x, &q]);
        assert!(
            q.ndim() <= 1,
            "quantile: q is {}, expected a number or a 1-d array\n  help: flatten q, and reshape \
             the result",
            q.aval()
        );
        let axes = in_order("quantile", &x, &self.over.plain_axes("quantile", &x));
        let weights = weights.map(|w| broadcast_weights("quantile", &x, &w, &axes));
        let kept: Dims = (0..x.ndim()).filter(|d| !axes.contains(d)).collect();
        let rows = |x: &Array| {
            let order: Vec<isize> = kept.iter().chain(&axes).map(|&d| d as isize).collect();
            let mut shape: Dims = kept.iter().map(|&d| x.shape()[d]).collect();
            shape.push(axes.iter().map(|&d| x.shape()[d]).product());
            x.transpose(&order).reshape(&shape)
        };
        let values = rows(&x);
        let reduced = values.shape()[kept.len()];
        if reduced == 0 && self.ignore_nan {
            let nan = Array::full(&values.shape()[..kept.len()], f64::NAN, x.dtype());
            return if self.over.keeps() {
                restore(&nan, &axes)
            } else {
                nan
            };
        }
        assert!(
            reduced > 0,
            "quantile: {} has no elements along axes {axes:?}\n  help: handle the empty case \
             separately",
            x.aval()
        );
        // The working dtype is at least as fine as the elements' and can count them.
        let given = DType::promote((x.dtype(), false), (q.to_inexact().dtype(), false)).0;
        let numbers_all = |d: &DType| reduced as u128 <= 1 << finfo(*d).fraction_bits;
        let wider = [given, DType::F32].into_iter().find(numbers_all);
        let working = wider.unwrap_or(DType::F64);
        let parts = q.astype(working).ravel();
        let found = self.along_last(&values, weights.map(|w| rows(&w)).as_ref(), &parts);
        let inside = parts.ge(0).bitwise_and(parts.le(1));
        let found = where_(inside, found, f64::NAN).astype(x.dtype());
        let found = match q.ndim() {
            0 => found.squeeze(&[-1]),
            _ => found.move_axis(-1, 0),
        };
        if !self.over.keeps() {
            return found;
        }
        let axes: Dims = axes.iter().map(|&d| d + q.ndim()).collect();
        restore(&found, &axes)
    }

    /// Returns the array and the weights in the inexact dtype that they promote to.
    #[track_caller]
    fn promoted(&self, x: &Array) -> (Array, Option<Array>) {
        let Some(weights) = &self.weights else {
            return (x.to_inexact(), None);
        };
        assert!(
            self.method == QuantileMethod::InvertedCdf,
            "quantile: {:?} does not support weights\n  help: use QuantileMethod::InvertedCdf",
            self.method
        );
        let both = promote_all("quantile", &[x, weights]);
        (both[0].to_inexact(), Some(both[1].to_inexact()))
    }

    /// Computes quantiles along the last axis, which is replaced by the axis of `q`.
    #[track_caller]
    fn along_last(&self, x: &Array, weights: Option<&Array>, q: &Array) -> Array {
        let n = x.shape()[x.ndim() - 1];
        let nan = x.is_nan();
        let x = if self.ignore_nan {
            x.clone()
        } else {
            where_(nan.any_over(Reduction::over(-1).keepdims()), f64::NAN, x)
        };
        let (sorted, weights) = match weights {
            None => (x.sort(-1), None),
            Some(w) => {
                let mut both = sort(&[x, w.clone()], -1, 1);
                (both.remove(0), both.pop())
            }
        };
        // The number of elements to choose from, with a last axis of size 1.
        let count = if self.ignore_nan {
            let numbers = sorted.is_nan().bitwise_not().astype(q.dtype());
            numbers.sum_over(Reduction::over(-1).keepdims())
        } else {
            q.full_like(n as f64)
                .slice_axis(0, 0, 1.min(q.size()))
                .laid_along(sorted.ndim() - 1, sorted.ndim())
        };
        let last = &count - 1.0;
        if self.method == QuantileMethod::InvertedCdf {
            sorted.expect_i32_count("quantile", n);
            return inverted_cdf(&sorted, weights, q, &count);
        }
        let position = q * &last;
        let (low, high) = (position.floor(), position.ceil());
        let (above, below) = (&position - &low, 1.0 - (&position - &low));
        let pick = |position: &Array| {
            let counting = index_dtype(DType::I32, std::iter::once(n));
            let position = position.minimum(&last).maximum(0.0).astype(counting);
            sorted.take_along_axis(&position, -1)
        };
        match self.method {
            QuantileMethod::Lower => pick(&low),
            QuantileMethod::Higher => pick(&high),
            QuantileMethod::Nearest => where_(above.le(0.5), pick(&low), pick(&high)),
            // The sum of two large numbers would overflow.
            QuantileMethod::Midpoint => pick(&low) * 0.5 + pick(&high) * 0.5,
            _ => {
                // An infinite neighbor without weight does not count.
                let weighed = pick(&high).astype(q.dtype()) * &above;
                pick(&low).astype(q.dtype()) * below + where_(above.eq(0), 0, weighed)
            }
        }
    }
}

/// Returns the first sorted element at which the cumulative weight reaches the fraction `q`.
#[track_caller]
fn inverted_cdf(sorted: &Array, weights: Option<Array>, q: &Array, count: &Array) -> Array {
    let weights = weights.unwrap_or_else(|| sorted.ones_like());
    let bad = weights.lt(0).bitwise_or(weights.is_nan());
    let nan = sorted.is_nan();
    let clean = where_(bad.bitwise_or(&nan), 0, &weights).astype(q.dtype());
    let sums = clean.cumsum(-1);
    let n = sorted.shape()[sorted.ndim() - 1];
    let total = sums.slice_axis(sums.ndim() - 1, n - 1, n);
    let target = q * total;
    // The last two axes are quantiles and elements.
    let before = sums.expand_dims(&[-2]).lt(target.expand_dims(&[-1]));
    let index = before.count_nonzero_over(-1);
    let last = (count - 1.0).astype(DType::I32);
    let found = sorted.take_along_axis(&index.minimum(last).maximum(0), -1);
    let broken = bad
        .any_over(Reduction::over(-1).keepdims())
        .bitwise_or(count.eq(0));
    where_(&broken, f64::NAN, found)
}

macro_rules! quantiles {
    ($($(#[$doc:meta])* $all:ident $over:ident $scale:literal [$($nan:ident)?];)*) => {
        impl Array { $(
            $(#[$doc])*
            ///
            /// Considers all elements.
            ///
            /// # Panics
            /// Panics if `q` has more than one axis or is a number out of range, if there are no
            /// elements, or if an operand is complex. Elements of `q` out of range give NaN.
            #[track_caller]
            pub fn $all(&self, q: impl IntoArray) -> Array {
                self.$over(q, Quantile::all())
            }

            $(#[$doc])*
            ///
            /// Considers the elements that `over` selects: an axis, axes, a [`Reduction`] with
            /// axes and `keepdims`, or a [`Quantile`] with options.
            ///
            /// # Panics
            /// Panics if `q` has more than one axis or is a number out of range, if an axis is out of
            /// range or given twice,
            /// if there are no elements, if the method does not support weights, or if an operand
            /// is complex.
            #[track_caller]
            pub fn $over(&self, q: impl IntoArray, over: impl Into<Quantile>) -> Array {
                let q = q.into_array();
                require_real(stringify!($all), &[self, &q]);
                over.into()$(.$nan())?.of(self, scaled(stringify!($all), q, $scale))
            }
        )* }
    };
}

#[track_caller]
fn scaled(operation: &str, q: impl IntoArray, scale: f64) -> Array {
    let q = q.into_array();
    if let Some(literal) = q.as_literal() {
        let value = literal.value().to_f64();
        assert!(
            (0.0..=scale).contains(&value),
            "{operation}: q is {value}, expected a number from 0 to {scale}\n  help: `quantile` \
             takes fractions from 0 to 1, `percentile` numbers from 0 to 100"
        );
    }
    match q.as_literal() {
        // A weakly typed number is divided before it is converted.
        Some(l) if q.aval().weak_type() => (l.value().to_f64() / scale).into_array(),
        _ if scale == 1.0 => q,
        _ => q / scale,
    }
}

quantiles! {
    /// Computes the `q`-quantile (`q` from 0 to 1), interpolating linearly between the two
    /// nearest elements. `q` may be a 1-d array, which adds a leading axis. If an element is NaN,
    /// the result is NaN.
    quantile quantile_over 1.0 [];
    /// Computes percentiles: [`quantile`](Array::quantile) with `q` from 0 to 100.
    percentile percentile_over 100.0 [];
    /// Computes the [`quantile`](Array::quantile) of the elements that are not NaN.
    nanquantile nanquantile_over 1.0 [ignore_nan];
    /// Computes the [`percentile`](Array::percentile) of the elements that are not NaN.
    nanpercentile nanpercentile_over 100.0 [ignore_nan];
}

#[track_caller]
fn median(name: &str, x: &Array, how: Quantile) -> Array {
    require_real(name, &[x]);
    x.axes(name, &how.over.plain_axes(name, x));
    how.method(QuantileMethod::Midpoint).of(x, 0.5)
}

#[track_caller]
fn of_all(over: &Reduction, x: &Array) -> Array {
    median("median", x, Quantile::over(over))
}

#[track_caller]
fn of_numbers(over: &Reduction, x: &Array) -> Array {
    median("nanmedian", x, Quantile::over(over).ignore_nan())
}

reductions! {
    /// Computes the median: the middle element, or the mean of the two middle elements. If an
    /// element is NaN, the result is NaN.
    median median_over, panics "Panics if there are no elements, or if the array is complex." = of_all;
    /// Computes the [`median`](Array::median) of the elements that are not NaN.
    nanmedian nanmedian_over, panics "Panics if there are no elements, or if the array is complex." = of_numbers;
}
