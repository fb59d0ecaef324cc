//! Losses of classifiers.

use super::{Operator, array, only, values};
use crate::call::{Call, Value};
use crate::file::Node;
use ramie_core::{Array, DType, where_};

pub(super) const OPERATORS: &[Operator] = &[
    array("NegativeLogLikelihoodLoss", |c| likelihood(c, &c.array(0))).limits(reductions),
    values("SoftmaxCrossEntropyLoss", |c| {
        let logs = c.array(0).log_softmax(1);
        let loss: Value = likelihood(c, &logs).into();
        vec![loss, logs.into()]
    })
    .limits(reductions),
];

fn reductions(node: &Node, _: i64) -> Result<(), String> {
    only(node, "reduction", "mean", &["none", "sum", "mean"])
}

/// Returns the negative logarithms of the probabilities of the labels, each multiplied by the weight
/// of its class, or their sum or weighted mean. The classes are axis 1 of `logs`.
fn likelihood(call: &Call<'_>, logs: &Array) -> Array {
    let labels = call.array(1).astype(DType::I64);
    let ignored = call
        .attribute("ignore_index")
        .map(|_| call.int("ignore_index", 0));
    let counts = match ignored {
        Some(ignored) => labels.ne(ignored),
        None => Array::full(labels.shape(), true, DType::Bool),
    };
    let labels = where_(&counts, &labels, 0);
    let weights = match call.optional(2) {
        Some(weights) => weights.take(&labels, 0),
        None => Array::ones(labels.shape(), logs.dtype()),
    };
    let weights = where_(&counts, weights, 0);
    let picked = logs
        .take_along_axis(&labels.expand_dims(&[1]), 1)
        .squeeze(&[1]);
    // The logarithm of an impossible class that does not count is infinite.
    let losses = where_(weights.eq(0), 0, -(picked * &weights));
    match call.text("reduction", "mean") {
        "none" => losses,
        "sum" => losses.sum(),
        _ => losses.sum() / weights.sum(),
    }
}
