//! The values that regions capture.

use crate::text::{Block, Operation, Type, ValueId};
use crate::{Error, Result};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Largest depth of regions within regions.
const MAX_DEPTH: usize = 100;

/// Types of the values of a function by number.
pub type Types<'a> = HashMap<ValueId, &'a Type>;

/// Collects the types of all values of a block and its regions.
pub fn collect_types<'a>(block: &'a Block, types: &mut Types<'a>, depth: usize) -> Result<()> {
    types.extend(block.arguments.iter().map(|(v, t)| (*v, t)));
    for operation in &block.operations {
        if depth > MAX_DEPTH {
            let message = format!("regions are nested more than {MAX_DEPTH} times");
            return Err(Error::Unsupported {
                line: operation.line,
                message,
            });
        }
        types.extend(operation.results.iter().map(|(v, t)| (*v, t)));
        for region in &operation.regions {
            collect_types(region, types, depth + 1)?;
        }
    }
    Ok(())
}

/// Returns the values that the regions of an operation use and do not define, in ascending order.
pub fn captured(operation: &Operation) -> Vec<ValueId> {
    let (mut used, mut defined) = (BTreeSet::new(), HashSet::new());
    for region in &operation.regions {
        collect_uses(region, &mut used, &mut defined);
    }
    used.into_iter().filter(|v| !defined.contains(v)).collect()
}

fn collect_uses(block: &Block, used: &mut BTreeSet<ValueId>, defined: &mut HashSet<ValueId>) {
    defined.extend(block.arguments.iter().map(|(v, _)| *v));
    for operation in &block.operations {
        used.extend(operation.operands.iter().copied());
        defined.extend(operation.results.iter().map(|(v, _)| *v));
        for region in &operation.regions {
            collect_uses(region, used, defined);
        }
    }
}
