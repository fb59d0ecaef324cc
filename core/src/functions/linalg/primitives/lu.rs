//! The LU decomposition with partial pivoting.

use super::{TriangularSolve, batch_in_front, matrix, with_last};
use crate::extend::ShardingRule;
use crate::functions::linalg::matrix::{matrix_shape, permuted, product};
use crate::functions::linalg::triangular_solve;
use crate::lax::fori_loop;
use crate::prim::{Avals, BatchAxis, Batched, Differentiation, Facts, Param, Primitive, one};
use crate::program::class::Class;
use crate::program::lower::{Lowering, Value};
use crate::{Array, Aval, DType, ShapeError, where_};

/// Computes the decomposition `P A = L U`. The results are `L` below the diagonal, without its
/// unit diagonal, combined with `U` on and above it; the row with which each row was exchanged,
/// in order; and the resulting permutation of the rows. Indices are `i32`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Lu;

impl Primitive for Lu {
    fn name(&self) -> &'static str {
        "lu"
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        crate::ensure_shape!(args.len() == 1, "expects 1 operand, got {}", args.len());
        let (rows, columns) = matrix(args[0])?;
        let indices = |n: usize| with_last(args[0], &[n]).with_dtype(DType::I32);
        let outs = [args[0], indices(rows.min(columns)), indices(rows)];
        Ok(outs.into_iter().collect())
    }
    fn facts(&self) -> Facts<'_> {
        Facts::strong()
    }
    fn sharding(&self, args: &[Aval], outs: &[Aval]) -> Result<ShardingRule, ShapeError> {
        Ok(ShardingRule::batch(args, outs, &[2]))
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::jvp(|_, tangents, results| {
            let rule = |tangent: &Array| tangent_of_lu(&results[0], &results[2], tangent);
            vec![tangents[0].as_ref().map(rule), None, None]
        })
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched {
        batch_in_front(self, args, axes, axis.size)
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], _: &[Aval]) -> Vec<Value> {
        ctx.traced("lu", args, |args| blocked(&args[0]))
    }
}

/// Computes the tangent. From `L' U + L U' = P A'`, `L⁻¹ P A' U⁻¹` is the sum of `L⁻¹ L'`, below
/// the diagonal, and `U' U⁻¹`, on and above it (de Hoog, Anderssen and Lukas, Differentiation of
/// matrix functionals using triangular factorization, 2011).
fn tangent_of_lu(lu: &Array, permutation: &Array, tangent: &Array) -> Array {
    let (rows, columns) = matrix_shape(lu);
    let k = rows.min(columns);
    // Extends both factors to square matrices with rows and columns of the identity.
    let grown = |x: &Array, n: usize| {
        let mut widths = vec![(0, 0); x.ndim()];
        let (r, c) = matrix_shape(x);
        widths[x.ndim() - 2] = (0, n - r);
        widths[x.ndim() - 1] = (0, n - c);
        x.pad(&widths, 0)
    };
    let lower = grown(&lu.slice_in_dim(0, k, 1, -1).tril(-1), rows);
    let lower = lower + Array::eye(rows, lu.dtype());
    let upper = grown(&lu.slice_in_dim(0, k, 1, -2).triu(0), columns);
    let missing = Array::iota(&[columns], 0, DType::I32).ge(k).diag(0);
    let upper = upper + missing.astype(lu.dtype());
    let inner = triangular_solve(
        &lower,
        &permuted(tangent, permutation),
        TriangularSolve::new().left_side().lower().unit_diagonal(),
    );
    let inner = triangular_solve(&upper, &inner, TriangularSolve::new());
    product(&lower, &inner.tril(-1)) + product(&inner.triu(0), &upper)
}

/// Minimum number of columns that are eliminated between matrix products.
const BLOCK: usize = 128;
/// Maximum number of blocks, since each adds to the size of the program.
const BLOCKS: usize = 16;

/// Computes the decomposition by blocks of columns: the columns to the right of a block are
/// updated by one matrix product.
fn blocked(a: &Array) -> Vec<Array> {
    let (rows, columns) = matrix_shape(a);
    let k = rows.min(columns);
    let batch = &a.shape()[..a.ndim() - 2];
    let mut permutation =
        Array::iota(&[rows], 0, DType::I32).broadcast_to(&[batch, &[rows]].concat());
    let width = BLOCK.max(k.div_ceil(BLOCKS));
    // A range of rows and columns.
    let part = |x: &Array, rows: [usize; 2], columns: [usize; 2]| {
        x.slice_in_dim(rows[0], rows[1], 1, -2)
            .slice_in_dim(columns[0], columns[1], 1, -1)
    };
    let mut a = a.clone();
    let mut pivots = Vec::new();
    for start in (0..k).step_by(width) {
        let end = (start + width).min(k);
        let [panel, swaps, order] = unblocked(&part(&a, [start, rows], [start, end]));
        pivots.push(swaps + start);
        let last = (permutation.ndim() - 1) as isize;
        let moved = permutation.slice_in_dim(start, rows, 1, last);
        let moved = moved.take_along_axis(&order, last);
        permutation =
            crate::concatenate(&[permutation.slice_in_dim(0, start, 1, last), moved], last);
        let done = part(&a, [0, start], [0, columns]);
        let left = permuted(&part(&a, [start, rows], [0, start]), &order);
        let mut blocks = vec![left, panel.clone()];
        if end < columns {
            let right = permuted(&part(&a, [start, rows], [end, columns]), &order);
            let n = end - start;
            let top = triangular_solve(
                &part(&panel, [0, n], [0, n]),
                &right.slice_in_dim(0, n, 1, -2),
                TriangularSolve::new().left_side().lower().unit_diagonal(),
            );
            let factor = part(&panel, [n, rows - start], [0, n]);
            let rest = right.slice_in_dim(n, rows - start, 1, -2) - product(&factor, &top);
            blocks.push(crate::concatenate(&[top, rest], -2));
        }
        a = crate::concatenate(&[done, crate::concatenate(&blocks, -1)], -2);
    }
    let pivots = if pivots.is_empty() {
        Array::zeros(&[batch, &[0]].concat(), DType::I32)
    } else {
        crate::concatenate(&pivots, -1)
    };
    vec![a, pivots, permutation]
}

