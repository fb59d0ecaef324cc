//! Gather and scatter.

use super::arrays::convert;
use super::region::{MISMATCH, ScalarRegion, captured};
use super::{Read, lift};
use crate::ElementType::I64;
use crate::graph::{Operands, Operation, Source};
use crate::kernels::Lanes;
use crate::kernels::convert::with_integer;
use crate::kernels::fold::combiner;
use crate::memory::{
    Context, CopyPlan, OutputTensor, Side, Strides, Tensor, Tensors, copy, row_major, with_width,
};
use crate::text::Attributes;
use crate::{Dims, Result, TensorType};
use smallvec::{SmallVec, smallvec};

/// The relation of the axes of an array, of its indices and of its windows, for gather and scatter.
#[derive(Debug)]
struct Axes {
    /// Axes of the result (or updates) that windows have.
    window: Vec<usize>,
    /// Axes of the array that windows lack and starts index.
    collapsed: Vec<usize>,
    /// Axes of the array that are batched, and the axes of the indices that batch them.
    batching: Vec<usize>,
    index_batching: Vec<usize>,
    /// The array's axis of each number of a start.
    start_map: Vec<usize>,
    /// The axis of the indices along which a start's numbers are, or their rank.
    vector: usize,
}

impl Axes {
    fn read(
        source: &Source<'_>,
        fields: &Attributes,
        names: [&str; 6],
        x: &[usize],
        i: &[usize],
    ) -> Result<Axes> {
        let [window, collapsed, batching, index_batching, map, vector] = names;
        let vectors = source.field(fields, vector)?;
        let axes = Axes {
            window: source.field(fields, window)?,
            collapsed: source.field(fields, collapsed)?,
            batching: source.field(fields, batching)?,
            index_batching: source.field(fields, index_batching)?,
            start_map: source.field(fields, map)?,
            vector: vectors.first().copied().unwrap_or(0),
        };
        let rank = x.len();
        let removed: Vec<usize> = axes
            .collapsed
            .iter()
            .chain(&axes.batching)
            .copied()
            .collect();
        source.distinct_axes(collapsed, &removed, rank)?;
        source.distinct_axes(map, &axes.start_map, rank)?;
        source.distinct_axes(index_batching, &axes.index_batching, i.len())?;
        let numbers = i.get(axes.vector).copied().unwrap_or(1);
        source.check(
            axes.vector <= i.len()
                && axes.start_map.len() == numbers
                && axes.batching.len() == axes.index_batching.len()
                && !axes.index_batching.contains(&axes.vector)
                && axes.window.len() + removed.len() == rank
                && axes
                    .batching
                    .iter()
                    .zip(&axes.index_batching)
                    .all(|(a, b)| x[*a] == i[*b]),
            "the axes do not match the operand and the indices",
        )?;
        Ok(axes)
    }

    /// Returns the axes of the array that windows have.
    fn kept(&self, rank: usize) -> Vec<usize> {
        (0..rank)
            .filter(|a| !self.collapsed.contains(a) && !self.batching.contains(a))
            .collect()
    }

    /// Returns the shape of the indices without the axis of a start's numbers.
    fn batch(&self, indices: &[usize]) -> Dims {
        indices
            .iter()
            .enumerate()
            .filter(|(a, _)| *a != self.vector)
            .map(|(_, n)| *n)
            .collect()
    }

    /// Returns the shape of the result from the batch axes and the sizes of windows, if it has a rank.
    fn result(&self, batch: &[usize], windows: &[usize]) -> Option<Dims> {
        let rank = batch.len() + windows.len();
        let sorted = self.window.windows(2).all(|w| w[0] < w[1]);
        if !sorted || self.window.last().is_some_and(|a| *a >= rank) {
            return None;
        }
        let (mut batch, mut windows) = (batch.iter(), windows.iter());
        (0..rank)
            .map(|a| {
                if self.window.contains(&a) {
                    windows.next()
                } else {
                    batch.next()
                }
                .copied()
            })
            .collect()
    }

    /// Returns whether updates have windows that fit into an array, one for each start.
    fn match_updates(&self, x: &[usize], indices: &[usize], updates: &[usize]) -> bool {
        let sizes: Option<Vec<usize>> = self
            .window
            .iter()
            .map(|a| updates.get(*a).copied())
            .collect();
        sizes.is_some_and(|sizes| {
            let fits = sizes
                .iter()
                .zip(self.kept(x.len()))
                .all(|(size, axis)| *size <= x[axis]);
            fits && self.result(&self.batch(indices), &sizes).as_deref() == Some(updates)
        })
    }

