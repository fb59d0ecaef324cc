//! Cotangents of a convolution's operands, which are convolutions themselves.
//!
//! Apart from spatial axes, a convolution is a matrix product, `[m, j] [j, k] → [m, k]` with the
//! batch `m` and the features `j` and `k`; its cotangents are `[m, k] [k, j]` and
//! `[j, m] [m, k]`. Groups of features become groups of the batch, or of the other operand's
//! features, in a cotangent.

use super::padding::{dilated, lhs_cotangent_padding, rhs_cotangent_padding};
use super::{ConvGeneralDilated, Pads};
use crate::program::trace::bind1;
use crate::sharding::OutSharding;
use crate::typing::Dims;
use crate::{Array, Aval};

/// Splits axis `at` in two, the first of `outer` elements.
pub(super) fn split_axis(x: &Array, at: usize, outer: usize) -> Array {
    let mut shape: Dims = x.shape().into();
    let inner = shape[at] / outer;
    shape[at] = outer;
    shape.insert(at + 1, inner);
    x.reshape(&shape)
}

/// Merges axis `from` into another axis as its outer part; `to` is that axis's index after
/// removing `from`.
pub(super) fn merge_axis(x: &Array, from: usize, to: usize) -> Array {
    let moved = x.move_axis(from as isize, to as isize);
    let mut shape: Dims = moved.shape().into();
    let outer = shape.remove(to);
    shape[to] *= outer;
    moved.reshape(&shape)
}

/// Returns the kernel with its spatial axes reversed.
pub(crate) fn turned(kernel: &Array, spatial: &[usize]) -> Array {
    if spatial.is_empty() {
        return kernel.clone();
    }
    let axes: Vec<isize> = spatial.iter().map(|&d| d as isize).collect();
    kernel.flip(&axes)
}

impl ConvGeneralDilated {
    /// Returns the paddings of all spatial axes by `rule`, from the sizes of operand, window and
    /// result with dilation.
    fn cotangent_padding(
        &self,
        [lhs, rhs, out]: [&[usize]; 3],
        rule: fn(usize, usize, usize, (isize, isize)) -> (isize, isize),
    ) -> Pads {
        let n = &self.dimension_numbers;
        let lhs = n.lhs.spatial_sizes(lhs);
        let rhs = n.rhs.spatial_sizes(rhs);
        let out = n.out.spatial_sizes(out);
        (0..self.padding.len())
            .map(|i| {
                rule(
                    dilated(lhs[i], self.lhs_dilation[i]),
                    dilated(rhs[i], self.rhs_dilation[i]),
                    dilated(out[i], self.window_strides[i]),
                    self.padding[i],
                )
            })
            .collect()
    }

    /// Computes the cotangent of the left operand.
    pub(super) fn transpose_lhs(&self, ct: &Array, lhs: Aval, rhs: &Array) -> Array {
        let n = &self.dimension_numbers;
        let groups = self.groups();
        let padding = self.cotangent_padding(
            [lhs.shape(), rhs.shape(), ct.shape()],
            lhs_cotangent_padding,
        );
        let mut kernel = rhs.clone();
        if groups > 1 {
            // Moves groups from the kernel's output features to its input features.
            kernel = split_axis(&kernel, n.rhs.output, groups);
            kernel = merge_axis(&kernel, n.rhs.output, n.rhs.input);
        }
        let kernel = turned(&kernel, &n.rhs.spatial).astype(ct.dtype());
        let convolution = ConvGeneralDilated {
            window_strides: self.lhs_dilation.clone(),
            padding,
            lhs_dilation: self.window_strides.clone(),
            dimension_numbers: n.transposed_lhs(),
            feature_group_count: groups,
            batch_group_count: 1,
            out_sharding: OutSharding::of_cotangent(lhs, &[ct.aval(), kernel.aval()]),
            ..self.clone()
        };
        let mut out = bind1(convolution, &[ct, &kernel]).astype(lhs.dtype());
        if self.batch_group_count > 1 {
            out = split_axis(&out, n.lhs.feature, groups);
            out = merge_axis(&out, n.lhs.feature, n.lhs.batch);
        }
        out
    }

    /// Computes the cotangent of the kernels; `None` if the result has no elements.
    pub(super) fn transpose_rhs(&self, ct: &Array, lhs: &Array, rhs: Aval) -> Option<Array> {
        // A convolution does not support empty windows.
        if ct.size() == 0 {
            return None;
        }
        let padding = self.cotangent_padding(
            [lhs.shape(), rhs.shape(), ct.shape()],
            rhs_cotangent_padding,
        );
        let convolution = ConvGeneralDilated {
            window_strides: self.rhs_dilation.clone(),
            padding,
            rhs_dilation: self.window_strides.clone(),
            dimension_numbers: self.dimension_numbers.transposed_rhs(),
            feature_group_count: self.batch_group_count,
            batch_group_count: self.feature_group_count,
            out_sharding: OutSharding::of_cotangent(rhs, &[ct.aval(), lhs.aval()]),
            ..self.clone()
        };
        let image = lhs.astype(ct.dtype());
        Some(bind1(convolution, &[&image, ct]).astype(rhs.dtype()))
    }
}
