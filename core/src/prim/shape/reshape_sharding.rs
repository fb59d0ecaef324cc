//! Sharding of reshaped arrays, whose dimensions are kept, split or merged.

use crate::sharding::AxisName;
use crate::types::sharding::{AbstractMesh, PartitionSpec, SpecEntry};
use crate::typing::Dims;
use crate::{Aval, ShapeError};
use std::ops::Range;

/// Returns the spec of `operand` with the shape `new_sizes`, if it is unambiguous.
///
/// The mesh axes of a dimension that is split are assigned to its parts in order, as many to each
/// as divide its size. The mesh axes of merged dimensions shard the merged dimension, if the
/// sharded ones come first. Dimensions of size 1 may be added and removed.
pub(super) fn reshaped_spec(
    operand: Aval,
    new_sizes: &[usize],
) -> Result<PartitionSpec, ShapeError> {
    let Some(sharding) = operand.sharding() else {
        return Ok(PartitionSpec::default());
    };
    let spec = sharding.spec();
    let refuse = || {
        let sizes: Vec<String> = new_sizes.iter().map(usize::to_string).collect();
        ShapeError::new(format!(
            "This reshape is not supported. Please specify the sharding of the output via the \
             `out_sharding` argument. Got operand type: {operand:#}, new sizes: ({})",
            sizes.join(", ")
        ))
        .help("pass the sharding of the result with `reshape_with(shape, P![...])`")
    };
    let longer =
        |sizes: &[usize]| -> Dims { (0..sizes.len()).filter(|&d| sizes[d] != 1).collect() };
    let (from, to) = (longer(operand.shape()), longer(new_sizes));
    let sizes = |dims: &Dims, all: &[usize]| -> Dims { dims.iter().map(|&d| all[d]).collect() };
    let pieces = pieces(&sizes(&from, operand.shape()), &sizes(&to, new_sizes));
    let mut entries = vec![SpecEntry::None; new_sizes.len()];
    for (ins, outs) in pieces.ok_or_else(refuse)? {
        let given: Vec<&SpecEntry> = from[ins].iter().map(|&d| spec.entry(d)).collect();
        let outs = &to[outs];
        if given.iter().all(|e| e.axes().is_empty()) {
            continue;
        }
        if let ([entry], [out]) = (&given[..], outs) {
            entries[*out] = (*entry).clone();
            continue;
        }
        // One dimension is split, or several are merged.
        if given.len() > 1 && outs.len() > 1 {
            return Err(refuse());
        }
        let sharded = given.iter().take_while(|e| !e.axes().is_empty()).count();
        if given[sharded..].iter().any(|e| !e.axes().is_empty()) {
            return Err(refuse());
        }
        let axes: Vec<AxisName> = given.iter().flat_map(|e| e.axes()).copied().collect();
        let shares = shares(sharding.mesh(), &axes, &sizes(&outs.into(), new_sizes));
        for (out, share) in outs.iter().zip(shares.ok_or_else(refuse)?) {
            entries[*out] = SpecEntry::from(share);
        }
    }
    Ok(PartitionSpec::new(entries))
}

/// Returns the smallest corresponding runs of dimensions of both shapes, which contain the same
/// elements; `None` if the shapes have no elements and differ.
fn pieces(from: &[usize], to: &[usize]) -> Option<Vec<(Range<usize>, Range<usize>)>> {
    let mut out = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < from.len() || j < to.len() {
        let (start_i, start_j) = (i, j);
        let (mut left, mut right) = (*from.get(i)?, *to.get(j)?);
        (i, j) = (i + 1, j + 1);
        while left != right {
            if left < right {
                left *= *from.get(i)?;
                i += 1;
            } else {
                right *= *to.get(j)?;
                j += 1;
            }
        }
        out.push((start_i..i, start_j..j));
    }
    Some(out)
}

/// Returns the mesh axes assigned to each of the sizes, in order.
fn shares<'a>(
    mesh: AbstractMesh,
    mut axes: &'a [AxisName],
    sizes: &[usize],
) -> Option<Vec<&'a [AxisName]>> {
    let mut out = Vec::new();
    for &size in sizes {
        let (mut rest, mut taken) = (size, 0);
        while rest > 1
            && let Some(name) = axes.get(taken)
        {
            let parts = mesh.axis_size(*name)?;
            if !rest.is_multiple_of(parts) {
                return None;
            }
            rest /= parts;
            taken += 1;
        }
        let (share, others) = axes.split_at(taken);
        out.push(share);
        axes = others;
    }
    axes.is_empty().then_some(out)
}
