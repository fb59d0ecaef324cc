//! Selecting, ordering and updating elements.

use super::{Operator, array, only, values};
use crate::call::{Call, Value};
use crate::file::Node;
use crate::known::{HostTensor, each};
use ndarray::Axis;
use ramie_core::numpy::{At, IndexItem};
use ramie_core::{Array, DType, concatenate, where_};

pub(super) const OPERATORS: &[Operator] = &[
    array("ArgMax", |c| extreme(c, |x, axis| x.argmax(axis))),
    array("ArgMin", |c| extreme(c, |x, axis| x.argmin(axis))),
    array("CumSum", cumulative_sum).needs(&[1]),
    array("Gather", gather).on_host(gather_known),
    array("GatherElements", gather_elements),
    array("GatherND", gather_nd),
    values("NonZero", non_zero).needs(&[0]),
    array("OneHot", one_hot).needs(&[1]),
    array("ReverseSequence", reverse_sequence),
    array("Scatter", scatter_elements),
    array("ScatterElements", scatter_elements).limits(reductions),
    array("ScatterND", scatter_nd).limits(reductions),
    array("Slice", slice)
        .needs(&[1, 2, 3, 4])
        .on_host(slice_known),
    values("TopK", top_k).needs(&[1]),
    array("Trilu", triangle).needs(&[1]),
];

fn reductions(node: &Node, _: i64) -> Result<(), String> {
    only(
        node,
        "reduction",
        "none",
        &["none", "add", "mul", "min", "max"],
    )
}

/// Returns the index of the largest or smallest element along an axis.
fn extreme(call: &Call<'_>, find: fn(&Array, isize) -> Array) -> Array {
    let x = call.array(0);
    let axis = call.axis(0, x.ndim());
    let at = match call.int("select_last_index", 0) {
        0 => find(&x, axis as isize),
        // The last of equal extremes comes first in the mirrored axis.
        _ => x.shape()[axis] as i64 - 1 - find(&x.flip(&[axis as isize]), axis as isize),
    };
    let at = at.astype(DType::I64);
    match call.int("keepdims", 1) {
        0 => at,
        _ => at.expand_dims(&[axis as isize]),
    }
}

fn cumulative_sum(call: &Call<'_>) -> Array {
    let x = call.array(0);
    let axis = call.axis_of(call.host_ints(1)[0], x.ndim());
    let (at, size) = (axis as isize, x.shape()[axis]);
    let reverse = call.int("reverse", 0) != 0;
    let sums = if reverse {
        x.cumsum_reversed(at)
    } else {
        x.cumsum(at)
    };
    if call.int("exclusive", 0) == 0 || size == 0 {
        return sums;
    }
    // Each sum without its own element is that of the neighbor.
    let zeros = x.slice_in_dim(0, 1, 1, at).zeros_like();
    if reverse {
        concatenate(&[sums.slice_in_dim(1, size, 1, at), zeros], at)
    } else {
        concatenate(&[zeros, sums.slice_in_dim(0, size - 1, 1, at)], at)
    }
}

fn gather(call: &Call<'_>) -> Array {
    let x = call.array(0);
    let axis = call.axis(0, x.ndim());
    // One known index is a slice.
    if let Some(Value::Known(known)) = call.value(1)
        && known.shape().is_empty()
    {
        return x
            .index_in_dim(known.to_ints()[0] as isize, axis as isize)
            .squeeze(&[axis as isize]);
    }
    x.take(&call.array(1), axis as isize)
}

fn gather_known(call: &Call<'_>) -> Option<HostTensor> {
    let (x, indices) = (call.known(0)?, call.known(1)?);
    let axis = call.axis(0, x.shape().len());
    let size = x.shape()[axis] as i64;
    let counted = indices
        .to_ints()
        .into_iter()
        .map(|i| if i < 0 { i + size } else { i });
    let counted: Vec<usize> = counted
        // Still negative: out of range, like indices beyond the end.
        .map(|i| usize::try_from(i).unwrap_or(usize::MAX))
        .collect();
    if counted.iter().any(|i| *i >= size as usize) {
        call.fail(&format!(
            "the indices {:?} exceed {size} elements",
            indices.to_ints()
        ));
    }
    let mut shape = x.shape().to_vec();
    // The axes of the indices replace the axis: `[2, 3, 4]` at `[5, 6]` on axis 1 → `[2, 5, 6, 4]`.
    shape.splice(axis..=axis, indices.shape().iter().copied());
    each!(x, |x| x.select(Axis(axis), &counted)).reshape(&shape)
}

