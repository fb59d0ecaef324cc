//! `DotGeneralFn`: a custom function in place of `dot_general`.

use crate::shared_fn::SharedFn;
use ramie_core::lax::{DotDimensionNumbers, Precision};
use ramie_core::options::Contraction;
use ramie_core::{Array, DType, PartitionSpec};
use std::sync::Arc;

/// The arguments are the two operands, their axes, and the options of the product.
type Product = dyn Fn(&Array, &Array, &DotDimensionNumbers, Contraction) -> Array + Send + Sync;

/// A custom product that dense layers use instead of `dot_general`, for example a quantized one
/// (the field `dot_general` of Flax's dense layers).
///
/// It compares equal only to its clones.
///
/// ```no_run
/// use ramie_core::DType;
/// use ramie_nn::{DotGeneralFn, Linear, Rngs};
/// let rounded = DotGeneralFn::new(|x, kernel, axes, how| {
///     let (x, kernel) = (x.astype(DType::F8E4M3Fn), kernel.astype(DType::F8E4M3Fn));
///     x.dot_general_with(&kernel, axes.clone(), how.preferred_element_type(DType::F32))
/// });
/// let layer = Linear::features(10).dot_general(rounded).build(64, &mut Rngs::new(0));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DotGeneralFn(SharedFn<Product>);

impl DotGeneralFn {
    /// Creates a custom product from a function of two operands, their axes, and the precision and
    /// dtype of the product.
    pub fn new(
        f: impl Fn(&Array, &Array, &DotDimensionNumbers, Contraction) -> Array + Send + Sync + 'static,
    ) -> DotGeneralFn {
        DotGeneralFn(SharedFn::new(Arc::new(f)))
    }
}

/// Options of the product in a dense layer.
#[derive(Clone, Copy)]
pub(crate) struct Multiply<'a> {
    pub dtype: Option<DType>,
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
        let out = (other.0)(x, kernel, &axes, how);
        match spec {
            Some(spec) => ramie_core::sharding::reshard(&out, spec),
            None => out,
        }
    }
}
