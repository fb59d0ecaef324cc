//! Reductions over axes.

use super::arrays::convert;
use super::elementwise::{Elementwise, compute_type, push_convert};
use super::region::{MISMATCH, ScalarRegion, captured};
use super::{Read, lift};
use crate::graph::{Operands, Operation, Part, Source};
use crate::kernels::fold::{Extent, fold, folder};
use crate::kernels::rows::Fold;
use crate::kernels::{Group, Lanes, TILE, fill};
use crate::memory::{Context, OutputTensor, Strides, Tensor, Tensors};
use crate::{Dims, Result, TensorType};
use smallvec::smallvec;
use std::sync::Arc;

/// Combines the elements along axes.
#[derive(Debug)]
pub struct Reduce {
    kept: Vec<usize>,
    reduced: Vec<usize>,
    region: ScalarRegion,
    fusible: Option<Fusible>,
}

/// A reduction that takes part in fusion.
#[derive(Debug)]
enum Fusible {
    /// A single element for each result, which is combined with the initial value.
    Each(Box<Group>),
    Fold(Box<Fold>),
}

impl Operation for Reduce {
    fn run(&self, context: &Context, operands: Operands) -> Result<Tensors> {
        let count = self.region.results.len();
        let (arrays, rest) = operands.split_at(count);
        let (initial, captures) = rest.split_at(count);
        let shape: Dims = self.kept.iter().map(|a| arrays[0].shape()[*a]).collect();
        if arrays[0].size() == 0 {
            return Ok(initial
                .iter()
                .map(|t| t.view(shape.clone(), smallvec![0; shape.len()], t.offset))
                .collect());
        }
        let folded = self.without_initial(context, arrays, captures, &shape)?;
        let size = folded[0].size();
        let inputs: Vec<Lanes<'_>> = initial
            .iter()
            .chain(&folded)
            .map(Lanes::of)
            .chain(captured(captures))
            .collect();
        run_region(context, &self.region, &inputs, &shape, size)
    }

    fn part(&self) -> Option<Part<'_>> {
        self.fusible.as_ref().map(|fusible| match fusible {
            Fusible::Each(group) => Part::Each(group),
            Fusible::Fold(fold) => Part::Fold(fold),
        })
    }

    fn with_group(&self, group: Group, shape: &[usize]) -> Arc<dyn Operation> {
        Arc::new(Elementwise::new(group, shape))
    }
}

