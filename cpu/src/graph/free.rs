//! The values that regions capture.

use crate::text::{Block, Operation, Type, ValueId};
use crate::{Error, Result};
use foldhash::{HashMap, HashSet, HashSetExt};
use std::collections::BTreeSet;

/// Largest depth of regions within regions.
const MAX_DEPTH: usize = 100;

/// Types of the values of a function by number.
pub type Types<'a> = HashMap<ValueId, &'a Type>;

/// Collects the types of all values of a block and its regions.
pub fn collect_types<'a>(block: &'a Block, types: &mut Types<'a>, depth: usize) -> Result<()> {
    let line = block.operations.first().map_or(1, |o| o.line);
    for (value, ty) in &block.arguments {
        check_size(ty, line, 0)?;
        types.insert(*value, ty);
    }
    for operation in &block.operations {
        if depth > MAX_DEPTH {
            let message = format!("regions are nested more than {MAX_DEPTH} times");
            return Err(Error::Unsupported {
                line: operation.line,
                message,
            });
        }
        for (value, ty) in &operation.results {
            check_size(ty, operation.line, 0)?;
            types.insert(*value, ty);
        }
        for region in &operation.regions {
            collect_types(region, types, depth + 1)?;
        }
    }
    Ok(())
}

/// Checks that arrays of a type fit into the address space.
fn check_size(ty: &Type, line: usize, depth: usize) -> Result<()> {
    match ty {
        Type::Tensor(tensor) if tensor.byte_size().is_none() => Err(Error::Text {
            line,
            message: format!("an array of type {tensor} exceeds the address space"),
        }),
        Type::Tuple(list) if depth < MAX_DEPTH => {
            list.iter().try_for_each(|t| check_size(t, line, depth + 1))
        }
        Type::Tuple(_) => Err(Error::Unsupported {
            line,
            message: format!("tuples are nested more than {MAX_DEPTH} times"),
        }),
        _ => Ok(()),
    }
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
