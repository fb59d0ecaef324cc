//! `gather`: slices at positions given by an array of index vectors.

use super::dimension_numbers::{check_dims, check_numbers};
use super::{
    GatherDimensionNumbers, GatherScatterMode, Scatter, ScatterMethod, shifted, shifted_after,
};
use crate::dtypes::Literal;
use crate::extend::ShardingRule;
use crate::prim::{
    Avals, BatchAxis, Batched, Differentiation, Facts, Param, PositionRule, Positions, Primitive,
    batched, one,
};
use crate::program::lower::{Lowering, Value, dims_array};
use crate::program::trace::bind1;
use crate::typing::Dims;
use crate::{Array, Aval, DType, ShapeError};

/// Gathers slices of the first operand, one for each index vector along the last axis of the
/// second.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Gather {
    /// Correspondence of the axes.
    pub dimension_numbers: GatherDimensionNumbers,
    /// Size of a slice along each axis of the operand.
    pub slice_sizes: Dims,
    /// Handling of out-of-bounds indices.
    pub mode: GatherScatterMode,
    /// Asserts that the index vectors are sorted.
    pub indices_are_sorted: bool,
    /// Asserts that the slices do not overlap.
    pub unique_indices: bool,
    /// Value of out-of-bounds reads. Defaults to NaN, the smallest signed or the largest unsigned
    /// integer, or true.
    pub fill_value: Option<Literal>,
}

/// Returns the default value of out-of-bounds reads.
fn default_fill(dtype: DType) -> Literal {
    let bits = dtype.bits() as u32;
    match dtype {
        DType::Bool => Literal::new(true, dtype),
        d if d.is_inexact() => Literal::new(f64::NAN, d),
        d if d.is_unsigned() => Literal::new(u64::MAX >> (64 - bits), d),
        d => Literal::new(i64::MIN >> (64 - bits), d),
    }
}

impl Gather {
    /// Creates a gather without assertions about the order of indices. Indices must be in bounds.
    pub fn new(dimension_numbers: GatherDimensionNumbers, slice_sizes: &[usize]) -> Gather {
        Gather {
            dimension_numbers,
            slice_sizes: slice_sizes.into(),
            mode: GatherScatterMode::PromiseInBounds,
            indices_are_sorted: false,
            unique_indices: false,
            fill_value: None,
        }
    }

    /// Sets how out-of-bounds indices are handled.
    #[must_use]
    pub fn mode(self, mode: GatherScatterMode) -> Gather {
        Gather { mode, ..self }
    }

    /// Sets whether the caller asserts that the index vectors are sorted. Defaults to false.
    #[must_use]
    pub fn indices_are_sorted(self, promise: bool) -> Gather {
        Gather {
            indices_are_sorted: promise,
            ..self
        }
    }

    /// Sets whether the caller asserts that the slices do not overlap. Defaults to false.
    #[must_use]
    pub fn unique_indices(self, promise: bool) -> Gather {
        Gather {
            unique_indices: promise,
            ..self
        }
    }

    /// Sets the mode to [`FillOrDrop`](GatherScatterMode::FillOrDrop), and the value of
    /// out-of-bounds reads, of the operand's dtype.
    #[must_use]
    pub fn fill_value(self, value: Literal) -> Gather {
        Gather {
            mode: GatherScatterMode::FillOrDrop,
            fill_value: Some(value),
            ..self
        }
    }

    /// Gathers the tangents of the slices.
    fn of_tangent(&self, tangent: &Array, indices: &Array) -> Array {
        // A fill value is a constant, so its tangent is zero, also where the default is NaN.
        let fill_value = self
            .fill_value
            .or(Some(default_fill(tangent.dtype())))
            .filter(|_| self.mode == GatherScatterMode::FillOrDrop)
            .map(|_| Literal::new(0, tangent.dtype()));
        let gather = Gather {
            fill_value,
            ..self.clone()
        };
        bind1(gather, &[tangent, indices])
    }
}

