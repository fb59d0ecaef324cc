//! Products over any axes.

use super::arrays::convert;
use super::{Read, lift};
use crate::ElementType::*;
use crate::graph::{Operands, Operation, Source};
use crate::kernels::product::{Matrix, Places, Sizes, product, product_type};
use crate::memory::{Context, Layout, OutputTensor, Tensor, Tensors, View};
use crate::{Dims, Result, TensorType};
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

/// A product whose result has the batch axes, the left operand's free axes and the right operand's, or these in
/// another order.
#[derive(Clone, Debug)]
struct Dot {
    /// Axes of the left operand: batch, free, contracted.
    lhs: [Vec<usize>; 3],
    /// Axes of the right operand: batch, contracted, free.
    rhs: [Vec<usize>; 3],
    /// Sizes of the result's axes: batch, rows, columns.
    axes: [Dims; 3],
    layout: Arc<Layout>,
    /// The places of the products if the axes are in another order.
    places: Option<Places>,
    /// The operands as batches of matrices.
    views: [View; 2],
}

impl Operation for Dot {
    fn run(&self, context: &Context, mut operands: Operands) -> Result<Tensors> {
        let [left, right] = &self.views;
        let rhs = right.of(operands.remove(1), |x| matrices(context, x, &self.rhs))?;
        let lhs = left.of(operands.remove(0), |x| matrices(context, x, &self.lhs))?;
        let product = multiply(context, [lhs, rhs], &self.layout, self.places.as_ref())?;
        Ok(smallvec![product])
    }

    fn arranged(&self, shape: &[usize], order: &[usize]) -> Option<Arc<dyn Operation>> {
        if !matches!(self.layout.ty.element, F32 | F64) || self.places.is_some() {
            return None;
        }
        let mut rest = shape;
        let mut axes: [&[usize]; 3] = [&[]; 3];
        for (axes, own) in axes.iter_mut().zip(&self.axes) {
            (*axes, rest) = rest.split_at(leading(rest, own.iter().product())?);
        }
        // Axes of size 1 may be left.
        axes[2] = &shape[axes[0].len() + axes[1].len()..];
        let places = Places::ordered(axes, order)?;
        let shape: Dims = order.iter().map(|axis| shape[*axis]).collect();
        Some(Arc::new(Dot {
            layout: Layout::dense(TensorType::new(&shape, self.layout.ty.element)),
            places: Some(places),
            views: Default::default(),
            ..self.clone()
        }))
    }

    /// A few rows take less time than it takes to transpose the right matrix.
    fn preferred_order(&self, operand: usize) -> Option<SmallVec<[usize; 6]>> {
        let [batch, inner, free] = &self.rhs;
        let rows: usize = self.axes[1].iter().product();
        let rank = inner.len() + free.len();
        let is_transposed = inner.last().is_some_and(|axis| axis + 1 == rank);
        let prefers = operand == 1 && batch.is_empty() && rows <= FEW_ROWS && !free.is_empty();
        (prefers && is_transposed).then(|| inner.iter().chain(free).copied().collect())
    }
}

/// Returns the number of the first axes that together have a size.
fn leading(shape: &[usize], size: usize) -> Option<usize> {
    let mut found = 1;
    (0..=shape.len()).find(|count| {
        found *= count.checked_sub(1).map_or(1, |axis| shape[axis]);
        found == size
    })
}

/// Rows up to which a product gains from a right matrix in another order.
const FEW_ROWS: usize = 64;

/// Returns the view whose last two axes are products of axes, after the batch axes. Those need not be neighbors in
/// memory: the heads of an attention stay where they are.
fn matrices(context: &Context, x: &Tensor, axes: &[Vec<usize>; 3]) -> Result<Tensor> {
    let order: Vec<usize> = axes.iter().flatten().copied().collect();
    let size = |list: &[usize]| list.iter().map(|a| x.shape()[*a]).product();
    let mut sizes: Dims = axes[0].iter().map(|a| x.shape()[*a]).collect();
    sizes.extend(axes[1..].iter().map(|list| size(list)));
    x.permute(&order).reshape(context, &sizes)
}

/// Multiplies matrices `[batch…, rows, inner]` and `[batch…, inner, columns]`.
fn multiply(
    context: &Context,
    [lhs, rhs]: [Tensor; 2],
    layout: &Arc<Layout>,
    places: Option<&Places>,
) -> Result<Tensor> {
    let element = layout.ty.element;
    let wide = matches!(lhs.element(), F64 | C128) && matches!(element, Bf16 | F16 | F32 | C64);
    let compute = product_type(if wide { lhs.element() } else { element });
    let (lhs, rhs) = (
        convert(context, lhs, compute)?,
        convert(context, rhs, compute)?,
    );
    let batch = lhs.shape().len() - 2;
    let (l, r) = (&lhs.shape()[batch..], &rhs.shape()[batch..]);
    let sizes = Sizes {
        rows: l[0],
        inner: l[1],
        columns: r[1],
    };
    let mut fresh = if compute == element {
        OutputTensor::with_layout(context, layout)?
    } else {
        OutputTensor::new(context, TensorType::new(&layout.ty.shape, compute))?
    };
    product(
        compute,
        sizes,
        [matrix(&lhs), matrix(&rhs)],
        &moves(&lhs, &rhs, batch),
        (fresh.bytes_mut(), places),
        context.threads,
    );
    convert(context, fresh.finish(), element)
}

/// Returns the distances of the matrices of both operands from the first ones.
fn moves(lhs: &Tensor, rhs: &Tensor, batch: usize) -> SmallVec<[[isize; 2]; 4]> {
    let mut moves: SmallVec<[[isize; 2]; 4]> = smallvec![[0, 0]];
    for axis in 0..batch {
        let steps = [lhs.strides[axis], rhs.strides[axis]];
        let outer = std::mem::take(&mut moves);
        for [left, right] in outer {
            let along = (0..lhs.shape()[axis] as isize)
                .map(|i| [left + i * steps[0], right + i * steps[1]]);
            moves.extend(along);
        }
    }
    moves
}

fn matrix(x: &Tensor) -> Matrix<'_> {
    let batch = x.shape().len() - 2;
    Matrix {
        data: x.data(),
        offset: x.offset,
        strides: [x.strides[batch], x.strides[batch + 1]],
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
        format_args!("the axes of {l} and {r} have different sizes"),
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
    let sizes = |ty: &TensorType, axes: &[usize]| axes.iter().map(|a| ty.shape[*a]).collect();
    let axes: [Dims; 3] = [
        sizes(l, &left_batch),
        sizes(l, &left_free),
        sizes(r, &right_free),
    ];
    let ty = TensorType::new(&axes.concat(), source.results[0].element);
    source.result(0, &ty)?;
    lift(Dot {
        lhs: [left_batch, left_free, left_inner],
        rhs: [right_batch, right_inner, right_free],
        axes,
        layout: Layout::dense(ty),
        places: None,
        views: Default::default(),
    })
}
