//! `iota`: indices along an axis.

use crate::extend::ShardingRule;
use crate::prim::index::positions;
use crate::prim::{Avals, BatchAxis, Batched, Differentiation, Facts, Param, Primitive, one};
use crate::program::class::Class;
use crate::program::lower::{Lowering, Value};
use crate::sharding::OutSharding;
use crate::typing::Dims;
use crate::{Array, Aval, DType, ShapeError};

/// Returns each element's index along an axis.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Iota {
    /// Shape of the result.
    pub shape: Dims,
    /// Axis along which the index is counted.
    pub dimension: usize,
    /// Dtype of the result.
    pub dtype: DType,
    /// Sharding of the result.
    pub sharding: Option<OutSharding>,
}

impl Primitive for Iota {
    fn name(&self) -> &'static str {
        "iota"
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        vec![
            ("dimension", Param::new(self.dimension)),
            ("dtype", Param::new(self.dtype.numpy_name())),
            ("shape", Param::tuple(&self.shape)),
            ("sharding", Param::optional(self.sharding)),
        ]
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        crate::ensure_shape!(args.is_empty(), "takes no operands");
        crate::ensure_shape!(
            self.dimension < self.shape.len(),
            "axis {} is out of range for the shape {:?}",
            self.dimension,
            self.shape.as_slice()
        );
        crate::ensure_shape!(
            Class::Number.contains(self.dtype),
            "bool cannot represent indices"
        );
        let last = self.shape[self.dimension].saturating_sub(1);
        let what = format!("the last position along axis {} is", self.dimension);
        positions::check_count(&what, last, self.dtype)?;
        one(Aval::new(&self.shape, self.dtype))
    }
    fn facts(&self) -> Facts<'_> {
        Facts {
            out_sharding: self.sharding,
            ..Facts::default()
        }
    }
    fn sharding(&self, _: &[Aval], _: &[Aval]) -> Result<ShardingRule, ShapeError> {
        let spec = self.sharding.map(|s| s.spec().clone());
        Ok(ShardingRule::Specs(vec![spec.unwrap_or_default()]))
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::Zero
    }
    fn batch(&self, _: &[Array], _: &[Option<usize>], _: BatchAxis) -> Batched {
        unreachable!("an operation without operands is never batched")
    }
    fn lower(&self, ctx: &mut Lowering<'_>, _: &[Value], outs: &[Aval]) -> Vec<Value> {
        vec![ctx.iota(outs[0], self.dimension)]
    }
}
