//! `rev`: reverses axes.

use crate::extend::ShardingRule;
use crate::prim::{Avals, BatchAxis, Batched, Differentiation, Param, Primitive, batched, one};
use crate::program::lower::{Lowering, Value, dims_array};
use crate::program::trace::bind1;
use crate::typing::Dims;
use crate::{Array, Aval, ShapeError};

/// Reverses the order of the elements along axes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Rev {
    /// Axes to reverse, each once.
    pub dimensions: Dims,
}

impl Primitive for Rev {
    fn name(&self) -> &'static str {
        "rev"
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        vec![("dimensions", Param::tuple(&self.dimensions))]
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        let dims = &self.dimensions;
        let distinct = (0..dims.len()).all(|i| !dims[..i].contains(&dims[i]));
        if !distinct || dims.iter().any(|&d| d >= args[0].ndim()) {
            return Err(ShapeError::new(format!(
                "{:?} are not distinct axes of {}",
                dims.as_slice(),
                args[0]
            ))
            .help("pass each axis to reverse once"));
        }
        one(args[0])
    }
    fn sharding(&self, _: &[Aval], _: &[Aval]) -> Result<ShardingRule, ShapeError> {
        Ok(ShardingRule::Elementwise)
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::linear(|ct, _| bind1(self.clone(), &[ct]))
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], _: BatchAxis) -> Batched {
        let axis = axes[0].expect("the operand is batched");
        let moved = self.dimensions.iter().map(|&d| d + usize::from(d >= axis));
        let dimensions = moved.collect();
        batched(bind1(Rev { dimensions }, &[&args[0]]), Some(axis))
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], outs: &[Aval]) -> Vec<Value> {
        let attributes = format!("dimensions = {}", dims_array(&self.dimensions));
        vec![ctx.op1("reverse", args, outs[0], &attributes)]
    }
}

impl Array {
    /// Reverses the order of the elements along the given axes, or along all axes if `axes` is
    /// empty (`jnp.flip`).
    ///
    /// # Panics
    /// Panics if an axis is out of range or occurs twice.
    #[doc(alias = "rev")]
    #[track_caller]
    pub fn flip(&self, axes: &[isize]) -> Array {
        let dimensions = if axes.is_empty() {
            (0..self.ndim()).collect()
        } else {
            self.axes("flip", axes)
        };
        if dimensions.is_empty() {
            return self.clone();
        }
        bind1(Rev { dimensions }, &[self])
    }
}
