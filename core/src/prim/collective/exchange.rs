//! `all_to_all` and `ppermute`: exchange of values between examples.

use super::groups::{Groups, all_partitions, partitions};
use super::{Names, around, bare, divide, merge, size_of, tuple};
use crate::extend::ShardingRule;
use crate::prim::{
    Avals, BatchAxis, Batched, Differentiation, Facts, Param, Primitive, batched, move_batch_axis,
    one,
};
use crate::program::lower::{Lowering, Value, collective_attributes};
use crate::program::trace::bind1;
use crate::typing::Dims;
use crate::{Array, Aval, ShapeError};

/// Splits an axis into one part for each example, sends these to the examples, and concatenates
/// the received parts along another axis.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AllToAll {
    /// Mapped axes.
    pub axes: Names,
    /// Groups of examples that communicate, which are all by default.
    pub groups: Groups,
    /// Axis that is split.
    pub split: usize,
    /// Axis along which parts are concatenated.
    pub concat: usize,
    /// Number of examples in a group.
    pub size: usize,
    /// Whether the caller's axes kept their rank; only affects the printed form.
    pub tiled: bool,
}

impl Primitive for AllToAll {
    fn name(&self) -> &'static str {
        "all_to_all"
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        vec![
            ("axis_index_groups", self.groups.param()),
            ("axis_name", bare(&self.axes)),
            ("concat_axis", Param::new(self.concat)),
            ("split_axis", Param::new(self.split)),
            ("tiled", Param::flag(self.tiled)),
        ]
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        let bound = self.groups.size(&self.axes, false)?;
        crate::ensure_shape!(
            bound == self.size,
            "the axes {:?} have {bound} examples, but {} were expected",
            self.axes,
            self.size
        );
        let mut shape: Dims = args[0].shape().into();
        let rank = shape.len();
        crate::ensure_shape!(
            self.split < rank && self.concat < rank,
            "the axes {} and {} to split and to concatenate are out of range",
            self.split,
            self.concat
        );
        if !shape[self.split].is_multiple_of(self.size.max(1)) {
            return Err(ShapeError::new(format!(
                "the axis to split, {}, has size {}, expected a multiple of the number of \
                 examples, {}",
                self.split, shape[self.split], self.size
            ))
            .help("each example gets an equal part; pad the axis, or choose another"));
        }
        shape[self.split] /= self.size.max(1);
        shape[self.concat] *= self.size;
        one(args[0].with_shape(&shape))
    }
    fn sharding(&self, args: &[Aval], outs: &[Aval]) -> Result<ShardingRule, ShapeError> {
        Ok(ShardingRule::along(args, outs, &[self.split, self.concat]))
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::linear(|ct, _| {
            let back = AllToAll {
                split: self.concat,
                concat: self.split,
                ..self.clone()
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
        let Some(name) = axis.name.filter(|n| self.axes.contains(n)) else {
            let x = move_batch_axis(&args[0], axes[0], 0, axis);
            let inner = AllToAll {
                split: self.split + 1,
                concat: self.concat + 1,
                ..self.clone()
            };
            return batched(bind1(inner, &[&x]), Some(0));
        };
        self.groups.refuse_vmap("all_to_all");
        let (slower, faster) = around(&self.axes, name);
        let outer = size_of(&slower).expect("outer axes are mapped");
        let inner = self.size / (outer * axis.size).max(1);
        // One axis of parts for each group of mapped axes, in front of the split axis; the
        // received parts replace them.
        let x = move_batch_axis(&args[0], axes[0], 0, axis);
        let mut x = divide(&x, 1 + self.split, outer);
        x = divide(&x, 2 + self.split, axis.size);
        x = divide(&x, 3 + self.split, inner);
        let at = 1 + self.split;
        x = x.swap_axes(0, at as isize + 1);
        for (names, dimension, size) in [(slower, at, outer), (faster, at + 2, inner)] {
            if !names.is_empty() {
                let exchange = AllToAll {
                    axes: names,
                    groups: Groups::default(),
                    split: dimension,
                    concat: dimension,
                    size,
                    tiled: self.tiled,
                };
                x = bind1(exchange, &[&x]);
            }
        }
        x = merge(&merge(&x, at), at);
        // The parts, in front of the axis along which they are concatenated.
        x = x.move_axis(at as isize, 1 + self.concat as isize);
        batched(merge(&x, 1 + self.concat), Some(0))
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], outs: &[Aval]) -> Vec<Value> {
        let groups = partitions(ctx, "all_to_all", &self.axes, &self.groups);
        let attributes = format!(
            "concat_dimension = {} : i64, split_count = {} : i64, split_dimension = {} : i64, {}",
            self.concat,
            self.size,
            self.split,
            collective_attributes(&groups)
        );
        ctx.op("all_to_all", args, outs, &attributes, &[])
    }
}

/// Sends each example's value to another example; an example that receives none gets zeros.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Ppermute {
    /// Mapped axes.
    pub axes: Names,
    /// Pairs of sender and receiver.
    pub permutation: Vec<(usize, usize)>,
}

