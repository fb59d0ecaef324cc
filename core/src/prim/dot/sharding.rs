//! The sharding rule of products.

use super::{DotDimensionNumbers, DotGeneral};
use crate::extend::ShardingRule;
use crate::sharding::AxisName;
use crate::types::sharding::{PartitionSpec, SpecEntry};
use crate::{Aval, ShapeError};

/// Formats entries of a spec as a Python tuple.
fn tuple(spec: &PartitionSpec, dims: &[usize]) -> String {
    let entries: Vec<String> = dims.iter().map(|&d| spec.entry(d).to_string()).collect();
    match &entries[..] {
        [one] => format!("({one},)"),
        many => format!("({})", many.join(", ")),
    }
}

fn sharded(entry: &SpecEntry) -> bool {
    !entry.axes().is_empty()
}

/// Returns whether corresponding dimensions are sharded differently.
fn differ(lhs: &PartitionSpec, l: &[usize], rhs: &PartitionSpec, r: &[usize]) -> bool {
    l.iter().zip(r).any(|(&l, &r)| {
        let (l, r) = (lhs.entry(l), rhs.entry(r));
        sharded(l) && sharded(r) && l != r
    })
}

impl DotGeneral {
    /// Implements the sharding rule: the result has the shardings of the batch and free
    /// dimensions. If both operands are sharded along a contracted dimension, the caller must
    /// pass the sharding of the result.
    pub(super) fn rule(&self, lhs: Aval, rhs: Aval) -> Result<ShardingRule, ShapeError> {
        let n = &self.dimension_numbers;
        let (l, r) = (lhs.spec(), rhs.spec());
        let contracting = [tuple(&l, &n.lhs_contracting), tuple(&r, &n.rhs_contracting)];
        if let Some(out) = self.out_sharding {
            check_unreduced(n, &l, &r, out.spec().unreduced(), &contracting)?;
            return Ok(ShardingRule::Specs(vec![out.spec().clone()]));
        }
        if differ(&l, &n.lhs_batch, &r, &n.rhs_batch) {
            return Err(ShapeError::new(format!(
                "dot_general requires lhs batch dimensions and rhs batch dimensions to have the \
                 same sharding, got {} and {}.",
                tuple(&l, &n.lhs_batch),
                tuple(&r, &n.rhs_batch)
            ))
            .help("reshard one of the operands to the other's sharding with `reshard`"));
        }
        let summed = n.lhs_contracting.iter().zip(&n.rhs_contracting);
        let mut summed = summed.map(|(&l_at, &r_at)| (l.entry(l_at), r.entry(r_at)));
        if summed.any(|(l, r)| sharded(l) && sharded(r)) {
            return Err(ShapeError::new(format!(
                "Contracting dimensions are sharded and it is ambiguous how the output should be \
                 sharded. Please specify the output sharding via the `out_sharding` parameter. Got \
                 lhs_contracting_spec={} and rhs_contracting_spec={}",
                contracting[0], contracting[1]
            ))
            .help(
                "pass the sharding of the result, as in x.matmul_with(&w, P![...]): a result sharded \
                 along the same axis needs a reduce-scatter, an unsharded one an all-reduce",
            ));
        }
        let batch = n.lhs_batch.iter().zip(&n.rhs_batch);
        let batch = batch.map(|(&l_at, &r_at)| match l.entry(l_at) {
            SpecEntry::None => r.entry(r_at).clone(),
            entry => entry.clone(),
        });
        let left = n
            .lhs_free(lhs.ndim())
            .into_iter()
            .map(|d| l.entry(d).clone());
        let right = n
            .rhs_free(rhs.ndim())
            .into_iter()
            .map(|d| r.entry(d).clone());
        let spec = PartitionSpec::new(batch.chain(left).chain(right));
        Ok(ShardingRule::Specs(vec![spec]))
    }
}

/// Checks that an unreduced result is unreduced over exactly the axes of the contracted
/// dimensions.
fn check_unreduced(
    n: &DotDimensionNumbers,
    l: &PartitionSpec,
    r: &PartitionSpec,
    unreduced: &[AxisName],
    contracting: &[String; 2],
) -> Result<(), ShapeError> {
    if unreduced.is_empty() {
        return Ok(());
    }
    let axes = |spec: &PartitionSpec, dims: &[usize]| -> Vec<AxisName> {
        let axes = dims.iter().flat_map(|&d| spec.entry(d).axes());
        axes.copied().collect()
    };
    let mut summed = axes(l, &n.lhs_contracting);
    if summed != axes(r, &n.rhs_contracting) {
        return Err(ShapeError::new(format!(
            "lhs and rhs contracting dims should be sharded identically when out_sharding mentions \
             unreduced axes. Got lhs_contracting_spec={}, rhs_contracting_spec={}",
            contracting[0], contracting[1]
        ))
        .help("reshard one of the operands to the other's sharding with `reshard`"));
    }
    summed.sort_unstable();
    if summed != unreduced {
        return Err(ShapeError::new(format!(
            "out_sharding's unreduced axes should be equal to the contracting specs. Got unreduced \
             axes={unreduced:?} and contracting spec={}",
            contracting[0]
        ))
        .help("set the unreduced axes to those of the contracted dimensions"));
    }
    Ok(())
}
