//! Batching of convolutions: the batch axis is merged into the batch or the features.

use super::ConvGeneralDilated;
use super::transpose::{merge_axis, split_axis};
use crate::Array;
use crate::prim::{Batched, batched};
use crate::program::trace::bind1;
use crate::typing::Dims;

/// Merges axis `from` into axis `at` (counted without `from`), inside the groups into which the
/// axis is divided.
fn merge_inside(x: &Array, from: usize, at: usize, groups: usize) -> Array {
    if groups == 1 {
        return merge_axis(x, from, at);
    }
    let split = split_axis(x, at + usize::from(from <= at), groups);
    let from = from + usize::from(at < from);
    let merged = merge_axis(&split, from, at + 1);
    merge_axis(&merged, at, at)
}

impl ConvGeneralDilated {
    /// Implements the batching rule.
    pub(super) fn batched(
        &self,
        lhs: &Array,
        rhs: &Array,
        axes: &[Option<usize>],
        size: usize,
    ) -> Batched {
        let n = &self.dimension_numbers;
        let example = |x: &Array, axis: Option<usize>| -> Dims {
            let dims = x.shape().iter().copied().enumerate();
            dims.filter(|(d, _)| Some(*d) != axis)
                .map(|p| p.1)
                .collect()
        };
        if size == 0 {
            // Without examples, merging them into another axis would lose its size.
            let image = lhs.aval().with_shape(&example(lhs, axes[0]));
            let shape = self.shape(image, &example(rhs, axes[1]));
            let mut shape = shape.expect("the shapes of one example fit");
            shape.insert(0, 0);
            let zeros = Array::zeros(&shape, self.result_type(lhs.dtype()));
            return batched(zeros, Some(0));
        }
        let mut convolution = self.clone();
        match (axes[0], axes[1]) {
            (Some(l), Some(r)) => {
                let lhs = if self.batch_group_count > 1 {
                    convolution.batch_group_count *= size;
                    merge_axis(lhs, l, n.lhs.batch)
                } else {
                    convolution.feature_group_count *= size;
                    merge_axis(lhs, l, n.lhs.feature)
                };
                let rhs = merge_axis(rhs, r, n.rhs.output);
                let out = bind1(convolution, &[&lhs, &rhs]);
                let out = split_axis(&out, n.out.feature, size);
                batched(out, Some(n.out.feature))
            }
            (Some(l), None) => {
                let lhs = merge_inside(lhs, l, n.lhs.batch, self.batch_group_count);
                let out = bind1(convolution, &[&lhs, rhs]);
                batched(split_axis(&out, n.out.batch, size), Some(n.out.batch))
            }
            (None, r) => {
                let r = r.expect("a batched operand");
                let (groups, at) = (self.groups(), n.out.feature);
                let rhs = merge_inside(rhs, r, n.rhs.output, groups);
                let out = bind1(convolution, &[lhs, &rhs]);
                if groups == 1 {
                    return batched(split_axis(&out, at, size), Some(at));
                }
                // Features are ordered by group, then by example, then within the group.
                let out = split_axis(&out, at, groups);
                let out = split_axis(&out, at + 1, size);
                batched(merge_axis(&out, at, at + 1), Some(at))
            }
        }
    }
}
