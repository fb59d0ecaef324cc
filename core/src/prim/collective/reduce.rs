//! `psum`, `pmax`, `pmin`: reductions over mapped axes.

use super::{Names, no_lowering, size_of, tuple};
use crate::lower::{Lowering, Value};
use crate::prim::{Avals, BatchAxis, Batched, Differentiation, Param, Primitive, batched, one};
use crate::trace::bind1;
use crate::{Array, Aval, AxisName, ShapeError};

/// How the examples' values are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Combine {
    /// Their sum: `psum`.
    Sum,
    /// The greatest: `pmax`.
    Max,
    /// The least: `pmin`.
    Min,
}

/// Combines the values of all examples; all of them get the result.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AllReduce {
    /// How.
    pub combine: Combine,
    /// The mapped axes.
    pub axes: Names,
}

impl AllReduce {
    fn local(&self, x: &Array, axis: usize) -> Array {
        let axes = &[axis as isize];
        match self.combine {
            Combine::Sum => x.reduce_sum(axes),
            Combine::Max => x.reduce_max(axes),
            Combine::Min => x.reduce_min(axes),
        }
    }
}

impl Primitive for AllReduce {
    fn name(&self) -> &'static str {
        match self.combine {
            Combine::Sum => "psum",
            Combine::Max => "pmax",
            Combine::Min => "pmin",
        }
    }
    fn params(&self) -> Vec<(&'static str, Param)> {
        vec![
            ("axes", tuple(&self.axes)),
            ("axis_index_groups", Param::new("None")),
        ]
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        size_of(&self.axes)?;
        one(args[0])
    }
    fn differentiation(&self) -> Differentiation<'_> {
        match self.combine {
            Combine::Sum => Differentiation::linear(|ct, _| bind1(self.clone(), &[ct])),
            Combine::Max | Combine::Min => Differentiation::Undefined(
                "JAX defines none either; use `psum`, or gather the values with `all_gather` and \
                 reduce them",
            ),
        }
    }
    fn uses_axis(&self, name: AxisName) -> bool {
        self.axes.contains(&name)
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched {
        if !axis.is_used_by(self) {
            return batched(bind1(self.clone(), &[&args[0]]), axes[0]);
        }
        let x = &args[0];
        let here = match (axes[0], self.combine) {
            (Some(at), _) => self.local(x, at),
            (None, Combine::Sum) => x * axis.size as i32,
            (None, _) => x.clone(),
        };
        let mut rest = self.clone();
        rest.axes.retain(|n| Some(*n) != axis.name);
        match rest.axes.is_empty() {
            true => batched(here, None),
            false => batched(bind1(rest, &[&here]), None),
        }
    }
    fn lower(&self, _: &mut Lowering<'_>, _: &[Value], _: &[Aval], _: &[Aval]) -> Vec<Value> {
        no_lowering(self.name(), &self.axes)
    }
}