/// Runs a region and returns its results as arrays of a shape.
pub fn run_region(
    context: &Context,
    region: &ScalarRegion,
    inputs: &[Lanes<'_>],
    shape: &[usize],
    size: usize,
) -> Result<Tensors> {
    let mut results = Vec::with_capacity(region.results.len());
    for element in &region.results {
        results.push(OutputTensor::new(
            context,
            TensorType::new(shape, *element),
        )?);
    }
    let mut outputs: Vec<&mut [u8]> = results.iter_mut().map(OutputTensor::bytes_mut).collect();
    region.run(context, inputs, &mut outputs, size)?;
    drop(outputs);
    Ok(results.into_iter().map(OutputTensor::finish).collect())
}

impl Reduce {
    /// Returns the reduction over the rows of a matrix.
    pub fn over_rows(region: ScalarRegion) -> Reduce {
        Reduce {
            kept: vec![1],
            reduced: vec![0],
            region,
            fusible: None,
        }
    }

    /// Reduces with a kernel, if the region is an operation that has one.
    fn fold(&self, context: &Context, x: &Tensor, shape: &Dims) -> Result<Option<Tensor>> {
        let Some(name) = self.region.single else {
            return Ok(None);
        };
        let element = x.element();
        let compute = compute_type(element);
        let x = convert(context, x.clone(), compute)?;
        let (x, extent) = self.arrange(context, &x)?;
        let mut fresh = OutputTensor::new(context, TensorType::new(shape, compute))?;
        if !fold(
            name,
            compute,
            extent,
            x.bytes(),
            fresh.bytes_mut(),
            context.threads,
        ) {
            return Ok(None);
        }
        Ok(Some(convert(context, fresh.finish(), element)?))
    }

    /// Returns the elements in row-major order so that the reduced axes are neighbors.
    fn arrange(&self, context: &Context, x: &Tensor) -> Result<(Tensor, Extent)> {
        let product =
            |axes: &mut dyn Iterator<Item = usize>| axes.map(|a| x.shape()[a]).product::<usize>();
        let large = |axes: &[usize]| -> Vec<usize> {
            axes.iter()
                .copied()
                .filter(|a| x.shape()[*a] != 1)
                .collect()
        };
        let reduced = product(&mut self.reduced.iter().copied());
        let axes = large(&self.reduced);
        let (first, last) = (
            axes.first().copied().unwrap_or(0),
            axes.last().copied().unwrap_or(0),
        );
        let between =
            large(&self.kept).iter().any(|a| (first..=last).contains(a)) && !axes.is_empty();
        if x.is_contiguous() && !between {
            let before = product(&mut self.kept.iter().copied().filter(|a| *a < first));
            let after = product(&mut self.kept.iter().copied().filter(|a| *a >= first));
            return Ok((
                x.clone(),
                Extent {
                    before,
                    reduced,
                    after,
                },
            ));
        }
        let order: Vec<usize> = self.kept.iter().chain(&self.reduced).copied().collect();
        let x = x.permute(&order).contiguous(context)?;
        Ok((
            x,
            Extent {
                before: product(&mut self.kept.iter().copied()),
                reduced,
                after: 1,
            },
        ))
    }

    /// Reduces arrays with elements, without initial values: with a kernel, or by combining neighbors along
    /// the reduced axes with the region until one element is left.
    ///
    /// # Errors
    /// Returns [`crate::Error::Memory`] if a value does not fit into memory.
    pub fn without_initial(
        &self,
        context: &Context,
        arrays: &[Tensor],
        captures: &[Tensor],
        shape: &Dims,
    ) -> Result<Tensors> {
        if let Some(folded) = self.fold(context, &arrays[0], shape)? {
            return Ok(smallvec![folded]);
        }
        let order: Vec<usize> = self.reduced.iter().chain(&self.kept).copied().collect();
        let width: usize = shape.iter().product();
        let mut rows = arrays[0].size() / width;
        let mut current = Tensors::new();
        for array in arrays {
            current.push(array.permute(&order).reshape(context, &[rows, width])?);
        }
        while rows > 1 {
            current = self.combine_pairs(context, &current, captures)?;
            rows = current[0].shape()[0];
        }
        current.iter().map(|t| t.reshape(context, shape)).collect()
    }

    /// Combines each even row with the row after it. An odd last row remains.
    fn combine_pairs(
        &self,
        context: &Context,
        rows: &[Tensor],
        captures: &[Tensor],
    ) -> Result<Tensors> {
        let (count, width) = (rows[0].shape()[0], rows[0].shape()[1]);
        let (pairs, left) = (count / 2, count.div_ceil(2));
        let part = |t: &Tensor, first: usize, count: usize| {
            let strides: Strides = smallvec![t.strides[0] * 2, t.strides[1]];
            let offset = t.offset as isize + first as isize * t.strides[0];
            t.view(smallvec![count, width], strides, offset as usize)
        };
        let even: Vec<Tensor> = rows.iter().map(|t| part(t, 0, pairs)).collect();
        let odd: Vec<Tensor> = rows.iter().map(|t| part(t, 1, pairs)).collect();
        let inputs: Vec<Lanes<'_>> = even
            .iter()
            .chain(&odd)
            .map(Lanes::of)
            .chain(captured(captures))
            .collect();
        let mut next = Vec::with_capacity(rows.len());
        for t in rows {
            next.push(OutputTensor::new(
                context,
                TensorType::new(&[left, width], t.element()),
            )?);
        }
        let mut outputs: Vec<&mut [u8]> = Vec::with_capacity(next.len());
        for t in &mut next {
            let bytes = pairs * width * t.ty.element.bytes();
            outputs.push(&mut t.bytes_mut()[..bytes]);
        }
        self.region
            .run(context, &inputs, &mut outputs, pairs * width)?;
        if left > pairs {
            for (t, target) in rows.iter().zip(&mut next) {
                target.write(&part(t, count - 1, 1), pairs * width, &[width as isize, 1]);
            }
        }
        Ok(next.into_iter().map(OutputTensor::finish).collect())
    }
}

/// Reads `stablehlo.reduce`.
pub fn reduce(source: &Source<'_>) -> Read {
    let count = source.results.len();
    source.check(count > 0, "needs a result")?;
    source.counts(2 * count, count, 1)?;
    let region = ScalarRegion::combiner(source, 0, count)?;
    let shape = source.operands[0].shape.clone();
    let reduced = {
        let mut axes = source.axes("dimensions", shape.len())?;
        axes.sort_unstable();
        axes
    };
    let kept: Vec<usize> = (0..shape.len()).filter(|a| !reduced.contains(a)).collect();
    for i in 0..count {
        let (x, initial) = (&source.operands[i], &source.operands[count + i]);
        source.check(x.shape == shape, "the operands have different shapes")?;
        source.check(
            initial.shape.is_empty(),
            "the initial values must be scalars",
        )?;
        source.check(initial.element == x.element, MISMATCH)?;
        let result = TensorType::new(&kept.iter().map(|a| shape[*a]).collect::<Dims>(), x.element);
        source.result(i, &result)?;
    }
    // Each element is combined with the initial value only. Small elementwise operations read operands of any
    // shape in row-major order.
    let is_single = reduced.iter().all(|a| shape[*a] == 1);
    if is_single
        && source.results[0].size().is_some_and(|n| n <= TILE)
        && let Some(group) = region.exchanged(count)
    {
        return lift(Elementwise::new(group, &source.results[0].shape));
    }
    let fusible = fusible(&region, &shape, &kept, &reduced);
    lift(Reduce {
        kept,
        reduced,
        region,
        fusible,
    })
}

/// Returns how a reduction of an array takes part in fusion: if it combines neighbors, or arrays that follow
/// each other, with a kernel.
fn fusible(
    region: &ScalarRegion,
    shape: &[usize],
    kept: &[usize],
    reduced: &[usize],
) -> Option<Fusible> {
    let element = *region.results.first()?;
    let compute = compute_type(element);
    let (folder, group) = (folder(region.single?, compute)?, region.group()?);
    let mut prepare = Group::new(&[element]);
    let prepared = push_convert(&mut prepare, 0, compute);
    prepare.outputs = vec![prepared];
    let mut finish = Group::new(&[compute, element]);
    let folded = push_convert(&mut finish, 0, element);
    let output = finish.inline(group, &[1, folded])[0];
    finish.finish(&[output]);
    let size = |axes: &[usize]| axes.iter().map(|a| shape[*a]).product::<usize>();
    let large = |axes: &[usize]| axes.iter().copied().filter(|a| shape[*a] != 1).collect();
    let (axes, others): (Vec<usize>, Vec<usize>) = (large(reduced), large(kept));
    if size(reduced) == 1 {
        return region.exchanged(1).map(Box::new).map(Fusible::Each);
    }
    // The sum of a vector belongs to the one row of a matrix if its result has an axis before the reduced ones.
    let is_row = others.last().or(kept.first()) < axes.first() && !kept.is_empty();
    if !is_row && others.first().is_some_and(|a| Some(a) < axes.last()) {
        return None;
    }
    Some(Fusible::Fold(Box::new(Fold {
        folder,
        prepare,
        finish,
        rows: size(if is_row { kept } else { reduced }),
        columns: size(if is_row { reduced } else { kept }),
        across: !is_row,
    })))
}

/// Returns a tensor whose elements all equal a scalar, in memory of its own.
pub fn filled(context: &Context, scalar: &Tensor, shape: &[usize]) -> Result<OutputTensor> {
    let mut fresh = OutputTensor::new(context, TensorType::new(shape, scalar.element()))?;
    let width = scalar.element().bytes();
    let bytes: &[u8] = scalar.data();
    fill(fresh.bytes_mut(), &bytes[scalar.offset * width..][..width]);
    Ok(fresh)
}
