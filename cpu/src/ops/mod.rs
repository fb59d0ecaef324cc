//! The table of operations: how each is read, which types it has, and how it is computed.
#![allow(
    clippy::unnecessary_cast,
    reason = "macros repeat casts for all element types"
)]

mod accuracy;
mod arrays;
mod collective;
mod control;
mod convolution;
mod device;
mod dot;
mod elementwise;
mod fft;
mod householder;
mod identities;
mod indexing;
mod linear;
mod lines;
mod manual;
mod patches;
mod picking;
mod pooling;
mod ragged;
mod random;
mod reduce;
mod region;
mod scan;
mod select;
mod selection;
mod shape;
mod sort;
mod window;

use crate::graph::{Entry, Operation, Source};
use crate::{Result, TensorType};
use foldhash::HashMap;
use std::sync::{Arc, LazyLock};

/// The result of reading an operation.
pub type Read = Result<Arc<dyn Operation>>;

/// Operations that are no rows of the elementwise table.
const ENTRIES: &[(&str, fn(&Source<'_>) -> Read)] = &[
    ("stablehlo.compare", select::compare),
    ("stablehlo.select", select::select),
    ("stablehlo.clamp", select::clamp),
    ("stablehlo.convert", select::convert),
    ("stablehlo.reduce_precision", select::reduce_precision),
    ("chlo.next_after", select::next_after),
    ("stablehlo.broadcast_in_dim", shape::broadcast_in_dim),
    ("stablehlo.reshape", shape::reshape),
    ("stablehlo.transpose", shape::transpose),
    ("stablehlo.slice", shape::read_slice),
    ("stablehlo.reverse", shape::read_reverse),
    ("stablehlo.bitcast_convert", shape::bitcast_convert),
    ("stablehlo.constant", arrays::constant),
    ("chlo.constant", arrays::constant),
    ("stablehlo.iota", arrays::iota),
    ("stablehlo.pad", arrays::read_pad),
    ("stablehlo.concatenate", arrays::concatenate),
    ("stablehlo.dynamic_slice", arrays::dynamic_slice),
    (
        "stablehlo.dynamic_update_slice",
        arrays::dynamic_update_slice,
    ),
    ("stablehlo.reduce", reduce::reduce),
    ("stablehlo.dot_general", dot::dot_general),
    ("stablehlo.convolution", convolution::convolution),
    ("stablehlo.gather", indexing::gather),
    ("stablehlo.scatter", indexing::scatter),
    ("stablehlo.reduce_window", window::reduce_window),
    (
        "stablehlo.select_and_scatter",
        selection::select_and_scatter,
    ),
    ("stablehlo.map", window::map),
    ("stablehlo.sort", sort::sort),
    ("chlo.top_k", sort::top_k),
    ("stablehlo.fft", fft::fft),
    ("stablehlo.cholesky", linear::cholesky),
    ("stablehlo.triangular_solve", linear::triangular_solve),
    ("stablehlo.rng_bit_generator", random::rng_bit_generator),
    ("stablehlo.all_reduce", collective::all_reduce),
    ("stablehlo.all_gather", collective::all_gather),
    ("stablehlo.reduce_scatter", collective::reduce_scatter),
    ("stablehlo.all_to_all", collective::all_to_all),
    ("stablehlo.collective_permute", collective::permute),
    ("stablehlo.collective_broadcast", collective::broadcast),
    ("sdy.manual_computation", manual::manual_computation),
    ("stablehlo.partition_id", device::device_number),
    ("stablehlo.replica_id", device::device_number),
    ("stablehlo.get_dimension_size", device::dimension_size),
    ("stablehlo.custom_call", device::custom_call),
    ("stablehlo.while", control::read_while),
    ("stablehlo.case", control::case),
    ("stablehlo.if", control::case),
];

/// The operations by name.
pub static TABLE: LazyLock<HashMap<&str, Entry>> = LazyLock::new(|| {
    let rows = elementwise::ROWS.iter().map(|row| Entry {
        name: row.name,
        read: elementwise::read,
    });
    let others = ENTRIES
        .iter()
        .map(|(name, read)| Entry { name, read: *read });
    rows.chain(others)
        .map(|entry| (entry.name, entry))
        .collect()
});

fn lift(operation: impl Operation) -> Read {
    Ok(Arc::new(operation))
}

/// Types separated by commas.
struct List<'a>(&'a [TensorType]);

impl std::fmt::Display for List<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (i, ty) in self.0.iter().enumerate() {
            let separator = if i > 0 { ", " } else { "" };
            write!(f, "{separator}{ty}")?;
        }
        Ok(())
    }
}
