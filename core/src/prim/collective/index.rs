//! `axis_index` and `pvary`.

use super::groups::all_partitions;
use super::{AllReduce, Names, bare, manual, size_of, tuple};
use crate::prim::{
    Avals, BatchAxis, Batched, Differentiation, Facts, Param, Primitive, batched, move_batch_axis,
    one,
};
use crate::program::lower::{Lowering, Value};
use crate::program::trace::bind1;
use crate::sharding::AxisName;
use crate::types::sharding::AxisType;
use crate::{Array, Aval, DType, ShapeError};

/// Returns the index of the example along a mapped axis, as an `i32[]`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AxisIndex {
    /// Mapped axis.
    pub axis: AxisName,
}

impl Primitive for AxisIndex {
    fn name(&self) -> &'static str {
        "axis_index"
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        vec![("axis_name", bare(&[self.axis]))]
    }
    fn infer(&self, _: &[Aval]) -> Result<Avals, ShapeError> {
        size_of(&[self.axis])?;
        one(Aval::new(&[], DType::I32).with_varying(manual(&[self.axis])))
    }
    fn facts(&self) -> Facts<'_> {
        Facts {
            places_results: true,
            axes: std::slice::from_ref(&self.axis),
            ..Facts::default()
        }
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::Zero
    }
    fn batch(&self, _: &[Array], _: &[Option<usize>], axis: BatchAxis) -> Batched {
        batched(Array::iota(&[axis.size], 0, DType::I32), Some(0))
    }
    fn lower(&self, ctx: &mut Lowering<'_>, _: &[Value], outs: &[Aval]) -> Vec<Value> {
        // The partition numbers in a group along the axis differ by the number of partitions at
        // one index of the axis.
        let groups = all_partitions(ctx, "axis_index", &[self.axis]);
        let stride = match &groups[0][..] {
            [first, second, ..] => second - first,
            _ => return vec![ctx.scalar(0, DType::I32)],
        };
        let whole = ctx.axes().expect("groups are along its axes");
        let manual = |t: &AxisType| *t == AxisType::Manual;
        if !whole.axis_types().iter().all(manual) {
            return vec![
                ctx.in_manual_axes(outs[0], |ctx| self.index(ctx, stride, groups[0].len())),
            ];
        }
        vec![self.index(ctx, stride, groups[0].len())]
    }
}

impl AxisIndex {
    /// Computes the index along the axis from the partition number.
    fn index(&self, ctx: &mut Lowering<'_>, stride: usize, size: usize) -> Value {
        let aval = Aval::scalar(DType::U32);
        let id = ctx.op1("partition_id", &[], aval, "");
        let stride = ctx.scalar(stride as i32, DType::U32);
        let size = ctx.scalar(size as i32, DType::U32);
        let at = ctx.same("divide", &[id, stride]);
        let at = ctx.same("remainder", &[at, size]);
        ctx.convert(at, DType::I32)
    }
}

/// Marks a value as varying between the examples.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Pvary {
    /// Mapped axes along which it may vary.
    pub axes: Names,
}

impl Primitive for Pvary {
    fn name(&self) -> &'static str {
        "pvary"
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        vec![("axes", tuple(&self.axes))]
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        size_of(&self.axes)?;
        let varying = args[0].varying_set().union(manual(&self.axes));
        one(args[0].with_varying(varying))
    }
    fn facts(&self) -> Facts<'_> {
        Facts {
            places_results: true,
            axes: &self.axes,
            ..Facts::default()
        }
    }
    fn differentiation(&self) -> Differentiation<'_> {
        // All examples use the same value, so all of them contribute to its cotangent.
        Differentiation::linear(|ct, _| bind1(AllReduce::sum(self.axes.clone()), &[ct]))
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
            (x, at) = (move_batch_axis(&x, at, to, axis), Some(to));
        }
        batched(x, at)
    }
    fn lower(&self, _: &mut Lowering<'_>, args: &[Value], _: &[Aval]) -> Vec<Value> {
        args.to_vec()
    }
}