impl Gather {
    /// Checks the sizes of the slices.
    fn check_slices(&self, operand: Aval, indices: Aval) -> Result<(), ShapeError> {
        let sizes = &self.slice_sizes;
        let (_, vectors) = indices.shape().split_last().unwrap_or((&1, &[]));
        let no_vectors = vectors.contains(&0);
        for d in 0..operand.ndim() {
            let limit = if self.drops(d) { 1 } else { operand.shape()[d] };
            let collapsed = self.dimension_numbers.collapsed_slice_dims.contains(&d);
            let fits = sizes[d] <= limit && (!collapsed || sizes[d] == 1);
            // A gather without index vectors may have slices larger than its operand.
            let empty = no_vectors && !self.drops(d);
            let readable = sizes[d] <= operand.shape()[d] || no_vectors;
            if !(fits || empty) || !readable {
                return Err(ShapeError::new(format!(
                    "slice size {} is invalid along axis {d} of {operand}",
                    sizes[d]
                ))
                .help(
                    "a slice must not be larger than its axis; collapsed axes have slice size 1",
                ));
            }
        }
        Ok(())
    }

    /// Returns whether slices lack an axis of the operand.
    fn drops(&self, d: usize) -> bool {
        let numbers = &self.dimension_numbers;
        numbers.collapsed_slice_dims.contains(&d) || numbers.operand_batching_dims.contains(&d)
    }
}

