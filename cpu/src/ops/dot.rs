//! Products over any axes.

use super::arrays::convert;
use super::{Read, lift};
use crate::ElementType::*;
use crate::graph::{Operands, Operation, Source};
use crate::kernels::product::{Matrix, Sizes, product, product_type};
use crate::memory::{Context, Fresh, Tensor, Tensors, View};
use crate::{Dims, Result, TensorType};
use smallvec::{SmallVec, smallvec};

/// A product whose result has the batch axes, the left operand's free axes and the right operand's.
#[derive(Debug)]
struct Dot {
    /// Axes of the left operand: batch, free, contracted.
    lhs: [Vec<usize>; 3],
    /// Axes of the right operand: batch, contracted, free.
    rhs: [Vec<usize>; 3],
    ty: TensorType,
    /// The operands as matrices, and the result in its shape.
    views: [View; 3],
}

impl Operation for Dot {
    fn run(&self, context: &Context, mut operands: Operands) -> Result<Tensors> {
        let [left, right, back] = &self.views;
        let rhs = right.of(operands.remove(1), |x| matrices(context, x, &self.rhs))?;
        let lhs = left.of(operands.remove(0), |x| matrices(context, x, &self.lhs))?;
        let result = multiply(context, &lhs, &rhs, self.ty.element)?;
        let result = back.of(result, |x| x.reshape(context, &self.ty.shape))?;
        Ok(smallvec![result])
    }
}

/// Returns the view with three axes, each of which is a product of axes.
fn matrices(context: &Context, x: &Tensor, axes: &[Vec<usize>; 3]) -> Result<Tensor> {
    let order: Vec<usize> = axes.iter().flatten().copied().collect();
    let sizes = axes
        .each_ref()
        .map(|list| list.iter().map(|a| x.shape()[*a]).product::<usize>());
    x.permute(&order).reshape(context, &sizes)
}

/// Multiplies batches of matrices `[batch, rows, inner]` and `[batch, inner, columns]`.
pub fn multiply(
    context: &Context,
    lhs: &Tensor,
    rhs: &Tensor,
    element: crate::ElementType,
) -> Result<Tensor> {
    let wide = matches!(lhs.element(), F64 | C128) && matches!(element, Bf16 | F16 | F32 | C64);
    let compute = product_type(if wide { lhs.element() } else { element });
    let (lhs, rhs) = (
        convert(context, lhs, compute)?,
        convert(context, rhs, compute)?,
    );
    let (l, r) = (lhs.shape(), rhs.shape());
    let sizes = Sizes {
        rows: l[1],
        inner: l[2],
        columns: r[2],
    };
    let moves = |i: usize| [i as isize * lhs.strides[0], i as isize * rhs.strides[0]];
    let moves: SmallVec<[[isize; 2]; 4]> = (0..l[0]).map(moves).collect();
    let ty = TensorType::new(&[l[0], l[1], r[2]], compute);
    let mut fresh = Fresh::new(context, ty)?;
    product(
        compute,
        sizes,
        matrix(&lhs),
        matrix(&rhs),
        &moves,
        fresh.bytes_mut(),
        context.threads,
    );
    convert(context, &fresh.finish(), element)
}

fn matrix(x: &Tensor) -> Matrix<'_> {
    Matrix {
        data: x.data(),
        offset: x.offset,
        strides: [x.strides[1], x.strides[2]],
    }
}

/// Reads `stablehlo.dot_general`.
pub fn dot_general(source: &Source<'_>) -> Read {
    source.counts(2, 1, 0)?;
    let (l, r) = (&source.operands[0], &source.operands[1]);
    let fields = source.fields("dot_dimension_numbers")?;
    let axes = |name: &str, rank: usize| {
        let axes = source.field(fields, name)?;
        source.distinct_axes(name, &axes, rank)?;
        Ok(axes)
    };
    let left_batch = axes("lhs_batching_dimensions", l.shape.len())?;
    let right_batch = axes("rhs_batching_dimensions", r.shape.len())?;
    let left_inner = axes("lhs_contracting_dimensions", l.shape.len())?;
    let right_inner = axes("rhs_contracting_dimensions", r.shape.len())?;
    let same = |a: &[usize], b: &[usize]| {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| l.shape[*a] == r.shape[*b])
    };
    source.check(
        same(&left_batch, &right_batch) && same(&left_inner, &right_inner),
        format!("the axes of {l} and {r} have different sizes"),
    )?;
    source.check(
        left_batch.iter().all(|a| !left_inner.contains(a)),
        "an axis is both batched and contracted",
    )?;
    source.check(
        right_batch.iter().all(|a| !right_inner.contains(a)),
        "an axis is both batched and contracted",
    )?;
    let free = |rank: usize, batch: &[usize], inner: &[usize]| -> Vec<usize> {
        (0..rank)
            .filter(|a| !batch.contains(a) && !inner.contains(a))
            .collect()
    };
    let left_free = free(l.shape.len(), &left_batch, &left_inner);
    let right_free = free(r.shape.len(), &right_batch, &right_inner);
    let shape: Dims = left_batch
        .iter()
        .chain(&left_free)
        .map(|a| l.shape[*a])
        .chain(right_free.iter().map(|a| r.shape[*a]))
        .collect();
    let ty = TensorType::new(&shape, source.results[0].element);
    source.result(0, &ty)?;
    lift(Dot {
        lhs: [left_batch, left_free, left_inner],
        rhs: [right_batch, right_inner, right_free],
        ty,
        views: Default::default(),
    })
}
