//! `all_gather`, and its transpose `reduce_scatter`.

use super::groups::{Groups, partitions};
use super::{Names, around, divide, merge, size_of, tuple};
use crate::extend::ShardingRule;
use crate::prim::{
    Avals, BatchAxis, Batched, Differentiation, Facts, Param, Primitive, batched, move_batch_axis,
    one,
};
use crate::program::lower::{Lowering, Value, collective_attributes};
use crate::program::sharding_rule::DimensionRule;
use crate::program::trace::bind1;
use crate::typing::Dims;
use crate::{Array, Aval, ShapeError};

/// Gathers the values of all examples along an axis; every example receives the result.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AllGather {
    /// Mapped axes.
    pub axes: Names,
    /// Groups of examples that communicate, which are all by default.
    pub groups: Groups,
    /// Axis of the result along which the examples' values are gathered.
    pub dimension: usize,
    /// Number of examples in a group.
    pub size: usize,
    /// Whether the values are concatenated along an existing axis, instead of stacked along a new
    /// one.
    pub tiled: bool,
    /// Whether the result's type is invariant along the axes (`all_gather_invariant`). Each
    /// example's cotangent is then its part of the result's cotangent, which is the same for all.
    pub to_invariant: bool,
}

/// Sums the examples' values; each example receives one part of the sum along an axis.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ReduceScatter {
    /// Mapped axes.
    pub axes: Names,
    /// Groups of examples that communicate, which are all by default.
    pub groups: Groups,
    /// Axis that is split.
    pub dimension: usize,
    /// Number of examples in a group.
    pub size: usize,
    /// Whether each example's part keeps the axis, instead of being one index of it.
    pub tiled: bool,
}

