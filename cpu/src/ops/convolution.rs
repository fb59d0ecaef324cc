//! Convolutions as products of windows and kernels.
//!
//! Pieces of the matrix of windows are copied into buffers that stay in the second-level cache. The sizes of
//! pieces and the order of sums depend on shapes only.

use super::arrays::convert;
use super::patches::Patches;
use super::shape::reverse;
use super::window::Windows;
use super::{Read, lift};
use crate::ElementType::{F32, F64};
use crate::graph::{Operands, Operation, Source};
use crate::kernels::fold::combiner;
use crate::kernels::product::{Matrix, Sizes, add_products, product_into, product_type};
use crate::kernels::try_share;
use crate::memory::{Context, OutputTensor, Storage, Tensor, Tensors};
use crate::{Dims, Result, TensorType};
use smallvec::smallvec;
use std::ops::Range;

/// Elements of a buffer, of the order of the second-level cache.
const BUFFER: usize = 1 << 16;
/// Columns of the matrix of windows that a buffer has at least, if it has not all.
const COLUMNS: usize = 1 << 11;
/// Rows of the matrix of windows that a buffer with some of the columns has at most.
const ROWS: usize = 512;
/// Pieces for threads to share.
const PIECES: usize = 16;
/// Multiplications from which threads share a convolution.
const PARALLEL: usize = 1 << 18;

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
        let x = convert(context, operands[0].clone(), compute)?.permute(&self.input);
        let kernel = convert(context, operands[1].clone(), compute)?.permute(&self.kernel);
        let batch = x.shape()[0] / self.batch_groups;
        let patches = Patches::new(&x, &self.windows, batch, kernel.shape()[1]);
        let kernels = self.kernels(context, &kernel, patches.features_last())?;
        let rank = self.output.len();
        let sizes: Dims = self.output.iter().map(|a| self.ty.shape[*a]).collect();
        // The memory has the axes of the rows of windows, then features.
        let mut order: Vec<usize> = (2..rank).collect();
        let at = if patches.batch_last() { rank - 2 } else { 0 };
        order.insert(at, 0);
        order.push(1);
        let shape: Dims = order.iter().map(|i| sizes[*i]).collect();
        let mut result = OutputTensor::new(context, TensorType::new(&shape, compute))?;
        if kernels.size() == 0 {
            result.bytes_mut().fill(0);
        } else if !result.bytes_mut().is_empty() {
            let shift = match self.batch_groups {
                1 => x.strides[1] * kernel.shape()[1] as isize,
                _ => x.strides[0] * batch as isize,
            };
            Product::new(&patches, &kernels, shift).run(context, result.bytes_mut())?;
        }
        let result = convert(context, result.finish(), self.ty.element)?;
        let mut back = vec![0; rank];
        for (i, axis) in order.into_iter().enumerate() {
            back[self.output[axis]] = i;
        }
        Ok(smallvec![result.permute(&back)])
    }
}

impl Convolution {
    /// Returns the matrices of the kernels by group, with rows in the order of the columns of windows.
    fn kernels(&self, context: &Context, kernel: &Tensor, features_last: bool) -> Result<Tensor> {
        let groups = self.feature_groups * self.batch_groups;
        let kernel = reverse(kernel, &self.reversed);
        let outputs = kernel.shape()[0] / groups;
        let inner = kernel.shape()[1..].iter().product();
        let mut order: Vec<usize> = (1..kernel.shape().len()).collect();
        if features_last {
            order.rotate_left(1);
        }
        let mut shape: Dims = smallvec![groups];
        let mut axes: Vec<usize> = vec![0];
        shape.extend(order.iter().map(|a| kernel.shape()[*a]));
        axes.extend(order.iter().map(|a| a + 1));
        shape.push(outputs);
        axes.push(1);
        let mut split: Dims = smallvec![groups, outputs];
        split.extend_from_slice(&kernel.shape()[1..]);
        let split = kernel.reshape(context, &split)?;
        // Axes of the split kernel: groups, outputs, features, then space.
        let matrices = split.permute(&axes);
        if outputs == 1 && groups > 1 {
            // Groups are neighbors, so that those of features are multiplied in vectors.
            let lists: Vec<usize> = (1..axes.len()).chain([0]).collect();
            let dense = matrices.permute(&lists).contiguous(context)?;
            let dense = dense.reshape(context, &[inner, outputs, groups])?;
            return Ok(dense.permute(&[2, 0, 1]));
        }
        match matrices.reshape_view(&[groups, inner, outputs]) {
            Some(view) if view.strides[2] == 1 => Ok(view),
            _ => {
                let dense = matrices.contiguous(context)?;
                dense.reshape(context, &[groups, inner, outputs])
            }
        }
    }
}

/// The products of windows and kernels of each group.
struct Product<'a> {
    patches: &'a Patches<'a>,
    /// Matrix by group.
    kernels: &'a Tensor,
    /// Distance in memory between the arrays of groups.
    shift: isize,
    inner: usize,
    /// Rows and columns of the matrix of windows in a buffer.
    height: usize,
    width: usize,
    /// Columns of the matrix of windows whose products are added one after another.
    part: usize,
    /// Bytes of a row of the result.
    row: usize,
    /// Whether each feature has a group of its own, and features are neighbors in memory.
    by_feature: bool,
}

