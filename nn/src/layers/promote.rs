//! Dtype promotion in layers.

use super::functions::PromoteDtypeFn;
use ramie_core::dtypes::result_type;
use ramie_core::{Array, DType};

/// The options `dtype` and `promote_dtype` of a layer.
#[derive(Clone, Copy)]
pub(crate) struct Promotion<'a> {
    pub dtype: Option<DType>,
    pub rule: Option<&'a PromoteDtypeFn>,
}

impl From<Option<DType>> for Promotion<'_> {
    fn from(dtype: Option<DType>) -> Self {
        Promotion { dtype, rule: None }
    }
}

impl<'a> Promotion<'a> {
    pub fn new(dtype: Option<DType>, rule: &'a Option<PromoteDtypeFn>) -> Promotion<'a> {
        let rule = rule.as_ref();
        Promotion { dtype, rule }
    }

    /// Converts arrays to the dtype of a layer's computation (`flax.linen.dtypes.promote_dtype`),
    /// or by the layer's own rule.
    ///
    /// # Panics
    /// Panics if the rule returns other shapes.
    #[track_caller]
    fn apply(self, arrays: &[&Array]) -> Vec<Array> {
        let Some(rule) = self.rule else {
            let dtype = computed_in(self.dtype, arrays);
            return arrays.iter().map(|a| a.astype(dtype)).collect();
        };
        let promoted = rule.call(arrays, self.dtype);
        let mut pairs = promoted.iter().zip(arrays);
        assert!(
            promoted.len() == arrays.len() && pairs.all(|(p, a)| p.shape() == a.shape()),
            "promote_dtype: the function returned {:?}, expected an array of the same shape for \
             each of {:?}\n  help: convert the arrays in their order: arrays.iter().map(|a| \
             a.astype(DType::BF16)).collect()",
            promoted.iter().map(|p| p.aval()).collect::<Vec<_>>(),
            arrays.iter().map(|a| a.aval()).collect::<Vec<_>>()
        );
        promoted
    }

    /// Returns the dtype of a product of the converted arrays.
    #[track_caller]
    pub fn dtype_of(self, arrays: &[&Array]) -> DType {
        match self.rule {
            None => computed_in(self.dtype, arrays),
            Some(_) => result_type(&self.apply(arrays).iter().collect::<Vec<_>>()),
        }
    }

    /// Replaces arrays by the results of the layer's own rule, if it has one.
    #[track_caller]
    pub fn apply_rule<'b>(self, arrays: impl IntoIterator<Item = &'b mut Array>) {
        if self.rule.is_none() {
            return;
        }
        let arrays: Vec<&mut Array> = arrays.into_iter().collect();
        let promoted = self.apply(&arrays.iter().map(|a| &**a).collect::<Vec<_>>());
        for (array, promoted) in arrays.into_iter().zip(promoted) {
            *array = promoted;
        }
    }
}

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

/// Converts arrays for a layer's computation.
#[track_caller]
pub(crate) fn promote<'a, const N: usize>(
    how: impl Into<Promotion<'a>>,
    arrays: [&Array; N],
) -> [Array; N] {
    let promoted = how.into().apply(&arrays);
    promoted.try_into().expect("as many arrays as operands")
}

/// Converts the input, the kernel and the bias of an affine layer for its computation.
#[track_caller]
pub(crate) fn promote_affine(
    how: Promotion<'_>,
    operands: [&Array; 2],
    bias: Option<&Array>,
) -> ([Array; 2], Option<Array>) {
    let all: Vec<&Array> = operands.into_iter().chain(bias).collect();
    let mut promoted = how.apply(&all);
    let bias = bias.and_then(|_| promoted.pop());
    (promoted.try_into().expect("an input and a kernel"), bias)
}

/// Adds a bias whose axes are the last ones of `y`. As in Flax, the bias is reshaped to the rank of
/// `y`, because `numpy_rank_promotion` may forbid the addition of arrays of different ranks.
#[track_caller]
pub(crate) fn add_bias(y: Array, bias: &Array) -> Array {
    let mut shape = vec![1; y.ndim() - bias.ndim()];
    shape.extend_from_slice(bias.shape());
    y + bias.reshape(&shape)
}