fn params(
    (names, groups): (&Names, &Groups),
    dimension: (&'static str, usize),
    size: usize,
    tiled: bool,
) -> Vec<(&'static str, Param)> {
    let mut params = vec![
        (dimension.0, Param::new(dimension.1)),
        ("axis_index_groups", groups.param()),
        ("axis_name", tuple(names)),
        ("axis_size", Param::new(size)),
        ("tiled", Param::flag(tiled)),
    ];
    params.sort_by_key(|(name, _)| *name);
    params
}

fn check_size(names: &Names, groups: &Groups, size: usize) -> Result<(), ShapeError> {
    let bound = groups.size(names, false)?;
    crate::ensure_shape!(
        bound == size,
        "the axes {names:?} have {bound} examples, but {size} were expected"
    );
    Ok(())
}

impl AllGather {
    /// Applies the operation to values with a batch axis at `at`; also returns the new position
    /// of that axis.
    fn beside(&self, x: &Array, at: usize) -> (Array, usize) {
        let mut inner = self.clone();
        let shifted = if self.tiled {
            self.dimension >= at
        } else {
            self.dimension > at
        };
        inner.dimension += usize::from(shifted);
        let moved = !self.tiled && self.dimension <= at;
        (bind1(inner, &[x]), at + usize::from(moved))
    }

    /// Returns this example's part of a gathered array.
    fn part(&self, whole: &Array) -> Array {
        let d = self.dimension;
        let size = whole.shape()[d] / self.size.max(1);
        let start = crate::lax::axis_index(&self.axes[..]) * size as i32;
        let part = whole.dynamic_slice_in_dim(&start, size, d as isize);
        if self.tiled {
            part
        } else {
            part.squeeze(&[d as isize])
        }
    }
}

impl Primitive for AllGather {
    fn name(&self) -> &'static str {
        if self.to_invariant {
            "all_gather_invariant"
        } else {
            "all_gather"
        }
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        let dimension = ("all_gather_dimension", self.dimension);
        let mut params = params((&self.axes, &self.groups), dimension, self.size, self.tiled);
        params.retain(|(name, _)| !self.to_invariant || *name != "axis_index_groups");
        params
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        check_size(&self.axes, &self.groups, self.size)?;
        let mut shape: Dims = args[0].shape().into();
        let room = shape.len() + usize::from(!self.tiled);
        if self.dimension >= room {
            return Err(ShapeError::new(format!(
                "axis {} is out of range for the result, which has {room}",
                self.dimension
            )));
        }
        if self.tiled {
            shape[self.dimension] *= self.size
        } else {
            shape.insert(self.dimension, self.size)
        }
        let out = args[0].with_shape(&shape);
        if self.to_invariant {
            one(out.with_varying(args[0].varying_set().without(&self.axes)))
        } else {
            one(out)
        }
    }
    fn facts(&self) -> Facts<'_> {
        Facts {
            places_results: self.to_invariant,
            axes: &self.axes,
            ..Facts::default()
        }
    }
    fn sharding(&self, args: &[Aval], outs: &[Aval]) -> Result<ShardingRule, ShapeError> {
        let to = |d| match (self.tiled, d >= self.dimension) {
            (true, _) if d == self.dimension => DimensionRule::Whole,
            (true, _) | (false, false) => DimensionRule::Axis(d),
            (false, true) => DimensionRule::Axis(d + 1),
        };
        Ok(ShardingRule::Dimensions {
            operands: vec![(0..args[0].ndim()).map(to).collect()],
            results: vec![(0..outs[0].ndim()).map(DimensionRule::Axis).collect()],
        })
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::linear(|ct, _| {
            if self.to_invariant {
                return self.part(ct);
            }
            let back = ReduceScatter {
                axes: self.axes.clone(),
                groups: self.groups.clone(),
                dimension: self.dimension,
                size: self.size,
                tiled: self.tiled,
            };
            bind1(back, &[ct])
        })
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched {
        let x = &args[0];
        let Some(name) = axis.name.filter(|n| self.axes.contains(n)) else {
            let at = axes[0].expect("the operand is batched");
            let (out, at) = self.beside(x, at);
            return batched(out, Some(at));
        };
        self.groups.refuse_vmap(self.name());
        // Gathers over the faster-varying axes first, then over the batch axis, then over the
        // slower-varying ones: the order of the examples.
        let (slower, faster) = around(&self.axes, name);
        let stack = |names: Names, dimension: usize, size: usize| AllGather {
            axes: names,
            groups: Groups::default(),
            dimension,
            size,
            tiled: false,
            to_invariant: self.to_invariant,
        };
        let mut out = x.clone();
        let mut at = axes[0];
        let inner = size_of(&faster).expect("outer axes are mapped");
        if !faster.is_empty() {
            let gather = stack(faster.clone(), self.dimension, inner);
            match at {
                Some(place) => {
                    let (gathered, place) = gather.beside(&out, place);
                    (out, at) = (gathered, Some(place));
                }
                None => out = bind1(gather, &[&out]),
            }
        }
        out = move_batch_axis(&out, at, self.dimension, axis);
        let mut merges = usize::from(!faster.is_empty());
        if !slower.is_empty() {
            let outer = self.size / (inner * axis.size);
            out = bind1(stack(slower, self.dimension, outer), &[&out]);
            merges += 1;
        }
        for _ in 0..merges + usize::from(self.tiled) {
            out = merge(&out, self.dimension);
        }
        batched(out, None)
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], outs: &[Aval]) -> Vec<Value> {
        let groups = partitions(ctx, "all_gather", &self.axes, &self.groups);
        let mut x = args[0];
        if !self.tiled {
            let mut shape = x.shape().to_vec();
            shape.insert(self.dimension, 1);
            x = ctx.reshape(x, &shape);
        }
        let attributes = format!(
            "all_gather_dim = {} : i64, {}, use_global_device_ids",
            self.dimension,
            collective_attributes(&groups)
        );
        ctx.op("all_gather", &[x], outs, &attributes, &[])
    }
}

