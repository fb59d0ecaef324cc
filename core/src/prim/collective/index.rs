//! `axis_index` and `pvary`.

use super::{AllReduce, Combine, Names, bare, no_lowering, size_of, tuple};
use crate::lower::{Lowering, Value};
use crate::prim::{
    Avals, BatchAxis, Batched, Differentiation, Param, Primitive, batched, move_batch_axis, one,
};
use crate::trace::bind1;
use crate::{Array, Aval, AxisName, DType, ShapeError};

/// The number of the example along a mapped axis: `i32[]`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AxisIndex {
    /// The mapped axis.
    pub axis: AxisName,
}

impl Primitive for AxisIndex {
    fn name(&self) -> &'static str {
        "axis_index"
    }
    fn params(&self) -> Vec<(&'static str, Param)> {
        vec![("axis_name", bare(&[self.axis]))]
    }
    fn infer(&self, _: &[Aval]) -> Result<Avals, ShapeError> {
        size_of(&[self.axis])?;
        one(Aval::new(&[], DType::I32))
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::Zero
    }
    fn uses_axis(&self, name: AxisName) -> bool {
        self.axis == name
    }
    fn batch(&self, _: &[Array], _: &[Option<usize>], axis: BatchAxis) -> Batched {
        batched(Array::iota(&[axis.size], 0, DType::I32), Some(0))
    }
    fn lower(&self, _: &mut Lowering<'_>, _: &[Value], _: &[Aval], _: &[Aval]) -> Vec<Value> {
        no_lowering("axis_index", &[self.axis])
    }
}

/// The value, as one that may differ between the examples.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Pvary {
    /// The mapped axes along which it may differ.
    pub axes: Names,
}

impl Primitive for Pvary {
    fn name(&self) -> &'static str {
        "pvary"
    }
    fn params(&self) -> Vec<(&'static str, Param)> {
        vec![("axes", tuple(&self.axes))]
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        size_of(&self.axes)?;
        one(args[0])
    }
    fn differentiation(&self) -> Differentiation<'_> {
        // One value went to all examples: all of them contribute to its
        // cotangent.
        Differentiation::linear(|ct, _| {
            let sum = AllReduce {
                combine: Combine::Sum,
                axes: self.axes.clone(),
            };
            bind1(sum, &[ct])
        })
    }
    fn uses_axis(&self, name: AxisName) -> bool {
        self.axes.contains(&name)
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched {
        let (mut x, mut at) = (args[0].clone(), axes[0]);
        let mut rest = self.clone();
        rest.axes.retain(|n| Some(*n) != axis.name);
        if !rest.axes.is_empty() {
            x = bind1(rest, &[&x]);
        }
        if axis.is_used_by(self) {
            let to = at.unwrap_or(0);
            (x, at) = (move_batch_axis(&x, at, to, axis.size), Some(to));
        }
        batched(x, at)
    }
    fn lower(&self, _: &mut Lowering<'_>, _: &[Value], _: &[Aval], _: &[Aval]) -> Vec<Value> {
        no_lowering("pvary", &self.axes)
    }
}
