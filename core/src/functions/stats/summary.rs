//! Modes, ranks and standard errors of samples.

use crate::numpy::Side;
use crate::options::{Reduction, Unique};
use crate::{Array, DType, vmap, where_};

/// Returns the most frequent element over the reduced axes, the smallest of several, and how often
/// it occurs, as `i32`.
///
/// ```no_run
/// use ramie_core::{Array, stats};
/// let x = Array::from([[1, 3], [1, 2], [2, 3]]);
/// let (mode, count) = stats::mode(&x, 0);
/// assert_eq!(mode.to_vec::<i32>(), [1, 3]);
/// assert_eq!(count.to_vec::<i32>(), [2, 2]);
/// ```
///
/// # Panics
/// Panics if the reduced axes have no elements, or if an option other than axes and `keepdims` is
/// set.
#[track_caller]
pub fn mode(x: &Array, over: impl Into<Reduction>) -> (Array, Array) {
    let over = over.into();
    over.plain_axes("mode", x);
    let axes = over.axes_of("mode", x);
    let n: usize = axes.iter().map(|&axis| x.shape()[axis]).product();
    assert!(
        n > 0,
        "mode: {} has no elements along the reduced axes {axes:?}\n  help: pass an array with \
         elements",
        x.aval()
    );
    let mut shape = x.shape().to_vec();
    for &axis in axes.iter().rev() {
        shape[axis] = 1;
        if !over.keeps() {
            shape.remove(axis);
        }
    }
    let last: Vec<isize> = (x.ndim() - axes.len()..x.ndim())
        .map(|a| a as isize)
        .collect();
    let reduced: Vec<isize> = axes.iter().map(|&a| a as isize).collect();
    let rest = x.size() / n;
    let rows = x.move_axes(&reduced, &last).reshape((rest, n));
    let (values, counts) = vmap(move |row: Array| {
        let distinct = Unique::new().size(n).of(&row);
        let most = distinct.counts.argmax(0);
        (distinct.values.take(&most, 0), distinct.counts.max())
    })(rows);
    (values.reshape(&shape[..]), counts.reshape(&shape[..]))
}

/// The rank that [`rankdata`] assigns to equal elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum RankMethod {
    /// The mean of their ranks.
    #[default]
    Average,
    /// The smallest of their ranks.
    Min,
    /// The largest of their ranks.
    Max,
    /// The number of smaller distinct elements plus 1.
    Dense,
    /// Distinct ranks, in the order of the array.
    Ordinal,
}

/// The options of [`rankdata_with`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Rank {
    /// The rank of equal elements. Defaults to their mean.
    pub method: RankMethod,
    /// The axis along which elements are ranked. Defaults to all elements in row-major order.
    pub axis: Option<isize>,
}

/// Returns the rank of each element in increasing order from 1, as a vector of `f32`. Equal elements
/// have the mean of their ranks. All ranks are NaN if an element is NaN.
///
/// ```no_run
/// use ramie_core::{Array, stats};
/// let ranks = stats::rankdata(&Array::from([0, 2, 3, 2]));
/// assert_eq!(ranks.to_vec::<f32>(), [1.0, 2.5, 4.0, 2.5]);
/// ```
///
/// # Panics
/// Panics if the array is complex.
#[track_caller]
pub fn rankdata(x: &Array) -> Array {
    rankdata_with(x, Rank::default())
}

/// Returns the ranks of [`rankdata`] with options: ranks of equal elements, and an axis. With an
/// axis, the result has the shape of the array.
///
/// # Panics
/// Panics if the array is complex, or does not have the axis.
#[track_caller]
pub fn rankdata_with(x: &Array, rank: Rank) -> Array {
    crate::prim::elementwise::parts::require_real("rankdata", &[x]);
    let ranks = move |row: Array| ranks(&row, rank.method);
    let Some(axis) = rank.axis else {
        return ranks(x.reshape(-1));
    };
    let rows = x.move_axes(&[axis], &[-1]);
    let shape = rows.shape().to_vec();
    let n = shape.last().copied().unwrap_or(1);
    let flat = rows.reshape((x.size() / n.max(1), n));
    vmap(ranks)(flat)
        .reshape(&shape[..])
        .move_axes(&[-1], &[axis])
}

/// Ranks the elements of a vector.
#[track_caller]
fn ranks(x: &Array, method: RankMethod) -> Array {
    let sorted = x.sort(0);
    let below = || sorted.searchsorted(x, Side::Left);
    let upto = || sorted.searchsorted(x, Side::Right).astype(DType::F32);
    let first = || below().astype(DType::F32) + 1;
    let ranks = match method {
        RankMethod::Average => (first() + upto()) * 0.5,
        RankMethod::Min => first(),
        RankMethod::Max => upto(),
        RankMethod::Ordinal => (x.argsort(0).argsort(0) + 1).astype(DType::F32),
        RankMethod::Dense => {
            let before = sorted.roll(1, 0);
            let positions = Array::arange(x.size());
            let starts = sorted.ne(&before).bitwise_or(positions.eq(0));
            let dense = starts.astype(DType::I32).cumsum(0);
            dense.take(&below(), 0).astype(DType::F32)
        }
    };
    where_(x.ne(x).any(), f64::NAN, ranks)
}

/// Computes the standard error of the mean over the reduced axes, from the unbiased variance.
///
/// ```no_run
/// use ramie_core::{Array, stats};
/// let error = stats::sem(&Array::from([1.0f32, 2.0, 3.0, 6.0]), 0);
/// assert!((error.item::<f32>() - 1.0801234).abs() < 1e-6);
/// ```
///
/// # Panics
/// Panics if an option other than axes and `keepdims` is set.
#[track_caller]
pub fn sem(x: &Array, over: impl Into<Reduction>) -> Array {
    let over = over.into();
    over.plain_axes("sem", x);
    let x = x.to_inexact();
    let n: usize = over
        .axes_of("sem", &x)
        .iter()
        .map(|&axis| x.shape()[axis])
        .product();
    x.std_over(over.ddof(1.0)) / (n as f64).sqrt()
}