    /// Returns the starts of all windows, one after another: a number for each axis of the array.
    fn starts(&self, context: &Context, indices: &Tensor, rank: usize) -> Result<Vec<i64>> {
        let mut order: Vec<usize> = (0..indices.shape().len())
            .filter(|a| *a != self.vector)
            .collect();
        let batch: Dims = order.iter().map(|a| indices.shape()[*a]).collect();
        if self.vector < indices.shape().len() {
            order.push(self.vector);
        }
        let numbers = convert(context, indices.permute(&order), I64)?.contiguous(context)?;
        let count: usize = batch.iter().product();
        let per_start = self.start_map.len();
        let mut starts = vec![0; count * rank];
        let batch_strides = row_major(&batch);
        for (i, start) in starts.chunks_mut(rank.max(1)).enumerate().take(count) {
            for (k, axis) in self.start_map.iter().enumerate() {
                start[*axis] = numbers.slice::<i64>()[i * per_start + k];
            }
            for (axis, index_axis) in self.batching.iter().zip(&self.index_batching) {
                let position = if *index_axis > self.vector {
                    index_axis - 1
                } else {
                    *index_axis
                };
                start[*axis] = (i / batch_strides[position] as usize % batch[position]) as i64;
            }
        }
        Ok(starts)
    }

    /// Returns the strides of the windows' axes and of the batch axes in an array with the result's axes.
    fn split(&self, strides: &[isize]) -> (Strides, Strides) {
        let window = self.window.iter().map(|a| strides[*a]).collect();
        let batch = (0..strides.len())
            .filter(|a| !self.window.contains(a))
            .map(|a| strides[a])
            .collect();
        (window, batch)
    }
}

/// Calls a function with the offset of each position of a batch.
fn each_offset(
    batch: &[usize],
    strides: &[isize],
    offset: usize,
    mut f: impl FnMut(usize, usize) -> Result<()>,
) -> Result<()> {
    let count: usize = batch.iter().product();
    let mut index: SmallVec<[usize; 6]> = smallvec![0; batch.len()];
    let mut at = offset as isize;
    for i in 0..count {
        f(i, at as usize)?;
        for axis in (0..batch.len()).rev() {
            index[axis] += 1;
            at += strides[axis];
            if index[axis] < batch[axis] {
                break;
            }
            at -= strides[axis] * batch[axis] as isize;
            index[axis] = 0;
        }
    }
    Ok(())
}

/// Windows of an array from given starts.
#[derive(Debug)]
struct Gather {
    axes: Axes,
    sizes: Vec<usize>,
    ty: TensorType,
}

impl Operation for Gather {
    fn run(&self, context: &Context, operands: Operands) -> Result<Tensors> {
        let (x, indices) = (&operands[0], &operands[1]);
        let mut fresh = OutputTensor::new(context, self.ty.clone())?;
        if self.ty.shape.contains(&0) {
            return Ok(smallvec![fresh.finish()]);
        }
        let rank = x.shape().len();
        let starts = self.axes.starts(context, indices, rank)?;
        let kept = self.axes.kept(rank);
        let window: Dims = kept.iter().map(|a| self.sizes[*a]).collect();
        let from: Strides = kept.iter().map(|a| x.strides[*a]).collect();
        let (to, batch_strides) = self.axes.split(&row_major(&self.ty.shape));
        let batch = self.axes.batch(indices.shape());
        let limits: Dims = (0..rank).map(|a| x.shape()[a] - self.sizes[a]).collect();
        let plan = CopyPlan::new(&window, &from, &to);
        with_width!(x.element().bytes(), T => {
            let (data, out) = (x.data::<T>(), fresh.slice_mut::<T>());
            each_offset(&batch, &batch_strides, 0, |i, target| {
                let mut offset = x.offset as isize;
                for (axis, start) in starts[i * rank..][..rank].iter().enumerate() {
                    offset += (*start).clamp(0, limits[axis] as i64) as isize * x.strides[axis];
                }
                plan.run(data, offset as usize, out, target);
                Ok(())
            })?;
        });
        Ok(smallvec![fresh.finish()])
    }
}

