//! Convolutions as products of windows and kernels.

use super::arrays::{convert, splat};
use super::dot::multiply;
use super::shape::reverse;
use super::window::Windows;
use super::{Read, lift};
use crate::graph::{Operands, Operation, Source};
use crate::kernels::product::product_type;
use crate::memory::{Context, Fresh, Strides, Tensor, Tensors, row_major};
use crate::{Dims, Result, TensorType};
use smallvec::smallvec;

/// Elements of windows that are copied at a time.
const WINDOWS: usize = 1 << 22;

/// A convolution with its attributes.
#[derive(Debug)]
struct Convolution {
    /// Axes of the input: batch, features, then space.
    input: Vec<usize>,
    /// Axes of the kernel: output features, input features, then space.
    kernel: Vec<usize>,
    /// Axes of the result: batch, features, then space.
    output: Vec<usize>,
    /// The windows of the space.
    windows: Windows,
    reversed: Vec<usize>,
    feature_groups: usize,
    batch_groups: usize,
    ty: TensorType,
}

impl Operation for Convolution {
    fn run(&self, context: &Context, operands: Operands) -> Result<Tensors> {
        let compute = product_type(self.ty.element);
        let x = convert(context, &operands[0].permute(&self.input), compute)?;
        let kernel = convert(context, &operands[1].permute(&self.kernel), compute)?;
        let kernel = reverse(&kernel, &self.reversed);
        let zero = TensorType::new(&[], compute);
        let zero = splat(&zero, &vec![0; compute.bytes()])?;
        let x = self.windows.pad_last(context, &x, &zero, 2)?;
        let rank = self.output.len();
        let sizes: Dims = self.output.iter().map(|a| self.ty.shape[*a]).collect();
        // The memory has the axes batch, space, features, in which products come.
        let mut shape: Dims = sizes.clone();
        shape.remove(1);
        shape.push(sizes[1]);
        let ty = TensorType::new(&shape, compute);
        let mut result = Fresh::new(context, ty)?;
        let groups = self.feature_groups * self.batch_groups;
        let positions: usize = sizes[2..].iter().product();
        let batch = x.shape()[0] / self.batch_groups;
        let window = kernel.size() / kernel.shape()[0].max(1);
        let per_example = positions.saturating_mul(window).saturating_mul(groups);
        let step = (WINDOWS / per_example.max(1)).clamp(1, batch.max(1));
        let features = sizes[1] / groups;
        let strides = row_major(&shape);
        let to: Strides = smallvec![features as isize, strides[0], sizes[1] as isize, 1];
        let mut first = 0;
        while first < batch && !result.bytes_mut().is_empty() {
            let count = step.min(batch - first);
            let product = self.product(context, &x, &kernel, first, count, &sizes)?;
            let view = product.reshape(context, &[groups, count, positions, features])?;
            result.write(&view, first * strides[0] as usize, &to);
            first += count;
        }
        let result = convert(context, &result.finish(), self.ty.element)?;
        let mut back = vec![0; rank];
        for (i, axis) in self.output.iter().enumerate() {
            back[*axis] = match i {
                0 => 0,
                1 => rank - 1,
                i => i - 1,
            };
        }
        Ok(smallvec![result.permute(&back)])
    }
}

impl Convolution {
    /// Returns the products of the windows of some examples with the kernels of each group.
    fn product(
        &self,
        context: &Context,
        x: &Tensor,
        kernel: &Tensor,
        first: usize,
        count: usize,
        shape: &[usize],
    ) -> Result<Tensor> {
        let groups = self.feature_groups * self.batch_groups;
        let features = kernel.shape()[1];
        let window = &kernel.shape()[2..];
        let group_stride = match self.batch_groups {
            1 => x.strides[1] * features as isize,
            _ => x.strides[0] * (x.shape()[0] / self.batch_groups) as isize,
        };
        let mut sizes: Dims = smallvec![groups, count];
        let mut strides: Strides = smallvec![group_stride, x.strides[0]];
        for (i, stride) in self.windows.strides.iter().enumerate() {
            sizes.push(shape[2 + i]);
            strides.push(x.strides[2 + i] * *stride as isize);
        }
        // The inner axis has the order of the memory.
        let features_last = x.strides[1] == 1;
        if !features_last {
            sizes.push(features);
            strides.push(x.strides[1]);
        }
        for (i, dilation) in self.windows.dilation.iter().enumerate() {
            sizes.push(window[i]);
            strides.push(x.strides[2 + i] * *dilation as isize);
        }
        if features_last {
            sizes.push(features);
            strides.push(x.strides[1]);
        }
        let inner = features * window.iter().product::<usize>();
        let rows = count * shape[2..].iter().product::<usize>();
        let offset = (x.offset as isize + first as isize * x.strides[0]) as usize;
        let windows = x
            .view(sizes, strides, offset)
            .reshape(context, &[groups, rows, inner])?;
        let outputs = kernel.shape()[0] / groups;
        let mut order: Vec<usize> = (0..kernel.shape().len()).collect();
        if features_last {
            order.remove(1);
            order.push(1);
        }
        let kernels = kernel
            .permute(&order)
            .reshape(context, &[groups, outputs, inner])?
            .permute(&[0, 2, 1]);
        multiply(context, &windows, &kernels, x.element())
    }
}

