//! Averages in at least `f32`. In `bf16` 0.999 is 1, and the sum of `f16` numbers overflows at 65,504.

use ramie_core::{Array, DType};
use std::borrow::Cow;

/// Returns `f32` for narrower floats, otherwise the dtype itself.
pub(crate) fn wide_dtype(dtype: DType) -> DType {
    if dtype.is_float() && dtype.bits() < 32 {
        DType::F32
    } else {
        dtype
    }
}

/// Converts an array of a narrower float to `f32`.
#[track_caller]
pub(crate) fn wide(x: &Array) -> Cow<'_, Array> {
    let dtype = wide_dtype(x.dtype());
    if dtype == x.dtype() {
        Cow::Borrowed(x)
    } else {
        Cow::Owned(x.astype(dtype))
    }
}
