//! Shapes: reading, changing and expanding them.

use super::{Operator, array, only, values};
use crate::call::{Call, Value, signed};
use crate::known::{HostTensor, Numbers, each};
use ndarray::{Axis, IxDyn};
use ramie_core::numpy::broadcast_shapes;
use ramie_core::{Array, DType, concatenate};

pub(super) const OPERATORS: &[Operator] = &[
    array("Concat", join).on_host(join_known),
    values("ConstantOfShape", constant_of_shape).needs(&[0]),
    array("Expand", expand).needs(&[1]).on_host(|c| {
        // A large result stays an operation; its elements would become part of the program.
        if few(c.known(1)?.to_ints()) {
            c.known(0)?.expand(&c.sizes(&c.known(1)?.to_ints()))
        } else {
            None
        }
    }),
    array("EyeLike", eye_like)
        .of_shape()
        .limits(|n, _| n.dtype("dtype").map(drop)),
    array("Flatten", |c| {
        let x = c.array(0);
        // The axis may also be the number of axes.
        let axis = match c.int("axis", 1) {
            axis if axis == x.ndim() as i64 => x.ndim(),
            axis => c.axis_of(axis, x.ndim()),
        };
        let (rows, columns) = x.shape().split_at(axis);
        let sizes: [usize; 2] = [rows, columns].map(|sizes| sizes.iter().product());
        x.reshape(&sizes)
    }),
    values("Identity", |c| vec![c.required(0).clone()]),
    values("Range", range).needs(&[0, 1, 2]),
    array("Reshape", |c| c.array(0).reshape(&reshaped(c)))
        .needs(&[1])
        .on_host(|c| c.known(0)?.reshape(&reshaped(c))),
    values("Shape", shape_of).of_shape(),
    values("Size", |c| {
        let size: usize = c.required(0).shape().iter().product();
        vec![HostTensor::number(size as i64).into()]
    })
    .of_shape(),
    values("Split", split).needs(&[1]),
    array("Squeeze", |c| c.array(0).reshape(&squeezed(c)))
        .needs(&[1])
        .on_host(|c| c.known(0)?.reshape(&squeezed(c))),
    array("Tile", |c| {
        let repeats = c.sizes(&c.host_ints(1));
        c.array(0).tile(&repeats)
    })
    .needs(&[1]),
    array("Transpose", |c| {
        c.array(0).transpose(&signed(&permutation(c)))
    })
    .on_host(|c| {
        let order = permutation(c);
        Some(each!(c.known(0)?, |x| x
            .clone()
            .permuted_axes(IxDyn(&order))))
    }),
    array("Unsqueeze", |c| c.array(0).reshape(&unsqueezed(c)))
        .needs(&[1])
        .on_host(|c| c.known(0)?.reshape(&unsqueezed(c))),
    array("DepthToSpace", depth_to_space).limits(|n, _| only(n, "mode", "DCR", &["DCR", "CRD"])),
    array("SpaceToDepth", space_to_depth),
];

/// Number of elements up to which tensors are evaluated on the host.
const FEW: i64 = 1 << 16;

fn few(sizes: impl IntoIterator<Item = i64>) -> bool {
    sizes.into_iter().fold(1i64, i64::saturating_mul) <= FEW
}

fn join(call: &Call<'_>) -> Array {
    let arrays = call.arrays();
    let axis = call.axis(1, arrays[0].ndim());
    concatenate(&arrays, axis as isize)
}

fn join_known(call: &Call<'_>) -> Option<HostTensor> {
    let parts: Option<Vec<HostTensor>> = (0..call.inputs.len()).map(|i| call.known(i)).collect();
    let parts = parts?;
    let axis = Axis(call.axis(1, parts.first()?.shape().len()));
    let dtype = parts.first()?.dtype;
    let numbers = match &parts.first()?.numbers {
        Numbers::Ints(_) => {
            let views = parts.iter().map(|part| match &part.numbers {
                Numbers::Ints(x) => Some(x.view()),
                Numbers::Floats(_) => None,
            });
            let views: Option<Vec<_>> = views.collect();
            Numbers::Ints(ndarray::concatenate(axis, &views?).ok()?)
        }
        Numbers::Floats(_) => {
            let views = parts.iter().map(|part| match &part.numbers {
                Numbers::Floats(x) => Some(x.view()),
                Numbers::Ints(_) => None,
            });
            let views: Option<Vec<_>> = views.collect();
            Numbers::Floats(ndarray::concatenate(axis, &views?).ok()?)
        }
    };
    Some(HostTensor { dtype, numbers })
}

