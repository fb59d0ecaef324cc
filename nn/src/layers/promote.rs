//! Dtype promotion in layers.

use ramie_core::dtypes::result_type;
use ramie_core::{Array, DType};

/// Returns the dtype of a layer's computation: `dtype` if set, otherwise the dtype that the
/// arrays promote to, with `f32` in place of integers and booleans
/// (`flax.linen.dtypes.canonicalize_dtype`).
#[track_caller]
pub(crate) fn computed_in(dtype: Option<DType>, arrays: &[&Array]) -> DType {
    dtype.unwrap_or_else(|| {
        let common = result_type(arrays);
        if common.is_float() || common.is_complex() {
            common
        } else {
            DType::F32
        }
    })
}

/// Converts arrays to the dtype of a layer's computation (`flax.linen.dtypes.promote_dtype`).
#[track_caller]
pub(crate) fn promote<const N: usize>(dtype: Option<DType>, arrays: [&Array; N]) -> [Array; N] {
    let dtype = computed_in(dtype, &arrays);
    arrays.map(|a| a.astype(dtype))
}

/// Converts the input, the kernel and the bias of an affine layer to the dtype of its
/// computation.
#[track_caller]
pub(crate) fn promote_affine(
    dtype: Option<DType>,
    operands: [&Array; 2],
    bias: Option<&Array>,
) -> ([Array; 2], Option<Array>) {
    let all: Vec<&Array> = operands.into_iter().chain(bias).collect();
    let dtype = computed_in(dtype, &all);
    let bias = bias.map(|b| b.astype(dtype));
    (operands.map(|a| a.astype(dtype)), bias)
}