/// Returns the magnitudes by which pivots are chosen; for complex numbers, as in LAPACK, the sums
/// of the magnitudes of their parts.
fn pivot_size(x: &Array) -> Array {
    if x.dtype().is_complex() {
        x.real().abs() + x.imag().abs()
    } else {
        x.abs()
    }
}

/// Computes the decomposition column by column, with its exchanges and the permutation.
fn unblocked(a: &Array) -> [Array; 3] {
    let (rows, columns) = matrix_shape(a);
    let batch = &a.shape()[..a.ndim() - 2];
    let k = rows.min(columns);
    let row = Array::iota(&[rows, 1], 0, DType::I32);
    let column = Array::iota(&[columns], 0, DType::I32);
    let index = Array::iota(&[k], 0, DType::I32);
    let permutation =
        Array::iota(&[rows, 1], 0, DType::I32).broadcast_to(&[batch, &[rows, 1]].concat());
    let pivots = Array::zeros(&[batch, &[k]].concat(), DType::I32);
    let step = |i: Array, (a, pivots, permutation): (Array, Array, Array)| {
        let pivot_column = a.dynamic_slice_in_dim(&i, 1, -1);
        let size = where_(row.ge(&i), pivot_size(&pivot_column), f64::NEG_INFINITY);
        let pivot = size.argmax(-2);
        let at = pivot.expand_dims(&[-1]);
        let pivots = where_(index.eq(&i), pivot, pivots);
        // Exchanges the rows i and `at`.
        let swapped = |x: &Array| {
            let here = x.dynamic_slice_in_dim(&i, 1, -2);
            let width = x.shape()[x.ndim() - 1];
            let there = at.broadcast_to(&[batch, &[1, width]].concat());
            let there = x.take_along_axis(&there, -2);
            where_(row.eq(&i), there, where_(row.eq(&at), here, x))
        };
        let (a, permutation) = (swapped(&a), swapped(&permutation));
        let pivot_row = a.dynamic_slice_in_dim(&i, 1, -2);
        let pivot = pivot_row.dynamic_slice_in_dim(&i, 1, -1);
        let pivot_column = a.dynamic_slice_in_dim(&i, 1, -1);
        let below = row.gt(&i);
        // A column of zeros has no pivot, and needs none.
        let divisor = where_(pivot.eq(0), pivot.ones_like(), &pivot);
        let factors = where_(&below, &pivot_column / divisor, pivot_column);
        let eliminated = &a - &factors * &pivot_row;
        let inside = below.bitwise_and(column.gt(&i));
        let a = where_(&inside, eliminated, where_(column.eq(&i), factors, &a));
        (a, pivots, permutation)
    };
    let init = (a.clone(), pivots, permutation);
    let (a, pivots, permutation) = fori_loop(0, k, step, init);
    [a, pivots, permutation.squeeze(&[-1])]
}

/// Computes the permutation that results from exchanges of rows.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LuPivotsToPermutation {
    /// Number of rows.
    pub permutation_size: usize,
}

impl Primitive for LuPivotsToPermutation {
    fn name(&self) -> &'static str {
        "lu_pivots_to_permutation"
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        vec![("permutation_size", Param::new(self.permutation_size))]
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        crate::ensure_shape!(args.len() == 1, "expects 1 operand, got {}", args.len());
        let pivots = args[0];
        Class::Integer.check(pivots.dtype())?;
        let Some((count, batch)) = pivots.shape().split_last() else {
            return Err(ShapeError::new("expects at least one axis")
                .help("pass the pivots that `lu` returns"));
        };
        crate::ensure_shape!(
            *count <= self.permutation_size,
            "{count} exchanges among {} rows",
            self.permutation_size
        );
        one(pivots.with_shape(&[batch, &[self.permutation_size]].concat()))
    }
    fn sharding(&self, args: &[Aval], outs: &[Aval]) -> Result<ShardingRule, ShapeError> {
        Ok(ShardingRule::batch(args, outs, &[1]))
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::Zero
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched {
        batch_in_front(self, args, axes, axis.size)
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], outs: &[Aval]) -> Vec<Value> {
        let (shape, last) = (outs[0].shape(), outs[0].ndim() - 1);
        ctx.traced("lu_pivots_to_permutation", args, |args| {
            let swaps = &args[0];
            let place = Array::iota(&[shape[last]], 0, swaps.dtype());
            let step = |i: Array, permutation: Array| {
                let along = last as isize;
                let other = swaps.dynamic_slice_in_dim(&i, 1, along);
                let here = permutation.dynamic_slice_in_dim(&i, 1, along);
                let there = permutation.take_along_axis(&other, along);
                let moved = where_(place.eq(&i), there, permutation);
                where_(place.eq(&other), here, moved)
            };
            let count = swaps.shape()[last];
            let init = place.broadcast_to(shape);
            match count {
                0 => vec![init],
                _ => vec![fori_loop(0, count, step, init)],
            }
        })
    }
}