/// Reads `stablehlo.gather`.
pub fn gather(source: &Source<'_>) -> Read {
    source.counts(2, 1, 0)?;
    let (x, indices) = (&source.operands[0], &source.operands[1]);
    check_indices(source, indices)?;
    let fields = source.fields("dimension_numbers")?;
    let names = [
        "offset_dims",
        "collapsed_slice_dims",
        "operand_batching_dims",
        "start_indices_batching_dims",
        "start_index_map",
        "index_vector_dim",
    ];
    let axes = Axes::read(source, fields, names, &x.shape, &indices.shape)?;
    let sizes = source.sizes("slice_sizes")?;
    let fits = sizes.len() == x.shape.len() && sizes.iter().zip(&x.shape).all(|(s, n)| s <= n);
    let single = axes
        .collapsed
        .iter()
        .chain(&axes.batching)
        .all(|a| sizes.get(*a).is_some_and(|s| *s <= 1));
    let wrong = format!("windows of {sizes:?} do not match {x}");
    source.check(fits && single, &wrong)?;
    let windows: Vec<usize> = axes.kept(x.shape.len()).iter().map(|a| sizes[*a]).collect();
    let shape = axes.result(&axes.batch(&indices.shape), &windows);
    let shape = shape.ok_or_else(|| source.error("offset_dims do not match the result"))?;
    // Windows without elements, along axes that the result lacks, have none to give.
    source.check(!sizes.contains(&0) || shape.contains(&0), &wrong)?;
    let ty = TensorType::new(&shape, x.element);
    source.result(0, &ty)?;
    lift(Gather { axes, sizes, ty })
}

fn check_indices(source: &Source<'_>, indices: &TensorType) -> Result<()> {
    let integers = with_integer!(indices.element, T => std::mem::size_of::<T>() > 0, _ => false);
    source.check(
        integers,
        format_args!("indices of type {indices} are not integers"),
    )
}

/// Updates of windows of arrays, combined by a region.
#[derive(Debug)]
struct Scatter {
    axes: Axes,
    region: ScalarRegion,
    /// Whether the region returns the update.
    replaces: bool,
}

impl Operation for Scatter {
    fn run(&self, context: &Context, mut operands: Operands) -> Result<Tensors> {
        let count = self.region.results.len();
        let captures: Vec<Tensor> = operands.drain(2 * count + 1..).collect();
        let updates: Result<Vec<Tensor>> = operands
            .drain(count + 1..)
            .map(|u| u.contiguous(context))
            .collect();
        let updates = updates?;
        let Some(indices) = operands.pop() else {
            return Ok(Tensors::new());
        };
        let shape: Dims = operands[0].shape().into();
        let mut results: Vec<OutputTensor> = Vec::with_capacity(count);
        for x in operands {
            results.push(x.into_fresh(context)?);
        }
        if updates[0].size() > 0 {
            let targets = self.targets(context, &updates[0], &indices, &shape)?;
            let kept = self.axes.kept(shape.len());
            let strides = row_major(&shape);
            let inner: Strides = kept.iter().map(|a| strides[*a]).collect();
            self.update(context, &mut results, &updates, &captures, &targets, &inner)?;
        }
        Ok(results.into_iter().map(OutputTensor::finish).collect())
    }
}

impl Scatter {
    /// Returns for each window inside the array the offsets of its first update and of its first element.
    /// A window that is not inside is dropped whole.
    fn targets(
        &self,
        context: &Context,
        updates: &Tensor,
        indices: &Tensor,
        shape: &[usize],
    ) -> Result<Vec<(usize, usize)>> {
        let rank = shape.len();
        let starts = self.axes.starts(context, indices, rank)?;
        let batch = self.axes.batch(indices.shape());
        let mut sizes = vec![1; rank];
        for (axis, window) in self.axes.kept(rank).iter().zip(&self.axes.window) {
            sizes[*axis] = updates.shape()[*window];
        }
        let strides = row_major(shape);
        let (_, positions) = self.axes.split(&row_major(updates.shape()));
        let mut targets = Vec::with_capacity(batch.iter().product());
        each_offset(&batch, &positions, 0, |i, update| {
            let start = &starts[i * rank..][..rank];
            let inside = (0..rank)
                .all(|a| start[a] >= 0 && start[a] as i128 + sizes[a] as i128 <= shape[a] as i128);
            if inside {
                let at = (0..rank)
                    .map(|a| start[a] as usize * strides[a] as usize)
                    .sum();
                targets.push((update, at));
            }
            Ok(())
        })?;
        Ok(targets)
    }

