//! `sharding_constraint`: constrains how the compiler shards a value.

use crate::extend::ShardingRule;
use crate::prim::{
    Avals, BatchAxis, Batched, Differentiation, Facts, Param, Primitive, batched, one,
};
use crate::program::lower::{Lowering, Value};
use crate::program::trace::bind1;
use crate::types::sharding::{AxisType, NamedSharding, SpecEntry};
use crate::{Array, Aval, ShapeError};

/// Returns the value with the given sharding.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ShardingConstraint {
    /// Sharding of the value.
    pub sharding: NamedSharding,
}

impl ShardingConstraint {
    /// Returns the constraint for values with a batch axis at `at`, sharded over `spmd`.
    fn batched(&self, at: usize, axis: BatchAxis) -> ShardingConstraint {
        let entry = match axis.spmd_names() {
            [] => SpecEntry::Unconstrained,
            names => SpecEntry::from(names),
        };
        let spec = self.sharding.spec().inserted(at, entry);
        ShardingConstraint {
            sharding: NamedSharding::new(self.sharding.mesh(), spec),
        }
    }
}

impl Primitive for ShardingConstraint {
    fn name(&self) -> &'static str {
        "sharding_constraint"
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        vec![("sharding", Param::new(self.sharding))]
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        self.sharding.try_shard_shape(args[0].shape())?;
        one(args[0])
    }
    fn sharding(&self, _: &[Aval], _: &[Aval]) -> Result<ShardingRule, ShapeError> {
        Ok(ShardingRule::Elementwise)
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::linear(|ct, _| bind1(self.clone(), &[ct]))
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched {
        let at = axes[0].expect("the operand is batched");
        batched(bind1(self.batched(at, axis), &[&args[0]]), Some(at))
    }
    fn facts(&self) -> Facts<'_> {
        Facts {
            mesh: Some(self.sharding.mesh()),
            ..Facts::default()
        }
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], _: &[Aval]) -> Vec<Value> {
        let mesh = self.sharding.mesh();
        // Inside a manual computation the program uses the mesh's device order.
        let axes = ctx.axes().unwrap_or(mesh.abstract_mesh());
        let spec = self.sharding.spec().filtered(args[0].ndim(), |name| {
            axes.axis_type(name) != Some(AxisType::Manual)
        });
        vec![ctx.constrain(args[0], (axes, Some(mesh)), &spec, false)]
    }
}
