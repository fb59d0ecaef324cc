//! The projections of an attention layer.

use crate::LinearGeneral;
use ramie_core::{Array, PartitionSpec};

/// Applies a projection, with the result sharded if the call sets a sharding.
#[track_caller]
pub(super) fn project(
    x: &Array,
    projection: &LinearGeneral,
    sharding: Option<&PartitionSpec>,
) -> Array {
    match sharding {
        Some(sharding) => projection.forward_with(x, sharding.clone()),
        None => projection.forward(x),
    }
}

/// Applies the projection of the inputs of queries, keys or values, after a check of their features.
#[track_caller]
pub(super) fn project_inputs(
    what: &str,
    x: &Array,
    projection: &LinearGeneral,
    sharding: Option<&PartitionSpec>,
) -> Array {
    let expected = projection.kernel.shape()[0];
    assert!(
        x.ndim() >= 2 && x.shape()[x.ndim() - 1] == expected,
        "MultiHeadAttention: inputs of {what} are {}, expected [batch.., length, {expected}]\n  \
         kernel {}\n  help: create the layer with the features of its inputs: in_features, and \
         in_kv_features for keys and values",
        x.aval(),
        projection.kernel.aval()
    );
    project(x, projection, sharding)
}