    /// Combines all windows with the elements of the arrays, whose strides along a window are `inner`.
    fn update(
        &self,
        context: &Context,
        results: &mut [OutputTensor],
        updates: &[Tensor],
        captures: &[Tensor],
        targets: &[(usize, usize)],
        inner: &Strides,
    ) -> Result<()> {
        let (window_strides, _) = self.axes.split(&row_major(updates[0].shape()));
        let window: Dims = self
            .axes
            .window
            .iter()
            .map(|a| updates[0].shape()[*a])
            .collect();
        let plan = CopyPlan::new(&window, &window_strides, inner);
        if self.replaces {
            for (result, update) in results.iter_mut().zip(updates) {
                with_width!(update.element().bytes(), T => {
                    let (new, old) = (update.slice::<T>(), result.slice_mut::<T>());
                    targets.iter().for_each(|(from, to)| plan.run(new, *from, old, *to));
                });
            }
            return Ok(());
        }
        let element = updates[0].element();
        let kernel = self.region.single.and_then(|name| combiner(name, element));
        if let (Some(combine), Some(length), [update], [result]) =
            (kernel, plan.run_length(), updates, &mut *results)
        {
            let width = element.bytes();
            let (new, old) = (update.bytes(), result.bytes_mut());
            for (from, to) in targets {
                combine(
                    &mut old[to * width..][..length * width],
                    &new[from * width..][..length * width],
                );
            }
            return Ok(());
        }
        for (from, to) in targets {
            let windows: Vec<Tensor> = updates
                .iter()
                .map(|u| u.view(window.clone(), window_strides.clone(), u.offset + from))
                .collect();
            self.combine(context, results, &windows, captures, *to, inner)?;
        }
        Ok(())
    }

    /// Combines windows with the elements from an offset on.
    fn combine(
        &self,
        context: &Context,
        results: &mut [OutputTensor],
        windows: &[Tensor],
        captures: &[Tensor],
        offset: usize,
        strides: &[isize],
    ) -> Result<()> {
        let shape = windows[0].shape();
        let count: usize = windows[0].size();
        let dense = row_major(shape);
        let mut old = Vec::with_capacity(results.len());
        for (result, window) in results.iter_mut().zip(windows) {
            let mut part = OutputTensor::new(context, window.ty.clone())?;
            with_width!(window.element().bytes(), T => copy::<T>(
                shape,
                result.slice_mut(),
                Side { offset, strides },
                part.slice_mut(),
                Side { offset: 0, strides: &dense },
            ));
            old.push(part.finish());
        }
        let inputs: Vec<Lanes<'_>> = old
            .iter()
            .chain(windows)
            .map(Lanes::of)
            .chain(captured(captures))
            .collect();
        let new = super::reduce::run_region(context, &self.region, &inputs, shape, count)?;
        for (result, new) in results.iter_mut().zip(&new) {
            result.write(new, offset, strides);
        }
        Ok(())
    }
}

/// Reads `stablehlo.scatter`.
pub fn scatter(source: &Source<'_>) -> Read {
    let count = source.results.len();
    source.check(count > 0, "needs a result")?;
    source.counts(2 * count + 1, count, 1)?;
    let (x, indices) = (source.operands[0].clone(), &source.operands[count]);
    check_indices(source, indices)?;
    let fields = source.fields("scatter_dimension_numbers")?;
    let names = [
        "update_window_dims",
        "inserted_window_dims",
        "input_batching_dims",
        "scatter_indices_batching_dims",
        "scatter_dims_to_operand_dims",
        "index_vector_dim",
    ];
    let axes = Axes::read(source, fields, names, &x.shape, &indices.shape)?;
    let region = ScalarRegion::combiner(source, 0, count)?;
    for i in 0..count {
        let (operand, update) = (&source.operands[i], &source.operands[count + 1 + i]);
        source.check(
            operand.shape == x.shape,
            "the operands have different shapes",
        )?;
        source.result(i, operand)?;
        source.check(
            axes.match_updates(&x.shape, &indices.shape, &update.shape),
            format_args!("updates of type {update} do not match"),
        )?;
        source.check(update.element == operand.element, MISMATCH)?;
    }
    let replaces = match (
        &source.syntax.regions[0].arguments[..],
        &source.syntax.regions[0].operations[..],
    ) {
        ([_, (update, _)], [end]) => end.operands == [*update],
        _ => false,
    };
    lift(Scatter {
        axes,
        region,
        replaces,
    })
}
