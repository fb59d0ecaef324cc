//! The product of dense layers.

use super::functions::DotGeneralFn;
use super::promote::Promotion;
use ramie_core::lax::{DotDimensionNumbers, Precision};
use ramie_core::options::Contraction;
use ramie_core::{Array, DType, PartitionSpec};

/// Options of the product in a dense layer.
#[derive(Clone, Copy)]
pub(crate) struct Multiply<'a> {
    pub promotion: Promotion<'a>,
    pub precision: Option<Precision>,
    pub preferred_element_type: Option<DType>,
    pub dot_general: Option<&'a DotGeneralFn>,
    pub out_sharding: Option<&'a PartitionSpec>,
}

impl Multiply<'_> {
    /// Multiplies operands that have the dtype of the computation.
    #[track_caller]
    pub fn product(&self, x: &Array, kernel: &Array, axes: DotDimensionNumbers) -> Array {
        let how = Contraction::new()
            .precision(self.precision)
            .preferred_element_type(self.preferred_element_type);
        let spec = self.out_sharding.cloned();
        let Some(other) = self.dot_general else {
            return x.dot_general_with(kernel, axes, how.out_sharding(spec));
        };
        let out = other.call(x, kernel, &axes, how);
        sharded(out, spec)
    }
}

/// Reshards the result of a custom function, which gets no sharding.
#[track_caller]
pub(crate) fn sharded(out: Array, spec: Option<PartitionSpec>) -> Array {
    match spec {
        Some(spec) => ramie_core::sharding::reshard(&out, spec),
        None => out,
    }
}
