//! Products of few rows and a large matrix, which Ramie computes itself on CPUs
//! (`ramie_pjrt::few_rows`).

use super::DotDimensionNumbers;
use crate::program::lower::{Lowering, Value, row_major};
use crate::{Aval, DType};
use ramie_pjrt::few_rows::{RANK, READING, TARGET};

/// Minimum number of elements of the matrix, with those of all batch axes.
const LARGE: usize = 1 << 14;
/// Minimum number of elements of the matrix, if reading it takes no longer than computing.
const WORTHWHILE: usize = 1 << 16;
/// Minimum number of elements that are summed over, and of columns.
const LONG: usize = 16;

/// Emits a product; returns `None` if XLA computes it.
pub(super) fn product(
    ctx: &mut Lowering<'_>,
    [lhs, rhs]: [Value; 2],
    n: &DotDimensionNumbers,
    out: Aval,
) -> Option<Value> {
    let max_rows = ctx.max_own_rows();
    if max_rows == 0 {
        return None;
    }
    let rank = rhs.ndim();
    let (&[contracting], &[free]) = (&n.rhs_contracting[..], &n.rhs_free(rank)[..]) else {
        return None;
    };
    let shape = n.shape(lhs.shape(), rhs.shape());
    // XLA would compute a transpose of the matrix before the call.
    let (rhs, axes) = ctx.before_transpose(rhs);
    let (contracting, free) = (axes[contracting], axes[free]);
    let is_f32 = [lhs.dtype(), rhs.dtype(), out.dtype()] == [DType::F32; 3];
    let is_read_in_order =
        contracting.max(free) + 1 == rank && n.rhs_batch.iter().map(|axis| axes[*axis]).is_sorted();
    let (depth, columns) = (rhs.shape()[contracting], rhs.shape()[free]);
    let size = rhs.aval().size();
    if !is_f32 || !is_read_in_order || rank > RANK || size < LARGE || depth.min(columns) < LONG {
        return None;
    }
    let batch = size / (depth * columns);
    let rows = lhs.aval().size() / (batch * depth);
    let axes = [
        &n.lhs_batch[..],
        &n.lhs_free(lhs.ndim()),
        &n.lhs_contracting,
    ]
    .concat();
    // With more rows, XLA is faster at batches, and if the left operand must be transposed.
    let is_fast = rows <= READING || batch == 1 && axes.is_sorted() && size >= WORTHWHILE;
    if rows == 0 || rows > max_rows || !is_fast {
        return None;
    }
    let lhs = match axes.is_sorted() {
        true => lhs,
        false => ctx.transpose(lhs, &axes),
    };
    let lhs = ctx.reshape(lhs, &[batch, rows, depth]);
    let result = out.with_shape(&[batch, rows, columns]);
    let attributes = format!(
        "call_target_name = \"{TARGET}\", api_version = 4 : i32, has_side_effect = false, \
         backend_config = {{contracting = {contracting} : i64, free = {free} : i64}}, \
         operand_layouts = {}, result_layouts = {}",
        row_major(&[lhs.aval(), rhs.aval()]),
        row_major(&[result]),
    );
    let result = ctx.op1("custom_call", &[lhs, rhs], result, &attributes);
    Some(ctx.reshape(result, &shape))
}
