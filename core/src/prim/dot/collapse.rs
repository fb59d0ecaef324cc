//! Lowering of products with as few axes as possible.
//!
//! Adjacent axes with the same role are merged before the product and split after it. On XLA's
//! CPU backend this halves the time of the gradient of two dense layers over a batch of
//! sequences, and no product becomes slower.

use super::{DotDimensionNumbers, Precision};
use crate::Aval;
use crate::program::lower::{Lowering, Value};
use crate::typing::Dims;

fn reshape(ctx: &mut Lowering<'_>, value: Value, to: Aval) -> Value {
    if value.aval() == to {
        value
    } else {
        ctx.reshape(value, to.shape())
    }
}

/// Merged axes of an operand: each run of axes becomes one.
struct MergedAxes {
    /// New axis of each original axis.
    place: Dims,
    shape: Dims,
}

/// Merges neighbors `d, d + 1` of an operand if `join` returns true for `d`.
fn joined(shape: &[usize], join: impl Fn(usize) -> bool) -> MergedAxes {
    let (mut place, mut sizes) = (Dims::new(), Dims::new());
    for (d, &n) in shape.iter().enumerate() {
        match sizes.last_mut() {
            Some(last) if join(d - 1) => *last *= n,
            _ => sizes.push(n),
        }
        place.push(sizes.len() - 1);
    }
    MergedAxes {
        place,
        shape: sizes,
    }
}

/// Returns whether the axes `d, d + 1` of one operand correspond to adjacent axes of the other in
/// the same role.
fn pairs(own: &[usize], other: &[usize], d: usize) -> bool {
    own.windows(2)
        .zip(other.windows(2))
        .any(|(a, b)| a == [d, d + 1] && b[1] == b[0] + 1)
}

/// Returns the axes of a role after merging, each once.
fn moved(axes: &[usize], joined: &MergedAxes) -> Dims {
    let mut out = Dims::new();
    for &a in axes {
        if !out.contains(&joined.place[a]) {
            out.push(joined.place[a]);
        }
    }
    out
}

pub(super) fn dot(
    ctx: &mut Lowering<'_>,
    [lhs, rhs]: [Value; 2],
    n: &DotDimensionNumbers,
    precision: Precision,
    out: Aval,
) -> Value {
    let (l_free, r_free) = (n.lhs_free(lhs.ndim()), n.rhs_free(rhs.ndim()));
    let free = |axes: &[usize], d: usize| axes.contains(&d) && axes.contains(&(d + 1));
    let left = joined(lhs.shape(), |d| {
        free(&l_free, d)
            || pairs(&n.lhs_contracting, &n.rhs_contracting, d)
            || pairs(&n.lhs_batch, &n.rhs_batch, d)
    });
    let right = joined(rhs.shape(), |d| {
        free(&r_free, d)
            || pairs(&n.rhs_contracting, &n.lhs_contracting, d)
            || pairs(&n.rhs_batch, &n.lhs_batch, d)
    });
    let numbers = DotDimensionNumbers {
        lhs_contracting: moved(&n.lhs_contracting, &left),
        rhs_contracting: moved(&n.rhs_contracting, &right),
        lhs_batch: moved(&n.lhs_batch, &left),
        rhs_batch: moved(&n.rhs_batch, &right),
    };
    let sides = [(lhs, left), (rhs, right)];
    let sides = sides.map(|(x, joined)| reshape(ctx, x, x.aval().with_shape(&joined.shape)));
    let result = emit(ctx, sides, &numbers, precision, out);
    reshape(ctx, result, out)
}

/// Emits a product; `out` has the dtype of the result.
fn emit(
    ctx: &mut Lowering<'_>,
    sides: [Value; 2],
    numbers: &DotDimensionNumbers,
    precision: Precision,
    out: Aval,
) -> Value {
    let list = |axes: &Dims| format!("{:?}", axes.as_slice());
    let attributes = format!(
        "dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = {}, \
         rhs_batching_dimensions = {}, lhs_contracting_dimensions = {}, \
         rhs_contracting_dimensions = {}>, {}",
        list(&numbers.lhs_batch),
        list(&numbers.rhs_batch),
        list(&numbers.lhs_contracting),
        list(&numbers.rhs_contracting),
        precision.attribute(),
    );
    let product = out.with_shape(&numbers.shape(sides[0].shape(), sides[1].shape()));
    ctx.op1("dot_general", &sides, product, &attributes)
}