fn constant_of_shape(call: &Call<'_>) -> Vec<Value> {
    let sizes = call.host_ints(0);
    let shape = call.sizes(&sizes);
    let zero = HostTensor::floats(DType::F32, &[], vec![0.0]);
    let value = call.tensor("value").unwrap_or(&zero);
    let Some(value) = value.reshape(&[]) else {
        call.fail("the value is not one number")
    };
    let filled = few(sizes).then(|| value.expand(&shape)).flatten();
    match filled {
        Some(known) => vec![known.into()],
        None => vec![value.to_array().broadcast_to(&shape).into()],
    }
}

fn expand(call: &Call<'_>) -> Array {
    let (x, sizes) = (call.array(0), call.sizes(&call.host_ints(1)));
    match broadcast_shapes(&[x.shape(), &sizes]) {
        Some(shape) => x.broadcast_to(&shape),
        None => call.fail(&format!("{} does not broadcast with {sizes:?}", x.aval())),
    }
}

fn eye_like(call: &Call<'_>) -> Array {
    let like = call.required(0);
    let dtype = call.dtype("dtype").unwrap_or(like.dtype());
    match like.shape() {
        &[rows, columns] => Array::eye_with(rows, columns, call.int("k", 0) as isize, dtype),
        shape => call.fail(&format!("the shape {shape:?} is not that of a matrix")),
    }
}

fn range(call: &Call<'_>) -> Vec<Value> {
    let numbers = [0, 1, 2].map(|i| {
        call.required(i);
        call.optional_known(i).expect("it is required")
    });
    let dtypes = numbers.each_ref().map(|known| known.dtype);
    let dtype = dtypes[0];
    if dtypes != [dtype; 3] {
        let [start, limit, delta] = dtypes;
        call.fail(&format!(
            "start, limit and step are {start}, {limit} and {delta}, expected one dtype"
        ));
    }
    let range = if dtype.is_float() {
        floats(dtype, numbers.each_ref().map(|known| known.to_floats()[0]))
    } else {
        integers(dtype, numbers.each_ref().map(|known| known.to_ints()[0]))
    };
    match range {
        Some(range) => vec![range.into()],
        None => {
            let [start, limit, delta] = numbers.map(|known| known.to_floats()[0]);
            call.fail(&format!(
                "a step of {delta} never reaches {limit} from {start}"
            ))
        }
    }
}

/// Returns a range of floats, or `None` if it has no end.
fn floats(dtype: DType, [start, limit, delta]: [f64; 3]) -> Option<HostTensor> {
    // The formula of the specification; it also applies to a negative `delta`.
    let count = ((limit - start) / delta).ceil();
    if delta == 0.0 || count.is_nan() || count == f64::INFINITY {
        return None;
    }
    let count = count.max(0.0) as usize;
    let each = (0..count).map(|i| start + i as f64 * delta);
    Some(HostTensor::floats(dtype, &[count], each.collect()))
}

/// Returns a range of integers, or `None` if it has no end.
fn integers(dtype: DType, numbers: [i64; 3]) -> Option<HostTensor> {
    // The distance of 64-bit integers may exceed their range.
    let [start, limit, delta] = numbers.map(|number| match dtype {
        DType::U64 => i128::from(number.cast_unsigned()),
        _ => i128::from(number),
    });
    if delta == 0 {
        return None;
    }
    let distance = ((limit - start) * delta.signum()).max(0).unsigned_abs();
    let count = distance.div_ceil(delta.unsigned_abs()) as usize;
    let each = (0..count).map(|i| (start + i as i128 * delta) as i64);
    Some(HostTensor::ints(dtype, &[count], each.collect()))
}

/// Returns the shape that `Reshape` requests: 0 copies a size, and -1 stands for the rest.
fn reshaped(call: &Call<'_>) -> Vec<usize> {
    let shape = call.required(0).shape();
    let requested = call.host_ints(1);
    let copies = call.int("allowzero", 0) == 0;
    let copied = |(i, size): (usize, &i64)| match *size {
        0 if copies => shape.get(i).map_or(0, |n| *n as i64),
        size => size,
    };
    let mut sizes: Vec<i64> = requested.iter().enumerate().map(copied).collect();
    if let Some(rest) = sizes.iter().position(|size| *size == -1) {
        // The 1 leaves the product of the other sizes unchanged.
        sizes[rest] = 1;
        let others: i64 = sizes.iter().product();
        let total = shape.iter().product::<usize>() as i64;
        sizes[rest] = if others == 0 { 0 } else { total / others };
    }
    call.sizes(&sizes)
}

