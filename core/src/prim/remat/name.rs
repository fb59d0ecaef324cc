//! `name`: names for values, which rematerialization policies can refer to.

use crate::extend::{Outputs, ShardingRule};
use crate::prim::{Avals, BatchAxis, Batched, Differentiation, Param, Primitive, batched, one};
use crate::program::lower::{Lowering, Value};
use crate::program::trace::{self, bind1};
use crate::program::tree;
use crate::{Array, Aval, Result, ShapeError, Tree};
use std::sync::Arc;

/// Returns the operand, with a name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Name {
    /// Name of the value.
    pub name: Arc<str>,
}

impl Primitive for Name {
    fn name(&self) -> &'static str {
        "name"
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        vec![("name", Param::new(&self.name))]
    }
    fn infer(&self, args: &[Aval]) -> std::result::Result<Avals, ShapeError> {
        crate::ensure_shape!(args.len() == 1, "expects one operand, got {}", args.len());
        one(args[0])
    }
    // The tangent has no name.
    fn sharding(&self, _: &[Aval], _: &[Aval]) -> Result<ShardingRule, ShapeError> {
        Ok(ShardingRule::Elementwise)
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::bilinear(|_, tangents, _| tangents.to_vec(), |cts, _| cts.to_vec())
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], _: BatchAxis) -> Batched {
        batched(bind1(self.clone(), &[&args[0]]), axes[0])
    }
    fn evaluate(&self, args: &[&Array]) -> Option<Result<Outputs>> {
        Some(Ok(args.iter().map(|a| (*a).clone()).collect()))
    }
    fn lower(&self, _: &mut Lowering<'_>, args: &[Value], _: &[Aval]) -> Vec<Value> {
        vec![args[0]]
    }
}

/// Returns the tree, with a name by which a [`CheckpointPolicy`] can select its arrays
/// (`jax.ad_checkpoint.checkpoint_name`).
///
/// [`CheckpointPolicy`]: crate::CheckpointPolicy
#[track_caller]
pub fn checkpoint_name<T: Tree>(tree: T, name: &str) -> T {
    if !trace::is_tracing() {
        return tree;
    }
    let name: Arc<str> = name.into();
    tree::map(&tree, |a| bind1(Name { name: name.clone() }, &[a]))
}