/// Reads `stablehlo.convolution`.
pub fn convolution(source: &Source<'_>) -> Read {
    source.counts(2, 1, 0)?;
    let (x, kernel, result) = (&source.operands[0], &source.operands[1], &source.results[0]);
    let rank = x.shape.len();
    source.check(
        rank >= 2 && kernel.shape.len() == rank && result.shape.len() == rank,
        "the ranks differ",
    )?;
    let space = rank - 2;
    let [input, weights, output] = axes(source, rank)?;
    let sizes =
        |ty: &TensorType, axes: &[usize]| -> Dims { axes.iter().map(|a| ty.shape[*a]).collect() };
    let (x_shape, kernel_shape) = (sizes(x, &input), sizes(kernel, &weights));
    let names = ["window_strides", "rhs_dilation", "lhs_dilation"];
    let windows = Windows::new(source, &x_shape[2..], kernel_shape[2..].to_vec(), names)?;
    let reversal = source.sizes_or("window_reversal", space, 0)?;
    let (feature_groups, batch_groups) = groups(source)?;
    source.check(
        (feature_groups == 1 || batch_groups == 1)
            && Some(x_shape[1]) == kernel_shape[1].checked_mul(feature_groups)
            && x_shape[0] % batch_groups == 0
            && kernel_shape[0] % (feature_groups * batch_groups) == 0,
        format!("{feature_groups} and {batch_groups} groups do not divide {x} and {kernel}"),
    )?;
    let mut expected = vec![0; rank];
    expected[output[0]] = x_shape[0] / batch_groups;
    expected[output[1]] = kernel_shape[0];
    (0..space).for_each(|i| expected[output[2 + i]] = windows.positions[i]);
    source.result(0, &TensorType::new(&expected, result.element))?;
    let reversed = (0..space)
        .filter(|i| reversal[*i] != 0)
        .map(|i| i + 2)
        .collect();
    lift(Convolution {
        input,
        kernel: weights,
        output,
        windows,
        reversed,
        feature_groups,
        batch_groups,
        ty: result.clone(),
    })
}

/// Reads the numbers of groups of features and of examples, one of which is 1.
fn groups(source: &Source<'_>) -> Result<(usize, usize)> {
    let read = |name: &str| {
        let count = if source.attribute(name).is_some() {
            source.integer(name)?
        } else {
            1
        };
        let count = usize::try_from(count).ok().filter(|n| *n > 0);
        count.ok_or_else(|| source.error(format!("{name} must be positive")))
    };
    let groups = (read("feature_group_count")?, read("batch_group_count")?);
    source.check(
        groups.0 == 1 || groups.1 == 1,
        "features and examples cannot both have groups",
    )?;
    Ok(groups)
}

/// Reads the axes of input, kernel and output.
fn axes(source: &Source<'_>, rank: usize) -> Result<[Vec<usize>; 3]> {
    let fields = source.fields("dimension_numbers")?;
    let read = |first: &str, second: &str, space: &str| {
        let mut axes = Vec::new();
        for name in [first, second, space] {
            axes.extend(source.field(fields, name)?);
        }
        source.distinct_axes("dimension_numbers", &axes, rank)?;
        source.check(
            axes.len() == rank,
            "dimension_numbers must name each axis once",
        )?;
        Ok(axes)
    };
    Ok([
        read(
            "input_batch_dimension",
            "input_feature_dimension",
            "input_spatial_dimensions",
        )?,
        read(
            "kernel_output_feature_dimension",
            "kernel_input_feature_dimension",
            "kernel_spatial_dimensions",
        )?,
        read(
            "output_batch_dimension",
            "output_feature_dimension",
            "output_spatial_dimensions",
        )?,
    ])
}
