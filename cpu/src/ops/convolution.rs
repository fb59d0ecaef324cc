//! Convolutions as products of windows and kernels.

use super::arrays::{convert, pad, padded_shape, splat};
use super::dot::multiply;
use super::shape::reverse;
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
    strides: Vec<usize>,
    low: Vec<i64>,
    /// Shape of the padded input: batch, features, then space.
    padded: Dims,
    input_dilation: Vec<usize>,
    kernel_dilation: Vec<usize>,
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
        let x = self.pad(context, &x)?;
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
    fn pad(&self, context: &Context, x: &Tensor) -> Result<Tensor> {
        let ty = TensorType::new(&self.padded, x.element());
        if ty == x.ty && self.low.iter().all(|low| *low == 0) {
            return Ok(x.clone());
        }
        let zero = splat(
            &TensorType::new(&[], x.element()),
            &vec![0; x.element().bytes()],
        )?;
        let low: Vec<i64> = [0, 0].iter().chain(&self.low).copied().collect();
        let interior: Vec<usize> = [0, 0]
            .into_iter()
            .chain(self.input_dilation.iter().map(|d| d - 1))
            .collect();
        pad(context, x, &zero, &ty, &low, &interior)
    }

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
        for (i, stride) in self.strides.iter().enumerate() {
            sizes.push(shape[2 + i]);
            strides.push(x.strides[2 + i] * *stride as isize);
        }
        // The inner axis has the order of the memory.
        let features_last = x.strides[1] == 1;
        if !features_last {
            sizes.push(features);
            strides.push(x.strides[1]);
        }
        for (i, dilation) in self.kernel_dilation.iter().enumerate() {
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
    let positive = |name: &str| {
        let list = source.sizes_or(name, space, 1)?;
        source.check(
            list.iter().all(|n| *n > 0),
            format!("{name} must be positive"),
        )?;
        Ok(list)
    };
    let (strides, input_dilation) = (positive("window_strides")?, positive("lhs_dilation")?);
    let kernel_dilation = positive("rhs_dilation")?;
    let reversal = source.sizes_or("window_reversal", space, 0)?;
    let padding = source.integers_or("padding")?.unwrap_or(vec![0; 2 * space]);
    source.check(
        padding.len() == 2 * space,
        "padding must have two numbers for each axis",
    )?;
    let groups = |name: &str| {
        let count = if source.attribute(name).is_some() {
            source.integer(name)?
        } else {
            1
        };
        source.check(count > 0, format!("{name} must be positive"))?;
        Ok(count as usize)
    };
    let (feature_groups, batch_groups) =
        (groups("feature_group_count")?, groups("batch_group_count")?);
    let sizes =
        |ty: &TensorType, axes: &[usize]| -> Dims { axes.iter().map(|a| ty.shape[*a]).collect() };
    let (x_shape, kernel_shape) = (sizes(x, &input), sizes(kernel, &weights));
    let total = feature_groups
        .checked_mul(batch_groups)
        .ok_or_else(|| source.error("too many groups"))?;
    source.check(
        (feature_groups == 1 || batch_groups == 1)
            && Some(x_shape[1]) == kernel_shape[1].checked_mul(feature_groups)
            && x_shape[0] % batch_groups == 0
            && kernel_shape[0] % total == 0,
        format!("{feature_groups} and {batch_groups} groups do not divide {x} and {kernel}"),
    )?;
    let low: Vec<i64> = padding.iter().copied().step_by(2).collect();
    let high: Vec<i64> = padding.iter().copied().skip(1).step_by(2).collect();
    let interior: Vec<usize> = input_dilation.iter().map(|d| d - 1).collect();
    let too_large = || source.error("the padding removes more than the operand or is too large");
    let space_shape = padded_shape(&x_shape[2..], &low, &high, &interior).ok_or_else(too_large)?;
    let mut expected = vec![0; rank];
    expected[output[0]] = x_shape[0] / batch_groups;
    expected[output[1]] = kernel_shape[0];
    for i in 0..space {
        let reach = (kernel_shape[2 + i].max(1) - 1)
            .checked_mul(kernel_dilation[i])
            .ok_or_else(too_large)?
            + 1;
        let reach = if kernel_shape[2 + i] == 0 { 0 } else { reach };
        let positions = space_shape[i]
            .checked_sub(reach)
            .map_or(0, |n| n / strides[i] + 1);
        expected[output[2 + i]] = positions;
    }
    source.result(
        0,
        &TensorType::new(&expected.into_iter().collect::<Dims>(), result.element),
    )?;
    let mut padded: Dims = smallvec![x_shape[0], x_shape[1]];
    padded.extend(space_shape);
    let reversed = (0..space)
        .filter(|i| reversal[*i] != 0)
        .map(|i| i + 2)
        .collect();
    let ty = result.clone();
    let (kernel, input) = (weights, input);
    lift(Convolution {
        input,
        kernel,
        output,
        strides,
        low,
        padded,
        input_dilation,
        kernel_dilation,
        reversed,
        feature_groups,
        batch_groups,
        ty,
    })
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