impl<'a> Product<'a> {
    fn new(patches: &'a Patches<'a>, kernels: &'a Tensor, shift: isize) -> Product<'a> {
        let [rows, inner] = patches.sizes();
        let [row_unit, inner_unit] = patches.units();
        let (groups, columns) = (kernels.shape()[0], kernels.shape()[0] * kernels.shape()[2]);
        let (height, width) = if inner <= COLUMNS {
            let shared = rows.div_ceil(PIECES).max(32);
            ((BUFFER / inner).clamp(32, shared), inner)
        } else {
            let height = rows.div_ceil(rows.div_ceil(ROWS));
            (height, BUFFER / height)
        };
        let height = height.next_multiple_of(row_unit).min(rows);
        // Rows that cannot be divided may leave space for some of the columns only.
        let width = width.min((BUFFER / height).max(128));
        let width = width.next_multiple_of(inner_unit).min(inner);
        let pieces = rows.div_ceil(height);
        // Sums of parts take memory: well under that of the matrix.
        let parts = PIECES.div_ceil(pieces).min(inner / (4 * columns)).max(1);
        let part = inner.div_ceil(width).div_ceil(parts) * width;
        Product {
            patches,
            kernels,
            shift,
            inner,
            height,
            width,
            part,
            row: columns * kernels.element().bytes(),
            by_feature: matches!(kernels.element(), F32 | F64)
                && groups == columns
                && groups > 1
                && shift == 1,
        }
    }

    /// Writes the products of all groups, which are neighbors in rows of the result.
    fn run(&self, context: &Context, out: &mut [u8]) -> Result<()> {
        let work = out.len().saturating_mul(self.inner);
        let parallel = context.threads > 1 && work >= PARALLEL * self.kernels.element().bytes();
        let parts = self.inner.div_ceil(self.part);
        let mut more = Storage::new((parts - 1) * out.len())?;
        let more = &mut more.bytes_mut()[..(parts - 1) * out.len()];
        let size = out.len();
        let mut pieces: Vec<(usize, usize, &mut [u8])> = Vec::new();
        let sums = std::iter::once(&mut *out).chain(more.chunks_mut(size));
        for (part, sum) in sums.enumerate() {
            for (i, piece) in sum.chunks_mut(self.height * self.row).enumerate() {
                pieces.push((part * self.part, i * self.height, piece));
            }
        }
        let threads = if parallel { context.threads } else { 1 };
        try_share(threads, &mut pieces, |_, (inner, row, out)| {
            let rows = *row..*row + out.len() / self.row;
            self.piece(rows, *inner..(*inner + self.part).min(self.inner), out)
        })?;
        let Some(add) = combiner("stablehlo.add", self.kernels.element()) else {
            unreachable!("numbers can be added");
        };
        // Neighbors are added in pairs: the sums `0, d, 2d, …` remain, and `out` is the first.
        let mut distance = 1;
        while distance < parts {
            for first in (0..parts - distance).step_by(2 * distance) {
                let (left, right) = more.split_at_mut((first + distance - 1) * size);
                let sum = match first {
                    0 => &mut *out,
                    _ => &mut left[(first - 1) * size..][..size],
                };
                add(sum, &right[..size]);
            }
            distance *= 2;
        }
        Ok(())
    }

    /// Writes the products of some rows of windows, with some of their columns, for all features at a time.
    fn features(&self, rows: Range<usize>, inner: Range<usize>, out: &mut [u8]) {
        let element = self.kernels.element();
        let x = self.patches.data();
        let kernels = &self.kernels.data::<u8>()[self.kernels.offset * element.bytes()..];
        out.fill(0);
        for (row, out) in rows.zip(out.chunks_mut(self.row)) {
            for (column, at) in self.patches.elements(row, inner.clone()) {
                let windows = &x[at * element.bytes()..][..self.row];
                add_products(
                    element,
                    out,
                    windows,
                    &kernels[column * self.row..][..self.row],
                );
            }
        }
    }

    /// Writes the products of some rows of windows, with some of their columns.
    fn piece(&self, rows: Range<usize>, inner: Range<usize>, out: &mut [u8]) -> Result<()> {
        if self.by_feature {
            self.features(rows, inner, out);
            return Ok(());
        }
        let element = self.kernels.element();
        let mut buffer = Storage::new(self.patches.buffer(rows.len(), self.width))?;
        let columns = self.kernels.shape()[2];
        for group in 0..self.kernels.shape()[0] {
            for start in inner.clone().step_by(self.width) {
                let end = (start + self.width).min(inner.end);
                let shift = group as isize * self.shift;
                let bytes = buffer.bytes_mut();
                let windows = self.patches.piece(shift, rows.clone(), start..end, bytes);
                let [batch, row, column] = [0, 1, 2].map(|axis| self.kernels.strides[axis]);
                let first = group as isize * batch + start as isize * row;
                let kernels = Matrix {
                    data: self.kernels.data(),
                    offset: (self.kernels.offset as isize + first) as usize,
                    strides: [row, column],
                };
                let sizes = Sizes {
                    rows: rows.len(),
                    inner: end - start,
                    columns,
                };
                let (row, add) = (self.row / element.bytes(), start != inner.start);
                let out = &mut out[group * columns * element.bytes()..];
                product_into(element, sizes, [windows, kernels], out, row, add);
            }
        }
        Ok(())
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
        format_args!("{feature_groups} and {batch_groups} groups do not divide {x} and {kernel}"),
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