/// Gathers elements along an axis. Along the other axes, the indices may have fewer elements than
/// `x`: those belong to its first elements and are not broadcast.
fn gather_elements(call: &Call<'_>) -> Array {
    let (mut x, indices) = (call.array(0), call.array(1));
    let axis = call.axis(0, x.ndim());
    if indices.ndim() != x.ndim() {
        call.fail(&format!(
            "the indices {} and the data {} have different numbers of axes",
            indices.aval(),
            x.aval()
        ));
    }
    for d in 0..x.ndim() {
        let (size, limit) = (x.shape()[d], indices.shape()[d]);
        if d != axis && limit != size {
            x = x.slice_in_dim(0, limit, 1, d as isize);
        }
    }
    x.take_along_axis(&indices, axis as isize)
}

/// Returns arrays of indices for the axes that the last axis of `indices` selects, after `batch`
/// axes that are matched.
fn points(indices: &Array, batch: usize) -> Vec<IndexItem> {
    let last = indices.ndim() - 1;
    let shape = &indices.shape()[..last];
    let matched = (0..batch).map(|axis| Array::iota(shape, axis, indices.dtype()));
    let selected = (0..indices.shape()[last]).map(|i| {
        indices
            .index_in_dim(i as isize, last as isize)
            .squeeze(&[last as isize])
    });
    matched.chain(selected).map(IndexItem::Array).collect()
}

fn gather_nd(call: &Call<'_>) -> Array {
    let batch = call.int("batch_dims", 0) as usize;
    call.array(0).index(points(&call.array(1), batch))
}

fn non_zero(call: &Call<'_>) -> Vec<Value> {
    let known = call.optional_known(0).expect("it is required");
    let found = known
        .to_floats()
        .into_iter()
        .enumerate()
        .filter(|(_, x)| *x != 0.0);
    let found: Vec<usize> = found.map(|(i, _)| i).collect();
    let strides =
        (0..known.shape().len()).map(|d| known.shape()[d + 1..].iter().product::<usize>());
    let rows: Vec<i64> = strides
        .zip(known.shape())
        // The index along an axis of the element `i` in row-major order.
        .flat_map(|(stride, size)| found.iter().map(move |i| (i / stride % size) as i64))
        .collect();
    vec![HostTensor::ints(DType::I64, &[known.shape().len(), found.len()], rows).into()]
}

fn one_hot(call: &Call<'_>) -> Array {
    let (indices, values) = (call.array(0), call.array(2));
    let depth = call.at_least(0, "depth", call.host_ints(1)[0]);
    let axis = call.axis(-1, indices.ndim() + 1) as isize;
    let indices = indices.astype(DType::I64);
    let indices = where_(indices.lt(0), &indices + depth as i64, &indices);
    let hot = indices.one_hot_with(depth, DType::Bool, axis);
    where_(
        hot,
        values.index_in_dim(1, 0).squeeze(&[0]),
        values.index_in_dim(0, 0).squeeze(&[0]),
    )
}

/// Reverses the first elements of each sequence, as many as `sequence_lens` has.
fn reverse_sequence(call: &Call<'_>) -> Array {
    let (x, lengths) = (call.array(0), call.array(1).astype(DType::I64));
    let batch = call.axis_of(call.int("batch_axis", 1), x.ndim());
    let time = call.axis_of(call.int("time_axis", 0), x.ndim());
    let at = Array::iota(x.shape(), time, DType::I64);
    let lengths = lengths.broadcast_in_dim(x.shape(), &[batch]);
    let mirrored = where_(at.lt(&lengths), &lengths - 1 - &at, &at);
    x.take_along_axis(&mirrored, time as isize)
}

/// Writes updates to a part of an array.
fn update(call: &Call<'_>, part: &At<'_>, updates: &Array) -> Array {
    match call.text("reduction", "none") {
        "add" => part.add(updates),
        "mul" => part.multiply(updates),
        "min" => part.min(updates),
        "max" => part.max(updates),
        _ => part.set(updates),
    }
}

fn scatter_elements(call: &Call<'_>) -> Array {
    let (x, indices, updates) = (call.array(0), call.array(1), call.array(2));
    let axis = call.axis(0, x.ndim());
    let shape = indices.shape();
    let items = (0..x.ndim()).map(|d| {
        if d == axis {
            indices.clone()
        } else {
            Array::iota(shape, d, indices.dtype())
        }
    });
    let items: Vec<IndexItem> = items.map(IndexItem::Array).collect();
    update(call, &x.at(items), &updates)
}

fn scatter_nd(call: &Call<'_>) -> Array {
    let (x, indices, updates) = (call.array(0), call.array(1), call.array(2));
    update(call, &x.at(points(&indices, 0)), &updates)
}

