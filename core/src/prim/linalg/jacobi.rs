//! Jacobi's method: plane rotations of pairs of rows, half of all rows against
//! the other half at a time.
//!
//! Row `i` of the first half meets row `i` of the second. After each round the
//! rows move on as players do in a round-robin tournament, so that in as many
//! rounds as there are other rows each meets each, and all are back where they
//! were (Brent and Luk, The solution of singular-value and symmetric eigenvalue
//! problems on multiprocessor arrays, 1985). That is a sweep; a few sweeps are
//! enough.

use crate::linalg::matrix::epsilon;
use crate::{Array, DType, concatenate, finfo, fori_loop, where_, while_loop};
use num_complex::Complex;

/// After how many sweeps the method gives up. It takes about ten for matrices
/// with a thousand rows.
const SWEEPS: usize = 40;

/// The first and second half of an axis.
pub(super) fn halves(x: &Array, axis: isize) -> [Array; 2] {
    let n = x.shape()[x.axis("halves", axis)];
    [
        x.slice_in_dim(0, n / 2, 1, axis),
        x.slice_in_dim(n / 2, n, 1, axis),
    ]
}

/// Both halves of an axis together, each place moved on by one: the first stays,
/// the others go right in the first half and left in the second.
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

/// Cosines, sines and tangents of the smaller angles of the rotations that make
/// `[[p, r], [r, q]]` diagonal.
pub(super) struct Rotation {
    pub cosine: Array,
    pub sine: Array,
    pub tangent: Array,
}

impl Rotation {
    /// For matrices where `wanted` holds; the others stay.
    pub fn new(p: &Array, q: &Array, r: &Array, wanted: &Array) -> Rotation {
        let r = where_(wanted, r, r.ones_like());
        let tau = (q - p) / (r * 2);
        let size: Array = 1 / (tau.abs() + (tau.square() + 1).sqrt());
        let tangent = where_(&tau.lt(0), -&size, &size);
        let tangent = where_(wanted, &tangent, tangent.zeros_like());
        let cosine = (tangent.square() + 1).rsqrt();
        Rotation {
            sine: &tangent * &cosine,
            cosine,
            tangent,
        }
    }

    /// Pairs of rows rotated.
    pub fn rows(&self, [top, bottom]: &[Array; 2]) -> [Array; 2] {
        let (c, s) = (self.cosine.expand_dims(&[-1]), self.sine.expand_dims(&[-1]));
        [&c * top - &s * bottom, &s * top + &c * bottom]
    }

    /// Pairs of columns rotated.
    pub fn columns(&self, [left, right]: &[Array; 2]) -> [Array; 2] {
        let (c, s) = (self.cosine.expand_dims(&[-2]), self.sine.expand_dims(&[-2]));
        [&c * left - &s * right, &s * left + &c * right]
    }
}

/// Returns, for elements `r` of Hermitian matrices `[[p, r], [r̄, q]]`: real elements
/// that replace them, a mask of those that the rotation must make zero, and for complex
/// matrices the phase factors that multiply the second rows.
///
/// The phases of numbers that are nearly subnormal are not exact; such numbers count
/// as zero.
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

/// Sweeps of `rounds` rounds until what is `left` to do, a number for each
/// matrix of the batch, is `small` everywhere.
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

/// The largest magnitude in each matrix, or 1 where that is 0, as `[.., 1, 1]`;
/// and whether all elements are finite.
pub(super) fn scale(x: &Array) -> (Array, Array) {
    let largest = x.abs().max_keepdims(&[-2, -1]);
    let finite = largest.is_finite();
    let scale = where_(&largest.eq(0), largest.ones_like(), &largest);
    (where_(&finite, &scale, scale.ones_like()), finite)
}

/// NaN where the matrix had elements that are not finite.
pub(super) fn or_nan(x: &Array, finite: &Array) -> Array {
    let missing = (finite.ndim() - x.ndim()) as isize;
    let finite = match missing {
        0 => finite.clone(),
        _ => finite.squeeze(&[-1]),
    };
    let nan = match x.dtype().is_complex() {
        true => Array::scalar(Complex::new(f64::NAN, f64::NAN), x.dtype()),
        false => Array::scalar(f64::NAN, x.dtype()),
    };
    where_(&finite, x, nan)
}
