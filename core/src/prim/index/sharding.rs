//! Sharding rules of gathers and scatters: they may be sharded along batch axes and whole slices,
//! so that no device needs the elements of another.

use super::{Gather, Scatter};
use crate::extend::ShardingRule;
use crate::types::sharding::{PartitionSpec, SpecEntry};
use crate::typing::Dims;
use crate::{Aval, ShapeError};

fn sharded(entry: &SpecEntry) -> bool {
    !entry.axes().is_empty()
}

/// Returns the common sharding of corresponding dimensions, if they agree; unsharded dimensions
/// agree with all.
fn agreed<'a>(entries: impl IntoIterator<Item = &'a SpecEntry>) -> Option<SpecEntry> {
    let mut found = SpecEntry::None;
    for entry in entries.into_iter().filter(|e| sharded(e)) {
        if sharded(&found) && found != *entry {
            return None;
        }
        found = entry.clone();
    }
    Some(found)
}

impl Gather {
    /// Implements the sharding rule of gathers. Batch dimensions of the indices, and dimensions
    /// of the operand that slices cover completely, correspond to those of the result. Indexed
    /// dimensions must not be sharded.
    pub(super) fn rule(
        &self,
        operand: Aval,
        indices: Aval,
        out: Aval,
    ) -> Result<ShardingRule, ShapeError> {
        let spec = self.spec(operand, indices, out.ndim()).ok_or_else(|| {
            ShapeError::new(format!(
                "Use `.at(...).out_sharding(...).get()` to provide the output PartitionSpec for the \
                 gather indexing as out sharding could not be resolved unambiguously (or would require \
                 collectives on inputs). Got operand={operand}, indices={indices}"
            ))
            .help("or unshard the indexed dimensions with `reshard`")
        })?;
        Ok(ShardingRule::Specs(vec![spec]))
    }

    fn spec(&self, operand: Aval, indices: Aval, rank: usize) -> Option<PartitionSpec> {
        let n = &self.dimension_numbers;
        let (of, at) = (operand.spec(), indices.spec());
        let whole = |d: usize| self.slice_sizes[d] == operand.shape()[d];
        let free = |d: &usize| whole(*d) || !sharded(of.entry(*d));
        if !n.start_index_map.iter().all(free) {
            return None;
        }
        let mut entries: Vec<SpecEntry> =
            (0..indices.ndim()).map(|d| at.entry(d).clone()).collect();
        for (d, entry) in entries.iter_mut().enumerate() {
            let pairs = n.operand_batching_dims.iter();
            let mut pairs = pairs.zip(&n.start_indices_batching_dims);
            match pairs.find(|(_, i)| **i == d) {
                Some((&o, _)) => *entry = agreed([&*entry, of.entry(o)])?,
                // The gradient would have to move elements between devices.
                None if sharded(entry) => return None,
                None => {}
            }
        }
        let dropped =
            |d: &usize| n.collapsed_slice_dims.contains(d) || n.operand_batching_dims.contains(d);
        let mut slices = (0..operand.ndim()).filter(|d| !dropped(d));
        let mut batch = entries.into_iter();
        let entry = |d: usize| {
            if n.offset_dims.contains(&d) {
                slices.next().map(|o| of.entry(o).clone())
            } else {
                batch.next()
            }
        };
        let out: Option<Vec<SpecEntry>> = (0..rank).map(entry).collect();
        Some(PartitionSpec::new(out?))
    }
}

impl Scatter {
    /// Implements the sharding rule of scatters. The result is sharded like the operand: batch
    /// dimensions and complete windows agree between all three arrays, and indexed dimensions
    /// must not be sharded.
    pub(super) fn rule(
        &self,
        operand: Aval,
        indices: Aval,
        updates: Aval,
    ) -> Result<ShardingRule, ShapeError> {
        let spec = self.spec(operand, indices, updates).ok_or_else(|| {
            ShapeError::new(format!(
                "the sharding of the scatter update could not be resolved unambiguously (or would \
                 require collectives on inputs). Got operand={operand}, indices={indices}, \
                 updates={updates}"
            ))
            .help(
                "unshard the indexed dimensions, and the indices, with `reshard`, or give the \
                 sharding of the result: x.at(i).out_sharding(spec).set(y)",
            )
        })?;
        Ok(ShardingRule::Specs(vec![spec]))
    }

    fn spec(&self, operand: Aval, indices: Aval, updates: Aval) -> Option<PartitionSpec> {
        let n = &self.dimension_numbers;
        let (of, at, by) = (operand.spec(), indices.spec(), updates.spec());
        let mut out: Vec<SpecEntry> = (0..operand.ndim()).map(|d| of.entry(d).clone()).collect();
        // Dimensions of the updates that are not windows correspond to those of the indices.
        let queries: Dims = (0..updates.ndim())
            .filter(|d| !n.update_window_dims.contains(d))
            .collect();
        let mut batched = Dims::new();
        let pairs = n.operand_batching_dims.iter();
        for (&o, &i) in pairs.zip(&n.scatter_indices_batching_dims) {
            let u = *queries.get(i)?;
            batched.push(u);
            out[o] = agreed([of.entry(o), at.entry(i), by.entry(u)])?;
        }
        let windows = (0..operand.ndim()).filter(|d| {
            !n.inserted_window_dims.contains(d) && !n.operand_batching_dims.contains(d)
        });
        for (&u, o) in n.update_window_dims.iter().zip(windows) {
            let (from, to) = (by.entry(u), of.entry(o));
            let whole = updates.shape()[u] == operand.shape()[o];
            if !whole && (sharded(from) || sharded(to)) {
                return None;
            }
            out[o] = agreed([from, to])?;
        }
        let inserted = n.inserted_window_dims.iter();
        let single = |u: &&usize| !batched.contains(u);
        let clear = inserted.map(|&d| of.entry(d)).all(|e| !sharded(e))
            && queries
                .iter()
                .filter(single)
                .all(|&u| !sharded(by.entry(u)))
            && (0..indices.ndim())
                .filter(|d| !n.scatter_indices_batching_dims.contains(d))
                .all(|d| !sharded(at.entry(d)));
        clear.then(|| PartitionSpec::new(out))
    }
}