/// A range of an axis: its first element, the number of elements and the step between them.
#[derive(Clone, Copy)]
struct Part {
    axis: usize,
    start: i64,
    count: usize,
    step: i64,
}

/// Returns the ranges that `Slice` selects.
fn parts(call: &Call<'_>) -> Vec<Part> {
    let shape = call.required(0).shape();
    let bounds = |name: &str, input: usize| match call.ints_of(name, input) {
        Some(bounds) => bounds,
        None => call.fail(&format!("`{name}` is missing")),
    };
    let (starts, ends) = (bounds("starts", 1), bounds("ends", 2));
    let axes = call.ints_of("axes", 3);
    let axes = axes.unwrap_or_else(|| (0..starts.len() as i64).collect());
    let steps = call.optional_ints(4);
    let steps = steps.unwrap_or_else(|| vec![1; starts.len()]);
    let lengths = [&starts, &ends, &axes, &steps].map(Vec::len);
    if lengths != [starts.len(); 4] {
        let [starts, ends, axes, steps] = lengths;
        call.fail(&format!(
            "got {starts} starts, {ends} ends, {axes} axes and {steps} steps, expected equal numbers"
        ));
    }
    let axes = call.axes_of(Some(&axes), shape.len());
    let numbers = starts.iter().zip(&ends).zip(axes.iter().zip(&steps));
    let part = |((&start, &end), (&axis, &step)): ((&i64, &i64), (&usize, &i64))| {
        let size = shape[axis] as i64;
        // Numbers far outside of the axis are its ends. A negative step starts at the last element
        // at most, and may end before the element 0. An empty axis has neither.
        let last = (size - 1).max(0);
        let (first, low, high) = if step < 0 {
            (last, -1, last)
        } else {
            (size, 0, size)
        };
        let counted = |at: i64| if at < 0 { at.saturating_add(size) } else { at };
        let (start, end) = (
            counted(start).clamp(0, first),
            counted(end).clamp(low, high),
        );
        if step == 0 {
            call.fail("a step is 0");
        }
        let distance = if step < 0 { start - end } else { end - start }.clamp(0, size);
        let count = distance.unsigned_abs().div_ceil(step.unsigned_abs()) as usize;
        Part {
            axis,
            start,
            count,
            step,
        }
    };
    numbers.map(part).collect()
}

fn slice(call: &Call<'_>) -> Array {
    let of = |x: Array, part: Part| {
        let (at, stride) = (part.axis as isize, part.step.unsigned_abs() as usize);
        if part.count == 0 {
            return x.slice_in_dim(0, 0, 1, at);
        }
        // `slice_in_dim` steps forward, so take the elements in rising order and mirror them.
        let reach = stride * (part.count - 1);
        let first = part.start as usize - if part.step < 0 { reach } else { 0 };
        let x = x.slice_in_dim(first, first + reach + 1, stride, at);
        if part.step < 0 { x.flip(&[at]) } else { x }
    };
    parts(call).into_iter().fold(call.array(0), of)
}

fn slice_known(call: &Call<'_>) -> Option<HostTensor> {
    let known = call.known(0)?;
    let of = |known: HostTensor, part: Part| {
        let at = (0..part.count as i64).map(|i| (part.start + i * part.step) as usize);
        let at: Vec<usize> = at.collect();
        each!(known, |x| x.select(Axis(part.axis), &at))
    };
    Some(parts(call).into_iter().fold(known, of))
}

fn top_k(call: &Call<'_>) -> Vec<Value> {
    let x = call.array(0);
    let k = if call.opset < 10 {
        call.required_int("k")
    } else {
        call.host_ints(1)[0]
    };
    let (k, axis) = (call.at_least(0, "k", k), call.axis(-1, x.ndim()) as isize);
    let rows = x.move_axis(axis, -1);
    let (values, at) = match call.int("largest", 1) {
        1 => rows.top_k(k),
        _ => {
            // Not `top_k` of the negative: unsigned numbers and the least integer have none.
            let at = rows.argsort(-1).slice_in_dim(0, k, 1, -1);
            (rows.take_along_axis(&at, -1), at)
        }
    };
    let [values, at] = [values, at.astype(DType::I64)].map(|a| a.move_axis(-1, axis));
    vec![values.into(), at.into()]
}

fn triangle(call: &Call<'_>) -> Array {
    let x = call.array(0);
    let k = call.optional_ints(1).map_or(0, |k| k[0]);
    // The last two axes are matrices; all others are batches of them.
    let [row, column] = [2, 1].map(|d| Array::iota(x.shape(), x.ndim() - d, DType::I64));
    let kept = match call.int("upper", 1) {
        0 => column.le(row + k),
        _ => column.ge(row + k),
    };
    where_(kept, &x, x.zeros_like())
}