impl Primitive for Gather {
    fn name(&self) -> &'static str {
        "gather"
    }
    fn facts(&self) -> Facts<'_> {
        Facts {
            positions: Some(self),
            ..Facts::strong()
        }
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        vec![
            ("dimension_numbers", Param::new(&self.dimension_numbers)),
            (
                "fill_value",
                match &self.fill_value {
                    Some(literal) => Param::new(literal.value()),
                    None => Param::new("None"),
                },
            ),
            ("indices_are_sorted", Param::flag(self.indices_are_sorted)),
            ("mode", Param::new(self.mode)),
            ("slice_sizes", Param::tuple(&self.slice_sizes)),
            ("unique_indices", Param::flag(self.unique_indices)),
        ]
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        crate::ensure_shape!(
            args.len() == 2,
            "expects an array and indices, got {} operands",
            args.len()
        );
        let (operand, indices) = (args[0], args[1]);
        let (numbers, sizes) = (&self.dimension_numbers, &self.slice_sizes);
        check_numbers(
            [operand, indices],
            ("collapsed_slice_dims", &numbers.collapsed_slice_dims),
            ("start_index_map", &numbers.start_index_map),
            [
                &numbers.operand_batching_dims,
                &numbers.start_indices_batching_dims,
            ],
        )?;
        let rank = operand.ndim();
        let out_rank = numbers.offset_dims.len() + indices.ndim() - 1;
        check_dims("offset_dims", &numbers.offset_dims, out_rank, true)?;
        let kept: Dims = (0..rank).filter(|&d| !self.drops(d)).collect();
        if sizes.len() != rank || kept.len() != numbers.offset_dims.len() {
            return Err(ShapeError::new(format!(
                "slices of {:?} of {operand} with {} axes collapsed or batched do not have the {} \
                 axes of offset_dims",
                sizes.as_slice(),
                rank - kept.len(),
                numbers.offset_dims.len()
            ))
            .help("pass one slice size per axis; each axis is an offset, collapsed or batched"));
        }
        self.check_slices(operand, indices)?;
        let mut batch = indices.shape()[..indices.ndim() - 1].iter();
        let mut window = kept.iter().map(|&d| &sizes[d]);
        let shape: Option<Dims> = (0..out_rank)
            .map(|d| {
                let from = if numbers.offset_dims.contains(&d) {
                    window.next()
                } else {
                    batch.next()
                };
                from.copied()
            })
            .collect();
        one(operand.with_shape(&shape.expect("as many axes as the two have together")))
    }
    fn sharding(&self, args: &[Aval], outs: &[Aval]) -> Result<ShardingRule, ShapeError> {
        self.rule(args[0], args[1], outs[0])
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::bilinear(
            |p, t, _| vec![t[0].as_ref().map(|t| self.of_tangent(t, &p[1]))],
            |cts, operands| {
                let grad = match (&cts[0], &operands[0], operands[1].known()) {
                    (Some(ct), operand, Some(indices)) if operand.is_linear() => {
                        let zeros = Array::zeros_of(operand.aval().with_dtype(ct.dtype()));
                        let scatter = Scatter {
                            // Slices may overlap: an element that was read twice gets both
                            // cotangents.
                            method: ScatterMethod::Add,
                            dimension_numbers: self.dimension_numbers.inverse(),
                            mode: self.mode,
                            indices_are_sorted: self.indices_are_sorted,
                            unique_indices: self.unique_indices,
                        };
                        Some(bind1(scatter, &[&zeros, indices, ct]))
                    }
                    _ => None,
                };
                vec![grad, None]
            },
        )
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched {
        let size = axis.size;
        let numbers = &self.dimension_numbers;
        let mut gather = self.clone();
        let (operand, indices) = match (axes[0], axes[1]) {
            // Slices include the whole batch.
            (Some(axis), None) => {
                gather.slice_sizes.insert(0, size);
                gather.dimension_numbers = GatherDimensionNumbers {
                    offset_dims: shifted_after(&numbers.offset_dims),
                    collapsed_slice_dims: shifted(&numbers.collapsed_slice_dims),
                    start_index_map: shifted(&numbers.start_index_map),
                    operand_batching_dims: shifted(&numbers.operand_batching_dims),
                    start_indices_batching_dims: numbers.start_indices_batching_dims.clone(),
                };
                (args[0].move_axis(axis as isize, 0), args[1].clone())
            }
            // The indices have more index vectors into the same array.
            (None, Some(axis)) => {
                gather.dimension_numbers.offset_dims = shifted(&numbers.offset_dims);
                gather.dimension_numbers.start_indices_batching_dims =
                    shifted(&numbers.start_indices_batching_dims);
                // The promises hold for the index vectors of one example, not for all examples in a
                // row.
                (gather.indices_are_sorted, gather.unique_indices) = (false, false);
                (args[0].clone(), args[1].move_axis(axis as isize, 0))
            }
            // Each example has its own array and its own indices.
            (operand, indices) => {
                let (Some(operand), Some(indices)) = (operand, indices) else {
                    unreachable!("a batching rule has a batched operand");
                };
                // A slice covers one example, or none of an empty batch.
                gather.slice_sizes.insert(0, size.min(1));
                gather.dimension_numbers = GatherDimensionNumbers {
                    offset_dims: shifted(&numbers.offset_dims),
                    collapsed_slice_dims: shifted(&numbers.collapsed_slice_dims),
                    start_index_map: shifted(&numbers.start_index_map),
                    operand_batching_dims: shifted_after(&numbers.operand_batching_dims),
                    start_indices_batching_dims: shifted_after(
                        &numbers.start_indices_batching_dims,
                    ),
                };
                (
                    args[0].move_axis(operand as isize, 0),
                    args[1].move_axis(indices as isize, 0),
                )
            }
        };
        batched(bind1(gather, &[&operand, &indices]), Some(0))
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], outs: &[Aval]) -> Vec<Value> {
        let out = outs[0];
        if out.size() == 0 {
            return vec![ctx.splat(0, out)];
        }
        let args = &[args[0], ctx.indices_into(args[0], args[1])];
        let numbers = &self.dimension_numbers;
        let lists = [
            ("offset_dims", &numbers.offset_dims),
            ("collapsed_slice_dims", &numbers.collapsed_slice_dims),
            ("operand_batching_dims", &numbers.operand_batching_dims),
            (
                "start_indices_batching_dims",
                &numbers.start_indices_batching_dims,
            ),
            ("start_index_map", &numbers.start_index_map),
        ];
        let attributes = format!(
            "dimension_numbers = #stablehlo.gather<{}>, indices_are_sorted = {}, slice_sizes = {}",
            attribute(&lists, args[1].ndim() - 1),
            self.indices_are_sorted,
            dims_array(&self.slice_sizes)
        );
        let found = ctx.op1("gather", args, out, &attributes);
        if self.mode != GatherScatterMode::FillOrDrop {
            return vec![found];
        }
        // StableHLO clamps indices; slices that were clamped are replaced by the fill value.
        let inside = self.in_bounds(ctx, args[0], args[1]);
        let dims: Dims = (0..out.ndim())
            .filter(|d| !numbers.offset_dims.contains(d))
            .collect();
        let inside = ctx.broadcast_in_dim(inside, out.shape(), &dims);
        let fill = self.fill_value.unwrap_or(default_fill(out.dtype()));
        let fill = ctx.splat(fill.value(), out);
        vec![ctx.select(inside, found, fill)]
    }
}

