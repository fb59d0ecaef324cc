//! Element types that layers compute in.

use ramie_core::{Array, DType, result_type};

/// The element type that a layer computes in: the one it was given, else the
/// one that its arrays promote to, `f32` for integers
/// (`flax.linen.dtypes.canonicalize_dtype`).
#[track_caller]
pub(crate) fn computed_in(dtype: Option<DType>, arrays: &[&Array]) -> DType {
    dtype.unwrap_or_else(|| {
        let common = result_type(arrays);
        match common.is_float() || common.is_complex() {
            true => common,
            false => DType::F32,
        }
    })
}

/// Arrays in the element type that a layer computes in
/// (`flax.linen.dtypes.promote_dtype`).
#[track_caller]
pub(crate) fn promote<const N: usize>(dtype: Option<DType>, arrays: [&Array; N]) -> [Array; N] {
    let dtype = computed_in(dtype, &arrays);
    arrays.map(|a| a.astype(dtype))
}

/// Input, kernel and bias in the element type that an affine layer computes in.
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