impl Ppermute {
    /// Returns, for each example, from which example it receives.
    fn sources(&self, size: usize) -> Vec<Option<usize>> {
        let mut sources = vec![None; size];
        for &(from, to) in &self.permutation {
            sources[to] = Some(from);
        }
        sources
    }

    /// Permutes the values `all` of all examples along the first axis.
    fn exchanged(&self, all: &Array) -> Array {
        let size = all.shape()[0];
        let sources = self.sources(size);
        let take: Vec<i32> = sources.iter().map(|s| s.unwrap_or(0) as i32).collect();
        let moved = all.take(&Array::from(take), 0);
        if sources.iter().all(Option::is_some) {
            return moved;
        }
        let gets: Vec<bool> = sources.iter().map(Option::is_some).collect();
        let gets = Array::from(gets).broadcast_in_dim(moved.shape(), &[0]);
        crate::where_(&gets, &moved, moved.zeros_like())
    }
}

impl Primitive for Ppermute {
    fn name(&self) -> &'static str {
        "ppermute"
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        let pairs = self.permutation.iter().map(|(a, b)| format!("({a}, {b})"));
        vec![
            ("axis_name", tuple(&self.axes)),
            ("perm", Param::tuple(pairs)),
        ]
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        let size = size_of(&self.axes)?;
        let (mut from, mut to) = (vec![false; size], vec![false; size]);
        for &(a, b) in &self.permutation {
            crate::ensure_shape!(
                a < size && b < size,
                "the pair ({a}, {b}) contains an example that is out of range for {size} examples"
            );
            if std::mem::replace(&mut from[a], true) || std::mem::replace(&mut to[b], true) {
                return Err(ShapeError::new(format!(
                    "{:?} is not a permutation: an example sends or receives twice",
                    self.permutation
                ))
                .help("use each example at most once as a source, and once as a target"));
            }
        }
        one(args[0])
    }
    fn sharding(&self, _: &[Aval], _: &[Aval]) -> Result<ShardingRule, ShapeError> {
        Ok(ShardingRule::Elementwise)
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::linear(|ct, _| {
            let back = Ppermute {
                axes: self.axes.clone(),
                permutation: self.permutation.iter().map(|&(a, b)| (b, a)).collect(),
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
        let Some(name) = axis.name.filter(|n| self.axes.contains(n)) else {
            return batched(bind1(self.clone(), &[&args[0]]), axes[0]);
        };
        let x = move_batch_axis(&args[0], axes[0], 0, axis);
        if self.axes.len() == 1 {
            return batched(self.exchanged(&x), Some(0));
        }
        // The permutation over several axes does not split into one per axis: each example
        // gathers all values, and takes its own.
        let (slower, faster) = around(&self.axes, name);
        let mut all = x;
        for names in [&faster, &slower] {
            if !names.is_empty() {
                all = crate::lax::all_gather(&all, &names[..]);
                if std::ptr::eq(names, &faster) {
                    all = all.swap_axes(0, 1);
                }
                all = merge(&all, 0);
            }
        }
        let size = axis.size;
        let outer = crate::lax::axis_index(&slower[..]);
        let inner = crate::lax::axis_index(&faster[..]);
        let fast = size_of(&faster).expect("outer axes are mapped");
        let mine = (outer * size as i32 + Array::iota(&[size], 0, crate::DType::I32)) * fast as i32
            + inner;
        batched(self.exchanged(&all).take(&mine, 0), Some(0))
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], outs: &[Aval]) -> Vec<Value> {
        let groups = all_partitions(ctx, "ppermute", &self.axes);
        let of_group = |group: &Vec<usize>| -> Vec<[usize; 2]> {
            let pair = |&(from, to): &(usize, usize)| [group[from], group[to]];
            self.permutation.iter().map(pair).collect()
        };
        let pairs: Vec<[usize; 2]> = groups.iter().flat_map(of_group).collect();
        if pairs.is_empty() {
            return vec![ctx.splat(0, outs[0])];
        }
        let attributes = format!(
            "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = \
             dense<{pairs:?}> : tensor<{}x2xi64>",
            pairs.len()
        );
        ctx.op("collective_permute", args, outs, &attributes, &[])
    }
}
