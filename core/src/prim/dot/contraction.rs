//! `Contraction`: options of matrix products.

use crate::lax::Precision;
use crate::{DType, PartitionSpec};

/// Options of matrix products and of [`einsum_with`](crate::numpy::einsum_with): precision, dtype and
/// sharding of the result. Each option alone converts into it.
///
/// ```no_run
/// use ramie_core::lax::Precision;
/// use ramie_core::numpy::einsum_with;
/// use ramie_core::options::Contraction;
/// use ramie_core::{Array, DType};
/// let (a, b) = (Array::ones(&[4, 8], DType::BF16), Array::ones(&[8, 2], DType::BF16));
/// assert_eq!(a.matmul_with(&b, DType::F32).dtype(), DType::F32);
/// let how = Contraction::new().precision(Precision::HIGHEST).preferred_element_type(DType::F32);
/// assert_eq!(einsum_with("ij,jk->ik", &[a, b], how).dtype(), DType::F32);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[must_use]
pub struct Contraction {
    pub(crate) precision: Option<Precision>,
    pub(crate) preferred_element_type: Option<DType>,
    pub(crate) out_sharding: Option<PartitionSpec>,
}

impl Contraction {
    /// Creates the default options.
    pub fn new() -> Contraction {
        Contraction::default()
    }

    /// Sets the precision of the products; [`Precision::per_operand`] combines one for each
    /// operand. Defaults to [`default_matmul_precision`](crate::config::default_matmul_precision).
    pub fn precision(mut self, precision: impl Into<Option<Precision>>) -> Contraction {
        self.precision = precision.into();
        self
    }

    /// Sets the dtype of the result, in which products are accumulated.
    pub fn preferred_element_type(mut self, dtype: impl Into<Option<DType>>) -> Contraction {
        self.preferred_element_type = dtype.into();
        self
    }

    /// Sets the sharding of the result over explicit axes of a mesh.
    pub fn out_sharding(mut self, out_sharding: impl Into<Option<PartitionSpec>>) -> Contraction {
        self.out_sharding = out_sharding.into();
        self
    }

    /// Returns the options for exchanged operands.
    pub(crate) fn swapped(&self) -> Contraction {
        Contraction {
            precision: self.precision.map(Precision::swapped),
            ..self.clone()
        }
    }
}

impl From<Precision> for Contraction {
    fn from(precision: Precision) -> Contraction {
        Contraction::new().precision(precision)
    }
}

impl From<DType> for Contraction {
    fn from(dtype: DType) -> Contraction {
        Contraction::new().preferred_element_type(dtype)
    }
}

impl From<PartitionSpec> for Contraction {
    fn from(out_sharding: PartitionSpec) -> Contraction {
        Contraction::new().out_sharding(out_sharding)
    }
}

impl From<&Contraction> for Contraction {
    fn from(how: &Contraction) -> Contraction {
        how.clone()
    }
}