impl PositionRule for Gather {
    fn positions(&self, args: &[Array]) -> Option<Positions> {
        let axes = self.dimension_numbers.start_index_map.to_vec();
        Some(Positions {
            starts: args[1].clone(),
            sizes: axes.iter().map(|&d| self.slice_sizes[d]).collect(),
            axes,
        })
    }
}

impl Gather {
    /// Emits which index vectors refer to a slice within the operand.
    fn in_bounds(&self, ctx: &mut Lowering<'_>, operand: Value, indices: Value) -> Value {
        let wide = indices.dtype().bits() == 64;
        let dtype = if wide { DType::I64 } else { DType::I32 };
        let indices = ctx.convert(indices, dtype);
        let last: Vec<i64> = self
            .dimension_numbers
            .start_index_map
            .iter()
            .map(|&d| operand.shape()[d] as i64 - self.slice_sizes[d] as i64)
            .collect();
        let vectors = indices.ndim() - 1;
        let last = ctx.integers(&last, dtype);
        let last = ctx.broadcast_in_dim(last, indices.shape(), &[vectors]);
        let zero = ctx.splat(0, indices.aval());
        let above = ctx.compare("GE", [indices, zero]);
        let below = ctx.compare("LE", [indices, last]);
        let both = ctx.same("and", &[above, below]);
        let truth = ctx.scalar(true, DType::Bool);
        ctx.reduce("and", both, truth, &[vectors])
    }
}

/// Formats the body of a `#stablehlo.gather` or `#stablehlo.scatter` attribute, without empty
/// lists.
pub(super) fn attribute(lists: &[(&str, &Dims)], index_vector_dim: usize) -> String {
    let mut items: Vec<String> = lists
        .iter()
        .filter(|(_, dims)| !dims.is_empty())
        .map(|(name, dims)| format!("{name} = {:?}", dims.as_slice()))
        .collect();
    items.push(format!("index_vector_dim = {index_vector_dim}"));
    items.join(", ")
}

impl Array {
    /// Gathers slices of the array, one for each index vector along the last axis of `indices`
    /// (`jax.lax.gather`). PositionRule ([`index`](Array::index)) and [`take`](Array::take) are more
    /// convenient.
    ///
    /// # Panics
    /// Panics if `indices` are not integers, or if the dimension numbers do not fit.
    #[track_caller]
    pub fn gather(&self, indices: &Array, gather: Gather) -> Array {
        let fill_value = match gather.mode {
            GatherScatterMode::FillOrDrop => Some(match gather.fill_value {
                Some(literal) => Literal::new(literal.value(), self.dtype()),
                None => default_fill(self.dtype()),
            }),
            _ => None,
        };
        let gather = Gather {
            fill_value,
            ..gather
        };
        bind1(gather, &[self, indices])
    }
}