impl Primitive for ReduceScatter {
    fn name(&self) -> &'static str {
        "reduce_scatter"
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        let dimension = ("scatter_dimension", self.dimension);
        params((&self.axes, &self.groups), dimension, self.size, self.tiled)
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        check_size(&self.axes, &self.groups, self.size)?;
        let mut shape: Dims = args[0].shape().into();
        let Some(&n) = shape.get(self.dimension) else {
            return Err(ShapeError::new(format!(
                "axis {} to scatter is out of range",
                self.dimension
            )));
        };
        let fits = if self.tiled {
            n % self.size.max(1) == 0
        } else {
            n == self.size
        };
        if !fits {
            let wanted = if self.tiled { "a multiple of" } else { "" };
            return Err(ShapeError::new(format!(
                "axis {} has size {n}, expected {wanted} the number of examples, {}",
                self.dimension, self.size
            ))
            .help("each example gets an equal part; pad the axis, or choose another"));
        }
        if self.tiled {
            shape[self.dimension] /= self.size.max(1)
        } else {
            shape.remove(self.dimension);
        }
        one(args[0].with_shape(&shape))
    }
    fn sharding(&self, args: &[Aval], outs: &[Aval]) -> Result<ShardingRule, ShapeError> {
        let from = |d| match (self.tiled, d >= self.dimension) {
            (true, _) | (false, false) => DimensionRule::Axis(d),
            (false, true) => DimensionRule::Axis(d + 1),
        };
        let operand = ShardingRule::along(args, &[], &[self.dimension]);
        let ShardingRule::Dimensions { operands, .. } = operand else {
            return Ok(operand);
        };
        let results = vec![(0..outs[0].ndim()).map(from).collect()];
        Ok(ShardingRule::Dimensions { operands, results })
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::linear(|ct, _| {
            let back = AllGather {
                axes: self.axes.clone(),
                groups: self.groups.clone(),
                dimension: self.dimension,
                size: self.size,
                tiled: self.tiled,
                to_invariant: false,
            };
            bind1(back, &[ct])
        })
    }
    fn facts(&self) -> Facts<'_> {
        Facts {
            axes: &self.axes,
            ..Facts::default()
        }
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched {
        let x = &args[0];
        let Some(name) = axis.name.filter(|n| self.axes.contains(n)) else {
            let at = axes[0].expect("the operand is batched");
            let mut inner = self.clone();
            inner.dimension += usize::from(self.dimension >= at);
            let removed = !self.tiled && self.dimension < at;
            return batched(bind1(inner, &[x]), Some(at - usize::from(removed)));
        };
        self.groups.refuse_vmap("psum_scatter");
        let sum = match axes[0] {
            Some(at) => x.reduce_sum(&[at as isize]),
            None => x * axis.size as i32,
        };
        let (slower, faster) = around(&self.axes, name);
        let outer = size_of(&slower).expect("outer axes are mapped");
        let d = self.dimension;
        // Splits over the slower-varying axes, then over the batch axis, then over the
        // faster-varying ones.
        let part = |names: Names, dimension: usize, size: usize| ReduceScatter {
            axes: names,
            groups: Groups::default(),
            dimension,
            size,
            tiled: false,
        };
        let mut out = if slower.is_empty() {
            sum
        } else {
            bind1(part(slower, d, outer), &[&divide(&sum, d, outer)])
        };
        out = divide(&out, d, axis.size);
        let inner = self.size / (outer * axis.size).max(1);
        if !faster.is_empty() {
            out = divide(&out, d + 1, inner);
            out = bind1(part(faster, d + 1, inner), &[&out]);
        }
        if !self.tiled {
            out = out.squeeze(&[d as isize + 1]);
        }
        batched(out, Some(d))
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], outs: &[Aval]) -> Vec<Value> {
        let groups = partitions(ctx, "reduce_scatter", &self.axes, &self.groups);
        let attributes = format!(
            "{}, scatter_dimension = {} : i64, use_global_device_ids",
            collective_attributes(&groups),
            self.dimension
        );
        let region = ctx.reducer("add", args[0].dtype());
        let mut shape = args[0].shape().to_vec();
        shape[self.dimension] /= self.size.max(1);
        let part = args[0].aval().with_shape(&shape);
        let x = ctx.op("reduce_scatter", args, &[part], &attributes, &[region])[0];
        if self.tiled {
            vec![x]
        } else {
            vec![ctx.reshape(x, outs[0].shape())]
        }
    }
}
