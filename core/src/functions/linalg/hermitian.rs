//! Singular values of Hermitian matrices, computed from their eigenvalues.

use super::{SvdFactors, eigh, matrix};
use crate::options::Descending;
use crate::{Array, where_};

/// Computes the singular value decomposition of Hermitian matrices from [`eigh`]: the singular
/// values are the magnitudes of the eigenvalues, and left and right singular vectors differ only
/// in sign.
#[track_caller]
pub(super) fn svd_of_hermitian(a: &Array) -> SvdFactors {
    let (w, v) = eigh(a);
    let size = w.abs();
    let order = (-&size).argsort(-1);
    let u = v.take_along_axis(&order.expand_dims(&[-2]), -1);
    let s = size.take_along_axis(&order, -1);
    let sign = where_(w.lt(0.0), -1.0, w.ones_like());
    let sign = sign.take_along_axis(&order, -1).expand_dims(&[-2]);
    let vt = matrix::adjoint(&(&u * sign));
    SvdFactors { u, s, vt }
}

/// Computes the singular values of Hermitian matrices in decreasing order.
#[track_caller]
pub(super) fn svdvals_of_hermitian(a: &Array) -> Array {
    eigh(a).0.abs().sort_with(-1, Descending)
}