fn shape_of(call: &Call<'_>) -> Vec<Value> {
    let shape = call.required(0).shape();
    let ndim = shape.len() as i64;
    let bound = |name: &str, default: i64| {
        let at = call.int(name, default);
        let at = if at < 0 { at + ndim } else { at };
        at.clamp(0, ndim) as usize
    };
    let (start, end) = (bound("start", 0), bound("end", ndim));
    let sizes = shape.get(start..end).unwrap_or_default();
    vec![HostTensor::list(sizes.iter().map(|n| *n as i64)).into()]
}

fn split(call: &Call<'_>) -> Vec<Value> {
    let x = call.required(0);
    let axis = call.axis(0, x.shape().len());
    let size = x.shape()[axis];
    let sizes = match call.ints_of("split", 1) {
        Some(sizes) => call.sizes(&sizes),
        None => {
            // Equal parts, except for a smaller last one.
            let parts = call.int("num_outputs", call.outputs.len() as i64);
            let parts = call.at_least(1, "num_outputs", parts);
            let each = size.div_ceil(parts);
            (0..parts)
                .map(|i| each.min(size.saturating_sub(i * each)))
                .collect()
        }
    };
    let total: usize = sizes.iter().sum();
    if total != size {
        call.fail(&format!(
            "the sizes {sizes:?} add up to {total}, but axis {axis} has {size} elements"
        ));
    }
    let Value::Known(known) = x else {
        let parts = x.to_array().split_sizes(&sizes, axis as isize);
        return parts.into_iter().map(Value::from).collect();
    };
    let mut start = 0;
    let parts = sizes.iter().map(|size| {
        let part = start..start + size;
        start = part.end;
        let slice = ndarray::Slice::from(part);
        each!(known, |x| x.slice_axis(Axis(axis), slice).to_owned()).into()
    });
    parts.collect()
}

fn squeezed(call: &Call<'_>) -> Vec<usize> {
    let shape = call.required(0).shape();
    let axes = match call.ints_of("axes", 1) {
        Some(axes) => call.axes_of(Some(&axes), shape.len()),
        None => (0..shape.len()).filter(|d| shape[*d] == 1).collect(),
    };
    let kept = shape.iter().enumerate().filter(|(d, _)| !axes.contains(d));
    kept.map(|(_, size)| *size).collect()
}

fn unsqueezed(call: &Call<'_>) -> Vec<usize> {
    let shape = call.required(0).shape();
    let Some(axes) = call.ints_of("axes", 1) else {
        call.fail("the axes are missing");
    };
    let ndim = shape.len() + axes.len();
    let axes = call.axes_of(Some(&axes), ndim);
    // Inserted axes have size 1; the old sizes fill the others in order.
    let mut sizes = shape.iter();
    let size = |d: usize| {
        if axes.contains(&d) {
            1
        } else {
            sizes.next().copied().unwrap_or(1)
        }
    };
    (0..ndim).map(size).collect()
}

fn permutation(call: &Call<'_>) -> Vec<usize> {
    let ndim = call.required(0).shape().len();
    match call.ints("perm") {
        Some(order) => call.axes_of(Some(order), ndim),
        None => (0..ndim).rev().collect(),
    }
}

/// Moves blocks of features to space: `[n, c, h, w]` becomes `[n, c / b², h b, w b]`.
fn depth_to_space(call: &Call<'_>) -> Array {
    let x = call.array(0);
    let b = call.at_least(1, "blocksize", call.required_int("blocksize"));
    let &[n, c, h, w] = x.shape() else {
        call.fail(&format!("{} is not an image", x.aval()));
    };
    let depth = c / (b * b);
    // A feature is `(row, column, depth)` of a block in mode DCR, `(depth, row, column)` in CRD.
    // Both go to `[n, depth, h, row, w, column]`.
    let blocks = match call.text("mode", "DCR") {
        "CRD" => x
            .reshape(&[n, depth, b, b, h, w])
            .transpose(&[0, 1, 4, 2, 5, 3]),
        _ => x
            .reshape(&[n, b, b, depth, h, w])
            .transpose(&[0, 3, 4, 1, 5, 2]),
    };
    blocks.reshape(&[n, depth, h * b, w * b])
}

/// Moves blocks of space to features, the inverse of [`depth_to_space`].
fn space_to_depth(call: &Call<'_>) -> Array {
    let x = call.array(0);
    let b = call.at_least(1, "blocksize", call.required_int("blocksize"));
    let &[n, c, h, w] = x.shape() else {
        call.fail(&format!("{} is not an image", x.aval()));
    };
    let blocks = x.reshape(&[n, c, h / b, b, w / b, b]);
    // `[n, c, h, row, w, column]` → `[n, row, column, c, h, w]`.
    let blocks = blocks.transpose(&[0, 3, 5, 1, 2, 4]);
    blocks.reshape(&[n, c * b * b, h / b, w / b])
}
