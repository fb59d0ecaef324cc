//! The table of operations: how each is read, which types it has, and how it is computed.

mod elementwise;
mod select;

use crate::graph::{Entry, Operation, Source};
use crate::{Result, TensorType};
use std::collections::HashMap;
use std::sync::Arc;

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
];

/// Returns the table of operations by name.
pub fn table() -> HashMap<&'static str, Entry> {
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
}

fn lift(operation: impl Operation) -> Read {
    Ok(Arc::new(operation))
}

/// Returns types separated by commas.
fn list(types: &[TensorType]) -> String {
    types
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}
