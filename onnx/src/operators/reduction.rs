//! Reductions over axes.

use super::{Operator, array};
use crate::call::{Call, signed};
use crate::known::{HostTensor, Numbers};
use ramie_core::{Array, DType};

pub(super) const OPERATORS: &[Operator] = &[
    array("ReduceL1", |c| {
        reduce(c, |x, axes| x.abs().reduce_sum(axes))
    })
    .needs(&[1]),
    array("ReduceL2", |c| {
        reduce(c, |x, axes| x.square().reduce_sum(axes).sqrt())
    })
    .needs(&[1]),
    array("ReduceLogSum", |c| {
        reduce(c, |x, axes| x.reduce_sum(axes).log())
    })
    .needs(&[1]),
    array("ReduceLogSumExp", |c| reduce(c, log_sum_exp)).needs(&[1]),
    array("ReduceMax", |c| reduce(c, Array::reduce_max))
        .needs(&[1])
        .on_host(|c| known(c, i64::max, u64::max, f64::max)),
    array("ReduceMean", |c| reduce(c, mean)).needs(&[1]),
    array("ReduceMin", |c| reduce(c, Array::reduce_min))
        .needs(&[1])
        .on_host(|c| known(c, i64::min, u64::min, f64::min)),
    array("ReduceProd", |c| reduce(c, Array::reduce_prod))
        .needs(&[1])
        .on_host(|c| known(c, i64::wrapping_mul, u64::wrapping_mul, |a, b| a * b)),
    array("ReduceSum", |c| reduce(c, Array::reduce_sum))
        .needs(&[1])
        .on_host(|c| known(c, i64::wrapping_add, u64::wrapping_add, |a, b| a + b)),
    array("ReduceSumSquare", |c| {
        reduce(c, |x, axes| x.square().reduce_sum(axes))
    })
    .needs(&[1]),
];

/// Reduces the axes of a node with a function that removes them.
fn reduce(call: &Call<'_>, f: fn(&Array, &[isize]) -> Array) -> Array {
    let x = call.array(0);
    let listed = call.ints_of("axes", 1).filter(|axes| !axes.is_empty());
    if listed.is_none() && call.int("noop_with_empty_axes", 0) != 0 {
        return f(&x, &[]);
    }
    let axes = signed(&call.axes_of(listed.as_deref(), x.ndim()));
    // Sums of 16-bit floats are accumulated in 32 bits.
    let narrow = matches!(x.dtype(), DType::F16 | DType::BF16);
    let wide = if narrow {
        x.astype(DType::F32)
    } else {
        x.clone()
    };
    let out = f(&wide, &axes).astype(x.dtype());
    match call.int("keepdims", 1) {
        0 => out,
        _ => {
            let mut axes = axes;
            axes.sort_unstable();
            out.expand_dims(&axes)
        }
    }
}

fn mean(x: &Array, axes: &[isize]) -> Array {
    let count: usize = axes.iter().map(|axis| x.shape()[*axis as usize]).product();
    let sum = x.reduce_sum(axes);
    if x.dtype().is_float() {
        sum / count as f64
    } else {
        (sum.astype(DType::F64) / count as f64).astype(x.dtype())
    }
}

fn log_sum_exp(x: &Array, axes: &[isize]) -> Array {
    let count: usize = axes.iter().map(|axis| x.shape()[*axis as usize]).product();
    match count {
        // The logarithm of an empty sum.
        0 => x.reduce_sum(axes).log(),
        _ => x.logsumexp(axes),
    }
}

/// Reduces all elements of a known vector. `uints` reduces unsigned integers of 64 bits.
fn known(
    call: &Call<'_>,
    ints: fn(i64, i64) -> i64,
    uints: fn(u64, u64) -> u64,
    floats: fn(f64, f64) -> f64,
) -> Option<HostTensor> {
    let x = call.known(0)?;
    let listed = call.ints_of("axes", 1).filter(|axes| !axes.is_empty());
    let is_identity = listed.is_none() && call.int("noop_with_empty_axes", 0) != 0;
    if x.shape().len() != 1 || is_identity || call.axes_of(listed.as_deref(), 1).len() != 1 {
        return None;
    }
    let shape: &[usize] = if call.int("keepdims", 1) == 0 {
        &[]
    } else {
        &[1]
    };
    let total = match &x.numbers {
        Numbers::Floats(v) => {
            let total = v.iter().copied().reduce(floats)?;
            return HostTensor::floats(DType::F64, shape, vec![total]).cast(x.dtype);
        }
        Numbers::Ints(v) if x.dtype == DType::U64 => {
            let unsigned = v.iter().map(|n| n.cast_unsigned());
            unsigned.reduce(uints)?.cast_signed()
        }
        Numbers::Ints(v) => v.iter().copied().reduce(ints)?,
    };
    HostTensor::ints(DType::I64, shape, vec![total]).cast(x.dtype)
}
