//! `psum`, `pmax`, `pmin`: reductions over mapped axes.

use super::groups::{Groups, partitions};
use super::{Names, manual, tuple};
use crate::base::location;
use crate::prim::{
    Avals, BatchAxis, Batched, Differentiation, Facts, Param, Primitive, batched, one,
};
use crate::program::checks::Errors;
use crate::program::lower::{Lowering, Value, collective_attributes};
use crate::program::trace::bind1;
use crate::sharding::AxisName;
use crate::{Array, Aval, ShapeError};

/// The reduction of the examples' values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Combine {
    /// Their sum: `psum`.
    Sum,
    /// Their maximum: `pmax`.
    Max,
    /// Their minimum: `pmin`.
    Min,
}

/// Combines the values of all examples; every example receives the result.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AllReduce {
    /// Reduction to apply.
    pub combine: Combine,
    /// Mapped axes.
    pub axes: Names,
    /// Groups of examples that are combined, which are all by default.
    pub groups: Groups,
    /// Whether types track that values vary over the axes and the result does not
    /// (`psum_invariant`). The transpose of such a sum is `pvary`; otherwise it is the same sum,
    /// to which every example contributes.
    pub to_invariant: bool,
}

impl AllReduce {
    /// Creates the sum over axes, with types as they are tracked here.
    pub(crate) fn sum(axes: Names) -> AllReduce {
        AllReduce {
            combine: Combine::Sum,
            to_invariant: !manual(&axes).is_empty(),
            axes,
            groups: Groups::default(),
        }
    }

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
            Combine::Sum if self.to_invariant => "psum_invariant",
            Combine::Sum => "psum",
            Combine::Max => "pmax",
            Combine::Min => "pmin",
        }
    }
    fn facts(&self) -> Facts<'_> {
        Facts {
            checks: match self.combine {
                Combine::Sum => Errors::NAN,
                Combine::Max | Combine::Min => Errors::NONE,
            },
            places_results: true,
            axes: &self.axes,
            ..Facts::default()
        }
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        let mut params = vec![("axes", tuple(&self.axes))];
        if self.combine != Combine::Sum || !self.to_invariant {
            params.push(("axis_index_groups", self.groups.param()));
        }
        params
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        self.groups.size(&self.axes, true)?;
        if !self.to_invariant {
            return one(args[0]);
        }
        let varying = args[0].varying_set();
        if !self.axes.iter().any(|a| varying.contains(*a)) {
            return Err(ShapeError::new(format!(
                "{} does not vary over the axes {:?}",
                args[0], self.axes
            ))
            .help("mark the value as varying with `pvary`, or remove the sum"));
        }
        one(args[0].with_varying(varying.without(&self.axes)))
    }
    fn differentiation(&self) -> Differentiation<'_> {
        match self.combine {
            Combine::Sum if self.to_invariant => Differentiation::linear(|ct, _| {
                // Types do not track the axes of a `vmap`.
                let mapped = |n: &AxisName| !manual(&[*n]).contains(*n);
                let others: Names = self.axes.iter().copied().filter(mapped).collect();
                if others.is_empty() {
                    super::vary(ct, &self.axes)
                } else {
                    super::vary(&bind1(AllReduce::sum(others), &[ct]), &self.axes)
                }
            }),
            Combine::Sum => Differentiation::linear(|ct, _| bind1(self.clone(), &[ct])),
            Combine::Max | Combine::Min => Differentiation::Undefined {
                why: "JAX does not define one either",
                help: "use `psum`, or gather the values with `all_gather` and reduce them",
            },
        }
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched {
        if !axis.is_used_by(self) {
            return batched(bind1(self.clone(), &[&args[0]]), axes[0]);
        }
        self.groups.refuse_vmap(self.name());
        let x = &args[0];
        let here = match (axes[0], self.combine) {
            (Some(at), _) => self.local(x, at),
            (None, Combine::Sum) => x * axis.size as i32,
            (None, _) => x.clone(),
        };
        let mut rest = self.clone();
        rest.axes.retain(|n| Some(*n) != axis.name);
        if rest.axes.is_empty() {
            batched(here, None)
        } else {
            batched(bind1(rest, &[&here]), None)
        }
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], outs: &[Aval]) -> Vec<Value> {
        let groups = partitions(ctx, self.name(), &self.axes, &self.groups);
        let attributes = format!("{}, use_global_device_ids", collective_attributes(&groups));
        let op = match self.combine {
            Combine::Sum => "add",
            Combine::Max => "maximum",
            Combine::Min => "minimum",
        };
        if self.combine != Combine::Sum && args[0].dtype().is_complex() {
            // Plugins only support built-in reductions between devices.
            location::fail(&format!(
                "{}: reductions between devices do not support the order of complex numbers, got \
                 {}\n  help: gather the values with `all_gather` and reduce them",
                self.name(),
                args[0].aval()
            ));
        }
        let region = ctx.reducer(op, args[0].dtype());
        ctx.op("all_reduce", args, outs, &attributes, &[region])
    }
}
