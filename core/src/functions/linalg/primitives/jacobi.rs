//! Jacobi's method: plane rotations of pairs of rows, half of all rows paired with the other half
//! at a time.
//!
//! Row `i` of the first half is paired with row `i` of the second. After each round the rows are
//! permuted as in a round-robin tournament: after as many rounds as there are other rows, each
//! row was paired with every other row, and all are in their original positions (Brent and Luk,
//! The solution of singular-value and symmetric eigenvalue problems on multiprocessor arrays,
//! 1985). That is a sweep; a few sweeps are sufficient.

use crate::dtypes::finfo;
use crate::functions::linalg::matrix::epsilon;
use crate::lax::{fori_loop, while_loop};
use crate::options::Reduction;
use crate::{Array, DType, concatenate, where_};
use num_complex::Complex;

/// Maximum number of sweeps. Matrices with a thousand rows need about ten.
const SWEEPS: usize = 40;

/// Splits an axis into its first and second half.
pub(super) fn halves(x: &Array, axis: isize) -> [Array; 2] {
    let n = x.shape()[x.axis("halves", axis)];
    [
        x.slice_in_dim(0, n / 2, 1, axis),
        x.slice_in_dim(n / 2, n, 1, axis),
    ]
}

/// Concatenates both halves of an axis and permutes them for the next round: the first element
/// stays, the others move right in the first half and left in the second.
pub(super) fn moved_on([top, bottom]: [Array; 2], axis: isize) -> Array {
    let k = top.shape()[top.axis("moved_on", axis)];
    if k < 2 {
        return concatenate(&[top, bottom], axis);
    }
    let parts = [
        top.slice_in_dim(0, 1, 1, axis),
        bottom.slice_in_dim(0, 1, 1, axis),
        top.slice_in_dim(1, k - 1, 1, axis),
        bottom.slice_in_dim(1, k, 1, axis),
        top.slice_in_dim(k - 1, k, 1, axis),
    ];
    concatenate(&parts, axis)
}

/// Cosines, sines and tangents of the smaller angles of the rotations that diagonalize
/// `[[p, r], [r, q]]`.
pub(super) struct Rotation {
    pub cosine: Array,
    pub sine: Array,
    pub tangent: Array,
}

impl Rotation {
    /// Computes the rotations of matrices where `wanted` is true; the others are not rotated.
    pub fn new(p: &Array, q: &Array, r: &Array, wanted: &Array) -> Rotation {
        let r = where_(wanted, r, r.ones_like());
        let tau = (q - p) / (r * 2);
        let size = 1 / (tau.abs() + (tau.square() + 1).sqrt());
        let tangent = where_(tau.lt(0), -&size, &size);
        let tangent = where_(wanted, &tangent, tangent.zeros_like());
        let cosine = (tangent.square() + 1).rsqrt();
        Rotation {
            sine: &tangent * &cosine,
            cosine,
            tangent,
        }
    }

    /// Rotates pairs of rows.
    pub fn rows(&self, [top, bottom]: &[Array; 2]) -> [Array; 2] {
        let (c, s) = (self.cosine.expand_dims(&[-1]), self.sine.expand_dims(&[-1]));
        [&c * top - &s * bottom, &s * top + &c * bottom]
    }

    /// Rotates pairs of columns.
    pub fn columns(&self, [left, right]: &[Array; 2]) -> [Array; 2] {
        let (c, s) = (self.cosine.expand_dims(&[-2]), self.sine.expand_dims(&[-2]));
        [&c * left - &s * right, &s * left + &c * right]
    }
}

/// Returns, for elements `r` of Hermitian matrices `[[p, r], [r̄, q]]`: real elements that
/// replace them, a mask of those that the rotation must eliminate, and for complex matrices the
/// phase factors by which the second rows are multiplied.
///
/// The phases of numbers that are almost subnormal are not accurate; such numbers count as zero.
pub(super) fn phase(r: &Array) -> (Array, Array, Option<Array>) {
    if !r.dtype().is_complex() {
        return (r.clone(), r.ne(0), None);
    }
    let size = r.abs();
    let least = finfo(size.dtype()).smallest_normal / epsilon(size.dtype());
    let wanted = size.gt(least);
    let turn = where_(&wanted, r / where_(&wanted, &size, 1), 1);
    (size, wanted, Some(turn))
}

/// Performs sweeps of `rounds` rounds until `left`, a number for each matrix of the batch, is at
/// most `small` everywhere.
pub(super) fn sweeps(
    x: Array,
    rounds: usize,
    small: f64,
    round: impl Fn(Array) -> Array,
    left: impl Fn(&Array) -> Array,
) -> Array {
    let init = (x.clone(), left(&x), Array::scalar(0, DType::I32));
    let (x, ..) = while_loop(
        |(_, left, count): (Array, Array, Array)| {
            left.gt(small).any().bitwise_and(count.lt(SWEEPS))
        },
        |(x, _, count): (Array, Array, Array)| {
            let x = fori_loop(0, rounds, |_, x| round(x), x);
            let left = left(&x);
            (x, left, count + 1)
        },
        init,
    );
    x
}

/// Returns the largest magnitude in each matrix, or 1 where that is 0, with shape `[.., 1, 1]`,
/// and whether all elements are finite.
pub(super) fn scale(x: &Array) -> (Array, Array) {
    let largest = x.abs().max_over(Reduction::over([-2, -1]).keepdims());
    let finite = largest.is_finite();
    let scale = where_(largest.eq(0), largest.ones_like(), &largest);
    (where_(&finite, &scale, scale.ones_like()), finite)
}

/// Replaces the results of matrices with non-finite elements by NaN.
pub(super) fn or_nan(x: &Array, finite: &Array) -> Array {
    let missing = (finite.ndim() - x.ndim()) as isize;
    let finite = match missing {
        0 => finite.clone(),
        _ => finite.squeeze(&[-1]),
    };
    let nan = if x.dtype().is_complex() {
        Array::scalar(Complex::new(f64::NAN, f64::NAN), x.dtype())
    } else {
        Array::scalar(f64::NAN, x.dtype())
    };
    where_(&finite, x, nan)
}
