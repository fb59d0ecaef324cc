//! Normalization, and dropout, which does nothing in inference.

use super::{Operator, array, values};
use crate::call::{Call, Value, signed};
use ramie_core::{Array, DType, where_};

pub(super) const OPERATORS: &[Operator] = &[
    values("BatchNormalization", batch_norm).limits(|node, opset| {
        // Version 9 removed the attribute.
        match node.int("spatial", 1)? {
            0 if opset < 9 => Err("`spatial` is 0, supported is 1".into()),
            _ => Ok(()),
        }
    }),
    values("Dropout", dropout).needs(&[1, 2]),
    array("GroupNormalization", group_norm),
    array("InstanceNormalization", |c| {
        let x = c.array(0);
        let axes: Vec<isize> = (2..x.ndim() as isize).collect();
        let y = standardized(&x, &axes, c.float("epsilon", 1e-5)).0;
        y * of_features(&c.array(1), x.ndim()) + of_features(&c.array(2), x.ndim())
    }),
    values("LayerNormalization", layer_norm),
    array("LpNormalization", |c| {
        let x = c.array(0);
        let axis = [c.axis(-1, x.ndim()) as isize];
        let norm = match c.int("p", 2) {
            1 => x.abs().reduce_sum(&axis),
            _ => x.square().reduce_sum(&axis).sqrt(),
        };
        // Rows of zeros remain zeros.
        let norm = where_(norm.eq(0), 1, &norm);
        x / norm.expand_dims(&axis)
    })
    .limits(|node, _| match node.int("p", 2)? {
        1 | 2 => Ok(()),
        p => Err(format!("`p` is {p}, supported are 1 and 2")),
    }),
    array("MeanVarianceNormalization", |c| {
        let x = c.array(0);
        let axes = c.axes_of(Some(c.ints("axes").unwrap_or(&[0, 2, 3])), x.ndim());
        let mut axes = signed(&axes);
        axes.sort_unstable();
        // The difference of two mean squares would be rounded, even below 0.
        let centered = &x - x.mean_over(&axes).expand_dims(&axes);
        let deviation = centered.square().mean_over(&axes).expand_dims(&axes).sqrt();
        centered / (deviation + 1e-9)
    }),
    array("RMSNormalization", |c| {
        let x = c.array(0);
        let axes = last_axes(c, &x);
        let wide = wide(&x);
        let square = wide.square().mean_over(&axes).expand_dims(&axes);
        let y = wide * (square + c.float("epsilon", 1e-5)).rsqrt();
        y.astype(x.dtype()) * c.array(1)
    }),
];

/// Returns an array in at least 32 bits.
fn wide(x: &Array) -> Array {
    match x.dtype() {
        DType::F64 => x.clone(),
        _ => x.astype(DType::F32),
    }
}

/// Returns the elements with mean 0 and variance 1 over axes, with the mean and the inverse of the
/// standard deviation.
fn standardized(x: &Array, axes: &[isize], epsilon: f64) -> (Array, Array, Array) {
    let mean = x.mean_over(axes).expand_dims(axes);
    let centered = x - &mean;
    let variance = centered.square().mean_over(axes).expand_dims(axes);
    let inverse = (variance + epsilon).rsqrt();
    (centered * &inverse, mean, inverse)
}

/// Adds axes of size 1 after a vector of the features, which are the second axis of images.
fn of_features(x: &Array, ndim: usize) -> Array {
    let axes: Vec<isize> = (1..ndim as isize - 1).collect();
    x.expand_dims(&axes)
}

fn batch_norm(call: &Call<'_>) -> Vec<Value> {
    let x = call.array(0);
    let [scale, bias, mean, variance] = [1, 2, 3, 4].map(|i| call.array(i));
    let epsilon = call.float("epsilon", 1e-5);
    let apply = |mean: &Array, variance: &Array| {
        let factor = &scale * (variance + epsilon).rsqrt().astype(scale.dtype());
        let shifted = &x - of_features(mean, x.ndim()).astype(x.dtype());
        let y = shifted * of_features(&factor, x.ndim()) + of_features(&bias, x.ndim());
        y.astype(x.dtype())
    };
    if call.int("training_mode", 0) == 0 {
        return vec![apply(&mean, &variance).into()];
    }
    let axes: Vec<isize> = (0..x.ndim() as isize).filter(|axis| *axis != 1).collect();
    let (now, spread) = (x.mean_over(&axes[..]), x.var_over(&axes[..]));
    let momentum = call.float("momentum", 0.9);
    let running = |old: &Array, new: &Array| old * momentum + new * (1.0 - momentum);
    let y = apply(&now, &spread);
    vec![
        y.into(),
        running(&mean, &now).into(),
        running(&variance, &spread).into(),
    ]
}

fn dropout(call: &Call<'_>) -> Vec<Value> {
    let x = call.required(0);
    let is_training = call.optional_ints(2).is_some_and(|mode| mode[0] != 0);
    let ratio = call.known(1).map_or(0.5, |ratio| ratio.to_floats()[0]);
    if is_training && ratio != 0.0 {
        call.fail("dropout in training mode is not supported");
    }
    let kept = Array::full(x.shape(), true, DType::Bool);
    vec![x.clone(), kept.into()]
}

fn group_norm(call: &Call<'_>) -> Array {
    let (x, scale, bias) = (call.array(0), call.array(1), call.array(2));
    let groups = call.at_least(1, "num_groups", call.required_int("num_groups"));
    let &[n, features, ..] = x.shape() else {
        call.fail(&format!("{} has no features", x.aval()));
    };
    let wide = wide(&x).reshape(&[n, groups, x.size() / (n * groups).max(1)]);
    let y = standardized(&wide, &[2], call.float("epsilon", 1e-5)).0;
    let y = y.astype(x.dtype()).reshape(x.shape());
    // Before version 21, each group has one scale and one bias.
    let each = |v: Array| {
        if v.size() == features {
            of_features(&v, x.ndim())
        } else {
            of_features(&v.repeat(features / groups, 0), x.ndim())
        }
    };
    y * each(scale) + each(bias)
}

/// Returns the axes from the attribute `axis` on.
fn last_axes(call: &Call<'_>, x: &Array) -> Vec<isize> {
    (call.axis(-1, x.ndim()) as isize..x.ndim() as isize).collect()
}

fn layer_norm(call: &Call<'_>) -> Vec<Value> {
    let x = call.array(0);
    let axes = last_axes(call, &x);
    let (y, mean, inverse) = standardized(&wide(&x), &axes, call.float("epsilon", 1e-5));
    let y = y.astype(x.dtype()) * call.array(1);
    let y = match call.optional(2) {
        Some(bias) => y + bias,
        None => y,
    };
    vec![y.into(), mean.into(), inverse.into()]
}
